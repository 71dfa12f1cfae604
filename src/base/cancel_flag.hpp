#pragma once
/// @file
/// How another thread asks work to end.

#include <atomic>

namespace kaisched::base {

/// Copies start without the wish: who asks one piece of work to end does not mean its copies. Pieces that follow
/// another one, and their copies, end with it.
class cancel_flag {
 public:
  cancel_flag() = default;
  cancel_flag(const cancel_flag& other) noexcept : above_(other.above_) {}
  cancel_flag& operator=(const cancel_flag&) = delete;

  void ask() const noexcept { is_asked_.store(true, std::memory_order_relaxed); }
  void forget() noexcept { is_asked_.store(false, std::memory_order_relaxed); }
  [[nodiscard]] bool is_asked() const noexcept {
    return is_asked_.load(std::memory_order_relaxed) || (above_ != nullptr && above_->is_asked());
  }
  /// From now on this work is a part of another one, whose flag must outlive this one and its copies.
  void follow(const cancel_flag& above) noexcept { above_ = &above; }

 private:
  const cancel_flag* above_ = nullptr;
  mutable std::atomic<bool> is_asked_{false};
};

}  // namespace kaisched::base
