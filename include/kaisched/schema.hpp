#pragma once
/// @file
/// What tables and columns mean. The schema describes itself: validation, JSON, Python, the C header's enumerations and
/// the documentation all come from the lists here. Numbers are part of the ABI: lists only grow at their ends.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <kaisched/table.hpp>

namespace kaisched {

/// Kinds of tables.
enum class table_kind : std::uint32_t {
  resource = 1,
  topology = 2,
  queue = 3,
  node = 4,
  device = 5,
  pod_group = 6,
  sub_group = 7,
  pod = 8,
  numa_zone = 9,
  resource_claim = 10,
  device_quota = 11,
  device_class = 12,
  resource_slice = 13,
  slice_device = 14,
  claim_request = 15,
  disruption_budget = 16,
  reservation = 17,
  decision = 32,         ///< output of a session
  reason = 33,           ///< output of a session: why pods wait
  queue_share = 34,      ///< output of a session: quota, fair share and allocation per queue
  placement = 35,        ///< output of a session: where every pod is at the end
  statistic = 36,        ///< output of a session: counters per action
  quarantine = 37,       ///< output of a snapshot: rows of the input that were left out, and why
  attempt = 38,          ///< output of a session: what the actions that evict did for groups that waited
  sharing_group = 39,    ///< output of a session: devices that pods share, and what opened and closed them
  assumption = 40,       ///< output of a cluster: decisions that it has taken in and nobody has reported on
  conflict = 41,         ///< output of a cluster: what stood in the way of decisions that it was to take in
  candidate = 42,        ///< answer of a session: how the nodes stand for one pod
  remedy = 43,           ///< answer of a session: what would let groups that wait start
  certificate = 44,      ///< answer of a session: why a group cannot start, as a proof
  share_step = 45,       ///< answer of a session: how the fair share of a queue came about
  choice = 46,           ///< answer of a session: why a pod was put where it is
  victim = 47,           ///< answer of a session: why a pod had to leave or move
  forecast = 48,         ///< answer of a session: what would become of groups if the cluster had changed
  gap = 49,              ///< answer of a session: how far decisions are from the best possible
  scaling = 50,          ///< answer to kaisched::scale: what to add costs, what to give back saves
  node_addition = 51,    ///< answer to kaisched::scale: nodes to add
  scaled_group = 52,     ///< answer to kaisched::scale: what becomes of groups with the nodes
  returned_node = 53,    ///< answer to kaisched::scale: nodes that can be given back
  federated_place = 54,  ///< decision of a federation: who got a member
  federated_wait = 55,   ///< decision of a federation: who waits
  federated_queue = 56,  ///< output of a federation: queues over all members
  member_session = 57,   ///< decision of a federation: what members decided
  outcome = 58,          ///< output of a session: the net decision on each pod
};

/// What an input table does. Within one `apply` tables take effect in order, all of them or none.
enum class table_op : std::uint32_t {
  none = 0,    ///< output tables
  add = 1,     ///< every row is a new entity; columns that are absent take their defaults
  change = 2,  ///< every row names an entity; only the columns that are present change
  remove = 3,  ///< every row names an entity; only the naming columns are read
};

/// Life of a pod. Values are part of the ABI.
enum class pod_status : std::uint8_t {
  pending = 0,    ///< wants to be placed
  gated = 1,      ///< waits for something outside; asks for nothing
  allocated = 2,  ///< placed in this session, not reported
  pipelined = 3,  ///< holds a claim on resources that are being released
  binding = 4,    ///< decided, the host is binding it
  bound = 5,      ///< bound, not running
  running = 6,
  releasing = 7,           ///< terminating; its resources come free
  stuck_in_releasing = 8,  ///< terminating for too long: its resources do not count as coming free
  succeeded = 9,
  failed = 10,
  unknown = 11,
};
inline constexpr std::uint8_t pod_status_count = 12;
[[nodiscard]] std::string_view pod_status_name(pod_status s) noexcept;

/// Column numbers. `name` columns name the row's entity; a column that refers to another entity may be given as a
/// `string` (its name) or as `u64` (its id).
namespace col {
enum resource : std::uint32_t { resource_name = 1, resource_unit = 2 };
enum topology : std::uint32_t { topology_name = 1, topology_levels = 2, topology_primary = 3, topology_shapes = 4 };
enum queue : std::uint32_t {
  queue_name = 1,
  queue_parent = 2,
  queue_priority = 3,
  queue_created = 4,
  queue_quota = 5,
  queue_limit = 6,
  queue_over_quota_weight = 7,
  queue_usage = 8,
  queue_reclaim_min_runtime = 9,
  queue_preempt_min_runtime = 10,
  queue_max_runtime = 11,
  queue_gpu_limits = 12,
  queue_guarantee = 13,
  queue_reclaimable = 14,
  queue_hierarchy = 15,
  queue_node_groups = 16,
};
enum node : std::uint32_t {
  node_name = 1,
  node_capacity = 2,
  node_ready = 3,
  node_unschedulable = 4,
  node_labels = 5,
  node_taints = 6,
  node_gpu_memory = 7,
  node_numa_policy = 8,
  node_numa_scope = 9,
  node_claimable = 10,
  node_vendor_devices = 11,
  node_device_settings = 12,
  node_position = 13,
  node_power_idle = 14,
  node_power_max = 15,
  node_cpu_utilization = 16,
  node_cpu_deviation = 17,
  node_memory_utilization = 18,
  node_memory_deviation = 19,
  node_power_feeds = 20,
};
enum device : std::uint32_t {
  device_node = 1,
  device_index = 2,
  device_uuid = 3,
  device_model = 4,
  device_memory = 5,
  device_share = 6,
  device_numa = 7,
  device_healthy = 8,
  device_links = 9,
  device_sharing = 10,
  device_instances = 11,
  device_power_idle = 12,
  device_power_max = 13,
  device_utilization = 14,
  device_deviation = 15,
};
enum pod_group : std::uint32_t {
  pod_group_name = 1,
  pod_group_queue = 2,
  pod_group_priority = 3,
  pod_group_preemptible = 4,
  pod_group_created = 5,
  pod_group_min_member = 6,
  pod_group_min_sub_group = 7,
  pod_group_namespace = 8,
  pod_group_last_start = 9,
  pod_group_last_eviction = 10,
  pod_group_stale_since = 11,
  pod_group_preemption_delay = 12,
  pod_group_staleness_grace = 13,
  pod_group_runtime_estimate = 14,
  pod_group_topology = 15,
  pod_group_required_level = 16,
  pod_group_preferred_level = 17,
  pod_group_deadline = 18,
  pod_group_attained_service = 19,
  pod_group_max_runtime = 20,
  pod_group_requeue_delay = 21,
  pod_group_user = 22,
  pod_group_priority_class = 23,
  pod_group_evictions = 24,
  pod_group_semi_preemptible = 25,
  pod_group_disruption_budget = 26,
  pod_group_max_surge = 27,
  pod_group_after = 28,
  pod_group_checks = 29,
  pod_group_speedup = 30,
  pod_group_last_checkpoint = 31,
  pod_group_restart_cost = 32,
  pod_group_traffic = 33,
  pod_group_min_resources = 34,
  pod_group_searched = 35,
};
enum sub_group : std::uint32_t {
  sub_group_group = 1,
  sub_group_name = 2,
  sub_group_parent = 3,
  sub_group_min_member = 4,
  sub_group_min_sub_group = 5,
  sub_group_topology = 6,
  sub_group_required_level = 7,
  sub_group_preferred_level = 8,
  sub_group_unit = 9,
};
enum pod : std::uint32_t {
  pod_name = 1,
  pod_group_ref = 2,
  pod_sub_group = 3,
  pod_request = 4,
  pod_device_count = 5,
  pod_status_column = 6,
  pod_node = 7,
  pod_devices = 8,
  pod_created = 9,
  pod_priority = 10,
  pod_leader = 11,
  pod_node_selector = 12,
  pod_node_affinity = 13,
  pod_tolerations = 14,
  pod_affinity = 15,
  pod_anti_affinity = 16,
  pod_host_ports = 17,
  pod_labels = 18,
  pod_obstacle = 19,
  pod_nominated_node = 20,
  pod_gpu_memory = 21,
  pod_claims = 22,
  pod_numa_zones = 23,
  pod_qos = 24,
  pod_outdated = 25,
  pod_containers = 26,
  pod_claimed_gpus = 27,
  pod_sharing = 28,
  pod_device_requests = 29,
  pod_annotations = 30,
  pod_device_grants = 31,
  pod_mig_instances = 32,
  pod_disruption_budget = 33,
  pod_node_preferences = 34,
  pod_spread = 35,
  pod_preferences = 36,
  pod_load = 37,
  pod_nominated_since = 38,
};
enum numa_zone : std::uint32_t {
  numa_zone_node = 1,
  numa_zone_name = 2,
  numa_zone_capacity = 3,
  numa_zone_available = 4,
};
enum device_quota : std::uint32_t {
  device_quota_namespace = 1,
  device_quota_vendor = 2,
  device_quota_memory = 3,
  device_quota_cores = 4,
  device_quota_slots = 5,
};
enum resource_claim : std::uint32_t {
  resource_claim_name = 1,
  resource_claim_device_class = 2,
  resource_claim_count = 3,
  resource_claim_labels = 4,
  resource_claim_devices = 5,
  resource_claim_reserved_for = 6,
  resource_claim_node = 7,
  resource_claim_from_template = 8,
  resource_claim_constraints = 9,
  resource_claim_results = 10,
};
enum device_class : std::uint32_t {
  device_class_name = 1,
  device_class_selectors = 2,
};
enum resource_slice : std::uint32_t {
  resource_slice_name = 1,
  resource_slice_driver = 2,
  resource_slice_pool = 3,
  resource_slice_generation = 4,
  resource_slice_slices = 5,
  resource_slice_node = 6,
  resource_slice_node_selector = 7,
  resource_slice_all_nodes = 8,
  resource_slice_counters = 9,
};
enum slice_device : std::uint32_t {
  slice_device_name = 1,
  slice_device_slice = 2,
  slice_device_device = 3,
  slice_device_position = 4,
  slice_device_attributes = 5,
  slice_device_capacities = 6,
  slice_device_consumes = 7,
  slice_device_taints = 8,
  slice_device_shared = 9,
  slice_device_node = 10,
  slice_device_node_selector = 11,
  slice_device_all_nodes = 12,
};
enum claim_request : std::uint32_t {
  claim_request_name = 1,
  claim_request_claim = 2,
  claim_request_request = 3,
  claim_request_alternative = 4,
  claim_request_position = 5,
  claim_request_device_class = 6,
  claim_request_selectors = 7,
  claim_request_count = 8,
  claim_request_all = 9,
  claim_request_admin = 10,
  claim_request_tolerations = 11,
  claim_request_capacities = 12,
};
enum disruption_budget : std::uint32_t {
  disruption_budget_name = 1,
  disruption_budget_allowed = 2,
};
enum reservation : std::uint32_t {
  reservation_name = 1,
  reservation_nodes = 2,
  reservation_node_selector = 3,
  reservation_start = 4,
  reservation_end = 5,
  reservation_every = 6,
  reservation_queue = 7,
  reservation_group = 8,
  reservation_evict_before = 9,
};
enum decision : std::uint32_t {
  decision_kind = 1,
  decision_pod = 2,
  decision_group = 3,
  decision_node = 4,
  decision_devices = 5,
  decision_device_share = 6,
  decision_action = 7,
  decision_commit = 8,
  decision_pod_name = 9,
  decision_node_name = 10,
  decision_group_name = 11,
  decision_numa_zones = 12,
  decision_claim_devices = 13,
  decision_device_memory = 14,
  decision_sharing = 15,
  decision_device_grants = 16,
  decision_layout = 17,
  decision_gone = 18,
  decision_drain_cost = 19,
  decision_checks = 20,
};
enum reason : std::uint32_t {
  reason_group = 1,
  reason_group_name = 2,
  reason_pod = 3,
  reason_constraint = 4,
  reason_scope = 5,
  reason_subject = 6,
  reason_dimension = 7,
  reason_need = 8,
  reason_have = 9,
  reason_nodes = 10,
  reason_nearest = 11,
  reason_text = 12,
};
enum queue_share : std::uint32_t {
  share_queue = 1,
  share_queue_name = 2,
  share_parent = 3,
  share_quota = 4,
  share_limit = 5,
  share_fair_share = 6,
  share_request = 7,
  share_allocated = 8,
  share_pending_pods = 9,
  share_evictions = 10,
  share_evicted_pods = 11,
};
enum placement : std::uint32_t {
  placement_pod = 1,
  placement_pod_name = 2,
  placement_status = 3,
  placement_node = 4,
  placement_node_name = 5,
  placement_devices = 6,
  placement_numa_zones = 7,
};
enum statistic : std::uint32_t {
  statistic_action = 1,
  statistic_steps = 2,
  statistic_groups_tried = 3,
  statistic_groups_placed = 4,
  statistic_candidates = 5,
  statistic_filtered = 6,
  statistic_rollbacks = 7,
  statistic_simulations = 8,
};
enum attempt : std::uint32_t {
  attempt_action = 1,
  attempt_group = 2,
  attempt_group_name = 3,
  attempt_outcome = 4,
  attempt_sets = 5,
  attempt_refused = 6,
  attempt_spared = 7,
  attempt_budget = 8,
  attempt_steps = 9,
  attempt_cut = 10,
};
enum sharing_group : std::uint32_t {
  sharing_group_name = 1,
  sharing_group_node = 2,
  sharing_group_node_name = 3,
  sharing_group_device = 4,
  sharing_group_sharing = 5,
  sharing_group_state = 6,
  sharing_group_memory = 7,
  sharing_group_used = 8,
  sharing_group_allocated = 9,
  sharing_group_releasing = 10,
  sharing_group_pods = 11,
  sharing_group_opened_by = 12,
  sharing_group_closed_by = 13,
};
enum quarantine : std::uint32_t {
  quarantine_kind = 1,
  quarantine_owner = 2,
  quarantine_name = 3,
  quarantine_column = 4,
  quarantine_status = 5,
  quarantine_text = 6,
  quarantine_because_of = 7,
  quarantine_present = 8,
};
enum assumption : std::uint32_t {
  assumption_pod = 1,
  assumption_pod_name = 2,
  assumption_group = 3,
  assumption_group_name = 4,
  assumption_kind = 5,
  assumption_node = 6,
  assumption_node_name = 7,
  assumption_lost = 8,
};
enum conflict : std::uint32_t {
  conflict_commit = 1,
  conflict_kind = 2,
  conflict_subject = 3,
  conflict_name = 4,
  conflict_text = 5,
};
enum candidate : std::uint32_t {
  candidate_node = 1,
  candidate_node_name = 2,
  candidate_fits = 3,
  candidate_starts_now = 4,
  candidate_chosen = 5,
  candidate_score = 6,
  candidate_scores = 7,
  candidate_devices = 8,
  candidate_device_share = 9,
  candidate_constraint = 10,
  candidate_text = 11,
};
enum remedy : std::uint32_t {
  remedy_group = 1,
  remedy_group_name = 2,
  remedy_remedy = 3,
  remedy_change = 4,
  remedy_subject = 5,
  remedy_subject_name = 6,
  remedy_dimension = 7,
  remedy_before = 8,
  remedy_after = 9,
  remedy_text_before = 10,
  remedy_text_after = 11,
  remedy_starts = 12,
  remedy_action = 13,
  remedy_complete = 14,
  remedy_trials = 15,
  remedy_text = 16,
  remedy_sub_group = 17,
};
enum certificate : std::uint32_t {
  certificate_group = 1,
  certificate_group_name = 2,
  certificate_kind = 3,
  certificate_assumption = 4,
  certificate_constraint = 5,
  certificate_queue = 6,
  certificate_sub_group = 7,
  certificate_dimension = 8,
  certificate_need = 9,
  certificate_have = 10,
  certificate_topology = 11,
  certificate_level = 12,
  certificate_domain = 13,
  certificate_bound = 14,
  certificate_bound_dimension = 15,
  certificate_bound_most = 16,
  certificate_nodes = 17,
  certificate_text = 18,
  certificate_bound_kind = 19,
  certificate_pods = 20,
};
enum share_step : std::uint32_t {
  share_step_queue = 1,
  share_step_queue_name = 2,
  share_step_parent = 3,
  share_step_step = 4,
  share_step_dimension = 5,
  share_step_round = 6,
  share_step_priority = 7,
  share_step_weight = 8,
  share_step_usage = 9,
  share_step_proportion = 10,
  share_step_wanted = 11,
  share_step_before = 12,
  share_step_given = 13,
  share_step_after = 14,
  share_step_by = 15,
  share_step_text = 16,
};
enum choice : std::uint32_t {
  choice_pod = 1,
  choice_pod_name = 2,
  choice_what = 3,
  choice_node = 4,
  choice_node_name = 5,
  choice_runner_up = 6,
  choice_rule = 7,
  choice_plan = 8,
  choice_fitting = 9,
  choice_rank = 10,
  choice_margin = 11,
  choice_part = 12,
  choice_score = 13,
  choice_other_score = 14,
  choice_text = 15,
};
enum victim : std::uint32_t {
  victim_pod = 1,
  victim_pod_name = 2,
  victim_what = 3,
  victim_code = 4,
  victim_group = 5,
  victim_group_name = 6,
  victim_pods = 7,
  victim_action = 8,
  victim_commit = 9,
  victim_text = 10,
  victim_kind = 11,
};
enum forecast : std::uint32_t {
  forecast_group_name = 1,
  forecast_way = 2,
  forecast_starts = 3,
  forecast_action = 4,
  forecast_earliest = 5,
  forecast_expected = 6,
  forecast_knowledge = 7,
  forecast_ends_before = 8,
  forecast_starts_before = 9,
  forecast_reasons = 10,
  forecast_placed_pods = 11,
  forecast_placed_nodes = 12,
  forecast_displaced_pods = 13,
  forecast_displaced_groups = 14,
  forecast_text = 15,
  forecast_displaced_by = 16,
};
enum gap : std::uint32_t {
  gap_gap = 1,
  gap_kind = 2,
  gap_commit = 3,
  gap_action = 4,
  gap_group = 5,
  gap_group_name = 6,
  gap_pod = 7,
  gap_pod_name = 8,
  gap_pods = 9,
  gap_achieved = 10,
  gap_bound = 11,
  gap_distance = 12,
  gap_level = 13,
  gap_dimension = 14,
  gap_domain = 15,
  gap_too_small = 16,
  gap_price = 17,
  gap_per_victim = 18,
  gap_domain_bound = 19,
  gap_largest = 20,
};
enum scaling : std::uint32_t {
  scaling_cost = 1,
  scaling_lower_bound = 2,
  scaling_cheapest = 3,
  scaling_minimal = 4,
  scaling_other_pods = 5,
  scaling_verifications = 6,
  scaling_saved = 7,
  scaling_complete = 8,
  scaling_down_verifications = 9,
};
enum node_addition : std::uint32_t {
  node_addition_name = 1,
  node_addition_type = 2,
  node_addition_price = 3,
};
enum scaled_group : std::uint32_t {
  scaled_group_group_name = 1,
  scaled_group_queue = 2,
  scaled_group_waited = 3,
  scaled_group_placed = 4,
  scaled_group_helped = 5,
  scaled_group_placed_pods = 6,
  scaled_group_placed_nodes = 7,
  scaled_group_placed_by = 8,
  scaled_group_constraints = 9,
  scaled_group_reasons = 10,
};
enum returned_node : std::uint32_t {
  returned_node_name = 1,
  returned_node_type = 2,
  returned_node_price = 3,
  returned_node_returned = 4,
  returned_node_empty = 5,
  returned_node_moved_pods = 6,
  returned_node_moved_groups = 7,
  returned_node_moved_from = 8,
  returned_node_moved_to = 9,
  returned_node_keeps = 10,
};
enum federated_place : std::uint32_t {
  federated_place_group_name = 1,
  federated_place_queue = 2,
  federated_place_member = 3,
  federated_place_stage = 4,
  federated_place_by = 5,
  federated_place_runner_up = 6,
  federated_place_round = 7,
  federated_place_pods = 8,
  federated_place_returned = 9,
};
enum federated_wait : std::uint32_t {
  federated_wait_group_name = 1,
  federated_wait_queue = 2,
  federated_wait_limit = 3,
  federated_wait_members = 4,
  federated_wait_verdicts = 5,
  federated_wait_text = 6,
  federated_wait_expected_member = 7,
  federated_wait_expected = 8,
  federated_wait_returned = 9,
};
enum federated_queue : std::uint32_t {
  federated_queue_name = 1,
  federated_queue_parent = 2,
  federated_queue_quota = 3,
  federated_queue_limit = 4,
  federated_queue_allocated = 5,
};
enum member_session : std::uint32_t {
  member_session_member = 1,
  member_session_round = 2,
  member_session_digest = 3,
  member_session_text = 4,
};
}  // namespace col

/// Most bytes of a name. Longer ones are refused.
inline constexpr std::size_t max_name_size = 4096;

/// How many values a row of a column has.
enum class column_shape : std::uint8_t {
  one,         ///< one value
  dimensions,  ///< one value per resource dimension, in order of registration; fewer are padded with zero
  quotas,      ///< three values: cpu, memory, gpu
  ragged,      ///< a string or a list
};

/// Describes one column.
struct column_info {
  std::uint32_t id;
  std::string_view name;
  column_type type;  ///< for references: string; input may also give u64 ids
  column_shape shape;
  bool required;              ///< must be present in `add`
  entity_kind refers_to;      ///< the kind of entity that the values name, or none
  std::string_view unit;      ///< unit, or the form of the text
  std::string_view fallback;  ///< default, as text
  std::string_view doc;
};

/// Describes one kind of table.
struct table_info {
  table_kind kind;
  std::string_view name;
  bool input;
  std::string_view doc;
  std::span<const column_info> columns;
};

/// All kinds, in the order in which a cluster must be built up (and in which snapshots are written).
[[nodiscard]] std::span<const table_info> schema() noexcept;
/// One kind, or nullptr.
[[nodiscard]] const table_info* schema_of(std::uint32_t kind) noexcept;
/// One kind by name, or nullptr.
[[nodiscard]] const table_info* schema_of(std::string_view name) noexcept;

}  // namespace kaisched
