#include "benchmarks/muri/bound.hpp"

#include <algorithm>
#include <limits>
#include <set>
#include <utility>
#include <vector>

namespace kaisched::bench::muri {

double least_mean(std::span<const trace_job> jobs, const loop_rules& rules) {
  if (jobs.empty()) return 0;
  constexpr double never = std::numeric_limits<double>::infinity();
  std::vector<double> work;  // seconds of all GPUs together
  std::vector<double> left;
  double sum = 0;
  for (const trace_job& job : jobs) {
    const double alone = job.iterations * job.iteration_time * rules.slowdown / 1000;
    work.push_back(alone * static_cast<double>(job.gpus) / static_cast<double>(rules.nodes * rules.gpus_per_node));
    sum += alone / 2 - job.submit;
  }
  left = work;
  std::set<std::pair<double, std::size_t>> there;  // by GPU time
  double now = 0;
  for (std::size_t next = 0; next < jobs.size() || !there.empty();) {
    if (there.empty()) now = std::max(now, jobs[next].submit);
    for (; next < jobs.size() && jobs[next].submit <= now; ++next) there.emplace(work[next], next);
    const std::size_t job = there.begin()->second;
    const double until = next < jobs.size() ? jobs[next].submit : never;
    const bool ends = now + left[job] <= until;
    const double length = ends ? left[job] : until - now;
    if (work[job] > 0) sum += (now + length / 2) * length / work[job];
    if (work[job] <= 0) sum += now;
    left[job] -= length;
    now = ends ? now + length : until;
    if (ends) there.erase(there.begin());
  }
  return sum / static_cast<double>(jobs.size());
}

}  // namespace kaisched::bench::muri
