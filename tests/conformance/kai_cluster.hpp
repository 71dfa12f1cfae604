#pragma once
/// @file
/// A recorded KAI session (schema kai-session-case/1) as a cluster: the part `resolved` -> tables and options.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::conformance {

/// The time at which every recorded session takes place, in nanoseconds; recorded ages count back from it.
inline constexpr std::int64_t kai_now = 1'000'000'000'000'000;

/// Where a pod is when a round starts.
struct kai_start {
  std::string status;                     ///< KAI's word, "Running"
  std::string node;                       ///< empty if none
  std::vector<std::string> gpu_groups{};  ///< shared devices of the node that the pod holds, by KAI's names
};
/// Pod name -> where it is. Pods that are not in the map are where the case says.
using kai_starts = std::map<std::string, kai_start, std::less<>>;

/// KAI's word for a status, "Running".
[[nodiscard]] std::string_view kai_status_name(pod_status status);
/// @throws unsupported for a word that the tables have no status for.
[[nodiscard]] pod_status kai_status(std::string_view name);
/// Allocated, Binding, Bound, Running: the pod uses its node and its queue is charged when a session starts.
[[nodiscard]] bool kai_holds(std::string_view status);
/// These and Pipelined, Releasing, StuckInReleasing: the pod is on its node.
[[nodiscard]] bool kai_uses_node(std::string_view status);

/// Name of a dimension of the tables: cpu_milli -> cpu, others as they are.
[[nodiscard]] std::string_view dimension_of_kai(std::string_view resource);
/// Amount in the unit of the tables: GPUs -> milli-GPU, others as they are.
[[nodiscard]] std::int64_t amount_of_kai(std::string_view resource, const nlohmann::json& amount);
/// The reverse of both, for comparisons.
[[nodiscard]] std::string_view resource_of_dimension(std::string_view dimension);
[[nodiscard]] double kai_amount(std::string_view dimension, std::int64_t amount);

/// The session as tables, in the order in which they must be applied.
/// `restart_clocks`: groups with a pod that holds resources have started a minute ago, all others never.
/// @throws unsupported for what the tables cannot say or the engine does not decide.
/// `claims`: state of the resource claims; that of the case if null.
[[nodiscard]] std::vector<table> kai_tables(const nlohmann::json& session_case, const kai_starts& starts = {},
                                            bool restart_clocks = false, const nlohmann::json* claims = nullptr);
/// Where the pods of the case are: in its description, or when one of its rounds starts.
[[nodiscard]] kai_starts kai_recorded_starts(const nlohmann::json& session_case);
[[nodiscard]] kai_starts kai_round_starts(const nlohmann::json& round);
/// Names of the resource dimensions of a case, in order.
[[nodiscard]] std::vector<std::string> kai_dimensions(const nlohmann::json& session_case);

/// Options of the engine, in the order in which they must be set. `known_parts`: what engine::part_names() says.
/// @throws unsupported for a plug-in that matters and that the engine does not know.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> kai_options(const nlohmann::json& session_case,
                                                                           const std::vector<std::string>& known_parts);

/// The plug-in "predicates" is used. Where it is listed and was not opened, a check that refuses a pod for every set of
/// victims needs it all the same: here it is an obstacle, which counts with the plug-in only.
[[nodiscard]] bool opens_predicates(const nlohmann::json& session_case);
/// Throws `unsupported` if the session needs features that the engine does not have; the reason names the feature.
void require_supported(const nlohmann::json& session_case);

}  // namespace kaisched::conformance
