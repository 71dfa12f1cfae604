#pragma once
/// @file
/// The interface of a node constraint: a rule that has a say in where a pod may be and that counts what pods do. NUMA
/// zones, resource claims and reservations are node constraints; labels and taints, which no pod changes, are not.
///
/// A session keeps the constraints that its cluster uses in a `constraint_list`, tells them of every change and of
/// every undo, and asks them wherever a pod is placed, forked, explained or checked. A new constraint is a file that
/// implements this interface and a line in `registry.cpp`.

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>
#include <kaisched/vendors.hpp>

#include "base/sha256.hpp"
#include "model/state.hpp"
#include "policy/access.hpp"
#include "policy/devices/sharing/gpu_groups.hpp"

namespace kaisched::policy {

/// One byte by node row.
using node_flags = std::vector<std::uint8_t>;

/// What a constraint may read when a session opens.
struct constraint_setup {
  const session_access& access;
  model::live_state& live;  ///< amounts as the model counts them, for constraints that count them otherwise
  std::shared_ptr<const device_catalog> catalog;

  [[nodiscard]] bool has_part(std::string_view name) const;
};

enum class place_event : std::uint8_t {
  placed,          ///< the pod gets a place on the node, to start or to wait for it
  taken_back,      ///< undo of `placed`
  evicted,         ///< it leaves the node and is still there
  restored,        ///< undo of `evicted`
  evicted_again,   ///< `compat`: a pod that is listed twice as a victim
  restored_again,  ///< undo of `evicted_again`
  ended,           ///< a look ahead: it is gone
  revived,         ///< undo of `ended`
};

/// What happens to a pod on a node.
struct place_change {
  static constexpr std::uint32_t nothing_saved = no_row;

  place_event what = place_event::placed;
  pod_row pod = no_row;
  node_row row = no_row;
  pod_status before = pod_status::pending;
  pod_status after = pod_status::pending;
  /// Of `placed` and `taken_back`: slot of the node that the pod was on before, or no_row.
  std::uint32_t left = no_row;
  bool starts = false;    ///< of these two: it does not wait for others to leave
  bool replaces = false;  ///< of these two, `compat`: the place is that which the pod is leaving, counted once
  bool is_undo = false;   ///< of `taken_back`: nothing comes in its place
  bool restores = true;   ///< of `taken_back`: what had been known before comes back
  const group_ids* groups = nullptr;  ///< of `placed`: the GPU groups of the pod; empty: those of its devices
  device_set devices{};               ///< of `placed`
  /// What the constraint itself had saved of the pod before the event that is undone, of `evicted` before the event
  /// itself; of `placed` what the pod gets again. `nothing_saved`: nothing.
  std::uint32_t saved = nothing_saved;
};

/// What a search may not take for granted while a constraint is used.
enum constraint_trait : std::uint32_t {
  /// A request that is smaller in every amount may be refused where a larger one is not, and amounts do not tell which
  /// victims make room on a node.
  trait_not_by_amount = 1U << 0U,
  /// A node may have to find fewer GPUs than the pod asks for: others pay for them.
  trait_pays_gpus = 1U << 1U,
  /// What a node says may change while nothing of the node does.
  trait_depends_on_other_nodes = 1U << 2U,
  /// Pods of one class may be treated differently.
  trait_depends_on_pod = 1U << 3U,
  /// Nodes are closed to some groups that are open to others.
  trait_closes_nodes = 1U << 4U,
  /// A place to wait for may be refused where a start is not.
  trait_waiting_may_need_more = 1U << 5U,
  /// Which devices the pod gets decides: `fits_with` and `devices_for` are asked in place of `judge`.
  trait_by_devices = 1U << 6U,
  /// It refuses no node: it counts, and has a say in evictions or amounts.
  trait_refuses_no_node = 1U << 7U,
  /// Amounts of nodes do not follow from the pods that are on them.
  trait_amounts_not_of_pods = 1U << 8U,
  /// An undo is not always exact, as in the reference scheduler.
  trait_undo_is_inexact = 1U << 9U,
  /// So that each simulation of the reference has to be repeated: what it leaves behind decides later.
  trait_simulations_leave_traces = 1U << 10U,
};

/// What the recount of a session knows beside its pods.
struct recount_facts {
  bool only_starts = false;    ///< nothing but starts has been decided, and the statement is empty
  bool evicted_twice = false;  ///< some pod was evicted again
};

class node_constraint {
 public:
  node_constraint() = default;
  virtual ~node_constraint() = default;
  node_constraint& operator=(const node_constraint&) = delete;

  [[nodiscard]] virtual std::string_view name() const noexcept = 0;
  /// The same, counting on for itself.
  [[nodiscard]] virtual std::unique_ptr<node_constraint> clone() const = 0;

  // ---- is it used
  /// Counts what is there. False: nothing in the cluster or the options asks for it, and the session does without.
  [[nodiscard]] virtual result<bool> open(const constraint_setup& with) = 0;
  /// It is opened before queues are counted, since it changes how the GPUs of nodes are.
  [[nodiscard]] virtual bool opens_first() const { return false; }
  /// Shows itself to those that read more of it than this interface has. Also called for the copy of a session.
  virtual void show(session_access&) const {}

  // ---- may the pod be there
  /// A rule about where pods may be, of which all nodes are asked at once. Else a resource of nodes, of which a node is
  /// asked when a pod is tried on it. A host that places pods itself is bound by resources only.
  [[nodiscard]] virtual bool is_rule() const { return false; }
  /// It may refuse some node to the pod. Labels, taints and amounts aside.
  [[nodiscard]] virtual bool concerns(const session_access& a, pod_row pod) const = 0;
  /// It may refuse a node to pods of the class that it did not refuse before, though nothing was placed on the node and
  /// nothing left any node.
  [[nodiscard]] virtual bool follows_other_pods(const session_access&, const model::pod_class&) const { return false; }
  /// Some part of the policy scores nodes for the pod by it, so that all nodes are looked at.
  [[nodiscard]] virtual bool needs_scores(const session_access&, pod_row) const { return false; }
  /// The part of the policy that asks it when all nodes are looked at; empty: there is none.
  [[nodiscard]] virtual std::string_view part() const { return {}; }
  /// One verdict per node that has none.
  virtual void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
                     std::span<constraint> verdicts) const = 0;
  /// The plug-in `nodeavailability` takes the pod for one that could start on the node, as far as this goes.
  [[nodiscard]] virtual bool is_available(const session_access& a, pod_row pod, node_row row) const;
  /// Nodes that are closed to the group whatever its pods are; null: none.
  [[nodiscard]] virtual const node_flags* closed_to(group_row) const { return nullptr; }
  /// Groups of the same number are refused by the same nodes as far as `closed_to` goes; 0: by none.
  [[nodiscard]] virtual std::uint32_t kind_of(group_row) const { return 0; }
  /// Milli-GPU of the pod that the node does not have to find.
  [[nodiscard]] virtual std::int64_t gpus_paid(pod_row, node_row, free_amount) const { return 0; }
  /// Devices of the node, as bits, that pods of the class may get parts of.
  [[nodiscard]] virtual std::uint64_t devices_for(const session_access&, const model::pod_class&, node_row,
                                                  free_amount) const {
    return ~std::uint64_t{0};
  }
  /// The node does not refuse the pod with these devices.
  [[nodiscard]] virtual bool fits_with(const session_access&, pod_row, node_row, const device_set&, bool) const {
    return true;
  }

  // ---- at another time
  /// A look ahead: the group would start then. Until `look_at_now`.
  virtual void look_at(group_row, std::int64_t) {}
  virtual void look_at_now() {}
  /// The first time after one at which verdicts change by themselves, or `unset`.
  [[nodiscard]] virtual std::int64_t next_change(std::int64_t) const { return unset; }

  // ---- charge and undo
  /// It has something of pods to go back to.
  [[nodiscard]] virtual bool saves() const { return false; }
  /// What is known of the pod now, as a number.
  [[nodiscard]] virtual std::uint32_t save(pod_row) { return place_change::nothing_saved; }
  /// The statement is over. What it has saved is kept, for it may be undone later, or forgotten.
  virtual void end_statement(bool /*keeps*/) {}
  /// What was kept belongs to the statement again.
  virtual void reopen_statements() {}
  /// Before and after amounts of nodes are charged for a change.
  virtual void before_amounts(const session_access&, model::live_state&, const place_change&) {}
  virtual void after_amounts(const session_access&, model::live_state&, const place_change&) {}
  /// Amounts of the node have been charged with the pod (1), or no longer (-1).
  virtual void charge(const session_access&, model::live_state&, pod_row, node_row, pod_status, std::int64_t) {}
  /// Amounts of the node have been charged anew: the pod stays there with another status.
  virtual void recharge(const session_access&, model::live_state&, pod_row, node_row, pod_status, pod_status) {}
  /// GPUs that the pod is charged for are counted by this constraint.
  [[nodiscard]] virtual bool counts_gpus_of(pod_row) const { return false; }
  /// Where the pod is, or its status, has changed.
  virtual void changed(const session_access&, pod_row) {}
  /// What the node has free has changed.
  virtual void node_changed(const session_access&, node_row) {}

  // ---- evictions
  /// The pod, which was evicted from the node, would get back what it had there.
  [[nodiscard]] virtual bool gets_back(const session_access&, pod_row, node_row, std::uint32_t /*saved*/) {
    return true;
  }

  // ---- searches
  /// Bits of `constraint_trait`, of a constraint that is used.
  [[nodiscard]] virtual std::uint32_t traits(const session_access&) const {
    return trait_not_by_amount | trait_depends_on_pod | trait_depends_on_other_nodes | trait_closes_nodes;
  }

  // ---- results
  /// What a decision says of the place of its pod.
  virtual void describe(const session_access&, pod_row, node_row, decision&) const {}
  /// And of the place that it has left.
  virtual void describe_left(std::uint32_t /*saved*/, decision&) const {}
  // ---- checks
  /// Equal for equal states.
  virtual void digest(base::sha256& to) const = 0;
  /// Counts everything anew from the pods of the session; says what differs, or nothing.
  [[nodiscard]] virtual std::string fault(const session_access& a, const recount_facts& facts) const = 0;

 protected:
  node_constraint(const node_constraint&) = default;
};

using constraint_factory = std::unique_ptr<node_constraint> (*)();

}  // namespace kaisched::policy
