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

#undef SAME

}  // namespace
}  // namespace kaisched::capi
