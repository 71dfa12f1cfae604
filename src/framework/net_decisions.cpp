// Net decisions: what a session gives and takes back again was never given.
#include <algorithm>
#include <map>
#include <set>
#include <utility>
#include <vector>

#include "framework/members.hpp"
#include "framework/session_state.hpp"

namespace kaisched::framework {

namespace {

constexpr std::size_t none = static_cast<std::size_t>(-1);

bool leaves(decision_kind kind) {
  return kind == decision_kind::evict || kind == decision_kind::move || kind == decision_kind::migrate;
}

}  // namespace

/// What the commits of a session come to. Made from the decisions; `apply` undoes the commits and does this instead.
class net_outcome {
 public:
  explicit net_outcome(session_state& c) : c_(c), made_(std::move(c.results.decisions)) {
    c_.results.decisions.clear();
    for (std::size_t i = 0; i < made_.size(); ++i) note(i);
    find_held();
  }

  void apply() {
    c_.statement.undo_history();
    bind_again();
    evict_again();
    for (const held_place& one : held_) c_.statement.pipeline(one.pod, one.node, one.devices);
    place_chunks();
    tell();
    count_withdrawn_starts();
    join_commits();
    close();
  }

 private:
  /// Of one pod: positions in the decisions that were made.
  struct fate {
    std::size_t left = none;    ///< it left the node on which it was when the session began
    std::size_t lost = none;    ///< it lost the place that was kept for it
    std::size_t placed = none;  ///< it was placed where it is now
    node_row node = no_row;
    device_set devices{};
  };
  struct held_place {
    pod_row pod;
    node_row node;
    device_set devices;
  };

  [[nodiscard]] bool was_on_node(pod_row p) const {
    return c_.state().live.pod_node[p] != no_row &&
           model::is_in(static_cast<pod_status>(c_.state().live.pod_state[p]),
                        model::active_allocated & ~model::bit(pod_status::pipelined));
  }

  void note(std::size_t i) {
    const decision& d = made_[i];
    if (d.pod == no_row) return;
    fate& of = fates_[d.pod];
    if (leaves(d.kind) && was_on_node(d.pod)) {
      if (of.left == none) of.left = i;
    } else if (leaves(d.kind) && c_.nominated_node(d.pod) != no_row) {
      of.lost = i;
    }
    of.placed = d.kind == decision_kind::evict ? none : i;
    if (of.placed == none) return;
    of.node = (*c_.state().node_row_of_slot)[c_.live.pod_node[d.pod]];
    of.devices = c_.live.pod_devices[d.pod];
  }

  /// Places that pods hold without a decision: they have held them since earlier sessions.
  void find_held() {
    for (const operation& op : c_.statement.history_) {
      const bool held = static_cast<pod_status>(c_.live.pod_state[op.pod]) == pod_status::pipelined;
      if (op.kind != operation_kind::pipeline || !held || fates_.contains(op.pod)) continue;
      held_.push_back({op.pod, (*c_.state().node_row_of_slot)[c_.live.pod_node[op.pod]], c_.live.pod_devices[op.pod]});
    }
  }

  void bind_again() {
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (made_[i].kind != decision_kind::bind || fates_.at(made_[i].pod).placed != i) continue;
      const fate& of = fates_.at(made_[i].pod);
      c_.statement.allocate(made_[i].pod, of.node, of.devices);
    }
  }

  void evict_again() {
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (made_[i].pod == no_row || fates_.at(made_[i].pod).left != i) continue;
      const fate& of = fates_.at(made_[i].pod);
      c_.statement.evict(made_[i].pod);
      if (of.placed != none && made_[of.placed].kind == decision_kind::migrate)
        c_.statement.allocate(made_[i].pod, of.node, of.devices);
    }
  }

  /// Pods of a group that one commit has put on what comes free start if all of it is free now. First those whose own
  /// devices are free, so that no other pod takes these.
  void place_chunks() {
    std::vector<std::vector<pod_row>> waiting;
    for (std::vector<pod_row>& chunk : chunks()) {
      const bool has_devices =
          std::all_of(chunk.begin(), chunk.end(), [this](pod_row p) { return fates_.at(p).devices.mask != 0; });
      const auto on_its_own = [this](pod_row p, const fate& of) {
        return c_.live.pod_devices[p].mask == of.devices.mask;
      };
      if (!has_devices || !start(chunk, on_its_own)) waiting.push_back(std::move(chunk));
    }
    for (const std::vector<pod_row>& chunk : waiting) {
      if (start(chunk, [this](pod_row p, const fate& of) { return !is_beside(p, of); })) continue;
      for (const pod_row p : chunk) c_.statement.pipeline(p, fates_.at(p).node, fates_.at(p).devices);
    }
  }

  [[nodiscard]] std::vector<std::vector<pod_row>> chunks() const {
    std::vector<std::vector<pod_row>> all(1);
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const decision& d = made_[i];
      const bool waits = d.kind == decision_kind::pipeline || d.kind == decision_kind::move;
      if (waits && fates_.at(d.pod).placed == i) all.back().push_back(d.pod);
      const bool last = i + 1 == made_.size() || made_[i + 1].commit != d.commit || made_[i + 1].group != d.group;
      if (last && !all.back().empty()) all.emplace_back();
    }
    all.pop_back();
    return all;
  }

  /// All pods, or none if one has no room now or stands where it may not.
  template <class MayStand>
  bool start(const std::vector<pod_row>& chunk, const MayStand& may_stand) {
    const std::uint32_t before = c_.statement.depth();
    const group_row group = c_.state().pods[chunk.front()].group;
    const bool starts = std::all_of(chunk.begin(), chunk.end(), [&](pod_row p) {
      const fate& of = fates_.at(p);
      return c_.statement.start_in_place(p, of.node, of.devices) && may_stand(p, of);
    });
    if (starts && !must_wait_as_a_whole(c_, group)) return true;
    c_.statement.rollback(before);
    return false;
  }

  /// The pod is not on the devices that were chosen for it, but on some that were chosen for a pod without a place yet.
  [[nodiscard]] bool is_beside(pod_row p, const fate& of) const {
    const auto mask = c_.live.pod_devices[p].mask;
    if (mask == of.devices.mask) return false;
    return std::any_of(fates_.begin(), fates_.end(), [&](const auto& other) {
      const auto state = static_cast<pod_status>(c_.live.pod_state[other.first]);
      const bool has_place = state == pod_status::allocated || state == pod_status::pipelined;
      return !has_place && other.second.placed != none && other.second.node == of.node &&
             (other.second.devices.mask & mask) != 0;
    });
  }

  void tell() {
    std::map<pod_row, std::size_t> leaving;  // positions in the statement
    for (std::size_t i = 0; i < c_.statement.log.size(); ++i) {
      if (c_.statement.log[i].kind == operation_kind::evict) leaving[c_.statement.log[i].pod] = i;
    }
    for (std::size_t i = 0; i < made_.size(); ++i) {
      decision d = made_[i];
      if (d.pod != no_row) {
        const fate& of = fates_.at(d.pod);
        const bool moves = of.left != none;
        const node_row nominated = c_.nominated_node(d.pod);
        if (of.placed == i) {
          if (is_kept(d.pod, of) && !evicts(d.commit)) continue;
          const bool starts = static_cast<pod_status>(c_.live.pod_state[d.pod]) == pod_status::allocated;
          d.kind = moves ? (starts ? decision_kind::migrate : decision_kind::move)
                         : (starts ? decision_kind::bind : decision_kind::pipeline);
          d.claim_devices.clear();
          d.device_grants.clear();
          c_.statement.describe_place(d);
        } else if (of.left == i && of.placed == none) {
          d.claim_devices.clear();
          d.device_grants.clear();
          c_.statement.describe_leave(c_.statement.log[leaving.at(d.pod)], d);
        } else if (of.lost == i && of.placed == none) {
          d.kind = decision_kind::evict;
          d.node = nominated;
          d.devices = {};
          d.claim_devices.clear();
          d.device_grants.clear();
        } else {
          continue;
        }
      }
      c_.results.decisions.push_back(std::move(d));
    }
  }

  /// Starts that had been decided and are none any more.
  void count_withdrawn_starts() {
    const auto starts = [](const std::vector<decision>& all) {
      std::set<pod_row> pods;
      for (const decision& d : all) {
        if (d.kind == decision_kind::bind) pods.insert(d.pod);
      }
      return pods;
    };
    const std::set<pod_row> kept = starts(c_.results.decisions);
    for (const pod_row p : starts(made_)) c_.results.withdrawn_starts += kept.contains(p) ? 0U : 1U;
  }

  /// An eviction whose commit places no pod any more moves to the commit that took the place.
  void join_commits() {
    std::map<std::uint32_t, bool> places;  // by commit
    for (const decision& d : c_.results.decisions)
      places[d.commit] = places[d.commit] || (d.kind != decision_kind::evict && d.kind != decision_kind::move);
    std::map<std::uint32_t, std::uint32_t> joins;
    const auto places_some = [&](std::uint32_t commit) {
      const auto found = places.find(commit);
      return found != places.end() && found->second;
    };
    for (const auto& [commit, does] : places) {
      std::uint32_t taker = does ? commit : who_took(commit);
      // What took the place may have lost it in turn.
      for (std::uint32_t next = taker; !places_some(taker); taker = next) {
        next = who_took(taker);
        if (next == taker) break;
      }
      if (taker != commit) joins[commit] = taker;
    }
    if (joins.empty()) return;
    for (decision& d : c_.results.decisions) {
      if (const auto to = joins.find(d.commit); to != joins.end()) d.commit = to->second;
    }
    std::stable_sort(c_.results.decisions.begin(), c_.results.decisions.end(),
                     [](const decision& a, const decision& b) { return a.commit < b.commit; });
  }

  /// The first later commit that took a place which this one had given, or itself.
  [[nodiscard]] std::uint32_t who_took(std::uint32_t commit) const {
    for (std::size_t i = 0; i < made_.size(); ++i) {
      const decision& d = made_[i];
      if (d.commit != commit || d.pod == no_row || d.kind == decision_kind::evict) continue;
      for (std::size_t j = i + 1; j < made_.size(); ++j) {
        if (made_[j].pod == d.pod && made_[j].commit != commit) return made_[j].commit;
      }
    }
    return commit;
  }

  /// Pods leave their nodes for what the commit places.
  [[nodiscard]] bool evicts(std::uint32_t commit) const {
    for (std::size_t i = 0; i < made_.size(); ++i) {
      if (made_[i].commit == commit && made_[i].pod != no_row && fates_.at(made_[i].pod).left == i) return true;
    }
    return false;
  }

  /// The pod has the place again that was kept for it.
  [[nodiscard]] bool is_kept(pod_row p, const fate& of) const {
    return of.left == none && static_cast<pod_status>(c_.live.pod_state[p]) == pod_status::pipelined &&
           of.node == c_.nominated_node(p);
  }

  /// Groups have started and lost pods as the net outcome says.
  void close() {
    for (const auto& [pod, of] : fates_) {
      const group_row group = c_.state().pods[pod].group;
      if (group == no_row) continue;
      c_.groups.forget_start_and_eviction(group);
    }
    for (const decision& d : c_.results.decisions) {
      if (d.pod == no_row || d.group == no_row) continue;
      const bool evicts = d.kind == decision_kind::evict || d.kind == decision_kind::move;
      if (evicts && d.action != action_kind::stale_gang_eviction) c_.groups.note_eviction(d.group);
      if (d.kind == decision_kind::bind && !had_started(d.group) && !must_wait_as_a_whole(c_, d.group))
        c_.groups.note_start(d.group);
    }
    for (const operation& op : c_.statement.log) {
      if (op.kind == operation_kind::evict) c_.statement.mark_evicted(op.pod, 0);
      if (op.kind == operation_kind::allocate) c_.statement.begin_binding(op.pod);
    }
    c_.statement.close();
  }

  /// Some pod of the group held something when the session began.
  [[nodiscard]] bool had_started(group_row g) const {
    const model::group_core& group = c_.state().groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      if (c_.state().live.counts[sub].holding > 0) return true;
    }
    return false;
  }

  session_state& c_;
  std::vector<decision> made_;
  std::map<pod_row, fate> fates_;
  std::vector<held_place> held_;
};

void session_statement::undo_history() {
  log = std::move(history_);
  history_.clear();
  c_->constraints.reopen_statements();
  const action_statistics counted = c_->results.statistics.back();  // what was tried is counted once
  rollback(0);
  c_->results.statistics.back() = counted;
}

bool session_statement::start_in_place(pod_row pod, node_row node, const device_set& devices) {
  if (static_cast<pod_status>(c_->live.pod_state[pod]) != pod_status::pending) return false;
  if (!c_->constraints.others_allow(c_->access, pod, node)) return false;
  const std::optional<place> found = place_on(*c_, pod, node, policy::free_amount::idle);
  if (!found || found->must_wait) return false;
  const bool same = devices.mask != 0 && model::can_take(c_->state(), c_->live, c_->state().class_of(pod), node,
                                                         devices, model::device_amount::free_now);
  allocate(pod, node, same ? devices : found->devices, found->groups);
  return true;
}

void session_statement::settle_decisions() {
  if (!took_back_) return;
  took_back_ = false;
  c_->access.was_netted = true;
  net_outcome(*c_).apply();
  if (c_->ledger_.is_open()) c_->ledger_.open_again(*c_);
}

}  // namespace kaisched::framework
