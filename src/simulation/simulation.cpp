#include "simulation/simulation.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <set>
#include <string_view>

#include <fmt/format.h>

#include "base/sha256.hpp"
#include "model/state.hpp"
#include "simulation/delta.hpp"
#include "simulation/event_queue.hpp"
#include "simulation/input_check.hpp"
#include "simulation/job_book.hpp"

namespace kaisched::simulation {

namespace {

/// When nothing is left that could happen but sessions that look at the clock, so many of them may still find
/// something.
constexpr std::uint32_t most_idle_sessions = 1000;
constexpr std::uint32_t nothing = std::numeric_limits<std::uint32_t>::max();

/// Where a pod of a job is.
enum class whereabouts : std::uint8_t { waits, on_node, leaves, gone };

struct pod_entry {
  std::uint32_t job = 0;
  std::uint32_t number = 0;  ///< within its job
  std::int64_t gpus = 0;
  whereabouts where = whereabouts::waits;
  bool told = true;  ///< the cluster knows
  entity_id node{};
  device_set devices{};
  std::uint64_t stamp = 0;  ///< of its leaving
};

/// Bytes of what happens, in order.
class record {
 public:
  void add(std::int64_t time, std::uint8_t what, std::uint32_t subject, std::uint32_t other) {
    std::array<std::uint64_t, 3> words{static_cast<std::uint64_t>(time), what,
                                       (static_cast<std::uint64_t>(subject) << 32U) | other};
    for (const std::uint64_t word : words) {
      for (unsigned shift = 0; shift < 64; shift += 8) bytes_.push_back(static_cast<std::byte>(word >> shift & 0xFFU));
    }
    if (bytes_.size() >= enough) flush();
  }
  std::string finish() {
    flush();
    return base::sha256::hex(hash_.finish());
  }

 private:
  static constexpr std::size_t enough = 4096;
  void flush() {
    hash_.update(bytes_);
    bytes_.clear();
  }
  base::sha256 hash_;
  std::vector<std::byte> bytes_;
};

class player {
 public:
  player(cluster& over, const play& what, const engine& with, const simulation_options& options)
      : cluster_(over), play_(what), jobs_(what.jobs.jobs), engine_(with), options_(options), book_(what, options) {}

  result<run_result> run() {
    if (auto fine = prepare(); !fine) return fine.take_failure();
    for (;;) {
      const std::int64_t next = next_moment();
      if (next == never || next >= last_moment()) break;
      now_ = next;
      happen();
      settle_jobs();
      if (auto done = decide(); !done) return done.take_failure();
      take_sample();
    }
    result_.end = next_moment() == never ? last_change_ : last_moment();
    book_.close(result_.end);
    result_.jobs = std::move(book_.outcomes());
    result_.digest = record_.finish();
    return std::move(result_);
  }

 private:
  // ---- before the start
  result<void> prepare() {
    if (auto fine = check_play(cluster_, play_, options_); !fine) return fine;
    const snapshot first = cluster_.take_snapshot();
    const model::cluster_state& s = first.state();
    for (node_row row = 0; row < s.node_count(); ++row) {
      if ((*s.nodes)[row]->ready) gpus_there_ += (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu];
    }
    std::uint64_t pods = 0;
    first_pod_.reserve(jobs_.size() + 1);
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
      first_pod_.push_back(static_cast<std::uint32_t>(pods));
      pods += book_[j].pods;
    }
    first_pod_.push_back(static_cast<std::uint32_t>(pods));
    pods_.reserve(pods);
    for (std::uint32_t j = 0; j < jobs_.size(); ++j) {
      for (const pod_shape& shape : jobs_[j].pods) {
        for (std::uint32_t k = 0; k < shape.count; ++k) {
          pod_entry& p = pods_.emplace_back();
          p.job = j;
          p.number = static_cast<std::uint32_t>(pods_.size() - 1) - first_pod_[j];
          p.gpus = shape.gpus;
        }
      }
    }
    touched_job_.resize(jobs_.size(), false);
    times_.resize(jobs_.size());
    outages_.resize(play_.outages.size());
    for (std::uint32_t i = 0; i < play_.outages.size(); ++i) {
      const outage& o = play_.outages[i];
      const entity_id node = *cluster_.find(entity_kind::node, o.node);
      const node_row row = *first.row_of(node, entity_kind::node);
      outages_[i] = {node, (*s.nodes)[row]->ready, (*s.nodes)[row]->unschedulable,
                     (*s.capacity)[std::size_t{row} * s.dims() + dim_gpu]};
      if (o.notice > 0) events_.add(std::max<std::int64_t>(0, o.from - o.notice), event_kind::node_is_cordoned, i, 0);
      events_.add(o.from, event_kind::node_goes, i, 0);
      if (o.to != never) events_.add(o.to, event_kind::node_comes, i, 0);
    }
    return {};
  }

  // ---- time
  [[nodiscard]] std::int64_t last_moment() const {
    const std::int64_t most = latest_time - options_.begin;
    return options_.horizon == never ? most : std::min(options_.horizon, most);
  }
  /// An event of a plan that has been given up does not happen, and is no moment.
  [[nodiscard]] bool is_outdated(const event& e) const {
    if (e.kind == event_kind::job_ends) return !book_[e.subject].live || book_[e.subject].stamp != e.stamp;
    if (e.kind != event_kind::pod_has_left) return false;
    return pods_[e.subject].where != whereabouts::leaves || pods_[e.subject].stamp != e.stamp;
  }
  [[nodiscard]] std::int64_t next_moment() {
    while (!events_.empty() && is_outdated(events_.next())) events_.take();
    std::int64_t next = never;
    const auto earlier = [&](std::int64_t t) {
      if (t != never && (next == never || t < next)) next = t;
    };
    if (!events_.empty()) earlier(events_.next().time);
    if (next_job_ < jobs_.size()) earlier(jobs_[next_job_].submit);
    earlier(session_due_);
    return next;
  }

  void happen() {
    while (!events_.empty() && events_.next().time == now_) {
      const event next = events_.take();
      if (!is_outdated(next)) happens(next);
    }
    for (; next_job_ < jobs_.size() && jobs_[next_job_].submit == now_; ++next_job_) arrive(next_job_);
  }

  void happens(const event& e) {
    switch (e.kind) {
      case event_kind::job_ends:
        end_job(e.subject);
        return;
      case event_kind::pod_has_left:
        has_left(e.subject);
        return;
      case event_kind::node_is_cordoned:
        outages_[e.subject].cordoned = true;
        tell_node(e.subject);
        return;
      case event_kind::node_goes:
        node_goes(e.subject);
        return;
      case event_kind::node_comes:
        node_comes(e.subject);
        return;
    }
  }

  // ---- jobs
  [[nodiscard]] std::string pod_name(std::uint32_t p) const {
    return fmt::format("{}-{}", jobs_[pods_[p].job].name, pods_[p].number);
  }

  void note_change(std::uint8_t what, std::uint32_t subject, std::uint32_t other) {
    record_.add(now_, what, subject, other);
    last_change_ = now_;
    idle_sessions_ = 0;
  }

  void arrive(std::uint32_t j) {
    const job& told = jobs_[j];
    book_.arrive(j, now_);
    note_change('a', j, 0);
    const std::int64_t estimate = options_.estimates == told_times::exact   ? told.run_time
                                  : options_.estimates == told_times::given ? told.estimate
                                                                            : unknown_time;
    const std::int64_t created = options_.begin + now_;
    delta_.add_group({told.name, told.queue.empty() ? std::string_view(options_.queue) : std::string_view(told.queue),
                      told.user, told.priority, told.preemptible, created, book_[j].gang,
                      estimate == unknown_time ? unset : estimate,
                      told.deadline == unknown_time ? unset : options_.begin + told.deadline});
    const std::string affinity = affinity_of(told);
    std::uint32_t p = first_pod_[j];
    for (const pod_shape& shape : told.pods) {
      for (std::uint32_t k = 0; k < shape.count; ++k, ++p) {
        delta_.add_pod(pod_name(p), told.name, shape, created, affinity);
        come_.push_back(p);
      }
      gpus_wanted_ += shape.gpus * shape.count;
    }
    pods_waiting_ += book_[j].pods;
    ++jobs_waiting_;
    changed_ = true;
  }

  [[nodiscard]] std::string affinity_of(const job& told) const {
    if (told.gpu_models.empty()) return {};
    return fmt::format("{} in ({})", options_.model_label, fmt::join(told.gpu_models, ","));
  }

  void end_job(std::uint32_t j) {
    const bool ran = book_.runs(j);
    for (std::uint32_t p = first_pod_[j]; p < first_pod_[j + 1]; ++p) {
      pod_entry& pod = pods_[p];
      if (pod.where == whereabouts::on_node) gpus_held_ -= pod.gpus;
      if (pod.where == whereabouts::waits) {
        --pods_waiting_;
        gpus_wanted_ -= pod.gpus;
      }
      pod.where = whereabouts::gone;
      pod.told = true;
      delta_.remove_pod(pod_name(p));
    }
    delta_.remove_group(jobs_[j].name);
    --(ran ? jobs_running_ : jobs_waiting_);
    book_.end(j, now_);
    note_change('e', j, 0);
    changed_ = true;
  }

  void touch_job(std::uint32_t j) {
    if (touched_job_[j]) return;
    touched_job_[j] = true;
    touched_.push_back(j);
  }
  void touch_pod(std::uint32_t p) {
    if (!pods_[p].told) return;
    pods_[p].told = false;
    untold_.push_back(p);
  }

  /// Only pods of jobs that have not ended are on nodes.
  void start_pod(std::uint32_t p, entity_id node, const device_set& devices) {
    pod_entry& pod = pods_[p];
    pod.where = whereabouts::on_node;
    pod.node = node;
    pod.devices = devices;
    gpus_held_ += pod.gpus;
    gpus_wanted_ -= pod.gpus;
    --pods_waiting_;
    touch_pod(p);
    note_state(pod.job);
    book_.pod_starts(pod.job, pod.gpus, now_);
    note_change('s', p, node.slot());
    ++result_.counts.starts;
  }

  void stop_pod(std::uint32_t p, bool at_once) {
    pod_entry& pod = pods_[p];
    gpus_held_ -= pod.gpus;
    ++pod.stamp;
    touch_pod(p);
    note_state(pod.job);
    book_.pod_stops(pod.job, pod.gpus, now_);
    note_change('x', p, pod.node.slot());
    pod.where = whereabouts::leaves;
    if (at_once || options_.grace == 0) {
      has_left(p);
    } else {
      events_.add(now_ + options_.grace, event_kind::pod_has_left, p, pod.stamp);
    }
  }

  void has_left(std::uint32_t p) {
    pod_entry& pod = pods_[p];
    pod.where = whereabouts::waits;
    pod.node = {};
    pod.devices = {};
    ++pods_waiting_;
    gpus_wanted_ += pod.gpus;
    touch_pod(p);
    changed_ = true;
  }

  /// Before the pods of a job change: whether it ran.
  void note_state(std::uint32_t j) {
    if (touched_job_[j]) return;
    touch_job(j);
    times_[j].ran = book_.runs(j);
  }

  /// After all that happens at one moment.
  void settle_jobs() {
    for (const std::uint32_t j : touched_) {
      touched_job_[j] = false;
      if (!book_[j].live) continue;
      const bool runs = book_.runs(j);
      if (runs != times_[j].ran) {
        ++(runs ? jobs_running_ : jobs_waiting_);
        --(runs ? jobs_waiting_ : jobs_running_);
        if (runs) times_[j].last_start = options_.begin + now_;
        // What is left of a gang that has lost pods is stale.
        times_[j].stale_since = !runs && book_[j].on_node > 0 ? options_.begin + now_ : unset;
        book_.outcomes()[j].evictions += !runs && times_[j].is_evicted ? 1U : 0U;
        book_.outcomes()[j].failures += !runs && times_[j].has_failed ? 1U : 0U;
        untold_groups_.push_back(j);
      }
      if (book_.outcomes()[j].evictions >= options_.most_stops) stopped_too_often_ = jobs_[j].name;
      times_[j].is_evicted = false;
      times_[j].has_failed = false;
      if (book_.settle(j, now_, saves_work_)) events_.add(book_.end_of(j), event_kind::job_ends, j, book_[j].stamp);
    }
    touched_.clear();
    saves_work_ = false;
  }

  // ---- nodes
  struct outage_entry {
    entity_id node{};
    bool was_ready = true;
    bool was_cordoned = false;
    std::int64_t gpus = 0;
    bool cordoned = false;
    bool away = false;
  };

  void tell_node(std::uint32_t i) {
    const outage_entry& o = outages_[i];
    delta_.change_node(play_.outages[i].node, o.was_ready && !o.away, o.was_cordoned || o.cordoned);
    changed_ = true;
  }

  void node_goes(std::uint32_t i) {
    outage_entry& o = outages_[i];
    o.away = true;
    if (o.was_ready) gpus_there_ -= o.gpus;
    tell_node(i);
    note_change('d', i, o.node.slot());
    std::vector<std::uint32_t> failed;
    for (std::uint32_t p = 0; p < first_pod_[next_job_]; ++p) {
      if (pods_[p].where == whereabouts::on_node && pods_[p].node == o.node) failed.push_back(p);
    }
    saves_work_ = play_.outages[i].saves_work;
    for (const std::uint32_t p : failed) {
      stop_pod(p, true);
      times_[pods_[p].job].has_failed = true;
    }
    settle_jobs();
  }

  void node_comes(std::uint32_t i) {
    outage_entry& o = outages_[i];
    o.away = false;
    o.cordoned = false;
    if (o.was_ready) gpus_there_ += o.gpus;
    tell_node(i);
    note_change('u', i, o.node.slot());
  }

  // ---- sessions
  result<void> decide() {
    for (std::uint32_t again = 0;; ++again) {
      if (!wants_session()) break;
      const std::int64_t at = earliest_session();
      if (at > now_) {
        session_due_ = at;
        return {};
      }
      if (again == options_.most_sessions_at_once) {
        ++result_.counts.restless;
        break;
      }
      if (auto done = hold_session(); !done) return done;
      settle_jobs();
      if (!stopped_too_often_.empty())
        return error{status::limit,
                     fmt::format("job '{}' has been stopped {} times and does not get on", stopped_too_often_,
                                 options_.most_stops),
                     {}};
    }
    const bool is_over = events_.empty() && next_job_ == jobs_.size() && idle_sessions_ >= most_idle_sessions;
    const bool clock_matters = options_.wake > 0 && !is_over && (pods_waiting_ > 0 || jobs_running_ > 0);
    session_due_ = clock_matters ? last_session_ + options_.wake : never;
    if (session_due_ != never && session_due_ <= now_) session_due_ = now_ + options_.wake;
    return {};
  }

  [[nodiscard]] bool wants_session() const {
    if (session_due_ != never && session_due_ <= now_ && last_session_ != now_) return true;
    return changed_ && pods_waiting_ > 0;
  }

  [[nodiscard]] std::int64_t earliest_session() const {
    if (options_.period == 0) return now_;
    if (last_session_ == now_) return now_ + options_.period;
    const std::int64_t late = now_ % options_.period;
    return late == 0 ? now_ : now_ - late + options_.period;
  }

  result<void> tell_cluster() {
    for (const std::uint32_t p : untold_) {
      pod_entry& pod = pods_[p];
      if (pod.where == whereabouts::gone) continue;  // the delta removes it
      pod.told = true;
      const bool waits = pod.where == whereabouts::waits;
      const pod_status status = waits                               ? pod_status::pending
                                : pod.where == whereabouts::on_node ? pod_status::running
                                                                    : pod_status::releasing;
      delta_.change_pod(pod_name(p), status, pod.node, pod.devices);
    }
    untold_.clear();
    std::sort(untold_groups_.begin(), untold_groups_.end());
    untold_groups_.erase(std::unique(untold_groups_.begin(), untold_groups_.end()), untold_groups_.end());
    for (const std::uint32_t j : untold_groups_) {
      if (!book_[j].live) continue;
      delta_.change_group(jobs_[j].name, {times_[j].last_start, times_[j].last_eviction, book_.attained_service(j),
                                          book_.outcomes()[j].evictions, times_[j].stale_since});
    }
    untold_groups_.clear();
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

  result<void> hold_session() {
    if (auto told = tell_cluster(); !told) return told;
    changed_ = false;
    last_session_ = now_;
    ++result_.counts.sessions;
    const snapshot over = cluster_.take_snapshot();
    result<session> held = engine_.run(over, options_.begin + now_);
    if (!held) return held.take_failure();
    ++idle_sessions_;  // until it is known to have changed something
    const model::cluster_state& s = over.state();
    for (const decision& d : held->decisions()) {
      if (d.kind == decision_kind::repartition) return divided_devices();
      if (d.kind == decision_kind::unschedulable || d.kind == decision_kind::pipeline) continue;
      if (d.pod >= pod_of_row_.size() || pod_of_row_[d.pod] == nothing) return foreign_pod(over.pod_name(d.pod));
      const std::uint32_t p = pod_of_row_[d.pod];
      ++result_.counts.decisions;
      if (auto done = carry_out(d, p, s); !done) return done;
    }
    return {};
  }

  result<void> carry_out(const decision& d, std::uint32_t p, const model::cluster_state& s) {
    const auto node_id = [&] {
      const std::uint32_t slot = (*s.nodes)[d.node]->slot;
      return entity_id(entity_kind::node, (*s.node_generation)[slot], slot);
    };
    switch (d.kind) {
      case decision_kind::bind:
        start_pod(p, node_id(), d.devices);
        return {};
      case decision_kind::evict:
      case decision_kind::move:
        if (pods_[p].where == whereabouts::on_node) evict(p);
        return {};
      case decision_kind::migrate:
        pods_[p].node = node_id();
        pods_[p].devices = d.devices;
        touch_pod(p);
        note_change('m', p, pods_[p].node.slot());
        return {};
      case decision_kind::repartition:
      case decision_kind::pipeline:
      case decision_kind::unschedulable:
        return {};
    }
    return {};
  }
  static error divided_devices() {
    return {status::unsupported, "the simulation does not divide devices: leave the action repartition out", {}};
  }
  /// What the cluster held before the play stays as it is: going on would leave the session's decisions out.
  static error foreign_pod(std::string_view pod) {
    return {
        status::unsupported,
        fmt::format("a session decided about pod '{}', which is no pod of the workload: pods of the cluster have to "
                    "run in groups that are not preemptible",
                    pod),
        {}};
  }

  void evict(std::uint32_t p) {
    const std::uint32_t j = pods_[p].job;
    stop_pod(p, false);
    times_[j].is_evicted = true;
    times_[j].last_eviction = options_.begin + now_;
    untold_groups_.push_back(j);
    ++result_.counts.evictions;
    changed_ = true;  // what waits for the place is placed by the next session
  }

  void take_sample() {
    const sample made{now_, gpus_held_, gpus_wanted_, gpus_there_, jobs_running_, jobs_waiting_};
    if (!result_.timeline.empty()) {
      sample same = result_.timeline.back();
      same.time = now_;
      if (same == made) return;
      if (result_.timeline.back().time == now_) result_.timeline.pop_back();
    }
    result_.timeline.push_back(made);
  }

  struct group_times {
    std::int64_t last_start = unset;
    std::int64_t last_eviction = unset;
    std::int64_t stale_since = unset;
    bool ran = false;
    bool is_evicted = false;  ///< a pod of it, since the jobs were settled last
    bool has_failed = false;  ///< likewise
  };

  cluster& cluster_;
  const play& play_;
  const std::vector<job>& jobs_;
  const engine& engine_;
  const simulation_options& options_;
  job_book book_;
  event_queue events_;
  delta delta_;
  record record_;
  run_result result_;

  std::int64_t now_ = 0;
  std::uint32_t next_job_ = 0;
  std::int64_t session_due_ = never;
  std::int64_t last_session_ = never;
  std::int64_t last_change_ = 0;
  std::string stopped_too_often_;
  std::uint32_t idle_sessions_ = 0;  ///< that decided nothing, one after the other
  bool changed_ = false;             ///< something that a session could make use of
  bool saves_work_ = false;

  std::vector<pod_entry> pods_;               ///< of all jobs, in their order
  std::vector<std::uint32_t> first_pod_;      ///< by job, plus one past the end
  std::vector<std::uint32_t> pod_of_row_;     ///< by row of the cluster
  std::vector<std::uint32_t> come_;           ///< pods that the delta adds
  std::vector<std::uint32_t> untold_;         ///< pods whose state the cluster does not know
  std::vector<std::uint32_t> untold_groups_;  ///< jobs, likewise
  std::vector<bool> touched_job_;
  std::vector<std::uint32_t> touched_;
  std::vector<group_times> times_;  ///< by job
  std::vector<outage_entry> outages_;

  std::int64_t gpus_there_ = 0;
  std::int64_t gpus_held_ = 0;
  std::int64_t gpus_wanted_ = 0;
  std::uint64_t pods_waiting_ = 0;
  std::uint32_t jobs_running_ = 0;
  std::uint32_t jobs_waiting_ = 0;
};

}  // namespace

result<run_result> simulate(cluster& over, const play& what, const engine& with, const simulation_options& options) {
  return player(over, what, with, options).run();
}

}  // namespace kaisched::simulation
