#pragma once
/// @file
/// The effect that a pod has on sums, counts and orders. Deltas and statements use the same functions, so that a
/// session and the model agree; every effect has an exact inverse.

#include <functional>
#include <span>

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

/// `charge_node` for sums by which nobody orders nodes: these orders stay as they are.
void charge_sums(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                 const device_set& devices, std::int64_t sign);

/// Charges GPUs of a node as if a pod of this status held them; a negative amount takes a charge back.
void charge_gpus(const cluster_state& s, live_state& live, node_row row, pod_status status, std::int64_t amount);

/// A pod on a node changes its status: the same as taking off and adding, for what is free in the end.
void charge_node_anew(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status from,
                      pod_status to, const device_set& devices);

/// What happens to the GPUs of the node when a pod that holds parts of devices is charged.
enum class gpu_charge : std::uint8_t {
  in_parts,  ///< the parts are taken off
  none,      ///< nothing: somebody else counts the devices (`policy::gpu_groups`)
};
/// `charge_node` for the amounts of the node alone, without its devices.
void charge_amounts(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                    std::int64_t sign, gpu_charge gpus = gpu_charge::in_parts);
/// `charge_node` for devices alone.
void charge_devices(const cluster_state& s, live_state& live, const pod_class& c, node_row row, pod_status status,
                    const device_set& devices, std::int64_t sign);
/// Adds to the GPUs of a node that are idle and that are coming free, in milli-GPU.
void add_gpus(const cluster_state& s, live_state& live, node_row row, std::int64_t idle, std::int64_t releasing);

/// Adds (`sign` 1) or takes off (-1) what a pod holds, on its queue and all ancestors.
void charge_queues(const cluster_state& s, live_state& live, const group_core& group, const quota_vector& amount,
                   std::int64_t sign);
/// The same for what queues are asked for: pods that hold something or are pending.
void charge_request(const cluster_state& s, live_state& live, const group_core& group, const quota_vector& amount,
                    std::int64_t sign);

/// Counts a pod in (`sign` 1) or out (-1) of its pod set.
void count_pod(live_state& live, sub_group_row sub, pod_status status, std::int32_t sign);
/// A pod that is counted has another status than before.
void recount_pod(live_state& live, sub_group_row sub, pod_status from, pod_status to);

/// Pods of the group are on nodes, leaving ones included, but less than the gangs of its tree ask for.
[[nodiscard]] bool lacks_pods_of_gang(const cluster_state& s, const live_state& live, group_row g);

/// Groups that wait are told by priority, largest first, then age, then name.
[[nodiscard]] bool group_before(const cluster_state& s, group_row a, group_row b);

/// What a pod asks of its queues: cpu, memory, gpu. How many GPUs a request for GPU memory is depends on the node and
/// is left out.
[[nodiscard]] quota_vector quota_request(const pod_class& c);
/// The same on a node, parts of devices that are asked for by memory included, rounded up.
[[nodiscard]] quota_vector quota_request_on(const cluster_state& s, const pod_class& c, node_row row);

/// GPUs that a request for memory comes to on devices of this size, in milli-GPU, parts rounded up. 0: the size is not
/// known, and they count as whole ones.
[[nodiscard]] std::int64_t gpus_of_memory(const pod_class& c, std::int64_t device_bytes);

/// Memory of the smallest device of a node in bytes; 0 if the memory of one is not known.
[[nodiscard]] std::int64_t device_memory(const cluster_state& s, node_row row);
/// What a pod takes of one device, in the units of the device: all of it, a share rounded down, or the memory asked
/// for. -1: the memory of the device is not known, so nobody can tell.
[[nodiscard]] std::int64_t part_of_device(const pod_class& c, std::int64_t units);
/// The device is shared in a way that the pod accepts.
[[nodiscard]] bool gives_parts_to(const cluster_state& s, node_row row, std::uint32_t device, const pod_class& c);

/// Which amount a device must have.
enum class device_amount : std::uint8_t {
  free_now,           ///< free, and not promised to a pipelined pod
  free_or_releasing,  ///< free or coming free, claims taken off
};

/// Which device a part is taken of first.
enum class device_order : std::uint8_t {
  pack,    ///< least room
  spread,  ///< most room
};

/// Names one of the devices whose bits are set, or none of them.
using device_chooser = std::function<std::uint32_t(std::uint64_t fitting)>;

/// Devices for a pod on a node: whole devices lowest index first; parts on the device with the least room that is
/// enough (or the most), lowest index first. False if there are too few. Nodes whose devices are not tracked give an
/// empty set for whole devices, and so does a claim on whole devices (`free_or_releasing`): any device will do, so none
/// is set aside, but with `keeps_claims` as many are left as are claimed. KAI looks at the amounts of the node only.
/// `chooser`, if there is one, is asked for each part first. Parts are taken of `allowed` devices only.
[[nodiscard]] bool choose_devices(const cluster_state& s, const live_state& live, const pod_class& c, node_row row,
                                  device_amount amount, bool keeps_claims, device_set& chosen,
                                  device_order order = device_order::pack, const device_chooser* chooser = nullptr,
                                  std::uint64_t allowed = ~std::uint64_t{0});
/// Without these devices enough whole ones are left, now or later, for claims that name none.
[[nodiscard]] bool leaves_claims(const cluster_state& s, const live_state& live, node_row row, std::uint64_t devices);

/// A set of devices with the share that a pod takes of each.
[[nodiscard]] device_set devices_of(const cluster_state& s, const pod_class& c, node_row row, std::uint64_t mask);

/// The devices of a set are free, or free or coming free, claims taken off.
[[nodiscard]] bool can_take(const cluster_state& s, const live_state& live, const pod_class& c, node_row row,
                            const device_set& devices, device_amount amount = device_amount::free_or_releasing);

/// Puts a pod with the given status, node slot and devices into all sums of a model (not of a session).
void account_pod(const cluster_state& s, live_state& live, pod_row p, std::int64_t sign);

/// All amounts of a fresh state without pods, then all pods: the slow truth that the sums are checked against.
void recount(cluster_state& s);
/// Both orders of nodes from the amounts. @param new_rows by row in the present orders: where the node is now, or
/// `no_row`. What they leave out is new.
void rebuild_indexes(const cluster_state& s, live_state& live, std::span<const node_row> new_rows);

}  // namespace kaisched::model
