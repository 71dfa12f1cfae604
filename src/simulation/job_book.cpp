#include "simulation/job_book.hpp"

#include <algorithm>

#include "simulation/job_list.hpp"

namespace kaisched::simulation {

using base::int128;

namespace {

constexpr std::int64_t nanoseconds_of_millisecond = 1'000'000;
constexpr std::int64_t nanoseconds_of_second = 1'000'000'000;

std::int64_t part(std::int64_t amount, std::int64_t of, std::int64_t whole) {
  return static_cast<std::int64_t>(static_cast<int128>(amount) * of / whole);
}

}  // namespace

job_book::job_book(const play& what, const simulation_options& options)
    : workload_(what.jobs), keeps_work_(options.keeps_work) {
  profiles_.push_back({{}, {}, options.start_overhead, options.checkpoint_interval});
  std::map<std::string, std::uint32_t, std::less<>> by_model;
  for (const profile& one : what.profiles) {
    profile& known = one.model.empty() ? profiles_.front() : profiles_.emplace_back(one);
    if (one.model.empty()) known = one;
    if (known.start_overhead == never) known.start_overhead = options.start_overhead;
    if (known.checkpoint_interval == never) known.checkpoint_interval = options.checkpoint_interval;
    if (!one.model.empty()) by_model.emplace(one.model, static_cast<std::uint32_t>(profiles_.size() - 1));
  }
  speed_on_.resize(profiles_.size());
  jobs_.resize(workload_.jobs.size());
  outcomes_.resize(jobs_.size());
  profile_of_.resize(jobs_.size(), 0);
  for (std::size_t i = 0; i < jobs_.size(); ++i) {
    const job& told = workload_.jobs[i];
    for (const pod_shape& shape : told.pods) jobs_[i].pods += shape.count;
    jobs_[i].gang = told.min_pods == 0 ? jobs_[i].pods : told.min_pods;
    const auto curve = curve_of(told);
    curves_.push_back(curve ? *curve : std::vector<model::speed_point>());  // a wrong one is refused before it counts
    if (const auto known = by_model.find(told.model); known != by_model.end()) profile_of_[i] = known->second;
  }
}

void job_book::learn_gpu_models(const std::vector<std::string>& of_nodes) {
  for (std::size_t i = 0; i < profiles_.size(); ++i) {
    const std::vector<gpu_speed>& known = profiles_[i].gpu_speeds;
    if (known.empty()) continue;
    for (const std::string& model : of_nodes) {
      const auto found =
          std::find_if(known.begin(), known.end(), [&](const gpu_speed& s) { return s.gpu_model == model; });
      speed_on_[i].push_back(found == known.end() ? full_speed : found->speed);
    }
  }
}

void job_book::arrive(std::uint32_t job, std::int64_t now) {
  jobs_[job].live = true;
  outcomes_[job].came = true;
  jobs_[job].since = now;
}

void job_book::account(std::uint32_t job, std::int64_t now) {
  entry& e = jobs_[job];
  const std::int64_t elapsed = now - e.since;
  if (elapsed == 0) return;
  e.gpu_time += static_cast<int128>(e.held) * elapsed;
  if (e.speed > 0) {
    const std::int64_t overhead = std::clamp<std::int64_t>(e.ready - e.since, 0, elapsed);
    job_outcome& told = outcomes_[job];
    told.running += elapsed;
    told.lost += overhead;
    e.lost_gpu_time += static_cast<int128>(e.held) * overhead;
    e.run_time_of_gpus += static_cast<int128>(e.held) * (elapsed - overhead);
    e.done += part(elapsed - overhead, e.speed, full_speed);
  } else {
    const int128 held = static_cast<int128>(e.held) * elapsed;
    (e.is_stale ? e.stale_gpu_time : e.partial_gpu_time) += held;
    e.lost_gpu_time += held;
  }
  e.since = now;
}

void job_book::pod_starts(std::uint32_t job, std::int64_t gpus, std::int64_t now) {
  account(job, now);
  ++jobs_[job].on_node;
  jobs_[job].is_resized = true;
  jobs_[job].held += gpus;
}

void job_book::pod_stops(std::uint32_t job, std::int64_t gpus, std::int64_t now) {
  account(job, now);
  --jobs_[job].on_node;
  jobs_[job].is_resized = true;
  jobs_[job].held -= gpus;
}

bool job_book::settle(std::uint32_t job, std::int64_t now, bool saves_work, std::int64_t of_nodes) {
  entry& e = jobs_[job];
  account(job, now);
  const std::int64_t before = e.speed;
  e.speed = runs(job) ? std::max<std::int64_t>(1, part(speed_with(job, e.on_node), of_nodes, full_speed)) : 0;
  job_outcome& told = outcomes_[job];
  const std::int64_t ready = now + profile_of(job).start_overhead;
  // Who goes on with other pods than before forms its group anew, from what it has done so far.
  const bool pauses = before > 0 && e.speed > 0 && e.is_resized && e.ready < ready;
  e.is_resized = false;
  if (pauses) {
    e.ready = ready;
  } else if (before == 0 && e.speed > 0) {
    if (told.first_start == never) told.first_start = now;
    ++told.starts;
    e.ready = ready;
    e.kept = e.done;
    e.gpu_time_before = e.gpu_time;
    e.run_time_of_gpus = 0;
  } else if (before > 0 && e.speed == 0 && !saves_work) {
    lose_work(job);
  }
  e.is_stale = (e.is_stale || before > 0) && e.speed == 0 && e.on_node > 0;
  if (before == e.speed && !pauses) return false;
  ++e.stamp;
  return e.speed > 0;
}

/// What of this work is in a checkpoint.
std::int64_t job_book::saved_of(std::uint32_t job, std::int64_t done) const {
  const std::int64_t interval = profile_of(job).checkpoint_interval;
  return interval == 0 ? done : std::max(jobs_[job].kept, done - done % interval);
}

std::int64_t job_book::last_checkpoint(std::uint32_t job, std::int64_t now) const {
  if (!keeps_work_) return never;
  const entry& e = jobs_[job];
  const std::int64_t progress = std::max<std::int64_t>(0, now - std::max(e.since, e.ready));
  const std::int64_t done = e.done + part(progress, e.speed, full_speed);
  return now - part(done - saved_of(job, done), full_speed, e.speed);
}

/// Back to the last checkpoint.
void job_book::lose_work(std::uint32_t job) {
  entry& e = jobs_[job];
  const std::int64_t again = e.done - (keeps_work_ ? saved_of(job, e.done) : 0);
  const std::int64_t of_this_run = e.done - e.kept;
  outcomes_[job].lost += again;
  if (of_this_run > 0) e.lost_gpu_time += e.run_time_of_gpus * std::min(again, of_this_run) / of_this_run;
  e.done -= again;
}

void job_book::interrupt(std::uint32_t job, std::int64_t now, bool saves_work) {
  account(job, now);
  if (jobs_[job].speed == 0) return;
  if (!saves_work) lose_work(job);
  jobs_[job].speed = 0;
  jobs_[job].is_stale = true;
  ++jobs_[job].stamp;
}

std::int64_t job_book::end_of(std::uint32_t job) const {
  const entry& e = jobs_[job];
  const int128 left = static_cast<int128>(workload_.jobs[job].run_time - e.done) * full_speed;
  const int128 end = std::max(e.since, e.ready) + (left + e.speed - 1) / e.speed;
  return static_cast<std::int64_t>(std::min<int128>(end, latest_time));
}

void job_book::end(std::uint32_t job, std::int64_t now) {
  account(job, now);
  jobs_[job].live = false;
  jobs_[job].on_node = 0;
  jobs_[job].held = 0;
  jobs_[job].speed = 0;
  ++jobs_[job].stamp;
  outcomes_[job].end = now;
}

std::int64_t job_book::attained_service(std::uint32_t job) const {
  const entry& e = jobs_[job];
  return static_cast<std::int64_t>((e.speed > 0 ? e.gpu_time_before : e.gpu_time) / nanoseconds_of_second);
}

std::int64_t job_book::whole_service(std::uint32_t job) const {
  return static_cast<std::int64_t>(jobs_[job].gpu_time / nanoseconds_of_second);
}

void job_book::close(std::int64_t now) {
  for (std::uint32_t i = 0; i < jobs_.size(); ++i) {
    if (jobs_[i].live) account(i, now);
    outcomes_[i].gpu_time = static_cast<std::int64_t>(jobs_[i].gpu_time / nanoseconds_of_millisecond);
    outcomes_[i].lost_gpu_time = static_cast<std::int64_t>(jobs_[i].lost_gpu_time / nanoseconds_of_millisecond);
    outcomes_[i].partial_gpu_time = static_cast<std::int64_t>(jobs_[i].partial_gpu_time / nanoseconds_of_millisecond);
    outcomes_[i].stale_gpu_time = static_cast<std::int64_t>(jobs_[i].stale_gpu_time / nanoseconds_of_millisecond);
  }
}

/// Without a curve a job with half of its pods goes on at half its speed.
std::int64_t job_book::speed_with(std::uint32_t job, std::uint32_t pods) const {
  const entry& e = jobs_[job];
  if (pods >= e.pods) return full_speed;
  if (const std::vector<model::speed_point>& own = curves_[job]; !own.empty()) {
    const std::int64_t all = model::throughput_of(own, e.pods);
    return all == 0 ? full_speed : std::max<std::int64_t>(1, part(full_speed, model::throughput_of(own, pods), all));
  }
  const std::vector<speed_point>& known = profile_of(job).speeds;
  speed_point below{0, 0};
  speed_point above{e.pods, full_speed};
  for (const speed_point& one : known) {
    if (one.pods <= pods) below = one;
    if (one.pods > pods && one.pods < above.pods) above = one;
  }
  const std::int64_t rise = part(above.speed - below.speed, pods - below.pods, above.pods - below.pods);
  return std::max<std::int64_t>(1, below.speed + rise);
}

}  // namespace kaisched::simulation
