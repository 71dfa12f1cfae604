#pragma once
/// @file
/// Records of Volcano's types -> those of the library, and comparing what it answers.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/selector.hpp"
#include "policy/reclaim/gang_bundles.hpp"
#include "conformance/rules/pod_requests.hpp"
#include "policy/resources/resource_list.hpp"

namespace kaisched::conformance {

/// What differs, or nothing.
using volcano_difference = std::optional<std::string>;

/// The tests whose tables a file replays.
struct volcano_table {
  std::string_view test;
  volcano_difference (*check)(const nlohmann::json& one);
};
[[nodiscard]] std::span<const volcano_table> volcano_resource_tables();
[[nodiscard]] std::span<const volcano_table> volcano_score_tables();
[[nodiscard]] std::span<const volcano_table> volcano_gang_tables();
[[nodiscard]] std::span<const volcano_table> volcano_domain_tables();
[[nodiscard]] std::span<const volcano_table> volcano_book_tables();
/// A recorded call of the logic of bundles. @throws unsupported for other calls.
[[nodiscard]] volcano_difference replay_volcano_call(const nlohmann::json& call, const nlohmann::json& one);

/// The input of a case: of some tests it is in a member `args`.
[[nodiscard]] const nlohmann::json& volcano_input(const nlohmann::json& one);

/// {milli_cpu, memory, scalar_resources} or {cpu_milli, memory_bytes, scalar_milli}.
[[nodiscard]] policy::resource_list volcano_resources(const nlohmann::json& record);
/// A list of quantities of Kubernetes, as Volcano reads it: counted objects and names that are no resources are left
/// out.
[[nodiscard]] policy::resource_list volcano_quantities(const nlohmann::json& list);
/// Whether a resource counts in Volcano as one that is neither cpu nor memory.
[[nodiscard]] bool is_volcano_scalar(std::string_view name);

[[nodiscard]] model::label_list volcano_labels(const nlohmann::json& object);
/// A label selector.
[[nodiscard]] model::selector volcano_selector(const nlohmann::json& selector);
/// What a pod asks for. `key`: requests or limits. `with_pod`: what is asked for the pod as a whole counts.
[[nodiscard]] policy::pod_request_parts volcano_pod_parts(const nlohmann::json& pod, std::string_view key,
                                                          bool with_pod);

/// Equal by cpu, memory and scalars; what is named with 0 is as if it were not named.
[[nodiscard]] volcano_difference compare_resources(const nlohmann::json& expected, const policy::resource_list& found);
/// The same names in any order.
[[nodiscard]] volcano_difference compare_names(const nlohmann::json& expected, std::vector<std::string> found);
[[nodiscard]] volcano_difference compare_number(const nlohmann::json& expected, double found);
[[nodiscard]] volcano_difference compare_flag(const nlohmann::json& expected, bool found);

}  // namespace kaisched::conformance
