#pragma once
/// @file
/// One run: jobs arrive, learn and end, and every minute sessions decide who has which GPUs.

#include <cstdint>
#include <vector>

#include "benchmarks/pollux/parts.hpp"

namespace kaisched::bench::pollux {

struct outcome {
  std::vector<std::int64_t> times;  ///< seconds from arrival to end, by job
  std::int64_t steps = 0;
  std::int64_t sessions = 0;
  std::int64_t moves = 0;  ///< changes of the GPUs of a job, its first and its last ones included
};

[[nodiscard]] result<outcome> play(const measurements& of, const workload& jobs, const policy_name& policy,
                                   const artefact& as = {});

}  // namespace kaisched::bench::pollux
