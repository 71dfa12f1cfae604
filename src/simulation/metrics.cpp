#include "simulation/metrics.hpp"

#include <algorithm>
#include <cmath>

#include "base/int128.hpp"

namespace kaisched::simulation {

using base::int128;

namespace {

constexpr double second_in_nanoseconds = 1e9;
constexpr double milli_ms_of_hour = 1000.0 * 1000 * 3600;
constexpr double fair = 1.05;  ///< as in Shockwave (NSDI 2023)

double seconds(std::int64_t t) { return static_cast<double>(t) / second_in_nanoseconds; }

/// Integrals over the timeline, so that the mean over any span is two look-ups.
class integral {
 public:
  template <class Value>
  integral(const run_result& run, Value value) {
    double sum = 0;
    for (std::size_t i = 0; i < run.timeline.size(); ++i) {
      times_.push_back(run.timeline[i].time);
      sums_.push_back(sum);
      values_.push_back(value(run.timeline[i]));
      const std::int64_t until = i + 1 < run.timeline.size() ? run.timeline[i + 1].time : run.end;
      sum += values_.back() * seconds(until - run.timeline[i].time);
    }
  }
  [[nodiscard]] double between(std::int64_t from, std::int64_t to) const { return until(to) - until(from); }

 private:
  [[nodiscard]] double until(std::int64_t t) const {
    const auto after = std::upper_bound(times_.begin(), times_.end(), t);
    if (after == times_.begin()) return 0;
    const auto i = static_cast<std::size_t>(after - times_.begin()) - 1;
    return sums_[i] + values_[i] * seconds(t - times_[i]);
  }
  std::vector<std::int64_t> times_;
  std::vector<double> sums_;
  std::vector<double> values_;
};

double part_of(double a, double b) { return b > 0 ? a / b : 0; }

double value_of(const sample& s, series what) {
  switch (what) {
    case series::held:
      return static_cast<double>(s.gpus_held) / 1000;
    case series::wanted:
      return static_cast<double>(s.gpus_wanted) / 1000;
    case series::there:
      return static_cast<double>(s.gpus_there) / 1000;
    case series::running:
      return static_cast<double>(s.jobs_running);
    case series::waiting:
      return static_cast<double>(s.jobs_waiting);
  }
  return 0;
}

}  // namespace

distribution distribution_of(std::vector<std::int64_t> nanoseconds) {
  distribution made;
  made.count = nanoseconds.size();
  if (nanoseconds.empty()) return made;
  std::sort(nanoseconds.begin(), nanoseconds.end());
  int128 sum = 0;
  for (const std::int64_t t : nanoseconds) sum += t;
  const auto n = nanoseconds.size();
  made.mean = static_cast<double>(sum) / static_cast<double>(n) / second_in_nanoseconds;
  const auto rank = [&](std::size_t percent) { return seconds(nanoseconds[(n * percent + 99) / 100 - 1]); };
  made.p50 = rank(50);
  made.p90 = rank(90);
  made.p99 = rank(99);
  made.most = seconds(nanoseconds.back());
  return made;
}

metrics metrics_of(const workload& jobs, const run_result& run) {
  metrics made;
  made.jobs = run.jobs.size();
  if (run.jobs.empty()) return made;
  const integral held(run, [](const sample& s) { return value_of(s, series::held); });
  const integral there(run, [](const sample& s) { return value_of(s, series::there); });
  const integral crowd(run, [](const sample& s) {
    // Where no GPU is there everybody waits, as if for one.
    const auto asked_for = static_cast<double>(s.gpus_held + s.gpus_wanted);
    return asked_for / std::max(1000.0, static_cast<double>(s.gpus_there));
  });
  const integral fragmented(run, [](const sample& s) { return static_cast<double>(s.gpus_fragmented) / 1000; });
  const integral misplaced(run, [](const sample& s) { return static_cast<double>(s.gpus_misplaced) / 1000; });
  const integral asked(run, [](const sample& s) {
    return static_cast<double>(std::min(s.gpus_wanted, s.gpus_there - s.gpus_held)) / 1000;
  });
  double distance = 0;
  double of_several_pods = 0;
  std::vector<std::int64_t> completions;
  std::vector<std::int64_t> waits;
  double slowdowns = 0;
  double squares = 0;
  std::uint64_t unfair = 0;
  std::uint64_t compared = 0;
  std::int64_t last_end = 0;
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    const job& told = jobs.jobs[i];
    const job_outcome& o = run.jobs[i];
    made.gpu_hours += static_cast<double>(o.gpu_time) / milli_ms_of_hour;
    made.lost_gpu_hours += static_cast<double>(o.lost_gpu_time) / milli_ms_of_hour;
    made.partial_gang_gpu_hours += static_cast<double>(o.partial_gpu_time) / milli_ms_of_hour;
    made.stale_gang_gpu_hours += static_cast<double>(o.stale_gpu_time) / milli_ms_of_hour;
    made.restarts += o.starts > 1 ? o.starts - 1 : 0U;
    made.evictions += o.evictions;
    made.failures += o.failures;
    std::uint64_t pods = 0;
    for (const pod_shape& shape : told.pods) pods += shape.count;
    if (pods > 1) {
      distance += static_cast<double>(o.gpu_time) * o.distance;
      of_several_pods += static_cast<double>(o.gpu_time);
    }
    if (o.first_start == never) {
      made.never_started += o.came ? 1U : 0U;
    } else {
      waits.push_back(o.first_start - told.submit);
    }
    if (o.end == never) continue;
    last_end = std::max(last_end, o.end);
    const std::int64_t took = o.end - told.submit;
    completions.push_back(took);
    if (told.run_time == 0) continue;
    const double slowdown = static_cast<double>(took) / static_cast<double>(told.run_time);
    const double contention = std::max(1.0, crowd.between(told.submit, o.end) / seconds(took));
    ++compared;
    slowdowns += slowdown;
    squares += slowdown * slowdown;
    made.worst_fairness = std::max(made.worst_fairness, slowdown / contention);
    unfair += slowdown / contention > fair ? 1U : 0U;
  }
  const std::int64_t first = std::min(jobs.jobs.front().submit, run.end);
  const std::int64_t last_submit = std::min(jobs.jobs.back().submit, run.end);
  made.ended = completions.size();
  made.completion = distribution_of(std::move(completions));
  made.waiting = distribution_of(std::move(waits));
  made.makespan = made.ended == 0 ? 0 : seconds(last_end - first);
  const time_window window = contended_window(run).value_or(time_window{first, run.end});
  made.contended_from = seconds(window.from);
  made.contended_until = seconds(window.until);
  made.utilisation = part_of(held.between(window.from, window.until), there.between(window.from, window.until));
  made.utilisation_of_span = part_of(held.between(first, run.end), there.between(first, run.end));
  made.utilisation_of_arrivals = part_of(held.between(first, last_submit), there.between(first, last_submit));
  const double free = there.between(first, run.end) - held.between(first, run.end);
  made.fragmentation = part_of(fragmented.between(first, run.end), free);
  made.idle_though_asked = part_of(asked.between(first, run.end), there.between(first, run.end));
  made.share_error = part_of(misplaced.between(first, run.end), held.between(first, run.end));
  made.topology_cost = part_of(distance, of_several_pods);
  made.pods_evicted = run.counts.evictions;
  made.moves = run.counts.moves;
  made.withdrawn_starts = run.counts.withdrawn;
  for (const quota_claim& one : run.quota_claims) {
    made.quota_claims += one.claims;
    made.longest_quota_claim = std::max(made.longest_quota_claim, seconds(one.longest));
  }
  for (const idle_refusal& one : run.idle_refusals)
    made.idle_fitting_gpu_hours += static_cast<double>(one.gpu_time) / milli_ms_of_hour;
  made.energy = run.power.energy;
  made.peak_power = run.power.peak / 1000;
  for (const feed_use& one : run.power.feeds)
    made.fullest_feed = std::max(made.fullest_feed, part_of(one.peak * 1000, static_cast<double>(one.most)));
  made.gpu_hours_there = there.between(first, run.end) / 3600;
  made.unfair = part_of(static_cast<double>(unfair), static_cast<double>(compared));
  made.jain = part_of(slowdowns * slowdowns, static_cast<double>(compared) * squares);
  return made;
}

time_window whole_span(const run_result& run) {
  return run.timeline.empty() ? time_window{run.end, run.end} : time_window{run.timeline.front().time, run.end};
}

std::optional<time_window> contended_window(const run_result& run) {
  std::optional<time_window> found;
  for (std::size_t i = 0; i < run.timeline.size(); ++i) {
    const sample& s = run.timeline[i];
    const std::int64_t until = i + 1 < run.timeline.size() ? run.timeline[i + 1].time : run.end;
    if (until == s.time || s.gpus_wanted <= s.gpus_there - s.gpus_held) continue;
    if (!found) found = time_window{s.time, until};
    found->until = until;
  }
  return found;
}

std::vector<double> pieces_of(const run_result& run, series what, std::size_t count) {
  return pieces_of(run, what, count, whole_span(run));
}

std::vector<double> pieces_of(const run_result& run, series what, std::size_t count, const time_window& window) {
  std::vector<double> made;
  if (run.timeline.empty() || count == 0) return made;
  const integral of(run, [&](const sample& s) { return value_of(s, what); });
  const auto edge = [&](std::size_t i) {
    return window.from + static_cast<std::int64_t>(static_cast<int128>(window.until - window.from) *
                                                   static_cast<std::int64_t>(i) / static_cast<std::int64_t>(count));
  };
  for (std::size_t i = 0; i < count; ++i) {
    made.push_back(part_of(of.between(edge(i), edge(i + 1)), seconds(edge(i + 1) - edge(i))));
  }
  return made;
}

}  // namespace kaisched::simulation
