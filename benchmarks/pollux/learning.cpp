#include "benchmarks/pollux/learning.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include <fmt/format.h>

namespace kaisched::bench::pollux {

namespace {

std::int64_t divided_up(std::int64_t number, std::int64_t by) { return (number + by - 1) / by; }

std::int64_t sum_of(const std::vector<std::int64_t>& gpus) {
  return std::accumulate(gpus.begin(), gpus.end(), std::int64_t{0});
}

/// GPUs on each node as digits: it makes no difference on which of them one starts.
std::string digits_of(const std::vector<std::int64_t>& gpus) {
  std::string digits;
  for (const std::int64_t count : gpus) digits += static_cast<char>('0' + count);
  std::string least = digits;
  for (std::size_t i = 1; i < digits.size(); ++i) {
    std::rotate(digits.begin(), digits.begin() + 1, digits.end());
    least = std::min(least, digits);
  }
  return least;
}

template <class Table, class Key>
result<typename Table::mapped_type> found_in(const Table& of, const Key& key, std::string_view app,
                                             std::string_view what) {
  const auto found = of.find(key);
  if (found != of.end()) return found->second;
  return error{status::not_found, fmt::format("application '{}': no {}", app, what), {}};
}

}  // namespace

batch_split split_batch(const application& app, std::int64_t batch, std::int64_t replicas, bool splits_alone) {
  const std::int64_t each = divided_up(batch, replicas);
  std::int64_t parts = divided_up(each, app.most_local);
  if (replicas == 1 && splits_alone) parts = std::max<std::int64_t>(parts, 2);
  return {std::min(divided_up(each, parts), app.most_batch / (replicas * parts)), parts};
}

result<double> batch_time(const measurements& of, app_row app, const std::vector<std::int64_t>& gpus,
                          const batch_split& split) {
  const std::string placement = digits_of(gpus);
  const result<step_time> found =
      found_in(of.steps, std::tuple(app, placement, split.local), of.apps[app].name,
               fmt::format("step time on GPUs '{}' with a local batch of {}", placement, split.local));
  if (!found) return found.failure();
  const double computing = found->whole - found->sync;
  return found->whole + computing * static_cast<double>(split.parts - 1);
}

result<double> expected_time(const measurements& of, const artefact& as, const job_spec& job, std::int64_t replicas) {
  const application& app = of.apps[job.app];
  std::vector<std::int64_t> gpus;
  for (std::int64_t left = replicas; left > 0; left -= gpus.back()) gpus.push_back(std::min(left, as.gpus_per_node));
  const bool splits = as.expects_lone_split || job.batch > app.first_batch;
  return batch_time(of, job.app, gpus, split_batch(app, job.batch, replicas, splits));
}

result<double> expected_iterations(const measurements& of, const artefact& as, const job_spec& job,
                                   std::int64_t epoch) {
  const std::string& app = of.apps[job.app].name;
  const auto last = found_in(of.last_epochs, std::pair(job.app, job.batch), app,
                             fmt::format("last epoch with a batch of {}", job.batch));
  if (!last) return last.failure();
  if (as.skips_present_epoch && *last <= epoch) return 1.0;
  const auto done_after = [&](std::int64_t which) -> result<double> {
    if (which < 0) return 0.0;
    return found_in(of.iterations, std::tuple(job.app, job.batch, which), app,
                    fmt::format("iterations with a batch of {} after epoch {}", job.batch, which));
  };
  result<double> all = done_after(*last);
  if (!all) return all;
  result<double> done = done_after(as.skips_present_epoch ? epoch : epoch - 1);
  if (!done) return done;
  return *all - *done;
}

std::int64_t most_replicas(const measurements& of, const artefact& as, const job_spec& job) {
  const application& app = of.apps[job.app];
  if (std::find(as.lone_apps.begin(), as.lone_apps.end(), app.name) != as.lone_apps.end()) return 1;
  return job.batch / app.least_local;
}

result<void> running_job::move_to(std::vector<std::int64_t> gpus) {
  gpus_ = std::move(gpus);
  if (gpus_.empty()) return {};
  const application& app = of_->apps[job_->app];
  split_ = split_batch(app, job_->batch, sum_of(gpus_), job_->batch > app.first_batch);
  const result<double> time = batch_time(*of_, job_->app, gpus_, split_);
  if (!time) return time.failure();
  batch_time_ = *time;
  restart_left_ = as_->restart;
  speed_ = 0;
  return {};
}

std::int64_t running_job::whole_batch() const { return sum_of(gpus_) * split_.local * split_.parts; }

result<void> running_job::find_speed() {
  const application& app = of_->apps[job_->app];
  const std::int64_t batch = whole_batch();
  const auto measured = found_in(of_->gradients, std::tuple(job_->app, batch, epoch_), app.name,
                                 fmt::format("gradients with a batch of {} in epoch {}", batch, epoch_));
  if (!measured) return measured.failure();
  const auto next = found_in(of_->progress, std::pair(job_->app, epoch_ + 1), app.name,
                             fmt::format("progress at the end of epoch {}", epoch_));
  if (!next) return next.failure();
  const double scale = static_cast<double>(batch) / static_cast<double>(app.first_batch);
  const double gain = (measured->variance + measured->square) / (measured->variance / scale + measured->square);
  speed_ = gain / batch_time_;
  next_ = *next;
  if (speed_ > 0 && std::isfinite(speed_)) return {};
  return error{
      status::argument,
      fmt::format("application '{}': no speed follows from a batch of {} in epoch {}", app.name, batch, epoch_),
      {}};
}

result<void> running_job::go_on(std::int64_t from, std::int64_t seconds) {
  if (gpus_.empty()) return {};
  const std::int64_t restarting = std::min(restart_left_, seconds);
  restart_left_ -= restarting;
  double now = static_cast<double>(from + restarting);
  double left = static_cast<double>(seconds - restarting);
  while (left > 0 && !has_ended()) {
    // Asked when time passes only, as there: the tables have no more.
    if (speed_ == 0) {
      if (auto done = find_speed(); !done) return done;
    }
    if (progress_ + speed_ * left < next_) {
      progress_ += speed_ * left;
      return {};
    }
    double takes = (next_ - progress_) / speed_;
    if (as_->ends_at_whole_seconds) takes = std::nearbyint(takes);
    ++epoch_;
    progress_ = next_;
    now += takes;
    left -= takes;
    const auto last = found_in(of_->last_epochs, std::pair(job_->app, whole_batch()), of_->apps[job_->app].name,
                               fmt::format("last epoch with a batch of {}", whole_batch()));
    if (!last) return last.failure();
    if (epoch_ > *last) end_ = now;
    speed_ = 0;
  }
  return {};
}

}  // namespace kaisched::bench::pollux
