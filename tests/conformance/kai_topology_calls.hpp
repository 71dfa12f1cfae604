#pragma once
/// @file
/// Recorded calls of the functions of KAI's plugin "topology".

#include <nlohmann/json.hpp>

namespace kaisched::conformance {

[[nodiscard]] nlohmann::json topology_lowest_common_domain(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_relevant_levels(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_job_allocatable_domains(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_subset_nodes(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_tree_allocatable(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_sort_tree(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_node_scores(const nlohmann::json& in);
[[nodiscard]] nlohmann::json topology_reverse_level_order(const nlohmann::json& in);

/// The record says all that the function looks at. Two do not: names of nodes, what is left of shared GPUs.
[[nodiscard]] bool is_complete_topology_call(const nlohmann::json& one);

/// A recorded answer of one of them as it is compared: of errors that there is one, of messages the domains.
[[nodiscard]] nlohmann::json comparable_topology(nlohmann::json out);
/// The same for domains of which only the number of pods that have room counts, in whatever order they are.
[[nodiscard]] nlohmann::json comparable_room(nlohmann::json out);
/// The same for domains of which only the order counts.
[[nodiscard]] nlohmann::json comparable_order(nlohmann::json out);

}  // namespace kaisched::conformance
