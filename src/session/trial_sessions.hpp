#pragma once
/// @file
/// Sessions that try things out for a question of another one: they end when it is told to.

#include <algorithm>
#include <mutex>
#include <vector>

#include "base/cancel_flag.hpp"

namespace kaisched::session_detail {

/// Any thread may call. Flags that are added must be removed before they end.
class trial_sessions {
 public:
  void add(const base::cancel_flag& one) {
    const std::lock_guard lock(mutex_);
    all_.push_back(&one);
    if (is_asked_) one.ask();
  }
  void remove(const base::cancel_flag& one) noexcept {
    const std::lock_guard lock(mutex_);
    if (const auto found = std::find(all_.begin(), all_.end(), &one); found != all_.end()) all_.erase(found);
  }
  void replace(const base::cancel_flag& one, const base::cancel_flag& by) noexcept {
    const std::lock_guard lock(mutex_);
    std::replace(all_.begin(), all_.end(), &one, &by);
  }
  /// Those that are there, and those that come until it is forgotten.
  void ask() noexcept {
    const std::lock_guard lock(mutex_);
    is_asked_ = true;
    for (const base::cancel_flag* one : all_) one->ask();
  }
  void forget() noexcept {
    const std::lock_guard lock(mutex_);
    is_asked_ = false;
  }

 private:
  std::mutex mutex_;
  std::vector<const base::cancel_flag*> all_;
  bool is_asked_ = false;
};

}  // namespace kaisched::session_detail
