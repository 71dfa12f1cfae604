// Names of enumerations.
#include <array>

#include <kaisched/decisions.hpp>
#include <kaisched/gaps.hpp>

#include "base/value_names.hpp"

namespace kaisched {

namespace {

constexpr std::string_view no_value = "invalid";

}  // namespace

std::string_view decision_kind_name(decision_kind k) noexcept {
  static constexpr std::array<std::string_view, 8> names{"none", "bind",          "pipeline", "evict",
                                                         "move", "unschedulable", "migrate",  "repartition"};
  return base::name_of_value(names, k, no_value);
}

std::string_view action_name(action_kind a) noexcept {
  static constexpr std::array<std::string_view, 12> names{
      "none",     "allocate",     "consolidation", "reclaim",   "preempt", "stalegangeviction",
      "backfill", "runtimelimit", "repartition",   "overlimit", "resize",  "vacate"};
  return base::name_of_value(names, a, no_value);
}

std::string_view gap_kind_name(gap_kind k) noexcept {
  static constexpr std::array<std::string_view, gap_kind_count> names{"none", "victims", "domains", "fragmentation"};
  return base::name_of_value(names, k, no_value);
}

std::string_view constraint_name(constraint c) noexcept {
  static constexpr std::array<std::string_view, constraint_count> names{"none",
                                                                        "resource",
                                                                        "resource_busy",
                                                                        "node_not_ready",
                                                                        "node_unschedulable",
                                                                        "node_selector",
                                                                        "taint",
                                                                        "host_port",
                                                                        "pod_affinity",
                                                                        "pod_anti_affinity",
                                                                        "obstacle",
                                                                        "larger_than_any_node",
                                                                        "queue_limit",
                                                                        "queue_quota",
                                                                        "queue_missing",
                                                                        "gang_incomplete",
                                                                        "gated",
                                                                        "plugin",
                                                                        "sub_group_missing",
                                                                        "not_tried",
                                                                        "reservation",
                                                                        "requeue_delay",
                                                                        "gpu_type_limit",
                                                                        "device_kind",
                                                                        "numa_alignment",
                                                                        "resource_claim",
                                                                        "topology",
                                                                        "vendor_device",
                                                                        "cell",
                                                                        "disruption_budget",
                                                                        "node_reserved",
                                                                        "dependency",
                                                                        "spread",
                                                                        "set_aside",
                                                                        "device_load",
                                                                        "power",
                                                                        "deadline"};
  return base::name_of_value(names, c, no_value);
}

std::string_view attempt_outcome_name(attempt_outcome o) noexcept {
  static constexpr std::array<std::string_view, 11> names{
      "placed",   "delayed",      "not_preemptible", "over_share",  "over_quota", "like_failed",
      "obstacle", "too_few_gpus", "no_victims",      "no_solution", "cut"};
  return base::name_of_value(names, o, no_value);
}

std::string_view reason_scope_name(reason_scope s) noexcept {
  static constexpr std::array<std::string_view, 6> names{"none", "node", "queue", "group", "cluster", "domain"};
  return base::name_of_value(names, s, no_value);
}

}  // namespace kaisched
