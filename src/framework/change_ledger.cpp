#include "framework/change_ledger.hpp"

#include <algorithm>

#include "framework/members.hpp"
#include "framework/session_state.hpp"
#include "model/account.hpp"

namespace kaisched::framework {

using model::quota_vector;

namespace {

template <class Row>
void keep_each_once(std::vector<Row>& rows) {
  std::sort(rows.begin(), rows.end());
  rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
}

/// Books of shared devices and of claims say what has been tried, so amounts of nodes do not follow from their pods.
bool has_other_books(const session_state& c) { return c.constraints.has(policy::trait_amounts_not_of_pods); }

quota_vector held_at(const session_state& c, pod_row p, std::uint32_t slot) {
  const model::pod_class& kind = c.state().class_of(p);
  return slot == no_row ? c.queues.asked(kind) : c.queues.held_on(kind, (*c.state().node_row_of_slot)[slot]);
}

/// The queue holds more than it may of something, and more than before.
std::uint32_t newly_over(const quota_vector& held, const quota_vector& before, const quota_vector& bound, bool exact) {
  constexpr std::int64_t exact_in_doubles = std::int64_t{1} << 53;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (bound[r] == unlimited || held[r] <= bound[r] || held[r] <= before[r]) continue;
    if (exact || held[r] < exact_in_doubles) return r;
  }
  return no_row;
}

}  // namespace

void change_ledger::open(const model::live_state& live) {
  is_open_ = true;
  was_ = live;
}

void change_ledger::open_again(const session_state& c) {
  was_ = c.live;
  pods_.clear();
  leaving_ = c.statement.leaving.size();
  divisions_ = c.statement.divisions.size();
  evicted_twice_ = c.statement.evicted_twice.size();
  decisions_ = c.results.decisions.size();
  promised_twice_ = {};
  lost_ = {};
  for (const decision& d : c.results.decisions) {
    if (d.kind == decision_kind::evict || d.kind == decision_kind::move) lost_.mark(d.group, c.state().group_slots);
  }
}

void change_ledger::note(std::span<const operation> log) {
  if (!is_open_) return;
  for (const operation& op : log) {
    if (op.kind != operation_kind::divide) pods_.push_back(op.pod);
  }
}

result<void> change_ledger::verify(const session_state& c) {
  if (!is_open_) return {};
  keep_each_once(pods_);
  groups_.clear();
  for (const pod_row p : pods_) {
    if (c.state().pods[p].sub != no_row) groups_.push_back(c.state().pods[p].group);
  }
  keep_each_once(groups_);
  find_queues(c);
  nodes_.clear();
  for (const pod_row p : pods_) rebook(c, p);
  rebook_others(c);
  keep_each_once(nodes_);
  result<void> done = verify_nodes(c);
  if (done) done = verify_counts(c);
  if (done) done = verify_queues(c);
  if (done) done = verify_gangs(c);
  pods_.clear();
  return done;
}

/// Queues on the paths of the groups, with what they held.
void change_ledger::find_queues(const session_state& c) {
  queues_.clear();
  for (const group_row g : groups_) {
    for (queue_row q = c.state().groups[g].queue; q != no_row; q = (*c.state().queues)[q].parent) queues_.push_back(q);
  }
  keep_each_once(queues_);
  allocated_before_.clear();
  nonpreemptible_before_.clear();
  for (const queue_row q : queues_) {
    allocated_before_.push_back((*was_.queue_allocated)[q]);
    nonpreemptible_before_.push_back((*was_.queue_nonpreemptible)[q]);
  }
}

void change_ledger::rebook(const session_state& c, pod_row p) {
  const model::cluster_state& s = c.state();
  const model::pod_core& pod = s.pods[p];
  const auto then = static_cast<pod_status>(was_.pod_state[p]);
  const auto now = static_cast<pod_status>(c.live.pod_state[p]);
  const std::uint32_t left = was_.pod_node[p];
  const std::uint32_t at = c.live.pod_node[p];
  const auto charge = [&](pod_status status, std::uint32_t slot, const device_set& devices, std::int64_t sign) {
    if (slot == no_row || !model::is_in(status, model::active_used)) return;
    const node_row row = (*s.node_row_of_slot)[slot];
    model::charge_sums(s, was_, s.class_of(p), row, status, devices, sign);
    nodes_.push_back(row);
  };
  charge(then, left, was_.pod_devices[p], -1);
  charge(now, at, c.live.pod_devices[p], 1);
  if (pod.sub != no_row) {
    model::recount_pod(was_, pod.sub, then, now);
    const model::group_core& group = s.groups[pod.group];
    const std::int64_t counted = times_counted(c, p, then);
    const std::int64_t counts = times_counted(c, p, now);
    if (counted != 0) model::charge_queues(s, was_, group, held_at(c, p, left), -counted);
    if (counts != 0) model::charge_queues(s, was_, group, held_at(c, p, at), counts);
  }
  if (now == pod_status::releasing) mark_promised_twice(c, p, at);
  if (c.compat() && c.statement.is_leaving(p)) mark_promised_twice(c, p, at);
  was_.pod_state.write(p) = static_cast<std::uint8_t>(now);
  was_.pod_node.write(p) = at;
  was_.pod_devices.write(p) = c.live.pod_devices[p];
}

/// Pods that leave a node beside a claim on another one, divisions, and amounts that KAI gives back twice.
void change_ledger::rebook_others(const session_state& c) {
  const model::cluster_state& s = c.state();
  for (; leaving_ < c.statement.leaving.size(); ++leaving_) {
    const leaving_pod& one = c.statement.leaving[leaving_];
    const node_row row = (*s.node_row_of_slot)[one.node];
    model::charge_sums(s, was_, s.class_of(one.pod), row, pod_status::releasing, one.devices, 1);
    nodes_.push_back(row);
    mark_promised_twice(c, one.pod, one.node);
  }
  for (; divisions_ < c.statement.divisions.size(); ++divisions_) {
    c.statement.charge_division(was_, c.statement.divisions[divisions_], 1);
    nodes_.push_back(c.statement.divisions[divisions_].node);
  }
  for (; evicted_twice_ < c.statement.evicted_twice.size(); ++evicted_twice_) {
    const pod_row p = c.statement.evicted_twice[evicted_twice_];
    model::charge_queues(s, was_, s.groups[s.pods[p].group], c.queues.held(p), -1);
  }
}

void change_ledger::mark_promised_twice(const session_state& c, pod_row p, std::uint32_t slot) {
  if (!leaves_without_having_been_there(c, p, slot)) return;
  promised_twice_.mark((*c.state().node_row_of_slot)[slot], c.state().node_count());
}

result<void> change_ledger::verify_nodes(const session_state& c) const {
  const model::cluster_state& s = c.state();
  const bool others = has_other_books(c);
  for (const node_row row : nodes_) {
    const std::size_t first = static_cast<std::size_t>(row) * s.dims();
    for (std::size_t i = first; !others && i < first + s.dims(); ++i) {
      if ((*was_.idle)[i] != (*c.live.idle)[i] || (*was_.releasing)[i] != (*c.live.releasing)[i])
        return violated(text_of_node(c, row) + ", " + (*s.dimensions)[i - first].name +
                        ": amounts differ from its pods");
    }
    for (device_row d = (*s.first_device)[row]; d < (*s.first_device)[row + 1]; ++d) {
      if ((*was_.device_free)[d] != (*c.live.device_free)[d] ||
          (*was_.device_releasing)[d] != (*c.live.device_releasing)[d]) {
        return violated(text_of_device(c, d) + ": amounts differ from its pods");
      }
    }
    if ((*was_.device_claims)[row] != (*c.live.device_claims)[row])
      return violated(text_of_node(c, row) + ": claims on devices differ from its pods");
    if (others || promised_twice_.has(row)) continue;
    if (auto done = check_capacity_of(c, row); !done) return done;
  }
  return {};
}

result<void> change_ledger::verify_counts(const session_state& c) const {
  for (const pod_row p : pods_) {
    const sub_group_row sub = c.state().pods[p].sub;
    if (sub == no_row || was_.counts[sub] == c.live.counts[sub]) continue;
    return violated("pod group '" + std::string(c.state().group_names[c.state().pods[p].group]) +
                    "': counts of a pod set differ from its pods");
  }
  return {};
}

result<void> change_ledger::verify_queues(const session_state& c) {
  const model::cluster_state& s = c.state();
  const bool semi = s.semi_preemptible_groups > 0;  // whose cores only the session knows
  for (const group_row g : groups_) {
    if (s.groups[g].semi_preemptible && c.queues.core_growth(g, {}) != quota_vector{})
      return violated("pod group '" + std::string(s.group_names[g]) + "': its core differs from what queues count");
  }
  // Pods that are replaced do not count, and KAI's sums in floating point or of twice evicted pods are others.
  const bool bound =
      c.run.keeps_bounds && !c.adds_parts_up() && c.statement.evicted_twice.empty() && !c.statement.abandoned &&
      std::none_of(groups_.begin(), groups_.end(), [&](group_row g) { return s.group_extras[g].max_surge > 0; });
  for (std::size_t i = 0; i < queues_.size(); ++i) {
    const queue_row q = queues_[i];
    const model::queue_info& queue = (*s.queues)[q];
    const quota_vector& allocated = (*c.live.queue_allocated)[q];
    const quota_vector& nonpreemptible = (*c.live.queue_nonpreemptible)[q];
    if (allocated != (*was_.queue_allocated)[q] || (!semi && nonpreemptible != (*was_.queue_nonpreemptible)[q]))
      return violated("queue '" + queue.name + "': its sum differs from its pods");
    if (semi) was_.queue_nonpreemptible.write()[q] = nonpreemptible;
    if (!bound) continue;
    if (newly_over(allocated, allocated_before_[i], queue.limit, !c.compat()) != no_row)
      return violated("queue '" + queue.name + "' is newly over its limit");
    if (newly_over(nonpreemptible, nonpreemptible_before_[i], queue.quota, !c.compat()) != no_row)
      return violated("queue '" + queue.name + "' is newly over its quota with what cannot be preempted");
  }
  return {};
}

result<void> change_ledger::verify_gangs(const session_state& c) {
  const std::size_t first = decisions_;
  for (; decisions_ < c.results.decisions.size(); ++decisions_) {
    const decision& d = c.results.decisions[decisions_];
    if (d.kind == decision_kind::evict || d.kind == decision_kind::move) lost_.mark(d.group, c.state().group_slots);
  }
  if (!c.setup->keeps_gangs || c.statement.abandoned) return {};
  for (std::size_t i = first; i < c.results.decisions.size(); ++i) {
    const decision& d = c.results.decisions[i];
    if (d.action == action_kind::none) continue;  // the host's own operations may start a part of a gang
    if ((d.kind != decision_kind::bind && d.kind != decision_kind::pipeline) || lost_.has(d.group)) continue;
    if (has_broken_gang(c, d.group))
      return violated("pod group '" + std::string(c.state().group_names[d.group]) + "': its gang is broken");
  }
  return {};
}

}  // namespace kaisched::framework
