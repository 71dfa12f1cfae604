#include "benchmarks/shockwave/rounds.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "benchmarks/shockwave/batch_sizes.hpp"

namespace kaisched::bench::shockwave {

namespace {

constexpr double latest = 1e9;               // seconds, about 30 years
constexpr std::int64_t longest = 1'000'000;  // rounds

result<void> check_options(const round_options& options) {
  const auto wrong = [](std::string_view field, double value) {
    return error{status::argument, fmt::format("{}: {} is out of range", field, value), {}};
  };
  if (!(options.round >= 1 && options.round <= latest)) return wrong("round", options.round);
  if (!(options.restart >= 0 && options.restart < options.round)) return wrong("restart", options.restart);
  if (!(options.restart_margin >= 0 && options.restart_margin <= options.round - options.restart))
    return wrong("restart_margin", options.restart_margin);
  if (!(options.between_shares >= 0 && options.between_shares <= latest))
    return wrong("between_shares", options.between_shares);
  if (!(options.overtime >= 0 && options.overtime <= latest)) return wrong("overtime", options.overtime);
  if (options.empty_rounds < 1) return wrong("empty_rounds", static_cast<double>(options.empty_rounds));
  return {};
}

/// Checks a job, and says how long it takes alone.
result<double> planned_time_of(std::span<const trace_job> jobs, std::size_t number, const speed_table& speeds,
                               const round_options& options) {
  constexpr std::int64_t most_steps = std::int64_t{1} << 31;
  const trace_job& job = jobs[number];
  const auto wrong = [&](std::string_view field, std::string_view why) {
    return error{status::argument, fmt::format("job {}: {}: {}", number, field, why), {}};
  };
  if (find_model(job.model) == nullptr) return wrong("model", fmt::format("there is no model '{}'", job.model));
  if (job.gpus < 1 || job.gpus > options.gpus)
    return wrong("gpus", fmt::format("{} is not 1 to {}", job.gpus, options.gpus));
  if (job.steps < 1 || job.steps > most_steps)
    return wrong("steps", fmt::format("{} is not 1 to {}", job.steps, most_steps));
  if (job.batch < 1 || job.batch > find_model(job.model)->largest_batch)
    return wrong("batch", fmt::format("{} is not 1 to {}", job.batch, find_model(job.model)->largest_batch));
  if (!(job.arrival >= 0 && job.arrival <= latest) || (number > 0 && job.arrival < jobs[number - 1].arrival))
    return wrong("arrival", fmt::format("{} is out of order or of range", job.arrival));
  if (!speeds.find(job.model, job.batch, job.gpus))
    return wrong("batch", fmt::format("no speed of {} with batch size {} on {} GPUs", job.model, job.batch, job.gpus));
  trace_job fixed = job;
  if (!options.changing_batches) fixed.mode = adaptation::none;
  const std::optional<double> planned = planned_time(fixed, speeds);
  if (!planned) return wrong("mode", "no speed for a batch size that it is planned to have");
  return *planned;
}

struct live_job {
  std::size_t number = 0;
  const trace_job* of = nullptr;
  double planned = 0;
  batch_state state;
  batch_change wish = batch_change::none;
  double ran = 0;
  std::int64_t empty_rounds = 0;
};

/// A job that runs in a round.
struct run_in_round {
  double end = 0;
  std::size_t at = 0;  ///< among the jobs that are there, which are by number
  std::int64_t steps = 0;
};

class simulation {
 public:
  simulation(std::span<const trace_job> jobs, const speed_table& speeds, const policy_name& policy,
             const round_options& options)
      : jobs_(jobs), speeds_(&speeds), options_(options) {
    book_.jobs.resize(jobs.size());
    if (policy.rule != nullptr) rule_ = policy.rule();
  }

  result<outcome> run(const std::string& part) {
    if (auto done = check_options(options_); !done) return done.failure();
    for (std::size_t i = 0; i < jobs_.size(); ++i) {
      const result<double> planned = planned_time_of(jobs_, i, *speeds_, options_);
      if (!planned) return planned.failure();
      made_.planned_times.push_back(*planned);
    }
    made_.completion_times.resize(jobs_.size());
    result<round_cluster> cluster = round_cluster::make(options_, part, rule_ != nullptr, book_);
    if (!cluster) return cluster.take_failure();
    cluster_ = std::make_unique<round_cluster>(std::move(*cluster));
    while (next_ < jobs_.size() || !here_.empty()) {
      if (made_.rounds == longest || now_ > latest)
        return error{status::limit, fmt::format("not at the end after {} rounds, at {} s", made_.rounds, now_), {}};
      if (auto done = one_round(); !done) return done.failure();
    }
    made_.makespan = now_;
    return std::move(made_);
  }

 private:
  result<void> one_round() {
    if (here_.empty()) now_ = std::max(now_, jobs_[next_].arrival);
    for (; next_ < jobs_.size() && jobs_[next_].arrival <= now_; ++next_) {
      const trace_job& job = jobs_[next_];
      const double speed = speeds_->find(job.model, job.batch, job.gpus).value_or(0);  // checked before
      here_.push_back({next_, &job, made_.planned_times[next_], {job.batch, job.steps, 0, speed}, {}, 0, 0});
      book_.jobs[next_].received = options_.round / 2;
      jobs_changed_ = true;
      if (auto done = cluster_->arrive(next_, job.gpus); !done) return done.failure();
    }
    divide();
    const result<std::vector<std::size_t>> chosen = cluster_->choose(now_);
    if (!chosen) return chosen.failure();
    if (chosen->empty()) return error{status::internal, fmt::format("nobody starts at {} s", now_), {}};
    if (auto done = start(*chosen); !done) return done.failure();
    return end_round();
  }

  /// New shares; what was received counts from here.
  void divide() {
    const double since = now_ - divided_at_;
    if (rule_ == nullptr || !jobs_changed_ || (since < options_.between_shares && divided_at_ != 0)) return;
    book_.received = 0;
    std::vector<asking_job> asking;
    for (const live_job& job : here_) {
      book_entry& entry = book_.jobs[job.number];
      entry.owed += (entry.has_share ? entry.share * since : 0) - (entry.received - options_.round / 2);
      entry.received = options_.round / 2;
      book_.received += entry.received;
      asking.push_back({job.number, static_cast<double>(job.of->gpus), job.state.speed,
                        static_cast<double>(job.state.steps - job.state.done), job.of->arrival});
    }
    const std::vector<double> shares = rule_->divide(asking, static_cast<double>(options_.gpus), now_);
    for (std::size_t i = 0; i < here_.size(); ++i) {
      book_entry& entry = book_.jobs[here_[i].number];
      entry.share = shares[i];
      entry.has_share = true;
    }
    divided_at_ = now_;
    jobs_changed_ = false;
  }

  result<void> start(const std::vector<std::size_t>& chosen) {
    running_.clear();
    std::vector<bool> runs(jobs_.size());
    for (std::size_t at = 0; at < here_.size(); ++at) {
      const live_job& job = here_[at];
      if (!std::binary_search(chosen.begin(), chosen.end(), job.number)) continue;
      if (rule_ != nullptr && options_.newcomers_idle && !book_.jobs[job.number].has_share) continue;
      runs[job.number] = true;
      const double speed = job.state.speed;
      const auto most = static_cast<std::int64_t>(speed * options_.round);
      if (most == 0) {
        return error{
            status::argument,
            fmt::format("job {}: batch: with {} samples it does no whole step in a round", job.number, job.state.batch),
            {}};
      }
      const std::int64_t steps = std::min(most, job.state.steps - job.state.done);
      running_.push_back({std::max(now_, now_ + static_cast<double>(steps) / speed), at, steps});
    }
    ran_before_ = std::exchange(runs_now_, std::move(runs));
    return {};
  }

  result<void> end_round() {
    // In the order in which the authors' program ends them, which decides sums in their last digits.
    std::sort(running_.begin(), running_.end(), [](const run_in_round& a, const run_in_round& b) {
      return std::pair(-a.end, a.at) < std::pair(-b.end, b.at);
    });
    const double started = now_;
    if (running_.empty()) {
      // Nobody may run: until shares are divided again, or the next job comes.
      now_ += options_.round;
    } else {
      now_ = running_.front().end;
    }
    std::vector<std::size_t> ended;
    for (const run_in_round& one : running_) {
      if (end_run(one, started)) ended.push_back(one.at);
      const live_job& job = here_[one.at];
      if (rule_ != nullptr) continue;
      if (auto done = cluster_->serve(job.number, job.of->gpus, job.ran); !done) return done.failure();
    }
    std::sort(ended.rbegin(), ended.rend());
    for (const std::size_t at : ended) {
      const live_job& job = here_[at];
      if (auto done = cluster_->leave(job.number, job.of->gpus); !done) return done.failure();
      here_.erase(here_.begin() + static_cast<std::ptrdiff_t>(at));
      jobs_changed_ = true;
    }
    if (options_.changing_batches) {
      for (live_job& job : here_) {
        const batch_change wish = wanted_change(*job.of, job.state);
        if (wish != batch_change::none) job.wish = wish;
      }
    }
    ++made_.rounds;
    return {};
  }

  /// Whether that was its last.
  bool end_run(const run_in_round& one, double started) {
    live_job& job = here_[one.at];
    double time = one.end - started;
    std::int64_t steps = one.steps;
    const bool restarted = made_.rounds > 0 && !ran_before_[job.number];
    if (restarted && time != 0 && time > options_.round - options_.restart_margin) {
      steps = static_cast<std::int64_t>(static_cast<double>(steps) * ((time - options_.restart) / time));
      time -= options_.restart;
    }
    job.ran += time;
    bool ends = false;
    if (steps <= 0 && time <= 0) {
      ends = ++job.empty_rounds >= options_.empty_rounds;
      jobs_changed_ = true;
    } else {
      job.empty_rounds = 0;
      job.state.done += steps;
      const bool late = options_.overtime > 0 && job.ran > std::trunc(std::trunc(job.planned) * options_.overtime);
      ends = job.state.done >= job.state.steps || late;
      book_.jobs[job.number].received += time;
      book_.received += time;
    }
    job.state = changed(*job.of, job.state, job.wish, *speeds_);
    job.wish = batch_change::none;
    if (ends) made_.completion_times[job.number] = one.end - job.of->arrival;
    return ends;
  }

  std::span<const trace_job> jobs_;
  const speed_table* speeds_;
  round_options options_;
  std::unique_ptr<share_rule> rule_;
  round_book book_;
  std::unique_ptr<round_cluster> cluster_;
  outcome made_;

  double now_ = 0;
  double divided_at_ = 0;  ///< 0: shares may be divided at any time
  bool jobs_changed_ = true;
  std::size_t next_ = 0;  ///< job to arrive
  std::vector<live_job> here_;
  std::vector<run_in_round> running_;
  std::vector<bool> runs_now_, ran_before_;  ///< by job
};

}  // namespace

double outcome::average() const {
  return completion_times.empty() ? 0
                                  : std::accumulate(completion_times.begin(), completion_times.end(), 0.0) /
                                        static_cast<double>(completion_times.size());
}

std::vector<double> outcome::fairness(std::int64_t gpus) const {
  const double contention = std::max(1.0, static_cast<double>(completion_times.size()) / static_cast<double>(gpus));
  std::vector<double> made(completion_times.size());
  for (std::size_t i = 0; i < made.size(); ++i) made[i] = completion_times[i] / (planned_times[i] * contention);
  return made;
}

result<outcome> play(std::span<const trace_job> jobs, const speed_table& speeds, const policy_name& policy,
                     const round_options& options) {
  return simulation(jobs, speeds, policy, options).run(policy.part);
}

}  // namespace kaisched::bench::shockwave
