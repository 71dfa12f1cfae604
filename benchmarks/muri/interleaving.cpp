#include "benchmarks/muri/interleaving.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

namespace kaisched::bench::muri {

namespace {

enum stage : unsigned { storage_and_cpu, gpu, network };

/// Between two rounds, as a part of their time: as good as equal.
constexpr double same_round = 1e-3;
/// By number of jobs, over what a job alone is slower by.
constexpr std::array<double, most_sharers + 1> slower{1, 1, 1.33 / 1.015, 1.5 / 1.015, 1.37 / 1.015};

bool is_same(double a, double b) { return std::fabs(a - b) <= same_round * std::max(std::fabs(a), std::fabs(b)); }

/// The second round, or what part of it tells that it is like the first. `order`: whose turn starts in which slot.
double round_of(std::span<const stage_times> jobs, const std::array<std::size_t, most_sharers>& order) {
  constexpr std::size_t slots = most_sharers;
  std::array<double, 2 * slots + 1> ends{};  // of slots; none is empty
  const auto with = [&](std::size_t place, stage what) { return jobs[order[place]][what]; };
  for (std::size_t slot = 0; slot < 2 * slots; ++slot) {
    double& end = ends[slot + 1];
    if ((slot + 1) % slots < jobs.size()) end = std::max(end, ends[slot] + with((slot + 1) % slots, network));
    if ((slot + 2) % slots < jobs.size()) end = std::max(end, ends[slot] + with((slot + 2) % slots, gpu));
    if (slot > 0 && (slot + 3) % slots < jobs.size())
      end = std::max(end, ends[slot - 1] + with((slot + 3) % slots, storage_and_cpu));
    if (slot < slots) continue;
    const double round = end - ends[slot + 1 - slots];
    if (!is_same(round, ends[slot] - ends[slot - slots])) continue;
    if (round > 0) return round;
    break;
  }
  return ends[2 * slots] - ends[slots];
}

}  // namespace

double shared_iteration(std::span<const stage_times> jobs) {
  double best = std::numeric_limits<double>::infinity();
  std::array<std::size_t, most_sharers> order{};
  const auto last = order.begin() + static_cast<std::ptrdiff_t>(jobs.size());
  std::iota(order.begin(), last, 0);
  do {
    if (const double round = round_of(jobs, order); round > 0) best = std::min(best, round);
  } while (std::next_permutation(order.begin(), last));
  if (jobs.size() == 2) {
    const double round = std::max(jobs[0][storage_and_cpu], jobs[1][gpu] + jobs[1][network]) +
                         std::max(jobs[1][storage_and_cpu], jobs[0][gpu] + jobs[0][network]);
    if (round > 0) best = std::min(best, round);
  }
  return best * slower[jobs.size()];
}

}  // namespace kaisched::bench::muri
