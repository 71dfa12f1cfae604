#pragma once
/// @file
/// What a session decided, and why pods wait. Outcomes are data: a session that places nothing has not failed.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

namespace kaisched {

/// Kind of a decision. Values are part of the ABI.
enum class decision_kind : std::uint8_t {
  bind = 1,      ///< start the pod on the node, now; with `checks` outstanding: hold the place until they are done
  pipeline = 2,  ///< hold the place: the pod starts when releasing resources are free
  evict = 3,     ///< stop the pod; of one that had a claim only: the claim is taken back, there is nothing to stop
  move = 4,      ///< stop the pod and hold a place for it on another node; of one that had a claim only: hold it there
  unschedulable = 5,  ///< the pod group waits; see its reasons
  migrate = 6,        ///< start a copy of the pod on the node, now, and stop the pod when the copy runs
  repartition = 7,    ///< divide a device of the node anew, once the pods that leave its instances are gone
};
[[nodiscard]] std::string_view decision_kind_name(decision_kind k) noexcept;

/// Actions, in the words of the KAI Scheduler where it has them. Values are part of the ABI.
enum class action_kind : std::uint8_t {
  none = 0,
  allocate = 1,
  consolidation = 2,
  reclaim = 3,
  preempt = 4,
  stale_gang_eviction = 5,
  backfill = 6,       ///< not one of KAI
  runtime_limit = 7,  ///< not one of KAI
  repartition = 8,    ///< not one of KAI
  over_limit = 9,     ///< not one of KAI
  resize = 10,        ///< not one of KAI
  vacate = 11,        ///< not one of KAI
};
[[nodiscard]] std::string_view action_name(action_kind a) noexcept;

/// Constraint that a reason is about. Values are part of the ABI.
enum class constraint : std::uint8_t {
  none = 0,
  resource = 1,               ///< a node has too little of a dimension, even counting what is being released
  resource_busy = 2,          ///< enough in total, but not in one piece (whole devices, or one device's share)
  node_not_ready = 3,         ///< the node is not ready
  node_unschedulable = 4,     ///< the node is cordoned
  node_selector = 5,          ///< node selector or required node affinity
  taint = 6,                  ///< a taint that the pod does not tolerate
  host_port = 7,              ///< the port is taken on the node
  pod_affinity = 8,           ///< required pod affinity
  pod_anti_affinity = 9,      ///< required anti-affinity, of this pod or of a pod on the node
  obstacle = 10,              ///< something that no eviction can remove, such as a missing volume claim
  larger_than_any_node = 11,  ///< the request exceeds the largest node of the cluster
  queue_limit = 12,           ///< a queue on the path would pass its limit
  queue_quota = 13,           ///< a non-preemptible group would pass the quota of a queue on its path
  queue_missing = 14,         ///< the group's queue does not exist or has child queues
  gang_incomplete = 15,       ///< fewer pods exist than the gang needs
  gated = 16,                 ///< pods are gated
  plugin = 17,                ///< a plug-in refused the node
  sub_group_missing = 18,     ///< pods name a sub-group that does not exist or that has children
  not_tried = 19,             ///< a node would take the pod, but no action has tried to start the group
  reservation = 20,           ///< there is a place, but the group at the head of the queue order would start later
  requeue_delay = 21,         ///< the group was evicted and waits for its delay
  gpu_type_limit = 22,        ///< a queue on the path would pass its limit for the GPUs of the node
  device_kind = 23,           ///< devices of another kind: divided or not, or their memory is not known
  numa_alignment = 24,        ///< the NUMA zones of the node cannot align the pod as its policy demands
  resource_claim = 25,        ///< claims of the pod may not be used, or the node has no devices for them
  topology = 26,              ///< no domain of the topology has room for all pods that must be together
  vendor_device = 27,         ///< the devices that are shared by the rules of their vendor do not suffice
  cell = 28,                  ///< the cells that a virtual cluster owns do not suffice
  disruption_budget = 29,     ///< pods that would have to leave or move are more than their budget allows
  node_reserved = 30,         ///< the node is reserved for others, or will be before the group is expected to end
  dependency = 31,            ///< a group that it comes after has not begun, or not ended, as it should
  spread = 32,                ///< pods like it would be spread less evenly than they must be
  set_aside = 33,             ///< what the node would have left is set aside for its free GPUs
  device_load = 34,           ///< pods that share the devices of the node put too much on them already
  power = 35,                 ///< a feed of the node has too little power left for the pod
  deadline = 36,              ///< the group would end after its deadline, beside those that have been promised theirs
};
inline constexpr std::uint8_t constraint_count = 37;
[[nodiscard]] std::string_view constraint_name(constraint c) noexcept;

/// Where a constraint applies.
enum class reason_scope : std::uint8_t { node = 1, queue = 2, group = 3, cluster = 4, domain = 5 };
[[nodiscard]] std::string_view reason_scope_name(reason_scope s) noexcept;

/// One reason why a pod group waits. Text is rendered from these figures, never the other way round.
struct reason {
  group_row group = no_row;
  pod_row pod = no_row;  ///< the first pod that found no place, or no_row
  constraint what = constraint::none;
  reason_scope scope = reason_scope::cluster;
  entity_id subject{};        ///< the queue that refuses, the group that has a reservation, or none
  dimension dim = no_row;     ///< the dimension that is short, or no_row
  std::int64_t need = 0;      ///< in the unit of the dimension (pods for gangs and domains)
  std::int64_t have = 0;      ///< most that one node (or the queue, the domain) still has; -1: not counted
  std::uint32_t nodes = 0;    ///< number of nodes, or of domains, that refuse for this reason
  node_row nearest = no_row;  ///< the node that misses the least, or no_row

  friend bool operator==(const reason&, const reason&) = default;
};

/// Devices of one node as a set of indices, with the share taken of each.
struct device_set {
  std::uint64_t mask = 0;  ///< bit i: device i of the node
  std::int64_t share = 0;  ///< milli-GPU taken of each device in the mask

  friend bool operator==(const device_set&, const device_set&) = default;
};

/// One decision.
struct decision {
  decision_kind kind = decision_kind::bind;
  action_kind action = action_kind::none;
  std::uint32_t commit =
      0;                 ///< number of the committed statement, from 1; decisions of one commit stand or fall together
  pod_row pod = no_row;  ///< no_row for unschedulable and repartition
  group_row group = no_row;
  node_row node = no_row;                    ///< target; for evict the node that the pod leaves
  device_set devices{};                      ///< for repartition the device that is divided
  std::uint64_t numa_zones = 0;              ///< bit i: NUMA zone i of the node
  std::vector<std::string> claim_devices{};  ///< `claim=driver/pool/device`, in the order of the pod's claims
  /// `container=0,device=ID,...`, of devices that vendors' rules share; `cell=rack,number=0,gpus=0+1`, where the pod is
  /// in the cells of its virtual cluster.
  std::vector<std::string> device_grants{};
  std::vector<std::string> layout{};  ///< repartition: `profile@start` of all instances that the device has then
  std::vector<std::string> gone{};    ///< repartition: those that it has no more
  std::int64_t drain_cost = 0;        ///< repartition: milli-GPU of the instances that pods have to leave

  friend bool operator==(const decision&, const decision&) = default;
};

/// How the search of an action that evicts ended for one group that waits.
enum class attempt_outcome : std::uint8_t {
  placed,           ///< its chunk was placed
  delayed,          ///< its preemption delay is not over
  not_preemptible,  ///< the action makes room for preemptible groups only
  over_share,       ///< its queue would hold more than it may reclaim
  over_quota,       ///< non-preemptible pods of a queue would hold more than its quota
  like_failed,      ///< a group like it had just failed
  obstacle,         ///< an eviction would not remove what is in the way
  too_few_gpus,     ///< all nodes together have fewer GPUs free than the chunk asks for
  no_victims,       ///< no pods that it may take would be enough: no set of victims was tried
  no_solution,      ///< no set of victims that was tried is a solution
  cut,              ///< the same, and no steps were left to try all sets, or any
};
[[nodiscard]] std::string_view attempt_outcome_name(attempt_outcome o) noexcept;

/// What an action that evicts did for one group that waited.
struct eviction_attempt {
  action_kind action = action_kind::none;
  group_row group = no_row;
  attempt_outcome outcome = attempt_outcome::no_solution;
  std::uint64_t sets = 0;     ///< sets of victims that were tried
  std::uint64_t refused = 0;  ///< of these, made room but were refused by the rules of the action
  std::uint64_t steps = 0;    ///< that the search took (option `search_steps`)
  bool cut = false;           ///< no steps were left before the search had come to its end, or before it began
  bool spared = false;        ///< a group was left alone because of its minimum runtime
  std::string budget{};       ///< a disruption budget that did not let pods go; empty: none was in the way

  friend bool operator==(const eviction_attempt&, const eviction_attempt&) = default;
};

}  // namespace kaisched
