#pragma once
/// @file
/// A value that several holders would make alike.

#include <atomic>
#include <memory>

namespace kaisched::base {

/// Keeps the first value that is offered. Threads may ask and offer at once: a value that comes too late is thrown
/// away, which changes nothing, as it must be equal to the first one.
template <class T>
class first_made {
 public:
  first_made() = default;
  first_made(const first_made&) = delete;
  first_made& operator=(const first_made&) = delete;
  ~first_made() { delete made_.load(std::memory_order_acquire); }

  /// The value, or null.
  [[nodiscard]] const T* get() const { return made_.load(std::memory_order_acquire); }
  /// The value that is kept from now on.
  const T& offer(std::unique_ptr<const T> value) {
    const T* first = nullptr;
    if (!made_.compare_exchange_strong(first, value.get(), std::memory_order_acq_rel, std::memory_order_acquire))
      return *first;
    return *value.release();
  }

 private:
  std::atomic<const T*> made_{nullptr};
};

}  // namespace kaisched::base
