// Jobs that come, run, are stopped and end.
#include <algorithm>

#include <fmt/format.h>

#include "simulation/draws.hpp"
#include "simulation/player.hpp"

namespace kaisched::simulation {

std::string player::pod_name(std::uint32_t p) const {
  const std::string& job = jobs_[pods_[p].job].name;
  const fmt::format_int number(pods_[p].number);
  std::string name;
  name.reserve(job.size() + 1 + number.size());
  return name.append(job).append(1, '-').append(number.data(), number.size());
}

std::string player::affinity_of(const job& told) const {
  if (told.gpu_models.empty()) return {};
  return fmt::format("{} in ({})", options_.model_label, fmt::join(told.gpu_models, ","));
}

std::int64_t player::estimate_of(std::uint32_t j) const {
  const job& told = jobs_[j];
  switch (options_.estimates) {
    case told_times::none:
      return unset;
    case told_times::given:
      return told.estimate == unknown_time ? unset : told.estimate;
    case told_times::exact:
      return told.run_time;
    case told_times::drawn: {
      draws by(options_.estimate_seed, j);
      const double factor = 1 + (options_.estimate_factor - 1) * by.unit();
      const double longest = static_cast<double>(latest_time);
      return static_cast<std::int64_t>(std::min(longest, static_cast<double>(told.run_time) * factor));
    }
  }
  return unset;
}

/// What is still to be waited for. Jobs that have ended are no groups any more; all of them have succeeded.
std::vector<std::string> player::entries_of(const job& told) const {
  std::vector<std::string> left;
  for (const std::string& entry : told.after) {
    const result<model::after_entry> read = model::parse_after(entry);
    if (!read || !ended_.contains(read->group)) {
      left.push_back(entry);
    } else if (read->kind == model::dependency_kind::failed) {
      left.push_back("never:" + read->group);
    }
  }
  return left;
}

void player::arrive(std::uint32_t j) {
  const job& told = jobs_[j];
  book_.arrive(j, now_);
  if (options_.replan || tells_checkpoints_) live_.push_back(j);
  note_change('a', j, 0);
  const std::int64_t created = options_.begin + now_;
  const bool asks_for_level = book_[j].pods > 1;
  delta_.add_group({told.name, told.queue.empty() || options_.one_queue ? options_.queue : told.queue, told.user,
                    told.priority, told.preemptible, created, book_[j].gang, estimate_of(j),
                    told.deadline == unknown_time ? unset : options_.begin + told.deadline,
                    asks_for_level ? std::string_view(topology_) : std::string_view{},
                    asks_for_level ? std::string_view(level_) : std::string_view{}, entries_of(told), told.speedup});
  if (book_.traffic(j) > 0) delta_.tell_traffic(told.name, book_.traffic(j));
  if (book_.restart_cost(j) > 0) delta_.tell_checkpoint(told.name, unset, book_.restart_cost(j));
  const std::string affinity = affinity_of(told);
  std::uint32_t p = first_pod_[j];
  for (const pod_shape& shape : told.pods) {
    for (std::uint32_t k = 0; k < shape.count; ++k, ++p) {
      delta_.add_pod(pod_name(p), told.name, shape, created, affinity);
      come_.push_back(p);
      wait(p, 1);
    }
  }
  ++jobs_waiting_;
  claim(j);
  changed_ = true;
}

void player::end_job(std::uint32_t j) {
  const bool ran = book_.runs(j);
  const bool is_named = named_.contains(jobs_[j].name);
  if (is_named) ended_.insert(jobs_[j].name);
  for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1]; ++p) {
    pod_entry& pod = pods_[p];
    if (pod.where == whereabouts::on_node) {
      use(p, -1);
    }
    if (pod.where == whereabouts::on_node || pod.where == whereabouts::leaves) hold(p, -1);
    if (pod.where == whereabouts::waits) wait(p, -1);
    pod.where = whereabouts::gone;
    pod.told = true;
    if (is_named) delta_.end_pod(pod_name(p));
    delta_.remove_pod(pod_name(p));
  }
  delta_.remove_group(jobs_[j].name);
  --(ran ? jobs_running_ : jobs_waiting_);
  book_.end(j, now_);
  claim(j);
  if (options_.replan || tells_checkpoints_) live_.erase(std::lower_bound(live_.begin(), live_.end(), j));
  note_change('e', j, 0);
  changed_ = true;
}

void player::touch_pod(std::uint32_t p) {
  if (!pods_[p].told) return;
  pods_[p].told = false;
  untold_.push_back(p);
}

/// A place is kept for the pod on a node, or on none.
void player::nominate(std::uint32_t p, entity_id node) {
  pod_entry& pod = pods_[p];
  if (pod.nominated == node || options_.replan) return;
  pod.nominated = node;
  pod.nomination_told = false;
  touch_pod(p);
}

/// Before the pods of a job change: whether it ran.
void player::note_state(std::uint32_t j) {
  if (touched_job_[j]) return;
  touched_job_[j] = true;
  touched_.push_back(j);
  times_[j].ran = book_.runs(j);
}

void player::wait(std::uint32_t p, int sign) {
  const std::int64_t gpus = sign * pods_[p].gpus;
  pods_waiting_ += sign > 0 ? 1U : std::uint64_t(-1);
  gpus_wanted_ += gpus;
  shares_->want(queue_of_job_[pods_[p].job], gpus);
  if (!only_starts_) return;
  const std::int64_t need = need_of_job_[pods_[p].job];
  if (sign > 0) {
    ++needs_[need];
  } else if (const auto of = needs_.find(need); --of->second == 0) {
    needs_.erase(of);
  }
}

/// GPUs of pods that run.
void player::use(std::uint32_t p, int sign) {
  const std::int64_t gpus = sign * pods_[p].gpus;
  const std::uint32_t queue = queue_of_job_[pods_[p].job];
  gpus_held_ += gpus;
  shares_->hold(queue, gpus);
  quotas_->hold(queue, gpus);
  if (usage_) usage_->hold(queue, gpus, now_);
  if (sign > 0) {
    pods_[p].since = now_;
    pods_[p].same_devices = true;
  } else {
    note_stay(p, now_);
  }
}

void player::note_stay(std::uint32_t p, std::int64_t until) {
  const pod_entry& pod = pods_[p];
  if (!options_.notes_changes) return;
  const std::uint64_t devices = pod.same_devices ? pod.devices.mask : 0;
  result_.stays.push_back({pod.since, until, pod.job, pod.node.slot(), pod.gpus, devices});
}

/// The place of a pod, until it has left.
void player::hold(std::uint32_t p, int sign) {
  const std::uint32_t slot = pods_[p].node.slot();
  gpus_->charge(slot, pods_[p].devices, pods_[p].gpus, sign);
  power_->charge(slot, pods_[p].cpu, pods_[p].devices, sign, now_);
  if (sign < 0) {
    pod_leaves_node(p);
    return;
  }
  node_entry& n = nodes_[slot];
  ++n.pods;
  if (!n.can_fail) return;
  pods_[p].in_list = static_cast<std::uint32_t>(n.held.size());
  n.held.push_back(p);
}

/// Only pods of jobs that have not ended are on nodes.
void player::start_pod(std::uint32_t p, entity_id node, const device_set& devices) {
  pod_entry& pod = pods_[p];
  pod.where = whereabouts::on_node;
  pod.node = node;
  pod.devices = devices;
  use(p, 1);
  wait(p, -1);
  hold(p, 1);
  touch_pod(p);
  note_state(pod.job);
  book_.pod_starts(pod.job, pod.gpus, now_);
  note_change('s', p, node.slot());
  ++result_.counts.starts;
}

void player::stop_pod(std::uint32_t p, bool at_once) {
  pod_entry& pod = pods_[p];
  use(p, -1);
  ++pod.stamp;
  touch_pod(p);
  note_state(pod.job);
  book_.pod_stops(pod.job, pod.gpus, now_);
  note_change('x', p, pod.node.slot());
  pod.where = whereabouts::leaves;
  if (at_once || options_.grace == 0) {
    has_left(p);
  } else {
    events_.add(now_ + options_.grace, event_kind::pod_has_left, p, 0, pod.stamp);
  }
}

void player::has_left(std::uint32_t p) {
  pod_entry& pod = pods_[p];
  hold(p, -1);
  pod.where = whereabouts::waits;
  pod.node = {};
  pod.devices = {};
  wait(p, 1);
  touch_pod(p);
  changed_ = true;
}

/// After all that happens at one moment.
void player::settle_jobs() {
  for (const std::uint32_t j : touched_) {
    touched_job_[j] = false;
    if (!book_[j].live) continue;
    const bool runs = book_.runs(j);
    if (runs != times_[j].ran) {
      ++(runs ? jobs_running_ : jobs_waiting_);
      --(runs ? jobs_waiting_ : jobs_running_);
      // What is left of a gang that has lost pods is stale.
      times_[j].stale_since = !runs && book_[j].on_node > 0 ? options_.begin + now_ : unset;
      book_.outcomes()[j].evictions += !runs && times_[j].is_evicted ? 1U : 0U;
      book_.outcomes()[j].failures += !runs && times_[j].has_failed ? 1U : 0U;
      untold_groups_.push_back(j);
    }
    if (times_[j].is_evicted) ++times_[j].evictions;
    if (book_.outcomes()[j].evictions >= options_.most_stops) stopped_too_often_ = jobs_[j].name;
    times_[j].is_evicted = false;
    times_[j].has_failed = false;
    const std::uint32_t starts = book_.outcomes()[j].starts;
    const bool is_new = book_.settle(j, now_, saves_work_, book_.asks_for_nodes(j) ? speed_of_nodes(j) : full_speed);
    if (book_.outcomes()[j].starts != starts) started(j);
    claim(j);
    if (is_new) events_.add(book_.end_of(j), event_kind::job_ends, j, 0, book_[j].stamp);
  }
  touched_.clear();
  saves_work_ = false;
}

/// GPUs of the pods that its gang still needs, the first ones that have no place; 0 if it goes on.
std::int64_t player::lacking_gpus(std::uint32_t j) const {
  std::int64_t gpus = 0;
  if (!book_[j].live || book_.runs(j)) return gpus;
  std::uint32_t lacks = book_[j].gang - book_[j].on_node;
  for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1] && lacks > 0; ++p) {
    if (pods_[p].where == whereabouts::on_node) continue;
    gpus += pods_[p].gpus;
    --lacks;
  }
  return gpus;
}

/// What the job claims of the quota of its queue, if that has changed.
void player::claim(std::uint32_t j) {
  const std::int64_t gpus = lacking_gpus(j);
  if (gpus == claim_of_job_[j]) return;
  if (claim_of_job_[j] > 0) quotas_->wait(queue_of_job_[j], claim_of_job_[j], -1);
  if (gpus > 0) quotas_->wait(queue_of_job_[j], gpus, 1);
  claim_of_job_[j] = gpus;
}

/// Of the slowest node that the job has.
std::int64_t player::speed_of_nodes(std::uint32_t j) const {
  std::int64_t slowest = highest_speed;
  for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1]; ++p) {
    if (pods_[p].where != whereabouts::on_node) continue;
    slowest = std::min(slowest, book_.speed_on(j, pods_[p].node.slot()));
  }
  return slowest;
}

void player::started(std::uint32_t j) {
  times_[j].last_start = options_.begin + now_;
  changed_ = changed_ || named_.contains(jobs_[j].name);  // somebody may come after its start
  slots_.clear();
  for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1]; ++p) {
    if (pods_[p].where == whereabouts::on_node) slots_.push_back(pods_[p].node.slot());
  }
  book_.outcomes()[j].distance = distances_->between(slots_);
}

/// Its pods go on elsewhere: it begins there with what it had saved.
void player::interrupt(std::uint32_t j) {
  note_state(j);
  book_.interrupt(j, now_, saves_work_);
  untold_groups_.push_back(j);
}

void player::evict(std::uint32_t p) {
  const std::uint32_t j = pods_[p].job;
  const bool ran = book_.runs(j);
  stop_pod(p, false);
  if (ran && !book_.runs(j) && !times_[j].ran) {  // the session that stops it had started it: it has not run meanwhile
    ++book_.outcomes()[j].starts;
    ++book_.outcomes()[j].evictions;
  }
  times_[j].is_evicted = true;
  times_[j].last_eviction = options_.begin + now_;
  untold_groups_.push_back(j);
  ++result_.counts.evictions;
  changed_ = true;  // what waits for the place is placed by the next session
}

}  // namespace kaisched::simulation
