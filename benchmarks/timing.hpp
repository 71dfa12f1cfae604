#pragma once
/// @file
/// What the timed programs share: a failure ends them, and work has a duration.

#include <chrono>
#include <ctime>
#include <stdexcept>
#include <utility>

#include <kaisched/result.hpp>

namespace kaisched::bench {

template <class T>
T must(result<T> r) {
  if (!r) throw std::runtime_error(r.failure().message);
  return std::move(r).value();
}

inline void must(const result<void>& r) {
  if (!r) throw std::runtime_error(r.failure().message);
}

/// Processor time of this thread.
template <class Work>
double processor_seconds(Work work) {
  const auto now = [] {
    timespec at{};
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &at);
    return static_cast<double>(at.tv_sec) + static_cast<double>(at.tv_nsec) * 1e-9;
  };
  const double start = now();
  work();
  return now() - start;
}

template <class Work>
double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kaisched::bench
