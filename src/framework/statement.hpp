#pragma once
/// @file
/// The statement of a session: what is tried, and can be undone to the byte, until it is committed.

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>

#include "base/row_marks.hpp"
#include "base/sparse_rows.hpp"
#include "model/state.hpp"
#include "policy/access.hpp"
#include "policy/constraints/node_constraint.hpp"

namespace kaisched::framework {

class session_state;

enum class operation_kind : std::uint8_t { allocate, pipeline, evict, unevict, finish, divide, withdraw };

/// One entry of the undo log: what was before.
struct operation {
  operation_kind kind = operation_kind::allocate;
  bool undone = false;    ///< evictions only: taken back by a later `unevict`
  bool replaces = false;  ///< claims only: the pod was leaving that very node
  bool again = false;     ///< evictions only: the pod had been evicted already
  pod_status old_status = pod_status::pending;
  pod_row pod = no_row;
  std::uint32_t old_node = no_row;  ///< slot
  device_set old_devices{};
  /// What node constraints had of the pod.
  std::uint32_t saved = policy::place_change::nothing_saved;
  std::uint32_t undoes = 0;  ///< unevict: position of the eviction; divide: that of the division
};

/// A device that is divided anew. What is made comes free once the host has done it; what goes is free no more.
struct division {
  group_row group = no_row;  ///< for which
  node_row node = no_row;
  std::uint32_t device = 0;
  bool was_whole = false;                   ///< it was a whole GPU, and idle
  std::vector<model::mig_instance> layout;  ///< what the device has then, by start
  std::vector<model::mig_instance> made;    ///< what of it is new
  std::vector<model::mig_instance> idle;    ///< what goes and is free
  std::vector<model::mig_instance> coming;  ///< what goes and is coming free: pods leave it, or it was yet to be made
  std::int64_t drain_cost = 0;
  std::shared_ptr<const model::cluster_state> before;  ///< the state without what is made, if there was one
};

/// All changes of where pods are go through here. What was done since the last commit is in the log.
/// Nodes that were changed, each once.
struct touched_nodes {
  std::vector<node_row> rows;

  explicit touched_nodes(std::size_t nodes) : is_in_(nodes, 0) {}
  void note(node_row row) {
    if (std::exchange(is_in_[row], 1) == 0) rows.push_back(row);
  }
  void clear() {
    for (const node_row row : rows) is_in_[row] = 0;
    rows.clear();
  }

 private:
  std::vector<std::uint8_t> is_in_;
};

class session_statement {
 public:
  void connect(session_state& c) { c_ = &c; }

  [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(log.size()); }
  /// `groups`: of a pod that shares devices, where they are counted in groups; none: those of its devices.
  void allocate(pod_row pod, node_row node, const device_set& devices, const policy::group_ids& groups = {});
  void pipeline(pod_row pod, node_row node, const device_set& devices, const policy::group_ids& groups = {});
  void evict(pod_row pod);
  /// Evicts a pod that has been evicted already: its queue gets the amount back a second time. KAI does that where a
  /// victim is listed twice; only `compat` repeats it.
  void evict_again(pod_row pod);
  void unevict(std::uint32_t eviction);
  /// The pod, which was evicted from the node, would get back there what it had.
  [[nodiscard]] bool gets_back(pod_row pod, node_row node, std::uint32_t eviction);
  /// Gives the place up that a pod which waits holds since this session was opened.
  void withdraw(pod_row pod);
  /// Ends a statement that decides nothing new: what it holds is held since earlier sessions.
  void commit_silently();
  /// Starts a pod that waits on a node, on the same devices if these are free. False: it cannot start there now.
  [[nodiscard]] bool start_in_place(pod_row pod, node_row node, const device_set& devices);
  /// A look ahead: the pod has ended and holds nothing any more. Must be undone before the statement is committed.
  void finish(pod_row pod);
  /// Divides a device anew. What is made can be claimed, and starts no pod in this session.
  void divide(division what);
  /// Charges amounts with what a division has changed.
  void charge_division(model::live_state& to, const division& what, std::int64_t sign) const;
  /// The division that the device had last in this session, or null.
  [[nodiscard]] const division* division_of(node_row node, std::uint32_t device) const;
  /// The pod is leaving the node, a slot, and has a claim on another one.
  [[nodiscard]] bool is_leaving(pod_row pod, std::uint32_t node) const;
  /// The same for any node.
  [[nodiscard]] bool is_leaving(pod_row pod) const {
    const std::uint32_t* times = times_leaving.find(pod);
    return times != nullptr && *times > 0;
  }
  /// Position of the eviction in the statement that took the pod from the node where it is leaving now, or no_row.
  [[nodiscard]] std::uint32_t eviction_of(pod_row pod) const;
  void rollback(std::uint32_t to);
  /// All new allocations of the group become claims on the same nodes: no pod starts now.
  void convert_to_pipelined(group_row group);
  void commit();
  /// After an action, and after a commit of the host: if commits have taken back what this session had placed, the
  /// decisions and the state become those of the net outcome. A start that was taken back is no decision. The pod that
  /// got its room starts where no running pod has to leave for it.
  void settle_decisions();
  /// Forgets the statement and keeps what it has done: neither decided nor undone (a defect of KAI).
  void abandon();
  /// The pod was evicted by operations that have not been committed.
  [[nodiscard]] bool is_evicted_here(pod_row pod) const { return !evicted_here.empty() && evicted_here[pod] != 0; }
  /// Takes the statement back if more pods leave or move than budgets allow, and tells so for a group, if any.
  [[nodiscard]] bool keeps_budgets(group_row waiting = no_row);

  std::vector<operation> log;
  std::vector<division> divisions;                 ///< in their order, those of the statement last
  std::vector<leaving_pod> leaving;                ///< beside their claims on other nodes
  base::sparse_rows<std::uint32_t> times_leaving;  ///< of pods in that list
  /// By pod: 0, or 1 + the position in the log of the eviction that has not been committed. Empty before the
  /// first eviction.
  std::vector<std::uint32_t> evicted_here;
  /// By pod, `compat` only, empty before the first: placed by a statement that stands and not evicted by one since. KAI
  /// takes such a pod for startable again when it is evicted with its stale gang.
  std::vector<bool> placed_here;
  bool abandoned = false;              ///< a statement of this session was
  std::vector<pod_row> evicted_twice;  ///< by statements that stand; their queues got the amount back twice
  std::uint32_t commits = 0;           ///< of statements, in this session
  touched_nodes* touches = nullptr;    ///< notes nodes that operations and their undo change; null: they are not noted
  std::uint64_t frees = 0;             ///< grows whenever something comes free: what did not fit may fit now

 private:
  void set_status(pod_row pod, pod_status status);
  void note_node(node_row row);
  void mark_evicted(pod_row pod, std::uint32_t mark);
  void note_placed(pod_row pod, bool placed);
  void charge_node(pod_row pod, node_row row, pod_status status, const device_set& devices, std::int64_t sign);
  void charge_node_anew(pod_row pod, node_row row, pod_status from, pod_status to, const device_set& devices);
  /// `again`: what constraints have saved of the pod and give it again.
  void put(pod_row pod, node_row node, pod_status status, const device_set& devices, const policy::group_ids& groups,
           operation_kind kind, std::uint32_t again = policy::place_change::nothing_saved);
  void undo(std::uint32_t position);
  void revive(const operation& op);
  void undo_division();
  static void describe_division(const division& what, decision& d);
  [[nodiscard]] bool was_placed_here(const operation& eviction) const;
  void describe_leave(const operation& op, decision& d) const;
  void describe_place(decision& d) const;
  void begin_binding(pod_row pod);
  void close();
  void undo_history();
  friend class net_outcome;
  void log_operation(operation_kind kind, pod_row pod);
  /// Tells node constraints before and after amounts are charged, and all that hear changes at the end.
  void tell_before(const policy::place_change& change, std::uint32_t saved);
  void tell_after(const policy::place_change& change, std::uint32_t saved);
  void tell(pod_row pod, std::uint32_t node, pod_status before);
  void tell_parts(pod_row pod, std::uint32_t node, pod_status before);
  /// `is_undo`: nothing comes in its place. `restores`: constraints know again what they had known.
  void undo_put(const operation& op, bool is_undo, bool restores = true);
  void release_in_place(pod_row pod, std::uint32_t mark);
  void restore_evicted(const operation& op);

  session_state* c_ = nullptr;
  std::vector<operation> history_;  ///< what commits have done, where decisions are net
  bool took_back_ = false;          ///< a commit since has taken back what this session had placed
  base::row_marks lost_places_;     ///< pods from which commits took the places that were kept for them
};

}  // namespace kaisched::framework
