#pragma once
/// @file
/// Work in pieces, through the executor of the host.

#include <algorithm>
#include <cstddef>
#include <exception>
#include <memory>
#include <utility>
#include <vector>

#include <kaisched/executor.hpp>

namespace kaisched::base {

class parallel {
 public:
  parallel() = default;
  explicit parallel(std::shared_ptr<executor> with) : with_(std::move(with)) {}

  /// The host has given threads.
  [[nodiscard]] bool is_used() const { return with_ != nullptr && with_->width() > 1; }
  /// Calls `work(first, last)` for ranges that together are 0 to `count`, at once if there are threads and each range
  /// has at least `least`. What the calls write must not overlap. The exception of the first range that has one goes
  /// on.
  template <class Work>
  void ranges(std::size_t count, std::size_t least, const Work& work) const {
    constexpr std::size_t widest = 4096;  // what a host says may be anything
    // More pieces than threads: who is done early helps the others.
    const std::size_t most = is_used() ? 4 * std::min(with_->width(), widest) : 1;
    const std::size_t pieces = std::clamp<std::size_t>(count / std::max<std::size_t>(1, least), 1, most);
    if (pieces == 1) {
      work(std::size_t{0}, count);
      return;
    }
    std::vector<std::exception_ptr> failed(pieces);
    with_->run(pieces, [&](std::size_t i) {
      try {
        work(count / pieces * i + std::min(i, count % pieces),
             count / pieces * (i + 1) + std::min(i + 1, count % pieces));
      } catch (...) {
        failed[i] = std::current_exception();
      }
    });
    for (const std::exception_ptr& one : failed) {
      if (one != nullptr) std::rethrow_exception(one);
    }
  }

 private:
  std::shared_ptr<executor> with_;
};

}  // namespace kaisched::base
