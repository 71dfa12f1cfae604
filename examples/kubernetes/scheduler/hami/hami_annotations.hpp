#pragma once
/// @file
/// What HAMi's scheduler and the device plugins of its vendors tell each other in annotations of nodes and pods, as far
/// as a scheduler writes it: times, locks, handshakes.

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace shim::hami {

using time_point = std::chrono::system_clock::time_point;

inline constexpr const char* assigned_node = "hami.io/vgpu-node";               ///< of pods, a label as well
inline constexpr const char* assigned_time = "hami.io/vgpu-time";               ///< seconds since 1970
inline constexpr const char* bind_time = "hami.io/bind-time";                   ///< seconds since 1970
inline constexpr const char* bind_phase = "hami.io/bind-phase";                 ///< allocating, success, failed
inline constexpr const char* node_lock = "hami.io/mutex.lock";                  ///< of nodes
inline constexpr const char* nvidia_register = "hami.io/node-nvidia-register";  ///< of nodes: their cards
inline constexpr const char* nvidia_handshake = "hami.io/node-handshake";       ///< of nodes
/// Of pods, followed by the place of a container: which of its devices the kubelet knows it by.
inline constexpr const char* given_devices = "kaisched.io/given-";
/// How long a pod that waits has the devices that were chosen for it.
inline constexpr std::chrono::minutes grant_lifetime{5};

[[nodiscard]] std::string seconds_text(time_point at);
[[nodiscard]] std::string nanoseconds_text(time_point at);
/// Empty for what is no count of seconds.
[[nodiscard]] std::optional<time_point> read_seconds(std::string_view text);

/// Whether the key is one in which a decision about devices stands: such are replaced as a whole.
[[nodiscard]] bool is_decision(std::string_view key);
/// Whether the key is a time that stands there for the plugin of a vendor alone.
[[nodiscard]] bool is_time_of_vendor(std::string_view key);
/// Times that plugins of single vendors look for beside these annotations of a decision.
[[nodiscard]] nlohmann::json times_of_vendors(const nlohmann::json& annotations, time_point now);

/// How a node is locked, so that a plugin knows for which pod the kubelet asks.
struct lock_form {
  std::string key;
  bool names_owner = true;  ///< `time,namespace,pod`; else the time alone
  std::chrono::minutes expiry{5};

  friend bool operator==(const lock_form&, const lock_form&) = default;
};
/// The locks that plugins give back once a pod with these annotations has its devices; others would stay.
[[nodiscard]] std::vector<lock_form> locks_for(const nlohmann::json& annotations);

struct lock {
  time_point since;
  std::string name_space;  ///< empty in the form that has the time alone
  std::string pod;
};
/// Empty for what is neither form.
[[nodiscard]] std::optional<lock> read_lock(std::string_view text);
[[nodiscard]] std::string write_lock(const lock_form& form, time_point now, std::string_view name_space,
                                     std::string_view pod);

/// Of the devices of one vendor on a node.
struct handshake_keys {
  std::string handshake;   ///< annotation
  std::string registered;  ///< annotation
  std::string count;       ///< resource; sharers
};
/// The vendors whose plugins take part, of those that a node has annotations of.
[[nodiscard]] std::vector<handshake_keys> handshakes_of(const nlohmann::json& node);
/// What the scheduler has to write now; empty: nothing. It asks (`Requesting_`) whoever has answered; who does not
/// answer within a minute and has nothing to offer is given up (`Deleted_`) until it answers or offers something.
[[nodiscard]] std::optional<std::string> next_handshake(std::string_view current, bool offers, time_point now);
/// What a plugin has to write now; empty: nobody has asked.
[[nodiscard]] std::optional<std::string> handshake_answer(std::string_view current, time_point now);

}  // namespace shim::hami
