#pragma once
/// @file
/// How another thread asks work to end.

#include <atomic>

namespace kaisched::base {

/// Copies start without the wish: who asks one piece of work to end does not mean its copies.
class cancel_flag {
 public:
  cancel_flag() = default;
  cancel_flag(const cancel_flag&) noexcept {}
  cancel_flag& operator=(const cancel_flag&) = delete;

  void ask() const noexcept { is_asked_.store(true, std::memory_order_relaxed); }
  void forget() noexcept { is_asked_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_asked() const noexcept { return is_asked_.load(std::memory_order_relaxed); }

 private:
  mutable std::atomic<bool> is_asked_{false};
};

}  // namespace kaisched::base
