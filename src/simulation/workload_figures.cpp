#include "simulation/workload_figures.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include <kaisched/quantity.hpp>

#include "base/int128.hpp"
#include "simulation/amounts.hpp"
#include "simulation/job_list.hpp"

namespace kaisched::simulation {

namespace {

constexpr std::int64_t nanoseconds_per_hour = 3600 * nanoseconds_per_second;

percentiles percentiles_of(std::vector<std::int64_t> values) {
  percentiles found;
  if (values.empty()) return found;
  std::sort(values.begin(), values.end());
  const auto at = [&](std::size_t per_cent) {
    const std::size_t rank = (values.size() * per_cent + 99) / 100;  // from 1
    return values[std::max<std::size_t>(rank, 1) - 1];
  };
  found = {values.front(), at(25), at(50), at(75), at(90), at(99), values.back(), 0};
  base::int128 sum = 0;
  for (const std::int64_t value : values) sum += value;
  found.mean = static_cast<double>(sum) / static_cast<double>(values.size());
  return found;
}

base::int128 work_of(const job& one) { return base::int128{gpus_of(one)} * one.run_time; }

double gpu_hours(base::int128 work) {
  return static_cast<double>(work) / static_cast<double>(whole_device * nanoseconds_per_hour);
}

/// Most milli-GPU at once if every job starts when it arrives. What ends at a time is free for what begins then.
std::int64_t most_at_once(const workload& of) {
  std::vector<std::pair<std::int64_t, std::int64_t>> changes;
  for (const job& one : of.jobs) {
    changes.emplace_back(one.submit, gpus_of(one));
    changes.emplace_back(one.submit + one.run_time, -gpus_of(one));
  }
  std::sort(changes.begin(), changes.end());
  base::int128 held = 0;
  base::int128 most = 0;
  for (const auto& [time, change] : changes) {
    held += change;
    most = std::max(most, held);
  }
  return static_cast<std::int64_t>(std::min<base::int128>(most, max_sum));
}

/// Round lengths of periods; from the last one on they double.
std::int64_t period_of(std::int64_t span, std::size_t most_periods) {
  constexpr std::array<std::int64_t, 10> hours{1, 2, 3, 6, 12, 24, 48, 96, 168, 336};
  const auto count = static_cast<std::int64_t>(std::max<std::size_t>(most_periods, 1));
  for (const std::int64_t one : hours) {
    if (span / (one * nanoseconds_per_hour) < count) return one * nanoseconds_per_hour;
  }
  std::int64_t length = hours.back() * nanoseconds_per_hour;
  while (span / length >= count) length *= 2;
  return length;
}

struct jobs_and_work {
  std::int64_t jobs = 0;
  base::int128 work = 0;
  void add(const job& one) {
    ++jobs;
    work += work_of(one);
  }
};

}  // namespace

workload_figures figures_of(const workload& of, std::size_t most_periods) {
  workload_figures found;
  found.left_out = of.left_out;
  if (of.jobs.empty()) return found;
  found.jobs = static_cast<std::int64_t>(of.jobs.size());
  found.first_submit = of.jobs.front().submit;
  found.last_submit = of.jobs.back().submit;
  found.period = period_of(found.last_submit - found.first_submit, most_periods);
  found.first_period = found.first_submit / found.period * found.period;
  found.arrivals.resize(static_cast<std::size_t>((found.last_submit - found.first_period) / found.period) + 1);
  std::vector<std::int64_t> run_times;
  std::vector<std::int64_t> gpus;
  std::map<std::int64_t, jobs_and_work> sizes;
  std::map<std::string_view, jobs_and_work> queues;
  std::set<std::string_view> users;
  std::set<std::string_view> models;
  jobs_and_work all;
  for (const job& one : of.jobs) {
    all.add(one);
    found.pods += pods_of(one);
    found.end_without_waiting = std::max(found.end_without_waiting, one.submit + one.run_time);
    run_times.push_back(one.run_time);
    gpus.push_back(gpus_of(one));
    sizes[gpus_of(one)].add(one);
    queues[one.queue].add(one);
    if (!one.user.empty()) users.insert(one.user);
    if (!one.model.empty()) models.insert(one.model);
    ++found.arrivals[static_cast<std::size_t>((one.submit - found.first_period) / found.period)];
  }
  found.gpu_hours = gpu_hours(all.work);
  found.run_time = percentiles_of(std::move(run_times));
  found.gpus = percentiles_of(std::move(gpus));
  found.most_gpus = most_at_once(of);
  if (const std::int64_t span = found.end_without_waiting - found.first_submit; span > 0) {
    found.mean_gpus = gpu_hours(all.work) / (static_cast<double>(span) / static_cast<double>(nanoseconds_per_hour));
  }
  for (const auto& [size, held] : sizes) found.sizes.push_back({size, held.jobs, gpu_hours(held.work)});
  for (const auto& [name, held] : queues) found.queues.push_back({std::string(name), held.jobs, gpu_hours(held.work)});
  found.users = static_cast<std::int64_t>(users.size());
  found.models = static_cast<std::int64_t>(models.size());
  return found;
}

}  // namespace kaisched::simulation
