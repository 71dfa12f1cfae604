#pragma once
/// @file
/// What pods of a recorded session of Volcano want beside amounts: devices by claims, volumes, other pods.

#include <cstdint>
#include <vector>

#include <nlohmann/json.hpp>

#include "schedulers/volcano/rules/state.hpp"

namespace kaisched::conformance {

/// Claims of a pod that count for the devices of its queue.
[[nodiscard]] std::vector<kaisched::volcano::device_claim> volcano_device_claims(const nlohmann::json& one,
                                                                                 const nlohmann::json& pod);
/// What a capability says of classes of devices; nothing where queues are not held to it.
[[nodiscard]] kaisched::volcano::devices_by_class volcano_device_limits(const nlohmann::json& one,
                                                                        const nlohmann::json& capability);

/// For each node whether it lacks devices for the claims of a pod. @throws unsupported where it depends on who else
/// goes there.
[[nodiscard]] std::vector<bool> volcano_lacks_devices(const nlohmann::json& one, const nlohmann::json& pod,
                                                      const std::vector<const nlohmann::json*>& nodes);

/// Whether a pod mounts a volume that is yet to be bound: it waits for that, which nobody does in a recording.
[[nodiscard]] bool waits_for_volume(const nlohmann::json& one, const nlohmann::json& pod);
/// @throws unsupported unless there are volumes everywhere for all claims: then they are in nobody's way.
void check_volcano_volumes(const nlohmann::json& one);

/// How much pods that are placed draw a pod to each of the nodes, or push it away. @throws unsupported for conditions
/// about other pods, and for wishes about pods that are not placed yet.
[[nodiscard]] std::vector<std::int64_t> volcano_pull(const nlohmann::json& one, const nlohmann::json& pod,
                                                     const std::vector<const nlohmann::json*>& nodes);

}  // namespace kaisched::conformance
