// Sessions: when they are held, what they are told, what becomes of their decisions.
#include <algorithm>
#include <limits>
#include <map>

#include <fmt/format.h>

#include "model/snapshot_access.hpp"
#include "simulation/player.hpp"

namespace kaisched::simulation {

namespace {

/// Places that come once more can be a way to others, by what sessions remember.
constexpr std::ptrdiff_t most_repeats = 3;
constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

error divided_devices() {
  return {status::unsupported, "the simulation does not divide devices: leave the action repartition out", {}};
}

/// What the cluster held before the play stays as it is: going on would leave the session's decisions out.
error foreign_pod(std::string_view pod) {
  return {status::unsupported,
          fmt::format("a session decided about pod '{}', which is no pod of the workload: pods of the cluster have to "
                      "run in groups that are not preemptible",
                      pod),
          {}};
}

}  // namespace

result<void> player::decide() {
  for (std::uint32_t again = 0;;) {
    if (!wants_session()) break;
    const std::int64_t at = earliest_session();
    if (at > now_) {
      session_due_ = at;
      return {};
    }
    if (again == 0) places_.clear();
    if (again == options_.most_sessions_at_once || (again > 0 && goes_in_circles())) {
      ++result_.counts.restless;
      break;
    }
    const std::uint64_t evictions = result_.counts.evictions;
    const std::uint64_t starts = result_.counts.starts;
    if (auto done = hold_session(); !done) return done;
    // Sessions that only start pods come to an end by themselves.
    if (result_.counts.evictions != evictions || result_.counts.starts == starts) ++again;
    settle_jobs();
    if (!stopped_too_often_.empty())
      return error{status::limit,
                   fmt::format("job '{}' has been stopped {} times and does not get on", stopped_too_often_,
                               options_.most_stops),
                   {}};
  }
  const bool clock_matters = options_.wake > 0 && !is_over() && (pods_waiting_ > 0 || jobs_running_ > 0);
  session_due_ = clock_matters ? last_session_ + options_.wake : never;
  if (session_due_ != never && session_due_ <= now_) session_due_ = now_ + options_.wake;
  return {};
}

base::set_hash player::places_of_pods() const {
  base::set_hash places;
  for (const std::uint32_t j : live_) {
    for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1]; ++p) {
      const pod_entry& pod = pods_[p];
      const bool is_there = pod.where != whereabouts::waits && pod.where != whereabouts::gone;
      if (!is_there && !pod.nominated) continue;
      std::uint64_t key = base::set_hash::of_pair(p, static_cast<std::uint64_t>(pod.where));
      key = base::set_hash::of_pair(key, is_there ? pod.node.slot() : 0);
      key = base::set_hash::of_pair(key, is_there ? pod.devices.mask : 0);
      places.add(base::set_hash::of_pair(key, pod.nominated ? std::uint64_t{pod.nominated.slot()} + 1 : 0));
    }
  }
  return places;
}

/// All pods have had their present places several times after sessions of this moment, and the time is the same: so are
/// the decisions that follow. In `strict` sessions look at past evictions as well.
bool player::goes_in_circles() {
  if (engine_.options().mode != decision_mode::compat) return false;
  places_.push_back(places_of_pods());
  return std::count(places_.begin(), places_.end(), places_.back()) > most_repeats;
}

bool player::wants_session() const {
  if (session_due_ != never && session_due_ <= now_ && last_session_ != now_) return true;
  if (!changed_) return false;
  if (pods_waiting_ == 0)
    return !only_starts_ && reserved_due_ == now_ && last_session_ != now_;  // some may have to go
  // Who takes nothing from anybody needs GPUs that are free.
  return !only_starts_ || needs_.begin()->first <= gpus_there_ - gpus_held_;
}

/// Sessions whose time, number and refusals matter to nobody, of actions that give what is free to pods that wait.
bool player::can_only_start() const {
  const std::vector<std::string>& actions = engine_.options().actions;
  const bool takes_nothing = std::all_of(actions.begin(), actions.end(), [](const std::string& action) {
    return action == "allocate" || action == "backfill";
  });
  return takes_nothing && play_.outages.empty() && play_.pools.empty() && !options_.replan && !options_.notes_changes &&
         options_.wake == 0 && options_.usage_half_life == 0 && !watcher_;
}

/// A job that starts as a whole needs the GPUs of all its pods, an elastic one at least those of its smallest pod.
std::int64_t player::need_of(std::uint32_t j) const {
  std::int64_t all = 0;
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1]; ++p) {
    all += pods_[p].gpus;
    least = std::min(least, pods_[p].gpus);
  }
  return book_[j].gang == book_[j].pods ? all : least;
}

std::int64_t player::earliest_session() const {
  if (options_.period == 0) return now_;
  if (last_session_ == now_) return now_ + options_.period;
  const std::int64_t late = now_ % options_.period;
  return late == 0 ? now_ : now_ - late + options_.period;
}

/// Of all that run: it is a matter of the moment.
void player::tell_checkpoints() {
  for (const std::uint32_t j : live_) {
    if (book_[j].speed == 0) continue;
    const std::int64_t written = book_.last_checkpoint(j, now_);
    delta_.tell_checkpoint(jobs_[j].name, written == never ? unset : options_.begin + written, book_.restart_cost(j));
  }
}

result<void> player::tell_cluster() {
  competing_.clear();
  if (options_.replan) {
    for (const std::uint32_t j : live_) {
      for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1] && competes(j); ++p) {
        if (pods_[p].where == whereabouts::on_node) competing_.push_back(p);
      }
    }
    // What their jobs have had until now counts in the order of this session.
    std::uint32_t last = nothing;
    for (const std::uint32_t p : competing_) {
      if (pods_[p].job != last) untold_groups_.push_back(last = pods_[p].job);
    }
  }
  for (const std::uint32_t p : untold_) {
    pod_entry& pod = pods_[p];
    if (pod.where == whereabouts::gone) continue;  // the delta removes it
    pod.told = true;
    if (competes(pod.job)) {
      delta_.nominate_pod(pod_name(p), pod.where == whereabouts::on_node ? pod.node : entity_id{});
      continue;
    }
    const bool waits = pod.where == whereabouts::waits;
    const pod_status status = waits                               ? pod_status::pending
                              : pod.where == whereabouts::on_node ? pod_status::running
                                                                  : pod_status::releasing;
    delta_.change_pod(pod_name(p), status, pod.node, pod.devices);
    if (pod.nomination_told) continue;
    pod.nomination_told = true;
    delta_.nominate_pod(pod_name(p), pod.nominated, pod.nominated ? options_.begin + now_ : unset);
  }
  untold_.clear();
  std::sort(untold_groups_.begin(), untold_groups_.end());
  untold_groups_.erase(std::unique(untold_groups_.begin(), untold_groups_.end()), untold_groups_.end());
  for (const std::uint32_t j : untold_groups_) {
    if (!book_[j].live) continue;
    if (competes(j)) book_.account_until(j, now_);
    const std::int64_t service = competes(j) ? book_.whole_service(j) : book_.attained_service(j);
    delta_.change_group(jobs_[j].name, {times_[j].last_start, times_[j].last_eviction, service, times_[j].evictions,
                                        times_[j].stale_since});
  }
  untold_groups_.clear();
  if (tells_checkpoints_) tell_checkpoints();
  if (usage_) {
    usage_->capacity(gpus_there_, now_);
    for (const usage_meter::entry& one : usage_->until(now_)) {
      if (!one.name.empty()) delta_.change_usage(one.name, usage_->part_of(one));
    }
  }
  if (delta_.empty()) return {};
  const std::vector<table_view> tables = delta_.views();
  if (auto done = cluster_.apply(tables); !done) return done;
  delta_.clear();
  for (const std::uint32_t p : come_) {
    if (pods_[p].where == whereabouts::gone) continue;
    const result<entity_id> id = cluster_.find(entity_kind::pod, pod_name(p));
    if (!id) return id.failure();
    if (id->slot() >= pod_of_row_.size()) pod_of_row_.resize(std::size_t{id->slot()} + 1, nothing);
    pod_of_row_[id->slot()] = p;
  }
  come_.clear();
  return {};
}

result<void> player::hold_session() {
  if (auto told = tell_cluster(); !told) return told;
  changed_ = false;
  last_session_ = now_;
  ++result_.counts.sessions;
  if (options_.notes_changes) result_.sessions.push_back(now_);
  const std::int64_t begun = options_.cpu_clock ? options_.cpu_clock() : 0;
  const snapshot over = cluster_.take_snapshot();
  result<session> held = engine_.run(over, options_.begin + now_);
  if (!held) return held.take_failure();
  if (options_.cpu_clock) result_.session_cpu.push_back(options_.cpu_clock() - begun);
  result_.counts.withdrawn += held->withdrawn_starts();
  idle_.look(*held, now_);
  ++idle_sessions_;  // until it is known to have changed something
  const result<table> searched = held->to_table(table_kind::pod_group);
  if (!searched) return searched.failure();
  if (searched->rows() > 0) {
    places_.clear();  // the next session looks at other groups first
    const table_view told = searched->view();
    if (auto done = cluster_.apply(std::span(&told, 1)); !done) return done;
  }
  if (watcher_) {
    if (auto done = watcher_(*held, now_); !done) return done;
  }
  return options_.replan ? carry_out_plan(*held, over) : carry_out(*held, over);
}

entity_id player::node_of(const decision& d, const model::cluster_state& s) {
  const std::uint32_t slot = (*s.nodes)[d.node]->slot;
  return entity_id(entity_kind::node, (*s.node_generation)[slot], slot);
}

/// The pod of a decision that has something to carry out, else `nothing`.
result<std::uint32_t> player::subject_of(const decision& d, const snapshot& over) const {
  if (d.kind == decision_kind::repartition) return divided_devices();
  if (d.kind == decision_kind::unschedulable) return nothing;
  if (d.pod >= pod_of_row_.size() || pod_of_row_[d.pod] == nothing) return foreign_pod(over.pod_name(d.pod));
  return pod_of_row_[d.pod];
}

result<void> player::carry_out(const session& held, const snapshot& over) {
  const bool keeps_places =
      engine_.options().mode == decision_mode::strict && engine_.options().nomination_timeout != 0;
  for (const decision& d : held.decisions()) {
    const result<std::uint32_t> subject = subject_of(d, over);
    if (!subject) return subject.failure();
    if (*subject == nothing) continue;
    const std::uint32_t p = *subject;
    const bool waits_there = d.kind == decision_kind::pipeline || d.kind == decision_kind::move;
    if (keeps_places) nominate(p, waits_there ? node_of(d, model::state_of(over)) : entity_id{});
    if (d.kind == decision_kind::pipeline) continue;
    ++result_.counts.decisions;
    if (d.kind == decision_kind::bind) {
      start_pod(p, node_of(d, model::state_of(over)), d.devices);
      changed_ = changed_ || options_.repeat;
    } else if (d.kind == decision_kind::migrate) {
      hold(p, -1);
      note_stay(p, now_);
      pods_[p].since = now_;
      pods_[p].same_devices = true;
      pods_[p].node = node_of(d, model::state_of(over));
      pods_[p].devices = d.devices;
      hold(p, 1);
      touch_pod(p);
      note_change('m', p, pods_[p].node.slot());
      ++result_.counts.moves;
    } else if (pods_[p].where == whereabouts::on_node) {
      evict(p);
      result_.counts.moves += d.kind == decision_kind::move ? 1U : 0U;
    }
  }
  return {};
}

/// All jobs that may be stopped have been placed anew, as if none of them ran. Who has its old node goes on.
result<void> player::carry_out_plan(const session& held, const snapshot& over) {
  std::map<std::uint32_t, const decision*> placed;
  for (const decision& d : held.decisions()) {
    const result<std::uint32_t> subject = subject_of(d, over);
    if (!subject) return subject.failure();
    if (*subject == nothing) continue;
    if (d.kind != decision_kind::bind)
      return error{status::unsupported,
                   "sessions that place all jobs anew can only start pods: actions other than allocate and backfill "
                   "have to be left out",
                   {}};
    placed.emplace(*subject, &d);
  }
  for (const std::uint32_t p : competing_) {
    const auto found = placed.find(p);
    if (found == placed.end()) {
      evict(p);
      continue;
    }
    const entity_id node = node_of(*found->second, model::state_of(over));
    if (node != pods_[p].node) {
      interrupt(pods_[p].job);
      stop_pod(p, true);
      ++result_.counts.moves;
      continue;
    }
    pods_[p].same_devices = pods_[p].same_devices && pods_[p].devices == found->second->devices;
    gpus_->charge(node.slot(), pods_[p].devices, pods_[p].gpus, -1);
    pods_[p].devices = found->second->devices;
    gpus_->charge(node.slot(), pods_[p].devices, pods_[p].gpus, 1);
    placed.erase(found);
  }
  for (const auto& [p, d] : placed) {
    ++result_.counts.decisions;
    start_pod(p, node_of(*d, model::state_of(over)), d->devices);
  }
  changed_ = false;
  return {};
}

}  // namespace kaisched::simulation
