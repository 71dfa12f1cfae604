#include "benchmarks/muri/loop.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "benchmarks/muri/planner.hpp"

namespace kaisched::bench::muri {

namespace {

constexpr double never = std::numeric_limits<double>::infinity();
constexpr double nanoseconds = 1e9;
constexpr double milli = 1000;

struct job_state {
  double alone = 0;                    ///< seconds of an iteration without others on its GPUs
  double iteration_time = 0;           ///< seconds, as it runs
  double overhead = 0;                 ///< of a restart of all that share its GPUs
  double left = 0;                     ///< iterations
  double checked = 0;                  ///< its work is counted until then
  double attained = 0;                 ///< seconds in which it ran
  double owed = 0;                     ///< of the restart, where that is not charged at every event
  std::vector<std::uint32_t> sharers;  ///< who has its GPUs, itself included
  double end = never;
  bool runs = false;
  bool was_told = true;  ///< nothing has changed since
  std::size_t queue = 0;
  std::int64_t position = 0;
};

/// Queues of the discretised least attained service, each a list. What sessions are told is a number for each place in
/// it: those that run have numbers of their own range, rising with every job that begins to run, so that few change.
class queue_lists {
 public:
  explicit queue_lists(std::size_t limits) : lists_(limits + 1) {}

  void add(std::vector<job_state>& jobs, std::uint32_t job) {
    lists_[jobs[job].queue].push_back(job);
    jobs[job].position = ++last_;
  }
  void remove(const std::vector<job_state>& jobs, std::uint32_t job) { std::erase(lists_[jobs[job].queue], job); }

  /// Those that run go before the others.
  void set_in_order(std::vector<job_state>& jobs) {
    for (std::vector<std::uint32_t>& list : lists_) {
      const auto waiting =
          std::stable_partition(list.begin(), list.end(), [&](std::uint32_t job) { return jobs[job].runs; });
      for (auto job = list.begin(); job != waiting; ++job) {
        if (jobs[*job].position > first_running + running_) move(jobs[*job], first_running + ++running_);
      }
      for (auto job = std::make_reverse_iterator(list.end()); job != std::make_reverse_iterator(waiting); ++job) {
        if (jobs[*job].position <= first_running + running_) move(jobs[*job], --first_);
      }
    }
  }

 private:
  static constexpr std::int64_t first_running = std::numeric_limits<std::int64_t>::min() / 2;
  static void move(job_state& job, std::int64_t to) {
    job.position = to;
    job.was_told = false;
  }

  std::vector<std::vector<std::uint32_t>> lists_;
  std::int64_t first_ = 0;    ///< position of the first that waits
  std::int64_t last_ = 0;     ///< position of the last one
  std::int64_t running_ = 0;  ///< how many have begun to run
};

class event_loop {
 public:
  event_loop(const std::vector<trace_job>& jobs, planner& with, const loop_rules& rules)
      : jobs_(jobs), planner_(with), rules_(rules), states_(jobs.size()), lists_(rules.queue_limits.size()) {
    for (std::size_t i = 0; i < jobs.size(); ++i) {
      states_[i].alone = time_alone(jobs[i], rules);
      states_[i].left = jobs[i].iterations;
    }
  }

  result<outcome> run() {
    outcome made;
    while (come_ < jobs_.size() || !active_.empty()) {
      const double next = come_ < jobs_.size() ? jobs_[come_].submit : never;
      now_ = std::min({next, end_, limit_});
      if (now_ == never) return error{status::argument, "jobs wait for ever: some are too large", {}};
      const bool ends_with_arrivals = next < never && std::fabs(end_ - next) <= rules_.ends_with_arrivals;
      if (ends_with_arrivals) now_ = next;
      if (end_ <= now_ || ends_with_arrivals) finish();
      if (next <= now_) arrive(next);
      for (const std::uint32_t job : active_) account(job);
      tell();
      const result<std::vector<placed_job>> placed = planner_.plan();
      if (!placed) return placed.failure();
      ++made.sessions;
      start(*placed);
      look_ahead(*placed);
    }
    measure(made);
    return made;
  }

 private:
  [[nodiscard]] bool is_same_time(double a, double b) const {
    return std::fabs(a - b) <= rules_.same_time * std::max(std::fabs(a), std::fabs(b));
  }
  [[nodiscard]] bool has_queues() const { return !rules_.queue_limits.empty(); }

  void finish() {
    for (const std::uint32_t job : ending_) {
      states_[job].end = now_;
      if (has_queues()) lists_.remove(states_, job);
      planner_.leave(job);
    }
    std::erase_if(active_, [&](std::uint32_t job) { return states_[job].end != never; });
  }

  void arrive(double first) {
    while (come_ < jobs_.size() && is_same_time(jobs_[come_].submit, first)) {
      const auto job = static_cast<std::uint32_t>(come_++);
      states_[job].checked = now_;
      if (has_queues()) lists_.add(states_, job);
      active_.push_back(job);
      planner_.come(job, told_of(job));
    }
  }

  /// Work done since the last event. The expressions are those of the authors' program, in their order: a zero-length
  /// event could come again and again otherwise.
  void account(std::uint32_t job) {
    job_state& s = states_[job];
    if (s.runs) {
      const double overhead = rules_.restarts_at_every_event ? s.overhead : s.owed;
      s.left -= std::max(now_ - s.checked - overhead, 0.0) / s.iteration_time;
      s.owed = std::max(s.owed - (now_ - s.checked), 0.0);
      s.attained = (s.attained + now_) - s.checked;
      s.was_told = false;
      const bool is_last = s.queue == rules_.queue_limits.size();
      if (!is_last && s.attained * static_cast<double>(jobs_[job].gpus) >= limit_of(s)) {
        lists_.remove(states_, job);
        ++s.queue;
        lists_.add(states_, job);
      }
    }
    s.checked = now_;
  }
  [[nodiscard]] double limit_of(const job_state& s) const { return static_cast<double>(rules_.queue_limits[s.queue]); }

  /// What is left is told as the run time of a job that has not run yet: GPU time that it has had would count the
  /// restarts as work done. Where queues decide, it is that GPU time that counts.
  [[nodiscard]] told_job told_of(std::uint32_t job) const {
    const job_state& s = states_[job];
    const double service = has_queues() ? s.attained * static_cast<double>(jobs_[job].gpus) * milli : 0;
    return {std::max<std::int64_t>(0, std::llround(s.left * s.alone * nanoseconds)), static_cast<std::int64_t>(service),
            s.position};
  }
  void tell() {
    for (const std::uint32_t job : active_) {
      if (!states_[job].was_told) planner_.tell(job, told_of(job));
      states_[job].was_told = true;
    }
  }

  void start(const std::vector<placed_job>& placed) {
    std::map<std::uint32_t, std::vector<std::uint32_t>> groups;  // by the first of them
    for (const placed_job& one : placed) groups[one.first].push_back(one.job);
    std::vector<bool> runs(jobs_.size(), false);
    for (const placed_job& one : placed) {
      job_state& s = states_[one.job];
      const std::vector<std::uint32_t>& sharers = groups[one.first];
      const bool restarts = !s.runs || s.sharers != sharers;
      runs[one.job] = true;
      s.sharers = sharers;
      s.overhead = 0;
      for (const std::uint32_t other : sharers) s.overhead += jobs_[other].overhead;
      if (restarts) s.owed = s.overhead;
      s.iteration_time = sharers.size() == 1 ? s.alone : time_of(sharers);
    }
    for (const std::uint32_t job : active_) states_[job].runs = runs[job];
    if (has_queues()) lists_.set_in_order(states_);
  }
  [[nodiscard]] double time_of(const std::vector<std::uint32_t>& sharers) const {
    std::vector<stage_times> stages;
    for (const std::uint32_t job : sharers) stages.push_back(jobs_[job].stages);
    return shared_iteration(stages);
  }

  /// When the next jobs end, and which; when a job reaches the limit of its queue.
  void look_ahead(const std::vector<placed_job>& placed) {
    struct same_end {
      double time;
      std::vector<std::uint32_t> jobs;
    };
    std::vector<same_end> ends;
    limit_ = never;
    for (const auto& [job, first] : placed) {
      const job_state& s = states_[job];
      const double end = now_ + (rules_.restarts_at_every_event ? 0 : s.owed) + s.left * s.iteration_time;
      const auto joined = std::find_if(ends.begin(), ends.end(), [&](const same_end& one) {
        return rules_.same_time_of_ends ? is_same_time(one.time, end) : one.time == end;
      });
      if (joined == ends.end()) {
        ends.push_back({end, {job}});
      } else {
        joined->jobs.push_back(job);
      }
      if (rules_.wakes_at_limits && s.queue < rules_.queue_limits.size())
        limit_ = std::min(limit_, std::ceil(limit_of(s) / static_cast<double>(jobs_[job].gpus)) - s.attained + now_);
    }
    const auto next =
        std::min_element(ends.begin(), ends.end(), [](const auto& a, const auto& b) { return a.time < b.time; });
    end_ = next == ends.end() ? never : next->time;
    ending_ = next == ends.end() ? std::vector<std::uint32_t>{} : std::move(next->jobs);
  }

  void measure(outcome& to) const {
    std::vector<double> times;
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      to.ends.push_back(states_[i].end);
      times.push_back(states_[i].end - jobs_[i].submit);
    }
    if (times.empty()) return;
    to.makespan = *std::max_element(to.ends.begin(), to.ends.end());
    to.mean = std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
    std::sort(times.begin(), times.end());
    to.p99 = times[static_cast<std::size_t>(0.99 * static_cast<double>(times.size()))];
  }

  const std::vector<trace_job>& jobs_;
  planner& planner_;
  const loop_rules& rules_;
  std::vector<job_state> states_;
  queue_lists lists_;
  std::vector<std::uint32_t> active_;  ///< have come and not ended, in this order
  std::size_t come_ = 0;
  double now_ = 0;
  double end_ = never;                 ///< of the jobs that end next
  std::vector<std::uint32_t> ending_;  ///< these
  double limit_ = never;               ///< when a job reaches the limit of its queue
};

}  // namespace

result<outcome> play(const std::vector<trace_job>& jobs, const std::string& part, const loop_rules& rules) {
  result<planner> with = planner::make(part, jobs, rules);
  if (!with) return with.take_failure();
  return event_loop(jobs, *with, rules).run();
}

}  // namespace kaisched::bench::muri
