#include "simulation/intervals.hpp"

#include <algorithm>
#include <tuple>

namespace kaisched::simulation {

std::vector<interval> intervals_of(const run_result& run) {
  std::vector<interval> all;
  for (const stay& one : run.stays) {
    const std::int64_t to = one.to == never ? run.end : one.to;
    if (one.from < to) all.push_back({one.from, to, one.job, one.node, 1, one.gpus, one.devices});
  }
  const auto key = [](const interval& i) { return std::tuple(i.from, i.job, i.node, i.to); };
  std::sort(all.begin(), all.end(), [&](const interval& a, const interval& b) { return key(a) < key(b); });
  std::vector<interval> made;
  for (const interval& one : all) {
    if (made.empty() || key(made.back()) != key(one)) {
      made.push_back(one);
      continue;
    }
    made.back().pods += one.pods;
    made.back().gpus += one.gpus;
    const bool are_known = (made.back().devices != 0 && one.devices != 0) || one.gpus == 0;
    made.back().devices = are_known ? made.back().devices | one.devices : 0;
  }
  return made;
}

}  // namespace kaisched::simulation
