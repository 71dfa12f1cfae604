#pragma once
/// @file
/// Invented measurements for the elastic training benchmark.

#include <string>
#include <string_view>

#include "benchmarks/pollux/play.hpp"

namespace kaisched::test {

/// One application that gains nothing from larger batches: what it learns in a second is 1 / the time of a batch.
/// Epochs 0 and 1, each of `epoch` progress and 100 iterations.
inline bench::pollux::measurements one_application(double epoch) {
  bench::pollux::measurements made;
  made.apps.push_back({"a", 4, 8, 1, 4});
  for (const std::int64_t batch : {4, 5, 6}) {
    made.last_epochs[{0, batch}] = 1;
    for (const std::int64_t which : {0, 1}) {
      made.gradients[{0, batch, which}] = {1, 0};
      made.iterations[{0, batch, which}] = static_cast<double>(100 * (which + 1));
    }
  }
  made.progress[{0, 1}] = epoch;
  made.progress[{0, 2}] = 2 * epoch;
  return made;
}

/// A library part, or several, in place of one of the benchmark.
inline bench::pollux::policy_name policy(std::string_view published) {
  for (const bench::pollux::policy_name& one : bench::pollux::policies()) {
    if (one.published == published) return one;
  }
  return {};
}

}  // namespace kaisched::test
