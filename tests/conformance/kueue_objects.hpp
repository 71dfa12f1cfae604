#pragma once
/// @file
/// Recorded objects of Kueue -> the values that the rules of quotas and flavors take.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "schedulers/kueue/rules/flavor_assignment.hpp"
#include "schedulers/kueue/rules/quota_victims.hpp"
#include "schedulers/kueue/rules/running.hpp"

namespace kaisched::conformance::kueue {

/// Whether a feature gate is on: as the case says, else by the defaults of the recorded version.
[[nodiscard]] bool gate(const nlohmann::json& input, std::string_view name);

/// Nanoseconds from the fake clock's "now"; absent times are before all others.
inline constexpr std::int64_t no_time = INT64_MIN / 2;
[[nodiscard]] std::int64_t time_of(const nlohmann::json& text);

/// A quantity in milli-cores for cpu and in units for the rest; saturates.
[[nodiscard]] std::int64_t quantity(std::string_view resource, const nlohmann::json& text);
/// The same for limits: what does not fit is without limit.
[[nodiscard]] kaisched::kueue::amount limit(std::string_view resource, const nlohmann::json& text);
/// How Kubernetes writes an amount.
[[nodiscard]] std::string quantity_text(std::string_view resource, std::int64_t value);
[[nodiscard]] std::string amount_text(std::string_view resource, kaisched::kueue::amount value);

using requests = std::map<std::string, std::int64_t>;
/// What one pod of a template asks for.
[[nodiscard]] requests pod_requests(const nlohmann::json& pod_spec);

/// Names in ascending order; numbers are places in the list.
struct name_list {
  std::vector<std::string> names;
  [[nodiscard]] std::uint32_t at(const std::string& name) const;
  [[nodiscard]] std::optional<std::uint32_t> find(const std::string& name) const;
};

struct queue_object {
  std::string name;
  kaisched::kueue::node_id node = kaisched::kueue::no_node;
  std::vector<kaisched::kueue::flavor_group> groups;
  kaisched::kueue::fungibility rules;
  kaisched::kueue::preemption_rules preemption;
  bool reclaim_is_never = false;  ///< said so; a rule left out forbids reclaiming, but does not say "never"
  bool strict_order = false;
  nlohmann::json object;
};

/// The objects of a case.
struct cluster {
  name_list flavors;
  name_list resources;
  kaisched::kueue::quota_state state{kaisched::kueue::quota_tree({}), {}, {}, nullptr};
  std::vector<queue_object> queues;  ///< by name
  std::map<std::string, kaisched::kueue::node_id> cohorts;
  std::map<std::string, nlohmann::json> flavor_objects;
  std::vector<std::uint32_t> resource_order;  ///< in which Kueue looks at resources: by a hash of their names

  [[nodiscard]] const queue_object* queue(const std::string& name) const;
  [[nodiscard]] const queue_object& queue_at(kaisched::kueue::node_id node) const;
  [[nodiscard]] kaisched::kueue::cell_id cell(const std::string& flavor, const std::string& resource) const;
  /// "flavor/resource"
  [[nodiscard]] kaisched::kueue::cell_id cell(const std::string& key) const;
  [[nodiscard]] std::string cell_text(kaisched::kueue::cell_id cell) const;
  [[nodiscard]] kaisched::kueue::cell_amounts amounts(const nlohmann::json& by_key) const;
  [[nodiscard]] nlohmann::json amounts_record(const kaisched::kueue::cell_amounts& amounts) const;
  /// "/", then the names from the top cohort down to the queue, with "/" between them
  [[nodiscard]] std::string path(kaisched::kueue::node_id queue) const;
};

/// Reads cluster queues, cohorts and flavors wherever a case has them.
[[nodiscard]] cluster read_cluster(const nlohmann::json& input);

[[nodiscard]] std::string key_of(const nlohmann::json& workload);
[[nodiscard]] const nlohmann::json* condition(const nlohmann::json& workload, std::string_view type);
[[nodiscard]] bool condition_is_true(const nlohmann::json& workload, std::string_view type);
[[nodiscard]] std::int64_t priority_of(const nlohmann::json& workload, const nlohmann::json& input);
/// When the workload was made, or came back to its queue.
[[nodiscard]] std::int64_t queued_at(const nlohmann::json& workload, const nlohmann::json& input, bool by_eviction);
/// The number of pods of a set that are still needed.
[[nodiscard]] std::int64_t count_after_reclaim(const nlohmann::json& workload, const nlohmann::json& pod_set,
                                               const nlohmann::json& input);
/// A workload that holds quota, by its admission.
[[nodiscard]] kaisched::kueue::running_workload running_of(const cluster& all, const nlohmann::json& workload,
                                                           const nlohmann::json& input);

/// Text of a reason why pods cannot run on a flavor (no topology), or none.
[[nodiscard]] std::optional<std::string> flavor_mismatch(const nlohmann::json& flavor, const std::string& name,
                                                         const nlohmann::json& pod_spec);
/// Whether labels match what a node selector and required affinity terms ask for; only keys of the list count, all if
/// there is none.
[[nodiscard]] bool matches_node_affinity(const nlohmann::json& pod_spec, const nlohmann::json& labels,
                                         const nlohmann::json* keys);
/// The first taint that keeps pods away and that nothing tolerates.
[[nodiscard]] const nlohmann::json* untolerated_taint(const nlohmann::json& taints,
                                                      const std::vector<nlohmann::json>& tolerations);
[[nodiscard]] bool matches_expression(const nlohmann::json& expression, const nlohmann::json& labels);
[[nodiscard]] bool matches_selector(const nlohmann::json& selector, const nlohmann::json& labels);

/// What the flavors of a workload are looked for with; mismatches are numbers of texts.
struct demand_texts {
  std::vector<kaisched::kueue::pod_set_demand> demands;
  std::vector<std::string> texts;
};
[[nodiscard]] std::string obstacle_text(const cluster& all, const demand_texts& texts,
                                        const kaisched::kueue::obstacle& one);
/// Reasons sorted and joined.
[[nodiscard]] std::string joined_obstacles(const cluster& all, const demand_texts& texts,
                                           const std::vector<kaisched::kueue::obstacle>& obstacles,
                                           std::vector<std::string> more = {});

[[nodiscard]] std::string_view reason_text(kaisched::kueue::victim_reason why);
[[nodiscard]] std::string_view mode_text(kaisched::kueue::assignment_mode mode);
[[nodiscard]] std::string_view forecast_text(kaisched::kueue::fit_mode mode);
[[nodiscard]] std::string_view no_fit_text(kaisched::kueue::no_fit_class why);

}  // namespace kaisched::conformance::kueue
