#pragma once
/// @file
/// Events one after the other: jobs come, have done a part of their work, end, and everything is planned anew.

#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "benchmarks/muri/rules.hpp"
#include "benchmarks/muri/trace.hpp"

namespace kaisched::bench::muri {

struct outcome {
  std::vector<double> ends;  ///< by job, seconds
  double mean = 0;           ///< of the times from submission to the end
  double makespan = 0;
  double p99 = 0;
  std::size_t sessions = 0;
};

/// @param jobs in the order in which they come
/// @param part of the engine that orders them
[[nodiscard]] result<outcome> play(const std::vector<trace_job>& jobs, const std::string& part,
                                   const loop_rules& rules);

}  // namespace kaisched::bench::muri
