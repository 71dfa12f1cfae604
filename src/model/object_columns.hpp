#pragma once
/// @file
/// Which member of an object holds which column, one function for each kind of row: `row_reader` fills the object with
/// it, `row_writer` exports the object with it. Columns that are more than a member stand in edit_*.cpp and export.cpp.

#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include <kaisched/schema.hpp>

#include "base/text.hpp"
#include "model/row_reader.hpp"
#include "model/state.hpp"

namespace kaisched::model {

/// Parses each element of a list.
template <class Parse>
auto each_of(Parse parse) {
  return [parse](std::string_view list) {
    using element = std::remove_cvref_t<decltype(*parse(list))>;
    std::vector<element> all;
    for (const std::string_view text : split_list(list)) {
      auto one = parse(text);
      if (!one) return result<std::vector<element>>(one.failure());
      all.push_back(std::move(*one));
    }
    return result<std::vector<element>>(std::move(all));
  };
}

inline result<cel_expression> parse_selector_of_device(std::string_view text) {
  result<cel_expression> parsed = cel_expression::parse(text);
  if (parsed) return parsed;
  error failure = parsed.take_failure();
  failure.message = "selector '" + base::shown(text) + "' " + failure.message;
  return failure;
}

template <class Visitor, class Queue>
void queue_columns(Visitor& v, Queue& q) {
  v.number(col::queue_priority, q.priority, -max_amount);
  v.any(col::queue_created, q.created);
  v.any(col::queue_reclaim_min_runtime, q.reclaim_min_runtime);
  v.any(col::queue_preempt_min_runtime, q.preempt_min_runtime);
  v.duration(col::queue_max_runtime, q.max_runtime);
  v.flag(col::queue_reclaimable, q.reclaimable);
}

template <class Visitor, class Node>
void node_columns(Visitor& v, Node& node) {
  v.flag(col::node_ready, node.ready);
  v.flag(col::node_unschedulable, node.unschedulable);
  v.number(col::node_gpu_memory, node.gpu_memory, 0);
}

inline constexpr std::int64_t most_per_mille = 1000;
inline constexpr std::int64_t most_power = 1'000'000'000'000;  ///< milliwatts

/// What is measured of a node.
template <class Visitor, class Node>
void node_figure_columns(Visitor& v, Node& node) {
  v.number(col::node_power_idle, node.power.idle, unknown_figure, most_power);
  v.number(col::node_power_max, node.power.most, unknown_figure, most_power);
  v.number(col::node_cpu_utilization, node.cpu_load.mean, unknown_figure, most_per_mille);
  v.number(col::node_cpu_deviation, node.cpu_load.deviation, 0, most_per_mille);
  v.number(col::node_memory_utilization, node.memory_load.mean, unknown_figure, most_per_mille);
  v.number(col::node_memory_deviation, node.memory_load.deviation, 0, most_per_mille);
  const auto feeds = [](std::string_view list) { return parse_amounts(list, max_amount); };
  v.parsed(col::node_power_feeds, feeds, node.power_feeds_text, node.power_feeds);
}

template <class Visitor, class Device>
void device_columns(Visitor& v, Device& device) {
  v.text(col::device_uuid, device.uuid);
  v.text(col::device_model, device.model);
  v.number(col::device_memory, device.memory, 0);
  v.number(col::device_share, device.share, 1, whole_device);
  v.number(col::device_numa, device.numa, -1, 1023);
  v.flag(col::device_healthy, device.healthy);
}

/// What is measured of a device.
template <class Visitor, class Device>
void device_figure_columns(Visitor& v, Device& device) {
  v.number(col::device_power_idle, device.power.idle, unknown_figure, most_power);
  v.number(col::device_power_max, device.power.most, unknown_figure, most_power);
  v.number(col::device_utilization, device.load.mean, unknown_figure, most_per_mille);
  v.number(col::device_deviation, device.load.deviation, 0, most_per_mille);
}

template <class Visitor, class Core, class Extra>
void group_columns(Visitor& v, Core& group, Extra& extra) {
  v.number(col::pod_group_priority, group.priority, -max_amount);
  v.flag(col::pod_group_preemptible, group.preemptible);
  v.flag(col::pod_group_semi_preemptible, group.semi_preemptible);
  v.any(col::pod_group_created, group.created);
  v.any(col::pod_group_last_start, extra.last_start);
  v.any(col::pod_group_last_eviction, extra.last_eviction);
  v.any(col::pod_group_stale_since, extra.stale_since);
  v.any(col::pod_group_preemption_delay, extra.preemption_delay);
  v.any(col::pod_group_staleness_grace, extra.staleness_grace);
  v.any(col::pod_group_runtime_estimate, extra.runtime_estimate);
  v.any(col::pod_group_deadline, extra.deadline);
  v.any(col::pod_group_last_checkpoint, extra.last_checkpoint);
  v.number(col::pod_group_attained_service, extra.attained_service, 0);
  v.number(col::pod_group_evictions, extra.evictions, 0);
  v.number(col::pod_group_max_surge, extra.max_surge, 0);
  v.number(col::pod_group_searched, extra.searched, 0);
  v.number(col::pod_group_restart_cost, extra.restart_cost, 0);
  v.number(col::pod_group_traffic, extra.traffic, 0);
  v.optional_count(col::pod_group_disruption_budget, extra.disruption_budget);
  v.duration(col::pod_group_max_runtime, extra.max_runtime);
  v.duration(col::pod_group_requeue_delay, extra.requeue_delay);
}

template <class Visitor, class Quota>
void device_quota_columns(Visitor& v, Quota& quota) {
  v.number(col::device_quota_memory, quota.memory, unlimited);
  v.number(col::device_quota_cores, quota.cores, unlimited);
  v.number(col::device_quota_slots, quota.slots, unlimited);
}

template <class Visitor, class Budget>
void disruption_budget_columns(Visitor& v, Budget& budget) {
  v.number(col::disruption_budget_allowed, budget.allowed, 0);
}

template <class Visitor, class Reservation>
void reservation_columns(Visitor& v, Reservation& one) {
  v.text(col::reservation_nodes, one.nodes);
  v.text(col::reservation_queue, one.queue);
  v.text(col::reservation_group, one.group);
  v.parsed(col::reservation_node_selector, parse_selector, one.selector_text, one.labels);
  v.any(col::reservation_start, one.start);
  v.any(col::reservation_end, one.end);
  v.any(col::reservation_every, one.every);
  v.any(col::reservation_evict_before, one.evict_before);
}

template <class Visitor, class Claim>
void claim_columns(Visitor& v, Claim& claim) {
  v.text(col::resource_claim_device_class, claim.device_class);
  v.number(col::resource_claim_count, claim.count, 0);
  v.text(col::resource_claim_node, claim.node);
  v.flag(col::resource_claim_from_template, claim.from_template);
}

/// What messages about name the claim.
template <class Visitor, class Claim>
void claim_list_columns(Visitor& v, Claim& claim) {
  v.parsed(col::resource_claim_constraints, parse_constraints, claim.constraints_text, claim.constraints);
  v.parsed(col::resource_claim_results, parse_results, claim.results_text, claim.results);
}

template <class Visitor, class Class>
void device_class_columns(Visitor& v, Class& one) {
  v.parsed(col::device_class_selectors, each_of(parse_selector_of_device), one.selectors_text, one.selectors);
}

template <class Visitor, class Slice>
void resource_slice_columns(Visitor& v, Slice& one) {
  v.text(col::resource_slice_driver, one.driver);
  v.text(col::resource_slice_pool, one.pool);
  v.number(col::resource_slice_generation, one.generation, 0);
  v.number(col::resource_slice_slices, one.slices, 1);
  v.text(col::resource_slice_node, one.reach.node);
  v.flag(col::resource_slice_all_nodes, one.reach.all_nodes);
  v.parsed(col::resource_slice_node_selector, parse_selector, one.node_selector, one.reach.labels);
  v.parsed(col::resource_slice_counters, parse_counters, one.counters_text, one.counters);
}

template <class Visitor, class Device>
void slice_device_columns(Visitor& v, Device& one) {
  v.text(col::slice_device_slice, one.slice);
  v.text(col::slice_device_device, one.offered.name);
  v.number(col::slice_device_position, one.position, 0);
  v.parsed(col::slice_device_attributes, parse_attributes, one.attributes_text, one.offered.attributes);
  v.parsed(col::slice_device_capacities, parse_capacities, one.capacities_text, one.offered.capacities);
  v.parsed(col::slice_device_consumes, parse_counters, one.consumes_text, one.offered.consumes);
  v.parsed(col::slice_device_taints, each_of(parse_taint), one.taints_text, one.offered.taints);
  v.flag(col::slice_device_shared, one.offered.allow_multiple_allocations);
  v.text(col::slice_device_node, one.offered.reach.node);
  v.flag(col::slice_device_all_nodes, one.offered.reach.all_nodes);
  v.parsed(col::slice_device_node_selector, parse_selector, one.node_selector, one.offered.reach.labels);
}

template <class Visitor, class Request>
void claim_request_columns(Visitor& v, Request& one) {
  v.text(col::claim_request_claim, one.claim);
  v.text(col::claim_request_request, one.request);
  v.text(col::claim_request_alternative, one.ask.name);
  v.number(col::claim_request_position, one.position, 0);
  v.text(col::claim_request_device_class, one.device_class);
  v.parsed(col::claim_request_selectors, each_of(parse_selector_of_device), one.selectors_text, one.ask.selectors);
  v.number(col::claim_request_count, one.ask.count, 1);
  v.flag(col::claim_request_all, one.ask.all);
  v.flag(col::claim_request_admin, one.ask.admin);
  v.parsed(col::claim_request_tolerations, each_of(parse_toleration), one.tolerations_text, one.ask.tolerations);
  v.parsed(col::claim_request_capacities, parse_capacity_asks, one.capacities_text, one.ask.capacities);
}

}  // namespace kaisched::model
