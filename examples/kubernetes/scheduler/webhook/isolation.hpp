#pragma once
/// @file
/// What a container gets so that it keeps to its part of a GPU: variables with its limits, the guard in front of the
/// driver, and the folder of its ledger. docs/cuda-isolation.md says what the guard makes of them.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "webhook/webhook_fields.hpp"

namespace shim {

/// What a container asks for of NVIDIA's GPUs by the resources of HAMi, or by annotations of KAI.
struct gpu_part {
  std::optional<std::int64_t> memory;  ///< MiB of each
  bool is_percent = false;             ///< of memory: how much that is follows from the card
  std::optional<std::int64_t> cores;   ///< percent of each
  std::optional<std::int64_t> priority;
  bool counted = false;    ///< it says how many
  std::string config_map;  ///< in which its memory will stand; empty: it is told otherwise
  /// Whether there is a limit to keep.
  [[nodiscard]] bool is_limited() const {
    return memory || is_percent || !config_map.empty() || (cores && *cores > 0 && *cores < 100);
  }
};

/// Empty if it asks for none. Errors: bad_input for amounts that are none.
[[nodiscard]] std::optional<gpu_part> read_gpu_part(const nlohmann::json& container);

/// A container that asks for a part and says not of how many gets one: what the kubelet knows is the number alone.
void ask_for_device(nlohmann::json& container, const gpu_part& part);

/// The annotation in which the extender says how many MiB of each card container number `place` has got.
[[nodiscard]] std::string granted_memory_key(std::size_t place);
/// Those annotations for grants in HAMi's form: the least of the cards of each container.
[[nodiscard]] nlohmann::json granted_memory(const std::string& grants);

class isolation {
 public:
  isolation(const webhook_settings& by, nlohmann::json& pod) : by_(by), pod_(pod) {}
  /// What it has already wins. @param warnings gets why a container is left as it is.
  void add_to(nlohmann::json& container, std::size_t place, const gpu_part& part, std::vector<std::string>& warnings);
  /// After the last container.
  void add_volumes();

 private:
  const webhook_settings& by_;
  nlohmann::json& pod_;
  bool guards_ = false;  ///< some container
};

}  // namespace shim
