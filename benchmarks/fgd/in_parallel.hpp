#pragma once
/// @file
/// Runs that do not depend on each other, several at a time.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <thread>
#include <vector>

namespace kaisched::bench::fgd {

/// `work(i)` for all i below `count`.
template <class Work>
void in_parallel(std::size_t count, std::size_t threads, const Work& work) {
  std::atomic<std::size_t> next = 0;
  const auto some = [&] {
    for (std::size_t i = next++; i < count; i = next++) work(i);
  };
  std::vector<std::jthread> others;
  for (std::size_t i = 1; i < std::min(threads, count); ++i) others.emplace_back(some);
  some();
}

}  // namespace kaisched::bench::fgd
