#pragma once
/// @file
/// How long a thread has worked.

#include <cstdint>

namespace kaisched::simulation {

/// CPU time of the calling thread, nanoseconds from some moment on. For `simulation_options::cpu_clock`.
[[nodiscard]] std::int64_t thread_cpu_time();

}  // namespace kaisched::simulation
