#pragma once
/// @file
/// What queues are entitled to, hold and may have: fair shares, sums of pods, limits and quotas.

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>

#include "framework/results.hpp"
#include "model/account.hpp"
#include "model/state.hpp"
#include "policy/ordering/exact_queue_order.hpp"
#include "policy/ordering/kai_queue_order.hpp"

namespace kaisched::framework {

class session_state;

class queue_accounts {
 public:
  void connect(session_state& c) { c_ = &c; }

  /// Counts what pods hold and ask for by the rules of the mode.
  void count_anew();
  /// Divides the cluster into fair shares, and counts the cores of semi-preemptible groups.
  void divide_shares();
  /// Lets the parts that divide shares do so. Errors: those of parts.
  [[nodiscard]] result<void> ask_for_shares();

  // ---- amounts
  /// What pods of a class ask for where the node is not known. Memory of GPUs counts as parts of the smallest GPU of
  /// the cluster; for limits and quotas, which must not refuse too much, as parts of the largest.
  [[nodiscard]] model::quota_vector asked(const model::pod_class& c) const;
  [[nodiscard]] model::quota_vector asked_at_least(const model::pod_class& c) const;
  /// What limits and quotas are asked for if a pod is placed on a node.
  [[nodiscard]] model::quota_vector asked_on(const model::pod_class& c, node_row row) const;
  /// That differs from node to node.
  [[nodiscard]] bool depend_on_node(const model::pod_class& c) const;
  /// What a pod holds there.
  [[nodiscard]] model::quota_vector held_on(const model::pod_class& c, node_row row) const;
  /// What a pod holds where it is, or asks for if it is nowhere.
  [[nodiscard]] model::quota_vector held(pod_row pod) const;
  /// Memory of the smallest and the largest GPU of the cluster, for pods that ask for memory.
  void find_gpu_memories();
  [[nodiscard]] std::int64_t smallest_gpu() const { return smallest_gpu_; }

  /// `compat`, where parts are added up in floating point: GPUs that these ask for.
  [[nodiscard]] double parts_asked(const model::pod_class& c) const;
  [[nodiscard]] double parts_asked(std::span<const pod_row> pods) const;

  // ---- limits and quotas
  /// A request that a queue on the path refuses; it is that of these pods.
  [[nodiscard]] bool refuse(group_row group, const model::quota_vector& requested, std::span<const pod_row> pods,
                            failure& why) const;
  /// The same for quotas alone, which bind non-preemptible groups and the cores of semi-preemptible ones.
  [[nodiscard]] bool quota_refuses(group_row group, const model::quota_vector& requested, std::span<const pod_row> pods,
                                   failure& why) const;
  /// By how much the core of a semi-preemptible group grows if these pods start as well.
  [[nodiscard]] model::quota_vector core_growth(group_row group, std::span<const pod_row> pods) const;
  [[nodiscard]] bool is_schedulable_queue(queue_row q) const;

  // ---- charge
  /// The pod holds what it asks for (1), or no longer (-1).
  void charge(pod_row pod, std::int64_t sign);
  /// Counts the core of a semi-preemptible group as it is now.
  void charge_core(group_row group);
  void charge_core_of(pod_row pod);
  /// Pods with this status are counted: those that wait for a place since an earlier session are not.
  [[nodiscard]] bool count(pod_row pod, pod_status status) const;

  std::vector<policy::kai_queue> kai_queues;      ///< by slot; compat
  std::vector<policy::exact_queue> exact_queues;  ///< by slot; strict
  std::vector<std::uint8_t> is_limited;           ///< by slot: the queue, or one above it, has a limit
  policy::kai_amounts kai_total{};
  model::quota_vector total{};
  std::vector<model::quota_vector> fair_share;  ///< by slot, fixed units

 private:
  [[nodiscard]] model::quota_vector asked_with(const model::pod_class& c, std::int64_t memory) const;
  [[nodiscard]] bool bound_refuses(group_row group, const model::quota_vector& requested, bool quota,
                                   failure& why) const;
  [[nodiscard]] model::quota_vector surge_of(group_row group) const;
  [[nodiscard]] model::quota_vector core_request(group_row group, std::span<const pod_row> more) const;
  void count_total();
  void divide_compat();
  void divide_strict();
  void sync_queue(queue_row q);
  void add_parts_up();
  [[nodiscard]] std::vector<double> gpus_requested();
  void add_part(queue_row leaf, double gpus, bool allocated, bool nonpreemptible);
  [[nodiscard]] std::vector<queue_row> by_name() const;

  session_state* c_ = nullptr;
  std::map<group_row, model::quota_vector> core_charges_;  ///< of semi-preemptible groups
  std::int64_t smallest_gpu_ = 0;  ///< memory in bytes, MiB in `compat`; 0: not known, or no pod asks
  std::int64_t largest_gpu_ = 0;
};

/// An amount in KAI's unit of a quota dimension: devices, milli-cores, bytes.
[[nodiscard]] inline double to_native(std::uint32_t resource, std::int64_t amount) {
  return resource == dim_gpu ? static_cast<double>(amount) / static_cast<double>(whole_device)
                             : static_cast<double>(amount);
}

}  // namespace kaisched::framework
