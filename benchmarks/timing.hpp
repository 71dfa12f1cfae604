#pragma once
/// @file
/// What the timed programs share: a failure ends them, work has a duration, and a process a peak of its memory.

#include <chrono>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <stdexcept>
#include <string>
#include <sys/resource.h>
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

/// Memory that the process held at most since `reset_peak`, in bytes.
inline std::int64_t peak_rss() {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with("VmHWM:")) return std::stoll(line.substr(6)) * 1024;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss * 1024;
}

inline void reset_peak() { std::ofstream("/proc/self/clear_refs") << "5"; }

template <class Work>
double seconds(Work work) {
  const auto start = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace kaisched::bench
