#pragma once
/// @file
/// What no policy can do better than, if no two jobs share a GPU.

#include <span>

#include "benchmarks/muri/rules.hpp"
#include "benchmarks/muri/trace.hpp"

namespace kaisched::bench::muri {

/// Of the mean of the times from submission to the end, in seconds.
///
/// A job ends at least half of its run time after the mean of the moments at which it runs. The sum of these means is
/// smallest where all GPUs work on one job together, whatever its shape, and the job of least GPU time that is there
/// goes first (Goemans, 1997: preemptive list schedules by ratio minimise mean busy times).
[[nodiscard]] double least_mean(std::span<const trace_job> jobs, const loop_rules& rules);

}  // namespace kaisched::bench::muri
