#pragma once
/// @file
/// Recorded workloads of which several stand for one job.

#include <optional>

#include <nlohmann/json.hpp>

#include "conformance/kueue_objects.hpp"

namespace kaisched::conformance::kueue {

/// A workload that others stand for; it is in no queue itself.
[[nodiscard]] bool is_variant_parent(const nlohmann::json& workload, const nlohmann::json& input);
/// Its job and the rank of its flavor in the first group of the queue.
[[nodiscard]] kaisched::kueue::variant variant_in(const cluster& all, const queue_object& queue,
                                                  const nlohmann::json& workload, const nlohmann::json& input);
[[nodiscard]] std::optional<std::size_t> last_rank_of(const cluster& all, const queue_object& queue,
                                                      const nlohmann::json& input);
/// By flavor, 1 for those that an annotation allows; empty for all.
[[nodiscard]] std::vector<std::uint8_t> allowed_flavors(const cluster& all, const nlohmann::json& workload,
                                                        const nlohmann::json& input);
/// Whether the queue is for variants and this is none: such workloads are not counted.
[[nodiscard]] bool is_beside_variants(const queue_object& queue, const nlohmann::json& workload,
                                      const nlohmann::json& input);
[[nodiscard]] bool has_closed_gate(const nlohmann::json& workload, const nlohmann::json& input);

}  // namespace kaisched::conformance::kueue
