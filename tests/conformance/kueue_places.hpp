#pragma once
/// @file
/// Recorded nodes, topologies and requests of Kueue -> domains and what is asked of them.

#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "conformance/kueue_objects.hpp"
#include "schedulers/kueue/rules/domain_ledger.hpp"

namespace kaisched::conformance::kueue {

/// Domains with the nodes behind their leaves.
struct node_domains {
  std::string topology = "default";
  kaisched::kueue::domain_ledger ledger;
  std::vector<nlohmann::json> nodes;  ///< by leaf; null where leaves are no hosts
};

/// Nodes that are ready, open and carry the labels and levels; what pods of others use is taken away.
[[nodiscard]] node_domains read_domains(const name_list& resources, const std::vector<std::string>& levels,
                                        const nlohmann::json& nodes, const nlohmann::json& node_labels,
                                        const nlohmann::json& pods);

[[nodiscard]] kaisched::kueue::resource_vector vector_of(const name_list& resources, const requests& amounts);

/// Texts of exclusions, by number.
struct exclusion_texts {
  std::vector<std::string> texts;
  std::int64_t number(const std::string& text);
};

/// Fills in what of the request comes from the template of the pods.
void read_pod_rules(const node_domains& domains, const nlohmann::json& pod_spec,
                    const std::vector<nlohmann::json>& more_tolerations, bool by_affinity, exclusion_texts& texts,
                    kaisched::kueue::place_request& request);
/// Fills in levels and slices.
void read_topology_request(const nlohmann::json& topology_request, kaisched::kueue::place_request& request);

[[nodiscard]] std::string failure_text(const node_domains& domains, const name_list& resources,
                                       const exclusion_texts& texts, const kaisched::kueue::place_failure& failure);

/// The compressed form of an API object.
[[nodiscard]] kaisched::kueue::domain_assignment read_assignment(const nlohmann::json& record);
[[nodiscard]] nlohmann::json assignment_record(const kaisched::kueue::domain_assignment& made);
[[nodiscard]] kaisched::kueue::place_rules place_rules_of(const name_list& resources, const nlohmann::json& input);

}  // namespace kaisched::conformance::kueue
