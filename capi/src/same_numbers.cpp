/// @file
/// Proof that the C header says the same as the C++ headers: layouts and every number. Nothing here runs.

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <kaisched/kaisched.h>
#include <kaisched/kaisched.hpp>

namespace kaisched::capi {
namespace {

// ---- layouts: tables cross the boundary as they are ----------------------------------------------------------------

static_assert(sizeof(kaisched_col) == 32 && sizeof(kaisched_col) == sizeof(column_view));
static_assert(alignof(kaisched_col) == alignof(column_view));
static_assert(std::is_trivially_copyable_v<column_view> && std::is_standard_layout_v<column_view>);
static_assert(std::is_standard_layout_v<table_view>);
#define SAME_PLACE(c_type, c_member, type, member)                      \
  static_assert(offsetof(c_type, c_member) == offsetof(type, member) && \
                sizeof(c_type::c_member) == sizeof(type::member) && alignof(c_type) == alignof(type))
SAME_PLACE(kaisched_col, id, column_view, id);
SAME_PLACE(kaisched_col, type, column_view, type);
SAME_PLACE(kaisched_col, width, column_view, width);
SAME_PLACE(kaisched_col, flags, column_view, flags);
SAME_PLACE(kaisched_col, data, column_view, data);
SAME_PLACE(kaisched_col, offsets, column_view, offsets);
static_assert(sizeof(kaisched_table) == 32 && sizeof(kaisched_table) == sizeof(table_view));
SAME_PLACE(kaisched_table, struct_size, table_view, struct_size);
SAME_PLACE(kaisched_table, kind, table_view, kind);
SAME_PLACE(kaisched_table, op, table_view, op);
SAME_PLACE(kaisched_table, column_count, table_view, column_count);
SAME_PLACE(kaisched_table, rows, table_view, rows);
SAME_PLACE(kaisched_table, columns, table_view, columns);
#undef SAME_PLACE

static_assert(sizeof(kaisched_error) == 256 && offsetof(kaisched_error, message) == 24);
static_assert(sizeof(kaisched_id) == sizeof(entity_id) && sizeof(kaisched_status) == sizeof(status));
static_assert(sizeof(kaisched_kv) == 2 * sizeof(void*));

// ---- numbers -------------------------------------------------------------------------------------------------------

#define SAME(c_number, number) static_assert(static_cast<std::int64_t>(c_number) == static_cast<std::int64_t>(number))

constexpr int KAISCHED_E_OK = KAISCHED_OK;  // the list below has one pattern for all names
#define SAME_STATUS(name, upper, number, text) SAME(KAISCHED_E_##upper, status::name);
KAISCHED_STATUS_MAP(SAME_STATUS)
#undef SAME_STATUS

SAME(KAISCHED_TYPE_U8, column_type::u8);
SAME(KAISCHED_TYPE_U32, column_type::u32);
SAME(KAISCHED_TYPE_I64, column_type::i64);
SAME(KAISCHED_TYPE_U64, column_type::u64);
SAME(KAISCHED_TYPE_F64, column_type::f64);
SAME(KAISCHED_TYPE_STRING, column_type::string);
SAME(KAISCHED_TYPE_STRING_LIST, column_type::string_list);
SAME(KAISCHED_TYPE_I64_LIST, column_type::i64_list);
SAME(KAISCHED_SHAPE_ONE, column_shape::one);
SAME(KAISCHED_SHAPE_DIMENSIONS, column_shape::dimensions);
SAME(KAISCHED_SHAPE_QUOTAS, column_shape::quotas);
SAME(KAISCHED_SHAPE_RAGGED, column_shape::ragged);
SAME(KAISCHED_COLUMN_OPTIONAL, column_optional);

SAME(KAISCHED_OP_NONE, table_op::none);
SAME(KAISCHED_OP_ADD, table_op::add);
SAME(KAISCHED_OP_CHANGE, table_op::change);
SAME(KAISCHED_OP_REMOVE, table_op::remove);

SAME(KAISCHED_KIND_NONE, entity_kind::none);
SAME(KAISCHED_KIND_RESOURCE, entity_kind::resource);
SAME(KAISCHED_KIND_TOPOLOGY, entity_kind::topology);
SAME(KAISCHED_KIND_QUEUE, entity_kind::queue);
SAME(KAISCHED_KIND_NODE, entity_kind::node);
SAME(KAISCHED_KIND_DEVICE, entity_kind::device);
SAME(KAISCHED_KIND_POD_GROUP, entity_kind::pod_group);
SAME(KAISCHED_KIND_SUB_GROUP, entity_kind::sub_group);
SAME(KAISCHED_KIND_POD, entity_kind::pod);
SAME(KAISCHED_KIND_NUMA_ZONE, entity_kind::numa_zone);
SAME(KAISCHED_KIND_RESOURCE_CLAIM, entity_kind::resource_claim);
SAME(KAISCHED_KIND_DEVICE_QUOTA, entity_kind::device_quota);

SAME(KAISCHED_POD_STATUS_PENDING, pod_status::pending);
SAME(KAISCHED_POD_STATUS_GATED, pod_status::gated);
SAME(KAISCHED_POD_STATUS_ALLOCATED, pod_status::allocated);
SAME(KAISCHED_POD_STATUS_PIPELINED, pod_status::pipelined);
SAME(KAISCHED_POD_STATUS_BINDING, pod_status::binding);
SAME(KAISCHED_POD_STATUS_BOUND, pod_status::bound);
SAME(KAISCHED_POD_STATUS_RUNNING, pod_status::running);
SAME(KAISCHED_POD_STATUS_RELEASING, pod_status::releasing);
SAME(KAISCHED_POD_STATUS_STUCK_IN_RELEASING, pod_status::stuck_in_releasing);
SAME(KAISCHED_POD_STATUS_SUCCEEDED, pod_status::succeeded);
SAME(KAISCHED_POD_STATUS_FAILED, pod_status::failed);
SAME(KAISCHED_POD_STATUS_UNKNOWN, pod_status::unknown);
static_assert(KAISCHED_POD_STATUS_UNKNOWN + 1 == pod_status_count, "the C header lacks a status of pods");

SAME(KAISCHED_DECISION_BIND, decision_kind::bind);
SAME(KAISCHED_DECISION_PIPELINE, decision_kind::pipeline);
SAME(KAISCHED_DECISION_EVICT, decision_kind::evict);
SAME(KAISCHED_DECISION_MOVE, decision_kind::move);
SAME(KAISCHED_DECISION_MIGRATE, decision_kind::migrate);
SAME(KAISCHED_DECISION_REPARTITION, decision_kind::repartition);
SAME(KAISCHED_DECISION_UNSCHEDULABLE, decision_kind::unschedulable);

SAME(KAISCHED_ACTION_NONE, action_kind::none);
SAME(KAISCHED_ACTION_ALLOCATE, action_kind::allocate);
SAME(KAISCHED_ACTION_CONSOLIDATION, action_kind::consolidation);
SAME(KAISCHED_ACTION_RECLAIM, action_kind::reclaim);
SAME(KAISCHED_ACTION_PREEMPT, action_kind::preempt);
SAME(KAISCHED_ACTION_STALE_GANG_EVICTION, action_kind::stale_gang_eviction);
SAME(KAISCHED_ACTION_BACKFILL, action_kind::backfill);
SAME(KAISCHED_ACTION_RUNTIME_LIMIT, action_kind::runtime_limit);
SAME(KAISCHED_ACTION_REPARTITION, action_kind::repartition);
SAME(KAISCHED_ACTION_OVER_LIMIT, action_kind::over_limit);
SAME(KAISCHED_ACTION_RESIZE, action_kind::resize);
SAME(KAISCHED_ACTION_VACATE, action_kind::vacate);

SAME(KAISCHED_CONSTRAINT_NONE, constraint::none);
SAME(KAISCHED_CONSTRAINT_RESOURCE, constraint::resource);
SAME(KAISCHED_CONSTRAINT_RESOURCE_BUSY, constraint::resource_busy);
SAME(KAISCHED_CONSTRAINT_NODE_NOT_READY, constraint::node_not_ready);
SAME(KAISCHED_CONSTRAINT_NODE_UNSCHEDULABLE, constraint::node_unschedulable);
SAME(KAISCHED_CONSTRAINT_NODE_SELECTOR, constraint::node_selector);
SAME(KAISCHED_CONSTRAINT_TAINT, constraint::taint);
SAME(KAISCHED_CONSTRAINT_HOST_PORT, constraint::host_port);
SAME(KAISCHED_CONSTRAINT_POD_AFFINITY, constraint::pod_affinity);
SAME(KAISCHED_CONSTRAINT_POD_ANTI_AFFINITY, constraint::pod_anti_affinity);
SAME(KAISCHED_CONSTRAINT_OBSTACLE, constraint::obstacle);
SAME(KAISCHED_CONSTRAINT_LARGER_THAN_ANY_NODE, constraint::larger_than_any_node);
SAME(KAISCHED_CONSTRAINT_QUEUE_LIMIT, constraint::queue_limit);
SAME(KAISCHED_CONSTRAINT_QUEUE_QUOTA, constraint::queue_quota);
SAME(KAISCHED_CONSTRAINT_QUEUE_MISSING, constraint::queue_missing);
SAME(KAISCHED_CONSTRAINT_GANG_INCOMPLETE, constraint::gang_incomplete);
SAME(KAISCHED_CONSTRAINT_GATED, constraint::gated);
SAME(KAISCHED_CONSTRAINT_PLUGIN, constraint::plugin);
SAME(KAISCHED_CONSTRAINT_SUB_GROUP_MISSING, constraint::sub_group_missing);
SAME(KAISCHED_CONSTRAINT_NOT_TRIED, constraint::not_tried);
SAME(KAISCHED_CONSTRAINT_RESERVATION, constraint::reservation);
SAME(KAISCHED_CONSTRAINT_REQUEUE_DELAY, constraint::requeue_delay);
SAME(KAISCHED_CONSTRAINT_GPU_TYPE_LIMIT, constraint::gpu_type_limit);
SAME(KAISCHED_CONSTRAINT_DEVICE_KIND, constraint::device_kind);
SAME(KAISCHED_CONSTRAINT_NUMA_ALIGNMENT, constraint::numa_alignment);
SAME(KAISCHED_CONSTRAINT_RESOURCE_CLAIM, constraint::resource_claim);
SAME(KAISCHED_CONSTRAINT_TOPOLOGY, constraint::topology);
SAME(KAISCHED_CONSTRAINT_VENDOR_DEVICE, constraint::vendor_device);
SAME(KAISCHED_CONSTRAINT_CELL, constraint::cell);
SAME(KAISCHED_CONSTRAINT_DISRUPTION_BUDGET, constraint::disruption_budget);
SAME(KAISCHED_CONSTRAINT_NODE_RESERVED, constraint::node_reserved);
SAME(KAISCHED_CONSTRAINT_DEPENDENCY, constraint::dependency);
SAME(KAISCHED_CONSTRAINT_SPREAD, constraint::spread);
SAME(KAISCHED_CONSTRAINT_SET_ASIDE, constraint::set_aside);
SAME(KAISCHED_CONSTRAINT_DEVICE_LOAD, constraint::device_load);
SAME(KAISCHED_CONSTRAINT_POWER, constraint::power);
SAME(KAISCHED_CONSTRAINT_DEADLINE, constraint::deadline);
static_assert(KAISCHED_CONSTRAINT_DEADLINE + 1 == constraint_count, "the C header lacks a constraint");

SAME(KAISCHED_SCOPE_NODE, reason_scope::node);
SAME(KAISCHED_SCOPE_QUEUE, reason_scope::queue);
SAME(KAISCHED_SCOPE_GROUP, reason_scope::group);
SAME(KAISCHED_SCOPE_CLUSTER, reason_scope::cluster);
SAME(KAISCHED_SCOPE_DOMAIN, reason_scope::domain);
SAME(KAISCHED_FORGET_FAILED, forget_reason::failed);
SAME(KAISCHED_FORGET_LOST, forget_reason::lost);

SAME(KAISCHED_SCALE_SEARCH, scale_strategy::search);
SAME(KAISCHED_SCALE_FIRST_FIT, scale_strategy::first_fit);

SAME(KAISCHED_MEMBER_PREFERENCE, member_criterion::preference);
SAME(KAISCHED_MEMBER_DATA, member_criterion::data);
SAME(KAISCHED_MEMBER_PRICE, member_criterion::price);
SAME(KAISCHED_MEMBER_ENTITLEMENT, member_criterion::entitlement);
SAME(KAISCHED_MEMBER_WAIT, member_criterion::wait);
SAME(KAISCHED_MEMBER_FIT, member_criterion::fit);

SAME(KAISCHED_FIT_PACK, member_fit::pack);
SAME(KAISCHED_FIT_SPREAD, member_fit::spread);

SAME(KAISCHED_STAGE_WAITS, group_stage::waits);
SAME(KAISCHED_STAGE_STARTS, group_stage::starts);
SAME(KAISCHED_STAGE_CLAIMS, group_stage::claims);
SAME(KAISCHED_STAGE_OFFERED, group_stage::offered);
SAME(KAISCHED_STAGE_RUNS, group_stage::runs);

SAME(KAISCHED_OPTION_BOOLEAN, option_type::boolean);
SAME(KAISCHED_OPTION_INTEGER, option_type::integer);
SAME(KAISCHED_OPTION_NUMBER, option_type::number);
SAME(KAISCHED_OPTION_CHOICE, option_type::choice);
SAME(KAISCHED_OPTION_LIST, option_type::list);

SAME(KAISCHED_OPTION_TARGET_ENGINE, option_target::engine);
SAME(KAISCHED_OPTION_TARGET_CLUSTER, option_target::cluster);

SAME(KAISCHED_DIM_CPU, dim_cpu);
SAME(KAISCHED_DIM_MEMORY, dim_memory);
SAME(KAISCHED_DIM_GPU, dim_gpu);
SAME(KAISCHED_DIM_PODS, dim_pods);
SAME(KAISCHED_BUILT_IN_DIMENSIONS, built_in_dimensions);
SAME(KAISCHED_MAX_DIMENSIONS, max_dimensions);
SAME(KAISCHED_QUOTA_DIMENSIONS, quota_dimensions);
SAME(KAISCHED_MAX_DEVICES_PER_NODE, max_devices_per_node);
SAME(KAISCHED_WHOLE_DEVICE, whole_device);
SAME(KAISCHED_UNLIMITED, unlimited);
SAME(KAISCHED_UNSET, unset);
SAME(KAISCHED_MAX_AMOUNT, max_amount);

SAME(KAISCHED_TABLE_RESOURCE, table_kind::resource);
SAME(KAISCHED_TABLE_TOPOLOGY, table_kind::topology);
SAME(KAISCHED_TABLE_QUEUE, table_kind::queue);
SAME(KAISCHED_TABLE_NODE, table_kind::node);
SAME(KAISCHED_TABLE_DEVICE, table_kind::device);
SAME(KAISCHED_TABLE_POD_GROUP, table_kind::pod_group);
SAME(KAISCHED_TABLE_SUB_GROUP, table_kind::sub_group);
SAME(KAISCHED_TABLE_POD, table_kind::pod);
SAME(KAISCHED_TABLE_NUMA_ZONE, table_kind::numa_zone);
SAME(KAISCHED_TABLE_RESOURCE_CLAIM, table_kind::resource_claim);
SAME(KAISCHED_TABLE_DEVICE_QUOTA, table_kind::device_quota);
SAME(KAISCHED_TABLE_DEVICE_CLASS, table_kind::device_class);
SAME(KAISCHED_TABLE_RESOURCE_SLICE, table_kind::resource_slice);
SAME(KAISCHED_TABLE_SLICE_DEVICE, table_kind::slice_device);
SAME(KAISCHED_TABLE_CLAIM_REQUEST, table_kind::claim_request);
SAME(KAISCHED_TABLE_DISRUPTION_BUDGET, table_kind::disruption_budget);
SAME(KAISCHED_TABLE_RESERVATION, table_kind::reservation);
SAME(KAISCHED_TABLE_DECISION, table_kind::decision);
SAME(KAISCHED_TABLE_REASON, table_kind::reason);
SAME(KAISCHED_TABLE_QUEUE_SHARE, table_kind::queue_share);
SAME(KAISCHED_TABLE_PLACEMENT, table_kind::placement);
SAME(KAISCHED_TABLE_STATISTIC, table_kind::statistic);
SAME(KAISCHED_TABLE_ATTEMPT, table_kind::attempt);
SAME(KAISCHED_TABLE_SHARING_GROUP, table_kind::sharing_group);
SAME(KAISCHED_TABLE_ASSUMPTION, table_kind::assumption);
SAME(KAISCHED_TABLE_CONFLICT, table_kind::conflict);
SAME(KAISCHED_TABLE_CANDIDATE, table_kind::candidate);
SAME(KAISCHED_TABLE_REMEDY, table_kind::remedy);
SAME(KAISCHED_TABLE_CERTIFICATE, table_kind::certificate);
SAME(KAISCHED_TABLE_SHARE_STEP, table_kind::share_step);
SAME(KAISCHED_TABLE_CHOICE, table_kind::choice);
SAME(KAISCHED_TABLE_VICTIM, table_kind::victim);
SAME(KAISCHED_TABLE_FORECAST, table_kind::forecast);
SAME(KAISCHED_TABLE_GAP, table_kind::gap);
SAME(KAISCHED_TABLE_SCALING, table_kind::scaling);
SAME(KAISCHED_TABLE_OUTCOME, table_kind::outcome);
SAME(KAISCHED_TABLE_NODE_ADDITION, table_kind::node_addition);
SAME(KAISCHED_TABLE_SCALED_GROUP, table_kind::scaled_group);
SAME(KAISCHED_TABLE_RETURNED_NODE, table_kind::returned_node);
SAME(KAISCHED_TABLE_FEDERATED_PLACE, table_kind::federated_place);
SAME(KAISCHED_TABLE_FEDERATED_WAIT, table_kind::federated_wait);
SAME(KAISCHED_TABLE_FEDERATED_QUEUE, table_kind::federated_queue);
SAME(KAISCHED_TABLE_MEMBER_SESSION, table_kind::member_session);
SAME(KAISCHED_TABLE_QUARANTINE, table_kind::quarantine);

SAME(KAISCHED_RESOURCE_COL_NAME, col::resource_name);
SAME(KAISCHED_RESOURCE_COL_UNIT, col::resource_unit);

SAME(KAISCHED_TOPOLOGY_COL_NAME, col::topology_name);
SAME(KAISCHED_TOPOLOGY_COL_LEVELS, col::topology_levels);
SAME(KAISCHED_TOPOLOGY_COL_PRIMARY, col::topology_primary);
SAME(KAISCHED_TOPOLOGY_COL_SHAPES, col::topology_shapes);

SAME(KAISCHED_QUEUE_COL_NAME, col::queue_name);
SAME(KAISCHED_QUEUE_COL_PARENT, col::queue_parent);
SAME(KAISCHED_QUEUE_COL_PRIORITY, col::queue_priority);
SAME(KAISCHED_QUEUE_COL_CREATED, col::queue_created);
SAME(KAISCHED_QUEUE_COL_QUOTA, col::queue_quota);
SAME(KAISCHED_QUEUE_COL_LIMIT, col::queue_limit);
SAME(KAISCHED_QUEUE_COL_OVER_QUOTA_WEIGHT, col::queue_over_quota_weight);
SAME(KAISCHED_QUEUE_COL_USAGE, col::queue_usage);
SAME(KAISCHED_QUEUE_COL_RECLAIM_MIN_RUNTIME, col::queue_reclaim_min_runtime);
SAME(KAISCHED_QUEUE_COL_PREEMPT_MIN_RUNTIME, col::queue_preempt_min_runtime);
SAME(KAISCHED_QUEUE_COL_MAX_RUNTIME, col::queue_max_runtime);
SAME(KAISCHED_QUEUE_COL_GPU_LIMITS, col::queue_gpu_limits);
SAME(KAISCHED_QUEUE_COL_GUARANTEE, col::queue_guarantee);
SAME(KAISCHED_QUEUE_COL_RECLAIMABLE, col::queue_reclaimable);
SAME(KAISCHED_QUEUE_COL_HIERARCHY, col::queue_hierarchy);
SAME(KAISCHED_QUEUE_COL_NODE_GROUPS, col::queue_node_groups);

SAME(KAISCHED_NODE_COL_NAME, col::node_name);
SAME(KAISCHED_NODE_COL_CAPACITY, col::node_capacity);
SAME(KAISCHED_NODE_COL_READY, col::node_ready);
SAME(KAISCHED_NODE_COL_UNSCHEDULABLE, col::node_unschedulable);
SAME(KAISCHED_NODE_COL_LABELS, col::node_labels);
SAME(KAISCHED_NODE_COL_TAINTS, col::node_taints);
SAME(KAISCHED_NODE_COL_GPU_MEMORY, col::node_gpu_memory);
SAME(KAISCHED_NODE_COL_NUMA_POLICY, col::node_numa_policy);
SAME(KAISCHED_NODE_COL_NUMA_SCOPE, col::node_numa_scope);
SAME(KAISCHED_NODE_COL_CLAIMABLE, col::node_claimable);
SAME(KAISCHED_NODE_COL_VENDOR_DEVICES, col::node_vendor_devices);
SAME(KAISCHED_NODE_COL_DEVICE_SETTINGS, col::node_device_settings);
SAME(KAISCHED_NODE_COL_POSITION, col::node_position);
SAME(KAISCHED_NODE_COL_POWER_FEEDS, col::node_power_feeds);

SAME(KAISCHED_DEVICE_COL_NODE, col::device_node);
SAME(KAISCHED_DEVICE_COL_INDEX, col::device_index);
SAME(KAISCHED_DEVICE_COL_UUID, col::device_uuid);
SAME(KAISCHED_DEVICE_COL_MODEL, col::device_model);
SAME(KAISCHED_DEVICE_COL_MEMORY, col::device_memory);
SAME(KAISCHED_DEVICE_COL_SHARE, col::device_share);
SAME(KAISCHED_DEVICE_COL_NUMA, col::device_numa);
SAME(KAISCHED_DEVICE_COL_HEALTHY, col::device_healthy);
SAME(KAISCHED_DEVICE_COL_LINKS, col::device_links);
SAME(KAISCHED_DEVICE_COL_SHARING, col::device_sharing);
SAME(KAISCHED_DEVICE_COL_INSTANCES, col::device_instances);

SAME(KAISCHED_POD_GROUP_COL_NAME, col::pod_group_name);
SAME(KAISCHED_POD_GROUP_COL_QUEUE, col::pod_group_queue);
SAME(KAISCHED_POD_GROUP_COL_PRIORITY, col::pod_group_priority);
SAME(KAISCHED_POD_GROUP_COL_PREEMPTIBLE, col::pod_group_preemptible);
SAME(KAISCHED_POD_GROUP_COL_CREATED, col::pod_group_created);
SAME(KAISCHED_POD_GROUP_COL_MIN_MEMBER, col::pod_group_min_member);
SAME(KAISCHED_POD_GROUP_COL_MIN_SUB_GROUP, col::pod_group_min_sub_group);
SAME(KAISCHED_POD_GROUP_COL_NAMESPACE, col::pod_group_namespace);
SAME(KAISCHED_POD_GROUP_COL_LAST_START, col::pod_group_last_start);
SAME(KAISCHED_POD_GROUP_COL_LAST_EVICTION, col::pod_group_last_eviction);
SAME(KAISCHED_POD_GROUP_COL_STALE_SINCE, col::pod_group_stale_since);
SAME(KAISCHED_POD_GROUP_COL_PREEMPTION_DELAY, col::pod_group_preemption_delay);
SAME(KAISCHED_POD_GROUP_COL_STALENESS_GRACE, col::pod_group_staleness_grace);
SAME(KAISCHED_POD_GROUP_COL_RUNTIME_ESTIMATE, col::pod_group_runtime_estimate);
SAME(KAISCHED_POD_GROUP_COL_TOPOLOGY, col::pod_group_topology);
SAME(KAISCHED_POD_GROUP_COL_REQUIRED_LEVEL, col::pod_group_required_level);
SAME(KAISCHED_POD_GROUP_COL_PREFERRED_LEVEL, col::pod_group_preferred_level);
SAME(KAISCHED_POD_GROUP_COL_DEADLINE, col::pod_group_deadline);
SAME(KAISCHED_POD_GROUP_COL_ATTAINED_SERVICE, col::pod_group_attained_service);
SAME(KAISCHED_POD_GROUP_COL_MAX_RUNTIME, col::pod_group_max_runtime);
SAME(KAISCHED_POD_GROUP_COL_REQUEUE_DELAY, col::pod_group_requeue_delay);
SAME(KAISCHED_POD_GROUP_COL_USER, col::pod_group_user);
SAME(KAISCHED_POD_GROUP_COL_PRIORITY_CLASS, col::pod_group_priority_class);
SAME(KAISCHED_POD_GROUP_COL_EVICTIONS, col::pod_group_evictions);
SAME(KAISCHED_POD_GROUP_COL_AFTER, col::pod_group_after);
SAME(KAISCHED_POD_GROUP_COL_CHECKS, col::pod_group_checks);
SAME(KAISCHED_POD_GROUP_COL_SPEEDUP, col::pod_group_speedup);
SAME(KAISCHED_POD_GROUP_COL_LAST_CHECKPOINT, col::pod_group_last_checkpoint);
SAME(KAISCHED_POD_GROUP_COL_RESTART_COST, col::pod_group_restart_cost);
SAME(KAISCHED_POD_GROUP_COL_TRAFFIC, col::pod_group_traffic);
SAME(KAISCHED_POD_GROUP_COL_MIN_RESOURCES, col::pod_group_min_resources);
SAME(KAISCHED_POD_GROUP_COL_SEARCHED, col::pod_group_searched);

SAME(KAISCHED_SUB_GROUP_COL_GROUP, col::sub_group_group);
SAME(KAISCHED_SUB_GROUP_COL_NAME, col::sub_group_name);
SAME(KAISCHED_SUB_GROUP_COL_PARENT, col::sub_group_parent);
SAME(KAISCHED_SUB_GROUP_COL_MIN_MEMBER, col::sub_group_min_member);
SAME(KAISCHED_SUB_GROUP_COL_MIN_SUB_GROUP, col::sub_group_min_sub_group);
SAME(KAISCHED_SUB_GROUP_COL_TOPOLOGY, col::sub_group_topology);
SAME(KAISCHED_SUB_GROUP_COL_REQUIRED_LEVEL, col::sub_group_required_level);
SAME(KAISCHED_SUB_GROUP_COL_PREFERRED_LEVEL, col::sub_group_preferred_level);
SAME(KAISCHED_SUB_GROUP_COL_UNIT, col::sub_group_unit);

SAME(KAISCHED_POD_COL_NAME, col::pod_name);
SAME(KAISCHED_POD_COL_GROUP, col::pod_group_ref);
SAME(KAISCHED_POD_COL_SUB_GROUP, col::pod_sub_group);
SAME(KAISCHED_POD_COL_REQUEST, col::pod_request);
SAME(KAISCHED_POD_COL_DEVICE_COUNT, col::pod_device_count);
SAME(KAISCHED_POD_COL_STATUS, col::pod_status_column);
SAME(KAISCHED_POD_COL_NODE, col::pod_node);
SAME(KAISCHED_POD_COL_DEVICES, col::pod_devices);
SAME(KAISCHED_POD_COL_CREATED, col::pod_created);
SAME(KAISCHED_POD_COL_PRIORITY, col::pod_priority);
SAME(KAISCHED_POD_COL_LEADER, col::pod_leader);
SAME(KAISCHED_POD_COL_NODE_SELECTOR, col::pod_node_selector);
SAME(KAISCHED_POD_COL_NODE_AFFINITY, col::pod_node_affinity);
SAME(KAISCHED_POD_COL_TOLERATIONS, col::pod_tolerations);
SAME(KAISCHED_POD_COL_AFFINITY, col::pod_affinity);
SAME(KAISCHED_POD_COL_ANTI_AFFINITY, col::pod_anti_affinity);
SAME(KAISCHED_POD_COL_HOST_PORTS, col::pod_host_ports);
SAME(KAISCHED_POD_COL_LABELS, col::pod_labels);
SAME(KAISCHED_POD_COL_OBSTACLE, col::pod_obstacle);
SAME(KAISCHED_POD_COL_NOMINATED_NODE, col::pod_nominated_node);
SAME(KAISCHED_POD_COL_GPU_MEMORY, col::pod_gpu_memory);
SAME(KAISCHED_POD_COL_CLAIMS, col::pod_claims);
SAME(KAISCHED_POD_COL_NUMA_ZONES, col::pod_numa_zones);
SAME(KAISCHED_POD_COL_QOS, col::pod_qos);
SAME(KAISCHED_POD_COL_OUTDATED, col::pod_outdated);
SAME(KAISCHED_POD_COL_CONTAINERS, col::pod_containers);
SAME(KAISCHED_POD_COL_CLAIMED_GPUS, col::pod_claimed_gpus);
SAME(KAISCHED_POD_COL_SHARING, col::pod_sharing);
SAME(KAISCHED_POD_COL_DEVICE_REQUESTS, col::pod_device_requests);
SAME(KAISCHED_POD_COL_ANNOTATIONS, col::pod_annotations);
SAME(KAISCHED_POD_COL_DEVICE_GRANTS, col::pod_device_grants);
SAME(KAISCHED_POD_COL_MIG_INSTANCES, col::pod_mig_instances);
SAME(KAISCHED_POD_COL_DISRUPTION_BUDGET, col::pod_disruption_budget);
SAME(KAISCHED_POD_COL_NODE_PREFERENCES, col::pod_node_preferences);
SAME(KAISCHED_POD_COL_SPREAD, col::pod_spread);
SAME(KAISCHED_POD_COL_PREFERENCES, col::pod_preferences);
SAME(KAISCHED_POD_COL_LOAD, col::pod_load);
SAME(KAISCHED_POD_COL_NOMINATED_SINCE, col::pod_nominated_since);

SAME(KAISCHED_NUMA_ZONE_COL_NODE, col::numa_zone_node);
SAME(KAISCHED_NUMA_ZONE_COL_NAME, col::numa_zone_name);
SAME(KAISCHED_NUMA_ZONE_COL_CAPACITY, col::numa_zone_capacity);
SAME(KAISCHED_NUMA_ZONE_COL_AVAILABLE, col::numa_zone_available);

SAME(KAISCHED_DEVICE_QUOTA_COL_NAMESPACE, col::device_quota_namespace);
SAME(KAISCHED_DEVICE_QUOTA_COL_VENDOR, col::device_quota_vendor);
SAME(KAISCHED_DEVICE_QUOTA_COL_MEMORY, col::device_quota_memory);
SAME(KAISCHED_DEVICE_QUOTA_COL_CORES, col::device_quota_cores);
SAME(KAISCHED_DEVICE_QUOTA_COL_SLOTS, col::device_quota_slots);

SAME(KAISCHED_RESOURCE_CLAIM_COL_NAME, col::resource_claim_name);
SAME(KAISCHED_RESOURCE_CLAIM_COL_DEVICE_CLASS, col::resource_claim_device_class);
SAME(KAISCHED_RESOURCE_CLAIM_COL_COUNT, col::resource_claim_count);
SAME(KAISCHED_RESOURCE_CLAIM_COL_LABELS, col::resource_claim_labels);
SAME(KAISCHED_RESOURCE_CLAIM_COL_DEVICES, col::resource_claim_devices);
SAME(KAISCHED_RESOURCE_CLAIM_COL_RESERVED_FOR, col::resource_claim_reserved_for);
SAME(KAISCHED_RESOURCE_CLAIM_COL_NODE, col::resource_claim_node);
SAME(KAISCHED_RESOURCE_CLAIM_COL_FROM_TEMPLATE, col::resource_claim_from_template);
SAME(KAISCHED_RESOURCE_CLAIM_COL_CONSTRAINTS, col::resource_claim_constraints);
SAME(KAISCHED_RESOURCE_CLAIM_COL_RESULTS, col::resource_claim_results);

SAME(KAISCHED_DEVICE_CLASS_COL_NAME, col::device_class_name);
SAME(KAISCHED_DEVICE_CLASS_COL_SELECTORS, col::device_class_selectors);

SAME(KAISCHED_RESOURCE_SLICE_COL_NAME, col::resource_slice_name);
SAME(KAISCHED_RESOURCE_SLICE_COL_DRIVER, col::resource_slice_driver);
SAME(KAISCHED_RESOURCE_SLICE_COL_POOL, col::resource_slice_pool);
SAME(KAISCHED_RESOURCE_SLICE_COL_GENERATION, col::resource_slice_generation);
SAME(KAISCHED_RESOURCE_SLICE_COL_SLICES, col::resource_slice_slices);
SAME(KAISCHED_RESOURCE_SLICE_COL_NODE, col::resource_slice_node);
SAME(KAISCHED_RESOURCE_SLICE_COL_NODE_SELECTOR, col::resource_slice_node_selector);
SAME(KAISCHED_RESOURCE_SLICE_COL_ALL_NODES, col::resource_slice_all_nodes);
SAME(KAISCHED_RESOURCE_SLICE_COL_COUNTERS, col::resource_slice_counters);

SAME(KAISCHED_SLICE_DEVICE_COL_NAME, col::slice_device_name);
SAME(KAISCHED_SLICE_DEVICE_COL_SLICE, col::slice_device_slice);
SAME(KAISCHED_SLICE_DEVICE_COL_DEVICE, col::slice_device_device);
SAME(KAISCHED_SLICE_DEVICE_COL_POSITION, col::slice_device_position);
SAME(KAISCHED_SLICE_DEVICE_COL_ATTRIBUTES, col::slice_device_attributes);
SAME(KAISCHED_SLICE_DEVICE_COL_CAPACITIES, col::slice_device_capacities);
SAME(KAISCHED_SLICE_DEVICE_COL_CONSUMES, col::slice_device_consumes);
SAME(KAISCHED_SLICE_DEVICE_COL_TAINTS, col::slice_device_taints);
SAME(KAISCHED_SLICE_DEVICE_COL_SHARED, col::slice_device_shared);
SAME(KAISCHED_SLICE_DEVICE_COL_NODE, col::slice_device_node);
SAME(KAISCHED_SLICE_DEVICE_COL_NODE_SELECTOR, col::slice_device_node_selector);
SAME(KAISCHED_SLICE_DEVICE_COL_ALL_NODES, col::slice_device_all_nodes);

SAME(KAISCHED_CLAIM_REQUEST_COL_NAME, col::claim_request_name);
SAME(KAISCHED_CLAIM_REQUEST_COL_CLAIM, col::claim_request_claim);
SAME(KAISCHED_CLAIM_REQUEST_COL_REQUEST, col::claim_request_request);
SAME(KAISCHED_CLAIM_REQUEST_COL_ALTERNATIVE, col::claim_request_alternative);
SAME(KAISCHED_CLAIM_REQUEST_COL_POSITION, col::claim_request_position);
SAME(KAISCHED_CLAIM_REQUEST_COL_DEVICE_CLASS, col::claim_request_device_class);
SAME(KAISCHED_CLAIM_REQUEST_COL_SELECTORS, col::claim_request_selectors);
SAME(KAISCHED_CLAIM_REQUEST_COL_COUNT, col::claim_request_count);
SAME(KAISCHED_CLAIM_REQUEST_COL_ALL, col::claim_request_all);
SAME(KAISCHED_CLAIM_REQUEST_COL_ADMIN, col::claim_request_admin);
SAME(KAISCHED_CLAIM_REQUEST_COL_TOLERATIONS, col::claim_request_tolerations);
SAME(KAISCHED_CLAIM_REQUEST_COL_CAPACITIES, col::claim_request_capacities);
SAME(KAISCHED_DISRUPTION_BUDGET_COL_NAME, col::disruption_budget_name);
SAME(KAISCHED_DISRUPTION_BUDGET_COL_ALLOWED, col::disruption_budget_allowed);
SAME(KAISCHED_RESERVATION_COL_NAME, col::reservation_name);
SAME(KAISCHED_RESERVATION_COL_NODES, col::reservation_nodes);
SAME(KAISCHED_RESERVATION_COL_NODE_SELECTOR, col::reservation_node_selector);
SAME(KAISCHED_RESERVATION_COL_START, col::reservation_start);
SAME(KAISCHED_RESERVATION_COL_END, col::reservation_end);
SAME(KAISCHED_RESERVATION_COL_EVERY, col::reservation_every);
SAME(KAISCHED_RESERVATION_COL_QUEUE, col::reservation_queue);
SAME(KAISCHED_RESERVATION_COL_GROUP, col::reservation_group);
SAME(KAISCHED_RESERVATION_COL_EVICT_BEFORE, col::reservation_evict_before);

SAME(KAISCHED_DECISION_COL_KIND, col::decision_kind);
SAME(KAISCHED_DECISION_COL_POD, col::decision_pod);
SAME(KAISCHED_DECISION_COL_GROUP, col::decision_group);
SAME(KAISCHED_DECISION_COL_NODE, col::decision_node);
SAME(KAISCHED_DECISION_COL_DEVICES, col::decision_devices);
SAME(KAISCHED_DECISION_COL_DEVICE_SHARE, col::decision_device_share);
SAME(KAISCHED_DECISION_COL_NUMA_ZONES, col::decision_numa_zones);
SAME(KAISCHED_DECISION_COL_CLAIM_DEVICES, col::decision_claim_devices);
SAME(KAISCHED_DECISION_COL_DEVICE_MEMORY, col::decision_device_memory);
SAME(KAISCHED_DECISION_COL_SHARING, col::decision_sharing);
SAME(KAISCHED_DECISION_COL_DEVICE_GRANTS, col::decision_device_grants);
SAME(KAISCHED_DECISION_COL_LAYOUT, col::decision_layout);
SAME(KAISCHED_DECISION_COL_GONE, col::decision_gone);
SAME(KAISCHED_DECISION_COL_DRAIN_COST, col::decision_drain_cost);
SAME(KAISCHED_DECISION_COL_CHECKS, col::decision_checks);
SAME(KAISCHED_DECISION_COL_ACTION, col::decision_action);
SAME(KAISCHED_DECISION_COL_COMMIT, col::decision_commit);
SAME(KAISCHED_DECISION_COL_POD_NAME, col::decision_pod_name);
SAME(KAISCHED_DECISION_COL_NODE_NAME, col::decision_node_name);
SAME(KAISCHED_DECISION_COL_GROUP_NAME, col::decision_group_name);

SAME(KAISCHED_REASON_COL_GROUP, col::reason_group);
SAME(KAISCHED_REASON_COL_GROUP_NAME, col::reason_group_name);
SAME(KAISCHED_REASON_COL_POD, col::reason_pod);
SAME(KAISCHED_REASON_COL_CONSTRAINT, col::reason_constraint);
SAME(KAISCHED_REASON_COL_SCOPE, col::reason_scope);
SAME(KAISCHED_REASON_COL_SUBJECT, col::reason_subject);
SAME(KAISCHED_REASON_COL_DIMENSION, col::reason_dimension);
SAME(KAISCHED_REASON_COL_NEED, col::reason_need);
SAME(KAISCHED_REASON_COL_HAVE, col::reason_have);
SAME(KAISCHED_REASON_COL_NODES, col::reason_nodes);
SAME(KAISCHED_REASON_COL_NEAREST_NODE, col::reason_nearest);
SAME(KAISCHED_REASON_COL_TEXT, col::reason_text);

SAME(KAISCHED_QUEUE_SHARE_COL_QUEUE, col::share_queue);
SAME(KAISCHED_QUEUE_SHARE_COL_QUEUE_NAME, col::share_queue_name);
SAME(KAISCHED_QUEUE_SHARE_COL_PARENT_NAME, col::share_parent);
SAME(KAISCHED_QUEUE_SHARE_COL_QUOTA, col::share_quota);
SAME(KAISCHED_QUEUE_SHARE_COL_LIMIT, col::share_limit);
SAME(KAISCHED_QUEUE_SHARE_COL_FAIR_SHARE, col::share_fair_share);
SAME(KAISCHED_QUEUE_SHARE_COL_REQUEST, col::share_request);
SAME(KAISCHED_QUEUE_SHARE_COL_ALLOCATED, col::share_allocated);
SAME(KAISCHED_QUEUE_SHARE_COL_PENDING_PODS, col::share_pending_pods);
SAME(KAISCHED_QUEUE_SHARE_COL_EVICTIONS, col::share_evictions);
SAME(KAISCHED_QUEUE_SHARE_COL_EVICTED_PODS, col::share_evicted_pods);

SAME(KAISCHED_PLACEMENT_COL_POD, col::placement_pod);
SAME(KAISCHED_PLACEMENT_COL_POD_NAME, col::placement_pod_name);
SAME(KAISCHED_PLACEMENT_COL_STATUS, col::placement_status);
SAME(KAISCHED_PLACEMENT_COL_NODE, col::placement_node);
SAME(KAISCHED_PLACEMENT_COL_NODE_NAME, col::placement_node_name);
SAME(KAISCHED_PLACEMENT_COL_DEVICES, col::placement_devices);
SAME(KAISCHED_PLACEMENT_COL_NUMA_ZONES, col::placement_numa_zones);

SAME(KAISCHED_STATISTIC_COL_ACTION, col::statistic_action);
SAME(KAISCHED_STATISTIC_COL_STEPS, col::statistic_steps);
SAME(KAISCHED_STATISTIC_COL_GROUPS_TRIED, col::statistic_groups_tried);
SAME(KAISCHED_STATISTIC_COL_GROUPS_PLACED, col::statistic_groups_placed);
SAME(KAISCHED_STATISTIC_COL_CANDIDATES, col::statistic_candidates);
SAME(KAISCHED_STATISTIC_COL_FILTERED, col::statistic_filtered);
SAME(KAISCHED_STATISTIC_COL_ROLLBACKS, col::statistic_rollbacks);
SAME(KAISCHED_STATISTIC_COL_SIMULATIONS, col::statistic_simulations);
SAME(KAISCHED_ASSUMPTION_COL_POD, col::assumption_pod);
SAME(KAISCHED_ASSUMPTION_COL_POD_NAME, col::assumption_pod_name);
SAME(KAISCHED_ASSUMPTION_COL_GROUP, col::assumption_group);
SAME(KAISCHED_ASSUMPTION_COL_GROUP_NAME, col::assumption_group_name);
SAME(KAISCHED_ASSUMPTION_COL_KIND, col::assumption_kind);
SAME(KAISCHED_ASSUMPTION_COL_NODE, col::assumption_node);
SAME(KAISCHED_ASSUMPTION_COL_NODE_NAME, col::assumption_node_name);
SAME(KAISCHED_ASSUMPTION_COL_LOST, col::assumption_lost);
SAME(KAISCHED_CONFLICT_COL_COMMIT, col::conflict_commit);
SAME(KAISCHED_CONFLICT_COL_KIND, col::conflict_kind);
SAME(KAISCHED_CONFLICT_COL_SUBJECT, col::conflict_subject);
SAME(KAISCHED_CONFLICT_COL_NAME, col::conflict_name);
SAME(KAISCHED_CONFLICT_COL_TEXT, col::conflict_text);
SAME(KAISCHED_CANDIDATE_COL_NODE, col::candidate_node);
SAME(KAISCHED_CANDIDATE_COL_NODE_NAME, col::candidate_node_name);
SAME(KAISCHED_CANDIDATE_COL_FITS, col::candidate_fits);
SAME(KAISCHED_CANDIDATE_COL_STARTS_NOW, col::candidate_starts_now);
SAME(KAISCHED_CANDIDATE_COL_CHOSEN, col::candidate_chosen);
SAME(KAISCHED_CANDIDATE_COL_SCORE, col::candidate_score);
SAME(KAISCHED_CANDIDATE_COL_SCORES, col::candidate_scores);
SAME(KAISCHED_CANDIDATE_COL_DEVICES, col::candidate_devices);
SAME(KAISCHED_CANDIDATE_COL_DEVICE_SHARE, col::candidate_device_share);
SAME(KAISCHED_CANDIDATE_COL_CONSTRAINT, col::candidate_constraint);
SAME(KAISCHED_CANDIDATE_COL_TEXT, col::candidate_text);

SAME(KAISCHED_REMEDY_COL_GROUP, col::remedy_group);
SAME(KAISCHED_REMEDY_COL_GROUP_NAME, col::remedy_group_name);
SAME(KAISCHED_REMEDY_COL_REMEDY, col::remedy_remedy);
SAME(KAISCHED_REMEDY_COL_CHANGE, col::remedy_change);
SAME(KAISCHED_REMEDY_COL_SUBJECT, col::remedy_subject);
SAME(KAISCHED_REMEDY_COL_SUBJECT_NAME, col::remedy_subject_name);
SAME(KAISCHED_REMEDY_COL_DIMENSION, col::remedy_dimension);
SAME(KAISCHED_REMEDY_COL_BEFORE, col::remedy_before);
SAME(KAISCHED_REMEDY_COL_AFTER, col::remedy_after);
SAME(KAISCHED_REMEDY_COL_TEXT_BEFORE, col::remedy_text_before);
SAME(KAISCHED_REMEDY_COL_TEXT_AFTER, col::remedy_text_after);
SAME(KAISCHED_REMEDY_COL_STARTS, col::remedy_starts);
SAME(KAISCHED_REMEDY_COL_ACTION, col::remedy_action);
SAME(KAISCHED_REMEDY_COL_COMPLETE, col::remedy_complete);
SAME(KAISCHED_REMEDY_COL_TRIALS, col::remedy_trials);
SAME(KAISCHED_REMEDY_COL_TEXT, col::remedy_text);
SAME(KAISCHED_REMEDY_COL_SUB_GROUP, col::remedy_sub_group);

SAME(KAISCHED_CERTIFICATE_COL_GROUP, col::certificate_group);
SAME(KAISCHED_CERTIFICATE_COL_GROUP_NAME, col::certificate_group_name);
SAME(KAISCHED_CERTIFICATE_COL_KIND, col::certificate_kind);
SAME(KAISCHED_CERTIFICATE_COL_ASSUMPTION, col::certificate_assumption);
SAME(KAISCHED_CERTIFICATE_COL_CONSTRAINT, col::certificate_constraint);
SAME(KAISCHED_CERTIFICATE_COL_QUEUE, col::certificate_queue);
SAME(KAISCHED_CERTIFICATE_COL_SUB_GROUP, col::certificate_sub_group);
SAME(KAISCHED_CERTIFICATE_COL_DIMENSION, col::certificate_dimension);
SAME(KAISCHED_CERTIFICATE_COL_NEED, col::certificate_need);
SAME(KAISCHED_CERTIFICATE_COL_HAVE, col::certificate_have);
SAME(KAISCHED_CERTIFICATE_COL_TOPOLOGY, col::certificate_topology);
SAME(KAISCHED_CERTIFICATE_COL_LEVEL, col::certificate_level);
SAME(KAISCHED_CERTIFICATE_COL_DOMAIN, col::certificate_domain);
SAME(KAISCHED_CERTIFICATE_COL_BOUND, col::certificate_bound);
SAME(KAISCHED_CERTIFICATE_COL_BOUND_DIMENSION, col::certificate_bound_dimension);
SAME(KAISCHED_CERTIFICATE_COL_BOUND_MOST, col::certificate_bound_most);
SAME(KAISCHED_CERTIFICATE_COL_NODES, col::certificate_nodes);
SAME(KAISCHED_CERTIFICATE_COL_TEXT, col::certificate_text);
SAME(KAISCHED_CERTIFICATE_COL_BOUND_KIND, col::certificate_bound_kind);
SAME(KAISCHED_CERTIFICATE_COL_PODS, col::certificate_pods);

SAME(KAISCHED_SHARE_STEP_COL_QUEUE, col::share_step_queue);
SAME(KAISCHED_SHARE_STEP_COL_QUEUE_NAME, col::share_step_queue_name);
SAME(KAISCHED_SHARE_STEP_COL_PARENT, col::share_step_parent);
SAME(KAISCHED_SHARE_STEP_COL_STEP, col::share_step_step);
SAME(KAISCHED_SHARE_STEP_COL_DIMENSION, col::share_step_dimension);
SAME(KAISCHED_SHARE_STEP_COL_ROUND, col::share_step_round);
SAME(KAISCHED_SHARE_STEP_COL_PRIORITY, col::share_step_priority);
SAME(KAISCHED_SHARE_STEP_COL_WEIGHT, col::share_step_weight);
SAME(KAISCHED_SHARE_STEP_COL_USAGE, col::share_step_usage);
SAME(KAISCHED_SHARE_STEP_COL_PROPORTION, col::share_step_proportion);
SAME(KAISCHED_SHARE_STEP_COL_WANTED, col::share_step_wanted);
SAME(KAISCHED_SHARE_STEP_COL_BEFORE, col::share_step_before);
SAME(KAISCHED_SHARE_STEP_COL_GIVEN, col::share_step_given);
SAME(KAISCHED_SHARE_STEP_COL_AFTER, col::share_step_after);
SAME(KAISCHED_SHARE_STEP_COL_BY, col::share_step_by);
SAME(KAISCHED_SHARE_STEP_COL_TEXT, col::share_step_text);

SAME(KAISCHED_CHOICE_COL_POD, col::choice_pod);
SAME(KAISCHED_CHOICE_COL_POD_NAME, col::choice_pod_name);
SAME(KAISCHED_CHOICE_COL_WHAT, col::choice_what);
SAME(KAISCHED_CHOICE_COL_NODE, col::choice_node);
SAME(KAISCHED_CHOICE_COL_NODE_NAME, col::choice_node_name);
SAME(KAISCHED_CHOICE_COL_RUNNER_UP, col::choice_runner_up);
SAME(KAISCHED_CHOICE_COL_RULE, col::choice_rule);
SAME(KAISCHED_CHOICE_COL_PLAN, col::choice_plan);
SAME(KAISCHED_CHOICE_COL_FITTING, col::choice_fitting);
SAME(KAISCHED_CHOICE_COL_RANK, col::choice_rank);
SAME(KAISCHED_CHOICE_COL_MARGIN, col::choice_margin);
SAME(KAISCHED_CHOICE_COL_PART, col::choice_part);
SAME(KAISCHED_CHOICE_COL_SCORE, col::choice_score);
SAME(KAISCHED_CHOICE_COL_OTHER_SCORE, col::choice_other_score);
SAME(KAISCHED_CHOICE_COL_TEXT, col::choice_text);

SAME(KAISCHED_VICTIM_COL_POD, col::victim_pod);
SAME(KAISCHED_VICTIM_COL_POD_NAME, col::victim_pod_name);
SAME(KAISCHED_VICTIM_COL_WHAT, col::victim_what);
SAME(KAISCHED_VICTIM_COL_CODE, col::victim_code);
SAME(KAISCHED_VICTIM_COL_GROUP, col::victim_group);
SAME(KAISCHED_VICTIM_COL_GROUP_NAME, col::victim_group_name);
SAME(KAISCHED_VICTIM_COL_PODS, col::victim_pods);
SAME(KAISCHED_VICTIM_COL_ACTION, col::victim_action);
SAME(KAISCHED_VICTIM_COL_COMMIT, col::victim_commit);
SAME(KAISCHED_VICTIM_COL_TEXT, col::victim_text);
SAME(KAISCHED_VICTIM_COL_KIND, col::victim_kind);

SAME(KAISCHED_FORECAST_COL_GROUP_NAME, col::forecast_group_name);
SAME(KAISCHED_FORECAST_COL_WAY, col::forecast_way);
SAME(KAISCHED_FORECAST_COL_STARTS, col::forecast_starts);
SAME(KAISCHED_FORECAST_COL_ACTION, col::forecast_action);
SAME(KAISCHED_FORECAST_COL_EARLIEST, col::forecast_earliest);
SAME(KAISCHED_FORECAST_COL_EXPECTED, col::forecast_expected);
SAME(KAISCHED_FORECAST_COL_KNOWLEDGE, col::forecast_knowledge);
SAME(KAISCHED_FORECAST_COL_ENDS_BEFORE, col::forecast_ends_before);
SAME(KAISCHED_FORECAST_COL_STARTS_BEFORE, col::forecast_starts_before);
SAME(KAISCHED_FORECAST_COL_REASONS, col::forecast_reasons);
SAME(KAISCHED_FORECAST_COL_PLACED_PODS, col::forecast_placed_pods);
SAME(KAISCHED_FORECAST_COL_PLACED_NODES, col::forecast_placed_nodes);
SAME(KAISCHED_FORECAST_COL_DISPLACED_PODS, col::forecast_displaced_pods);
SAME(KAISCHED_FORECAST_COL_DISPLACED_GROUPS, col::forecast_displaced_groups);
SAME(KAISCHED_FORECAST_COL_TEXT, col::forecast_text);
SAME(KAISCHED_FORECAST_COL_DISPLACED_BY, col::forecast_displaced_by);

SAME(KAISCHED_GAP_COL_GAP, col::gap_gap);
SAME(KAISCHED_GAP_COL_KIND, col::gap_kind);
SAME(KAISCHED_GAP_COL_COMMIT, col::gap_commit);
SAME(KAISCHED_GAP_COL_ACTION, col::gap_action);
SAME(KAISCHED_GAP_COL_GROUP, col::gap_group);
SAME(KAISCHED_GAP_COL_GROUP_NAME, col::gap_group_name);
SAME(KAISCHED_GAP_COL_POD, col::gap_pod);
SAME(KAISCHED_GAP_COL_POD_NAME, col::gap_pod_name);
SAME(KAISCHED_GAP_COL_PODS, col::gap_pods);
SAME(KAISCHED_GAP_COL_ACHIEVED, col::gap_achieved);
SAME(KAISCHED_GAP_COL_BOUND, col::gap_bound);
SAME(KAISCHED_GAP_COL_DISTANCE, col::gap_distance);
SAME(KAISCHED_GAP_COL_LEVEL, col::gap_level);
SAME(KAISCHED_GAP_COL_DIMENSION, col::gap_dimension);
SAME(KAISCHED_GAP_COL_DOMAIN, col::gap_domain);
SAME(KAISCHED_GAP_COL_TOO_SMALL, col::gap_too_small);
SAME(KAISCHED_GAP_COL_PRICE, col::gap_price);
SAME(KAISCHED_GAP_COL_PER_VICTIM, col::gap_per_victim);
SAME(KAISCHED_GAP_COL_DOMAIN_BOUND, col::gap_domain_bound);
SAME(KAISCHED_GAP_COL_LARGEST, col::gap_largest);

SAME(KAISCHED_SCALING_COL_COST, col::scaling_cost);
SAME(KAISCHED_SCALING_COL_LOWER_BOUND, col::scaling_lower_bound);
SAME(KAISCHED_SCALING_COL_CHEAPEST, col::scaling_cheapest);
SAME(KAISCHED_SCALING_COL_MINIMAL, col::scaling_minimal);
SAME(KAISCHED_SCALING_COL_OTHER_PODS, col::scaling_other_pods);
SAME(KAISCHED_SCALING_COL_VERIFICATIONS, col::scaling_verifications);
SAME(KAISCHED_SCALING_COL_SAVED, col::scaling_saved);
SAME(KAISCHED_SCALING_COL_COMPLETE, col::scaling_complete);
SAME(KAISCHED_SCALING_COL_DOWN_VERIFICATIONS, col::scaling_down_verifications);

SAME(KAISCHED_NODE_ADDITION_COL_NAME, col::node_addition_name);
SAME(KAISCHED_NODE_ADDITION_COL_TYPE, col::node_addition_type);
SAME(KAISCHED_NODE_ADDITION_COL_PRICE, col::node_addition_price);

SAME(KAISCHED_SCALED_GROUP_COL_GROUP_NAME, col::scaled_group_group_name);
SAME(KAISCHED_SCALED_GROUP_COL_QUEUE, col::scaled_group_queue);
SAME(KAISCHED_SCALED_GROUP_COL_WAITED, col::scaled_group_waited);
SAME(KAISCHED_SCALED_GROUP_COL_PLACED, col::scaled_group_placed);
SAME(KAISCHED_SCALED_GROUP_COL_HELPED, col::scaled_group_helped);
SAME(KAISCHED_SCALED_GROUP_COL_PLACED_PODS, col::scaled_group_placed_pods);
SAME(KAISCHED_SCALED_GROUP_COL_PLACED_NODES, col::scaled_group_placed_nodes);
SAME(KAISCHED_SCALED_GROUP_COL_PLACED_BY, col::scaled_group_placed_by);
SAME(KAISCHED_SCALED_GROUP_COL_CONSTRAINTS, col::scaled_group_constraints);
SAME(KAISCHED_SCALED_GROUP_COL_REASONS, col::scaled_group_reasons);

SAME(KAISCHED_RETURNED_NODE_COL_NAME, col::returned_node_name);
SAME(KAISCHED_RETURNED_NODE_COL_TYPE, col::returned_node_type);
SAME(KAISCHED_RETURNED_NODE_COL_PRICE, col::returned_node_price);
SAME(KAISCHED_RETURNED_NODE_COL_RETURNED, col::returned_node_returned);
SAME(KAISCHED_RETURNED_NODE_COL_EMPTY, col::returned_node_empty);
SAME(KAISCHED_RETURNED_NODE_COL_MOVED_PODS, col::returned_node_moved_pods);
SAME(KAISCHED_RETURNED_NODE_COL_MOVED_GROUPS, col::returned_node_moved_groups);
SAME(KAISCHED_RETURNED_NODE_COL_MOVED_FROM, col::returned_node_moved_from);
SAME(KAISCHED_RETURNED_NODE_COL_MOVED_TO, col::returned_node_moved_to);
SAME(KAISCHED_RETURNED_NODE_COL_KEEPS, col::returned_node_keeps);

SAME(KAISCHED_FEDERATED_PLACE_COL_GROUP_NAME, col::federated_place_group_name);
SAME(KAISCHED_FEDERATED_PLACE_COL_QUEUE, col::federated_place_queue);
SAME(KAISCHED_FEDERATED_PLACE_COL_MEMBER, col::federated_place_member);
SAME(KAISCHED_FEDERATED_PLACE_COL_STAGE, col::federated_place_stage);
SAME(KAISCHED_FEDERATED_PLACE_COL_BY, col::federated_place_by);
SAME(KAISCHED_FEDERATED_PLACE_COL_RUNNER_UP, col::federated_place_runner_up);
SAME(KAISCHED_FEDERATED_PLACE_COL_ROUND, col::federated_place_round);
SAME(KAISCHED_FEDERATED_PLACE_COL_PODS, col::federated_place_pods);
SAME(KAISCHED_FEDERATED_PLACE_COL_RETURNED, col::federated_place_returned);

SAME(KAISCHED_FEDERATED_WAIT_COL_GROUP_NAME, col::federated_wait_group_name);
SAME(KAISCHED_FEDERATED_WAIT_COL_QUEUE, col::federated_wait_queue);
SAME(KAISCHED_FEDERATED_WAIT_COL_LIMIT, col::federated_wait_limit);
SAME(KAISCHED_FEDERATED_WAIT_COL_MEMBERS, col::federated_wait_members);
SAME(KAISCHED_FEDERATED_WAIT_COL_VERDICTS, col::federated_wait_verdicts);
SAME(KAISCHED_FEDERATED_WAIT_COL_TEXT, col::federated_wait_text);
SAME(KAISCHED_FEDERATED_WAIT_COL_EXPECTED_MEMBER, col::federated_wait_expected_member);
SAME(KAISCHED_FEDERATED_WAIT_COL_EXPECTED, col::federated_wait_expected);
SAME(KAISCHED_FEDERATED_WAIT_COL_RETURNED, col::federated_wait_returned);

SAME(KAISCHED_FEDERATED_QUEUE_COL_NAME, col::federated_queue_name);
SAME(KAISCHED_FEDERATED_QUEUE_COL_PARENT, col::federated_queue_parent);
SAME(KAISCHED_FEDERATED_QUEUE_COL_QUOTA, col::federated_queue_quota);
SAME(KAISCHED_FEDERATED_QUEUE_COL_LIMIT, col::federated_queue_limit);
SAME(KAISCHED_FEDERATED_QUEUE_COL_ALLOCATED, col::federated_queue_allocated);

SAME(KAISCHED_MEMBER_SESSION_COL_MEMBER, col::member_session_member);
SAME(KAISCHED_MEMBER_SESSION_COL_ROUND, col::member_session_round);
SAME(KAISCHED_MEMBER_SESSION_COL_DIGEST, col::member_session_digest);
SAME(KAISCHED_MEMBER_SESSION_COL_TEXT, col::member_session_text);

SAME(KAISCHED_QUARANTINE_COL_KIND, col::quarantine_kind);
SAME(KAISCHED_QUARANTINE_COL_OWNER, col::quarantine_owner);
SAME(KAISCHED_QUARANTINE_COL_NAME, col::quarantine_name);
SAME(KAISCHED_QUARANTINE_COL_COLUMN, col::quarantine_column);
SAME(KAISCHED_QUARANTINE_COL_STATUS, col::quarantine_status);
SAME(KAISCHED_QUARANTINE_COL_TEXT, col::quarantine_text);
SAME(KAISCHED_QUARANTINE_COL_BECAUSE_OF, col::quarantine_because_of);
SAME(KAISCHED_QUARANTINE_COL_PRESENT, col::quarantine_present);
#undef SAME

}  // namespace
}  // namespace kaisched::capi
