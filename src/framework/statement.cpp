#include "framework/statement.hpp"

#include <algorithm>

#include "framework/session_state.hpp"

namespace kaisched::framework {

using model::pod_class;

bool session_statement::gets_back(pod_row pod, node_row node, std::uint32_t eviction) {
  return c_->constraints.gives_back(c_->access, pod, node, log[eviction].saved);
}

void session_statement::tell_before(const policy::place_change& change, std::uint32_t saved) {
  if (!c_->constraints.empty()) c_->constraints.before_amounts(c_->access, c_->live, change, saved);
}

void session_statement::tell_after(const policy::place_change& change, std::uint32_t saved) {
  if (c_->constraints.empty()) return;
  if (touches != nullptr) {
    touches->note(change.row);
    if (change.left != no_row) touches->note((*c_->state().node_row_of_slot)[change.left]);
  }
  c_->constraints.after_amounts(c_->access, c_->live, change, saved);
}

void session_statement::tell(pod_row pod, std::uint32_t node, pod_status before) {
  c_->constraints.changed(c_->access, pod);
  if ((c_->capabilities & part_hears_changes) != 0) tell_parts(pod, node, before);
}

void session_statement::mark_evicted(pod_row pod, std::uint32_t mark) {
  if (evicted_here.empty()) evicted_here.resize(c_->state().pod_slots, 0);
  evicted_here[pod] = mark;
}

void session_statement::note_placed(pod_row pod, bool placed) {
  if (!c_->compat() || (placed_here.empty() && !placed)) return;
  if (placed_here.empty()) placed_here.resize(c_->state().pod_slots, false);
  placed_here[pod] = placed;
}

void session_statement::set_status(pod_row pod, pod_status status) {
  c_->chunks.forget(pod);
  const auto old = static_cast<pod_status>(c_->live.pod_state[pod]);
  if (old == status) return;
  ++c_->access.changes;
  const sub_group_row sub = c_->state().pods[pod].sub;
  model::recount_pod(c_->live, sub, old, status);
  c_->live.pod_state.write(pod) = static_cast<std::uint8_t>(status);
}

/// What the node has free has changed.
void session_statement::note_node(node_row row) {
  if (touches != nullptr) touches->note(row);
  c_->choice.node_changed(*c_, row);
  c_->books.note(row);
  c_->constraints.node_changed(c_->access, row);
}

void session_statement::charge_node(pod_row pod, node_row row, pod_status status, const device_set& devices,
                                    std::int64_t sign) {
  const pod_class& c = c_->state().class_of(pod);
  if (c_->access.in_groups(c)) {
    model::charge_amounts(c_->state(), c_->live, c, row, status, sign, model::gpu_charge::none);
    model::charge_devices(c_->state(), c_->live, c, row, status, devices, sign);
  } else {
    model::charge_node(c_->state(), c_->live, c, row, status, devices, sign);
  }
  c_->constraints.charge(c_->access, c_->live, pod, row, status, sign);
  if (sign < 0 || status == pod_status::releasing) ++frees;
  note_node(row);
}

void session_statement::charge_node_anew(pod_row pod, node_row row, pod_status from, pod_status to,
                                         const device_set& devices) {
  const pod_class& c = c_->state().class_of(pod);
  if (c_->access.in_groups(c)) {
    // A pod that was given another place on the node that it is leaving is not charged there any more.
    const bool was_charged = c_->access.groups->is_booked(pod);
    if (was_charged) model::charge_amounts(c_->state(), c_->live, c, row, from, -1, model::gpu_charge::none);
    model::charge_amounts(c_->state(), c_->live, c, row, to, 1, model::gpu_charge::none);
    model::charge_devices(c_->state(), c_->live, c, row, from, devices, -1);
    model::charge_devices(c_->state(), c_->live, c, row, to, devices, 1);
  } else {
    model::charge_node_anew(c_->state(), c_->live, c, row, from, to, devices);
  }
  c_->constraints.recharge(c_->access, c_->live, pod, row, from, to);
  ++frees;
  note_node(row);
}

/// What was before an operation.
void session_statement::log_operation(operation_kind kind, pod_row pod) {
  operation op;
  op.kind = kind;
  op.old_status = static_cast<pod_status>(c_->live.pod_state[pod]);
  op.pod = pod;
  op.old_node = c_->live.pod_node[pod];
  op.old_devices = c_->live.pod_devices[pod];
  op.saved = c_->constraints.save(pod);
  log.push_back(op);
}

void session_statement::put(pod_row pod, node_row node, pod_status status, const device_set& devices,
                            const policy::group_ids& chosen, operation_kind kind, std::uint32_t again) {
  log_operation(kind, pod);
  const pod_status old = log.back().old_status;
  if (old == pod_status::releasing) {
    // KAI's nodes know a pod once: a claim on the node that it is leaving takes the place of what it holds there, which
    // would be given to others while the pod still has it.
    log.back().replaces = c_->compat() && c_->live.pod_node[pod] == (*c_->state().nodes)[node]->slot &&
                          !c_->state().class_of(pod).is_shared();
    if (log.back().replaces) {
      charge_node(pod, node, old, c_->live.pod_devices[pod], -1);
    } else {
      leaving.push_back({pod, c_->live.pod_node[pod], c_->live.pod_devices[pod]});
      ++times_leaving.at(pod);
    }
  }
  policy::place_change change{policy::place_event::placed, pod, node, old, status, log.back().old_node};
  change.starts = kind == operation_kind::allocate;
  change.replaces = log.back().replaces;
  change.groups = &chosen;
  change.devices = devices;
  set_status(pod, status);
  c_->live.pod_node.write(pod) = (*c_->state().nodes)[node]->slot;
  c_->live.pod_devices.write(pod) = devices;
  tell_before(change, again);
  charge_node(pod, node, status, devices, 1);
  c_->queues.charge(pod, 1);
  c_->queues.charge_core_of(pod);
  tell_after(change, again);
  tell(pod, c_->live.pod_node[pod], old);
}

void session_statement::allocate(pod_row pod, node_row node, const device_set& devices,
                                 const policy::group_ids& chosen) {
  put(pod, node, pod_status::allocated, devices, chosen, operation_kind::allocate);
}

void session_statement::pipeline(pod_row pod, node_row node, const device_set& devices,
                                 const policy::group_ids& chosen) {
  put(pod, node, pod_status::pipelined, devices, chosen, operation_kind::pipeline);
}

void session_statement::evict(pod_row pod) {
  log_operation(operation_kind::evict, pod);
  release_in_place(pod, depth());
}

void session_statement::evict_again(pod_row pod) {
  operation op = log[eviction_of(pod)];
  op.again = true;
  log.push_back(op);
  c_->chunks.forget(pod);
  c_->queues.charge(pod, -1);
  if (c_->constraints.counts_gpus_of(pod))
    charge_node_anew(pod, c_->node_of(pod), pod_status::releasing, pod_status::releasing, c_->live.pod_devices[pod]);
  tell_after({policy::place_event::evicted_again, pod, c_->node_of(pod), pod_status::releasing, pod_status::releasing},
             op.saved);
}

void session_statement::finish(pod_row pod) {
  log_operation(operation_kind::finish, pod);
  const pod_status old = log.back().old_status;
  const policy::place_change change{policy::place_event::ended, pod, c_->node_of(pod), old, pod_status::succeeded};
  tell_before(change, log.back().saved);
  charge_node(pod, c_->node_of(pod), old, c_->live.pod_devices[pod], -1);
  tell_after(change, log.back().saved);
  if (c_->queues.count(pod, old)) c_->queues.charge(pod, -1);
  set_status(pod, pod_status::succeeded);
  c_->queues.charge_core_of(pod);
  tell(pod, c_->live.pod_node[pod], old);
}

void session_statement::release_in_place(pod_row pod, std::uint32_t mark) {
  const node_row row = c_->node_of(pod);
  const auto old = static_cast<pod_status>(c_->live.pod_state[pod]);
  charge_node_anew(pod, row, old, pod_status::releasing, c_->live.pod_devices[pod]);
  set_status(pod, pod_status::releasing);
  c_->queues.charge(pod, -1);
  tell_after({policy::place_event::evicted, pod, row, old, pod_status::releasing}, log[mark - 1].saved);
  c_->queues.charge_core_of(pod);
  mark_evicted(pod, mark);
  tell(pod, c_->live.pod_node[pod], old);
}

void session_statement::restore_evicted(const operation& op) {
  const node_row row = (*c_->state().node_row_of_slot)[op.old_node];
  const policy::place_change change{policy::place_event::restored, op.pod, row, pod_status::releasing, op.old_status};
  tell_before(change, op.saved);
  charge_node_anew(op.pod, row, pod_status::releasing, op.old_status, op.old_devices);
  set_status(op.pod, op.old_status);
  c_->queues.charge(op.pod, 1);
  tell_after(change, op.saved);
  c_->queues.charge_core_of(op.pod);
  mark_evicted(op.pod, 0);
  tell(op.pod, op.old_node, pod_status::releasing);
}

bool session_statement::keeps_budgets(group_row waiting) {
  if (c_->access.budgets->holds()) return true;
  if (waiting != no_row) c_->results.note_budget(waiting, c_->access.budgets->overdraft());
  rollback(0);
  return false;
}

std::uint32_t session_statement::eviction_of(pod_row pod) const {
  const std::uint32_t mark = evicted_here.empty() ? 0 : evicted_here[pod];
  return mark == 0 || mark > depth() || log[mark - 1].old_node != c_->live.pod_node[pod] ? no_row : mark - 1;
}

void session_statement::unevict(std::uint32_t eviction) {
  restore_evicted(log[eviction]);
  log[eviction].undone = true;
  operation op;
  op.kind = operation_kind::unevict;
  op.pod = log[eviction].pod;
  op.undoes = eviction;
  log.push_back(op);
}

void session_statement::undo_put(const operation& op, bool is_undo, bool restores) {
  const node_row row = c_->node_of(op.pod);
  const std::uint32_t left = c_->live.pod_node[op.pod];
  const auto was = static_cast<pod_status>(c_->live.pod_state[op.pod]);
  policy::place_change change{policy::place_event::taken_back, op.pod, row, was, op.old_status, op.old_node};
  change.starts = op.kind == operation_kind::allocate;
  change.replaces = op.replaces;
  change.is_undo = is_undo;
  change.restores = restores;
  tell_before(change, op.saved);
  charge_node(op.pod, row, was, c_->live.pod_devices[op.pod], -1);
  c_->queues.charge(op.pod, -1);
  tell_after(change, op.saved);
  set_status(op.pod, op.old_status);
  c_->live.pod_node.write(op.pod) = op.old_node;
  c_->live.pod_devices.write(op.pod) = op.old_devices;
  if (op.replaces) {
    charge_node(op.pod, row, op.old_status, op.old_devices, 1);
  } else if (op.old_status == pod_status::releasing) {
    const auto it =
        std::find_if(leaving.rbegin(), leaving.rend(), [&](const leaving_pod& g) { return g.pod == op.pod; });
    leaving.erase(std::next(it).base());
    --times_leaving.at(op.pod);
  }
  c_->queues.charge_core_of(op.pod);
  tell(op.pod, op.old_node == no_row ? left : op.old_node, was);
}

void session_statement::revive(const operation& op) {
  const node_row row = c_->row_of_slot(op.old_node);
  const policy::place_change change{policy::place_event::revived, op.pod, row, pod_status::succeeded, op.old_status};
  set_status(op.pod, op.old_status);
  tell_before(change, op.saved);
  charge_node(op.pod, row, op.old_status, op.old_devices, 1);
  tell_after(change, op.saved);
  if (c_->queues.count(op.pod, op.old_status)) c_->queues.charge(op.pod, 1);
  c_->queues.charge_core_of(op.pod);
  tell(op.pod, op.old_node, pod_status::succeeded);
}

void session_statement::undo(std::uint32_t position) {
  const operation op = log[position];
  if (op.undone) return;
  ++c_->results.statistics.back().rollbacks;
  switch (op.kind) {
    case operation_kind::allocate:
    case operation_kind::pipeline:
      undo_put(op, true);
      break;
    case operation_kind::evict:
      if (op.again) {
        c_->queues.charge(op.pod, 1);
        tell_after({policy::place_event::restored_again, op.pod, c_->node_of(op.pod), pod_status::releasing,
                    pod_status::releasing},
                   op.saved);
      } else {
        restore_evicted(op);
      }
      break;
    case operation_kind::finish:
      revive(op);
      break;
    case operation_kind::unevict:
      log[op.undoes].undone = false;
      release_in_place(op.pod, op.undoes + 1);
      break;
    case operation_kind::divide:
      undo_division();
      break;
    case operation_kind::withdraw:
      put(op.pod, c_->row_of_slot(op.old_node), pod_status::pipelined, op.old_devices, {}, operation_kind::pipeline,
          op.saved);
      log.pop_back();
      break;
  }
}

void session_statement::withdraw(pod_row pod) {
  log_operation(operation_kind::withdraw, pod);
  const auto made = std::find_if(history_.rbegin(), history_.rend(), [&](const operation& op) {
    return op.pod == pod && op.kind == operation_kind::pipeline;
  });
  undo_put(*made, false);
}

void session_statement::commit_silently() {
  c_->ledger_.note(log);
  close();
}

void session_statement::rollback(std::uint32_t to) {
  for (std::uint32_t i = depth(); i > to; --i) undo(i - 1);
  log.resize(to);
  if (to == 0) c_->constraints.end_statement(false);
}

void session_statement::convert_to_pipelined(group_row group) {
  std::vector<operation> kept;
  std::vector<operation> mine;
  for (const operation& op : log) {
    const bool converts = op.kind == operation_kind::allocate && c_->state().pods[op.pod].group == group;
    (converts ? mine : kept).push_back(op);
  }
  log = std::move(kept);
  for (std::uint32_t i = 0; i < depth(); ++i) {
    if (log[i].kind == operation_kind::evict && !log[i].undone && !log[i].again) mark_evicted(log[i].pod, i + 1);
  }
  for (const operation& op : mine) {
    const node_row row = c_->node_of(op.pod);
    const std::uint32_t again = c_->constraints.save(op.pod);
    device_set chosen = c_->live.pod_devices[op.pod];
    policy::group_ids same;
    if (c_->in_groups(op.pod)) same = *c_->access.groups->groups_of(op.pod, row);
    undo_put(op, false, !c_->compat());  // KAI forgets here what it had known of claims
    if (same.empty()) {
      (void)model::choose_devices(c_->state(), c_->live, c_->state().class_of(op.pod), row,
                                  model::device_amount::free_or_releasing, !c_->compat(), chosen,
                                  c_->choice.device_order(), nullptr,
                                  c_->constraints.devices_for(c_->access, c_->state().class_of(op.pod), row,
                                                              policy::free_amount::idle_or_releasing));
    }
    put(op.pod, row, pod_status::pipelined, chosen, same, operation_kind::pipeline, again);
  }
}

void session_statement::commit() {
  if (log.empty()) return;
  ++commits;
  c_->ledger_.note(log);
  boost::container::small_vector<pod_row, 64> moved;     // one decision each instead of an eviction and a claim
  boost::container::small_vector<pod_row, 64> migrated;  // or a start
  for (const operation& op : log) {
    if (evicted_here.empty()) break;
    if (op.kind == operation_kind::divide || !is_evicted_here(op.pod) || evicted_here[op.pod] == no_row) continue;
    if (op.kind == operation_kind::pipeline) moved.push_back(op.pod);
    if (op.kind == operation_kind::allocate) migrated.push_back(op.pod);
  }
  std::sort(moved.begin(), moved.end());
  std::sort(migrated.begin(), migrated.end());
  boost::container::small_vector<std::uint8_t, 64> announced(moved.size(), 0);
  for (const operation& op : log) {
    if (op.undone || op.kind == operation_kind::unevict || op.kind == operation_kind::withdraw) continue;
    decision d;
    d.action = c_->run.action;
    d.commit = commits;
    if (op.kind == operation_kind::divide) {
      describe_division(divisions[op.undoes], d);
      c_->results.decisions.push_back(std::move(d));
      continue;
    }
    d.pod = op.pod;
    d.group = c_->state().pods[op.pod].group;
    const bool migrates = std::binary_search(migrated.begin(), migrated.end(), op.pod);
    if (op.kind == operation_kind::evict && migrates) {
      mark_evicted(op.pod, 0);
      continue;
    }
    if (op.kind == operation_kind::evict) {
      took_back_ = took_back_ || (c_->decides_net() && was_placed_here(op));
      if (c_->nominated_node(op.pod) != no_row) lost_places_.mark(op.pod, c_->state().pod_slots);
      if (op.again) evicted_twice.push_back(op.pod);
      if (c_->run.action == action_kind::stale_gang_eviction) {
        mark_evicted(op.pod, !placed_here.empty() && placed_here[op.pod] ? no_row : 0);
      } else {
        mark_evicted(op.pod, 0);
        note_placed(op.pod, false);
        c_->groups.note_eviction(d.group);
      }
      const auto at = static_cast<std::size_t>(std::lower_bound(moved.begin(), moved.end(), op.pod) - moved.begin());
      if (at < moved.size() && moved[at] == op.pod && announced[at] == 0) {
        announced[at] = 1;
        continue;
      }
      describe_leave(op, d);
    } else {
      const bool moves = op.kind == operation_kind::pipeline && std::binary_search(moved.begin(), moved.end(), op.pod);
      d.kind = migrates                              ? decision_kind::migrate
               : op.kind == operation_kind::allocate ? decision_kind::bind
               : moves                               ? decision_kind::move
                                                     : decision_kind::pipeline;
      if (!moves) note_placed(op.pod, true);
      // It has another place again: what it lost is no decision of its own.
      took_back_ = took_back_ || (c_->decides_net() && lost_places_.has(op.pod));
      describe_place(d);
      if (op.kind == operation_kind::allocate) begin_binding(op.pod);
    }
    c_->results.decisions.push_back(std::move(d));
  }
  close();
}

/// The pod was put where it is by this session, which takes that back.
bool session_statement::was_placed_here(const operation& eviction) const {
  return static_cast<pod_status>(c_->state().live.pod_state[eviction.pod]) != eviction.old_status ||
         c_->state().live.pod_node[eviction.pod] != eviction.old_node;
}

void session_statement::describe_leave(const operation& op, decision& d) const {
  d.kind = decision_kind::evict;
  d.node = (*c_->state().node_row_of_slot)[op.old_node];
  d.devices = op.old_devices;
  c_->constraints.describe_left(op.saved, d);
}

void session_statement::describe_place(decision& d) const {
  d.node = (*c_->state().node_row_of_slot)[c_->live.pod_node[d.pod]];
  d.devices = c_->live.pod_devices[d.pod];
  c_->constraints.describe(c_->access, d.pod, d.node, d);
  if (const std::string* const cell = c_->results.cell_place(d.pod); cell != nullptr) d.device_grants.push_back(*cell);
}

void session_statement::begin_binding(pod_row pod) {
  set_status(pod, pod_status::binding);
  tell(pod, c_->live.pod_node[pod], pod_status::allocated);
}

/// Ends a statement whose decisions have been told. Where decisions are net it is kept, so that it can be taken back.
void session_statement::close() {
  if (c_->decides_net()) {
    for (const operation& op : log) {
      if (!op.undone && op.kind != operation_kind::unevict && op.kind != operation_kind::divide) history_.push_back(op);
    }
  }
  log.clear();
  c_->constraints.end_statement(c_->decides_net());
}

void session_statement::abandon() {
  abandoned = true;
  c_->ledger_.note(log);
  for (const operation& op : log) {
    if (op.undone || op.kind == operation_kind::unevict || op.kind == operation_kind::divide) continue;
    note_placed(op.pod, true);
    if (op.kind != operation_kind::evict) continue;
    if (op.again) evicted_twice.push_back(op.pod);
    mark_evicted(op.pod, no_row);  // of no statement
  }
  log.clear();
  c_->constraints.end_statement(false);
}

bool session_statement::is_leaving(pod_row pod, std::uint32_t node) const {
  return is_leaving(pod) && std::any_of(leaving.begin(), leaving.end(),
                                        [&](const leaving_pod& one) { return one.pod == pod && one.node == node; });
}

void session_statement::tell_parts(pod_row pod, std::uint32_t node, pod_status before) {
  const session_change one{pod, node == no_row ? no_row : c_->row_of_slot(node), before,
                           static_cast<pod_status>(c_->live.pod_state[pod])};
  for (const auto& part : c_->parts) {
    if ((part->capabilities() & part_hears_changes) != 0) part->changed(c_->view(), {&one, 1});
  }
}

}  // namespace kaisched::framework
