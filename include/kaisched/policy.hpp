#pragma once
/// @file
/// Parts: the named rules that a policy is made of. The rules of the library and those of a plug-in use this interface.
///
/// A part gets arrays and fills arrays, so one call serves a whole candidate list; it never compares two things, it
/// returns keys. What a part says must depend on its arguments and its own options only: no clock, no randomness.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/options.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

namespace kaisched {

class session_access;  // for the library itself

/// What a part may look at while a session runs: the cluster as the session sees it at this moment. Spans stay valid
/// until the part returns. Matrices are row-major.
class session_view {
 public:
  [[nodiscard]] std::int64_t now() const;  ///< nanoseconds, as given to the session

  [[nodiscard]] std::uint32_t dimension_count() const;
  [[nodiscard]] std::string_view dimension_name(dimension d) const;

  [[nodiscard]] std::uint32_t node_count() const;
  [[nodiscard]] std::string_view node_name(node_row n) const;
  /// Value of a label of a node; `found` tells a missing label from an empty value.
  [[nodiscard]] std::string_view node_label(node_row n, std::string_view key, bool* found = nullptr) const;
  [[nodiscard]] std::span<const std::int64_t> node_capacity() const;  ///< [nodes x dimensions]
  [[nodiscard]] std::span<const std::int64_t> node_idle() const;      ///< [nodes x dimensions], free now
  [[nodiscard]] std::span<const std::int64_t> node_releasing()
      const;  ///< [nodes x dimensions], coming free, claims off
  /// [zones of the node x dimensions], what its NUMA zones have free or coming free, claims off; empty unless the part
  /// `numa` aligns pods.
  [[nodiscard]] std::span<const std::int64_t> node_zones_available(node_row n) const;
  [[nodiscard]] bool node_ready(node_row n) const;
  [[nodiscard]] bool node_unschedulable(node_row n) const;

  [[nodiscard]] std::string_view pod_name(pod_row p) const;
  [[nodiscard]] std::span<const std::int64_t> pod_request(pod_row p) const;  ///< [dimensions]
  [[nodiscard]] group_row pod_group(pod_row p) const;  ///< no_row: the pod has none and only uses its node
  [[nodiscard]] class_row pod_class(pod_row p) const;
  [[nodiscard]] pod_status status_of(pod_row p) const;
  [[nodiscard]] node_row node_of(pod_row p) const;  ///< no_row if the pod is on no node
  /// Value of a label of a pod; `found` tells a missing label from an empty value.
  [[nodiscard]] std::string_view pod_label(pod_row p, std::string_view key, bool* found = nullptr) const;
  /// Name of the sub-group that the pod names; empty for a pod of a group without a tree.
  [[nodiscard]] std::string_view pod_sub_group(pod_row p) const;

  [[nodiscard]] std::string_view group_name(group_row g) const;
  [[nodiscard]] queue_row group_queue(group_row g) const;
  [[nodiscard]] std::int64_t group_priority(group_row g) const;
  [[nodiscard]] bool group_preemptible(group_row g) const;
  /// Not preemptible, except for what is beyond its gangs.
  [[nodiscard]] bool group_semi_preemptible(group_row g) const;
  [[nodiscard]] std::int64_t group_created(group_row g) const;

  [[nodiscard]] std::string_view queue_name(queue_row q) const;
  [[nodiscard]] queue_row queue_parent(queue_row q) const;                          ///< no_row for a top-level queue
  [[nodiscard]] std::span<const std::int64_t> queue_allocated(queue_row q) const;   ///< [quota dimensions]
  [[nodiscard]] std::span<const std::int64_t> queue_fair_share(queue_row q) const;  ///< [quota dimensions]

  /// What devices of a node are as a whole, by device: bytes of memory, or milli-GPU where the memory is not known.
  /// Empty where devices are not tracked one by one.
  [[nodiscard]] std::span<const std::int64_t> node_devices(node_row n) const;
  /// What they have free now, in the same units.
  [[nodiscard]] std::span<const std::int64_t> node_devices_idle(node_row n) const;

 private:
  friend class session_access;
  explicit session_view(const session_access& access) : access_(access) {}

  const session_access& access_;
};

/// A sort key; smaller comes first. The engine appends creation time and name, so that the order is always total.
struct order_key {
  std::int64_t first = 0;
  std::int64_t second = 0;
};

/// What a part offers; a part is only asked for what it offers.
enum part_capability : std::uint32_t {
  part_orders_groups = 1U << 0U,
  part_filters_nodes = 1U << 1U,
  part_scores_nodes = 1U << 2U,
  /// Beside `part_orders_groups`: the key of a group depends on what other groups hold, so `allocate` asks for all
  /// keys again after every start.
  part_order_is_shared = 1U << 3U,
  part_divides_shares = 1U << 4U,
  part_judges_victims = 1U << 5U,
  part_permits = 1U << 6U,
  part_hears_changes = 1U << 7U,
  /// Beside `part_scores_nodes`: the score of a node follows from the class of the pod and from what that node is, has
  /// free and holds, whatever other nodes are offered and whatever else happens. Such scores are kept per class, and
  /// only nodes that have changed are asked about again.
  part_scores_by_class = 1U << 8U,
  part_chooses_devices = 1U << 9U,
};

/// A pod whose status has changed in the session.
struct session_change {
  pod_row pod = no_row;
  node_row node = no_row;  ///< where it is, or was if it is nowhere now
  pod_status before = pod_status::pending;
  pod_status now = pod_status::pending;
};

/// One named rule. Calls for one session come from one thread at a time; a part that is given to several engines must
/// not share state between its instances.
class policy_part {
 public:
  policy_part() = default;
  policy_part(const policy_part&) = delete;
  policy_part& operator=(const policy_part&) = delete;
  virtual ~policy_part() = default;

  /// Name as used in the option `parts`.
  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// Set of `part_capability`.
  [[nodiscard]] virtual std::uint32_t capabilities() const noexcept = 0;

  /// Called once before the first action of a session.
  virtual result<void> session_open(const session_view&) { return {}; }
  /// Called once after the last action.
  virtual void session_close() noexcept {}

  /// One key per group. Groups with equal keys are left to the next part.
  virtual result<void> order_groups(const session_view&, std::span<const group_row> groups, std::span<order_key> keys);

  /// One verdict per node: `constraint::none` to accept. Nodes that an earlier part refused are not asked about.
  /// A part may rely on being asked again whenever the session has changed since.
  virtual result<void> filter_nodes(const session_view&, pod_row pod, std::span<const node_row> nodes,
                                    std::span<constraint> verdicts);

  /// Adds to one score per node; the largest sum wins, ties go to the node name that sorts first. Scores must be
  /// finite. All nodes of the candidate set are given, fitting or not.
  virtual result<void> score_nodes(const session_view&, pod_row pod, std::span<const node_row> nodes,
                                   std::span<double> scores);

  /// Fair shares of queues, once when the session opens, after the part `proportion` has divided them.
  /// @param shares [queues x quota dimensions] in fixed units: what was divided, to be changed. Not negative.
  virtual result<void> divide_shares(const session_view&, std::span<const queue_row> queues,
                                     std::span<std::int64_t> shares);

  /// Which groups may lose pods to a group that waits; asked once for each such group and action that evicts for it.
  /// @param spared one flag per group, 0 as given: 1 for a group that must not lose any. What a part spares stays
  ///   spared whatever others say.
  virtual result<void> judge_victims(const session_view&, action_kind action, group_row waiting,
                                     std::span<const group_row> groups, std::span<std::uint8_t> spared);

  /// Whether pods that have found places may start now. They have their places while the part is asked
  /// (`session_view::node_of`); if it says no, these are free again and the group waits (`constraint::plugin`).
  /// @param pods all those of the group that would start together.
  virtual result<bool> permit(const session_view&, group_row group, std::span<const pod_row> pods);

  /// Pods have changed, in the order in which it happened. An undo tells the same changes the other way round; what
  /// was only tried is undone before an action ends.
  virtual void changed(const session_view&, std::span<const session_change>) noexcept {}

  /// The device of a node of which a pod gets a part; asked once for each part that it asks for, in `strict`.
  /// @param fitting bit i: device i of the node has room and is not chosen yet. Not 0.
  /// @return one of these; any other number leaves it to the next part, and at last to the engine's own order.
  virtual std::uint32_t choose_device(const session_view&, pod_row pod, node_row node, std::uint64_t fitting);
};

/// Makes an instance of a part for one session, so that parts may keep state between calls. Null: the part cannot be
/// made with these options; opening the session fails.
using part_factory = std::function<std::unique_ptr<policy_part>(const policy_options&)>;

}  // namespace kaisched
