#pragma once
/// @file
/// The effect that a pod has on sums, counts and orders. Deltas and statements use the same functions, so that a
/// session and the model agree; every effect has an exact inverse.

#include "model/state.hpp"

namespace kaisched::model {

/// Adds (`sign` 1) or takes off (-1) a pod on a node:
/// | status                | idle | releasing |
/// |-----------------------|------|-----------|
/// | releasing             | -R   | +R        |
/// | pipelined             |      | -R        |
/// | any other on the node | -R   |           |
/// Dimensions that the node does not have at all are not charged.
void charge_node(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                 const device_set& devices, std::int64_t sign);

/// A pod on a node changes its status: the same as taking off and adding, for what is free in the end.
void charge_node_anew(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status from,
                      pod_status to, const device_set& devices);

/// Adds (`sign` 1) or takes off (-1) what a pod holds, on its queue and all ancestors.
void charge_queues(const cluster_state& s, live_state& live, const group_core& group, const pod_class& c,
                   std::int64_t sign);
/// The same for what queues are asked for: pods that hold something or are pending.
void charge_request(const cluster_state& s, live_state& live, const group_core& group, const pod_class& c,
                    std::int64_t sign);

/// Counts a pod in (`sign` 1) or out (-1) of its pod set.
void count_pod(live_state& live, sub_group_row sub, pod_status status, std::int32_t sign);

/// Groups that wait are told by priority, largest first, then age, then name.
[[nodiscard]] bool group_before(const cluster_state& s, group_row a, group_row b);

/// What a pod asks of its queues: cpu, memory, gpu.
[[nodiscard]] quota_vector quota_request(const pod_class& c);

/// Which amount a device must have.
enum class device_amount : std::uint8_t {
  free_now,           ///< free, and not promised to a pipelined pod
  free_or_releasing,  ///< free or coming free, claims taken off
};

/// Devices for a pod on a node: whole devices lowest index first; shares on the device with the least room that is
/// enough, lowest index first. False if there are too few. Nodes whose devices are not tracked give an empty set for
/// whole devices, and so does a claim on whole devices (`free_or_releasing`): any device will do, so none is set aside,
/// and the amounts of the node tell how many are left.
[[nodiscard]] bool choose_devices(const cluster_state& s, const live_state& live, const pod_class& c, node_row row,
                                  device_amount amount, device_set& chosen);

/// The devices of a set are free or coming free, claims taken off.
[[nodiscard]] bool can_take(const cluster_state& s, const live_state& live, node_row row, const device_set& devices);

/// Puts a pod with the given status, node slot and devices into all sums of a model (not of a session).
void account_pod(const cluster_state& s, live_state& live, pod_row p, std::int64_t sign);

/// All amounts of a fresh state without pods, then all pods: the slow truth that the sums are checked against.
void recount(cluster_state& s);
/// Both orders of nodes from the amounts.
void rebuild_indexes(const cluster_state& s, live_state& live);

}  // namespace kaisched::model
