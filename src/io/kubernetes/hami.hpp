#pragma once
/// @file
/// What HAMi writes into annotations: devices of nodes, grants of pods, handshakes. Reading takes whatever HAMi and its
/// device plugins take; grants are written so that every version of them reads them.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::io::kubernetes {

inline constexpr std::string_view hami_scheduler = "hami-scheduler";

/// Annotations of nodes and pods that are the same for all vendors.
inline constexpr std::string_view hami_cordoned = "hami.io/device-cordon";   ///< of nodes: ids of devices
inline constexpr std::string_view hami_assigned_node = "hami.io/vgpu-node";  ///< of pods, a label as well
inline constexpr std::string_view hami_assigned_time = "hami.io/vgpu-time";  ///< of pods: s since 1970
inline constexpr std::string_view cell_annotation = "kaisched.io/cell";      ///< of pods: where they are in cells
inline constexpr std::string_view hami_bind_phase = "hami.io/bind-phase";    ///< of pods: allocating, success, failed

/// One device that a plugin has registered.
struct hami_device {
  std::string id;
  std::int64_t index = 0;
  std::int64_t count = 0;   ///< most pods that share it
  std::int64_t memory = 0;  ///< MiB
  std::int64_t cores = 0;   ///< percent, 100 is all of one
  std::string type;
  std::int64_t numa = 0;
  bool healthy = false;
  std::string mode;  ///< hami-core, mig, mps or empty
  /// Properties that some vendors add to records; read, and not written.
  std::vector<std::pair<std::string, std::string>> attributes{};

  friend bool operator==(const hami_device&, const hami_device&) = default;
};

/// Reads the devices of a node: an array of records in JSON, or `id,count,memory,cores,type,numa,healthy,index,mode:`
/// for each, of which older ones end with healthy. Empty if the text is neither.
[[nodiscard]] std::optional<std::vector<hami_device>> decode_hami_devices(std::string_view text);
/// A part of a device that a container has been given.
struct hami_grant {
  std::string id;
  std::string type;
  std::int64_t memory = 0;  ///< MiB
  std::int64_t cores = 0;   ///< percent

  friend bool operator==(const hami_grant&, const hami_grant&) = default;
};

/// Grants of a pod: one list for each container, those of init containers first; empty for containers without any.
using hami_grants = std::vector<std::vector<hami_grant>>;

/// Reads `id,type,memory,cores:` for each device and `;` behind each container; empty if a device has fewer than four
/// fields or an amount is no number.
[[nodiscard]] std::optional<hami_grants> decode_hami_grants(std::string_view text);
[[nodiscard]] result<std::string> encode_hami_grants(const hami_grants& grants);

/// Where the handshake between scheduler and device plugin stands.
enum class hami_handshake_state : std::uint8_t {
  reported,    ///< the plugin has answered
  requesting,  ///< the scheduler has asked
  deleted,     ///< the scheduler has given up on the devices
};
struct hami_handshake {
  hami_handshake_state state = hami_handshake_state::reported;
  std::string time;  ///< `2026-03-07 12:00:00`, of a clock that is not named; may be empty

  friend bool operator==(const hami_handshake&, const hami_handshake&) = default;
};

/// Reads any text: what neither asks nor deletes is an answer.
[[nodiscard]] hami_handshake decode_hami_handshake(std::string_view text);

}  // namespace kaisched::io::kubernetes
