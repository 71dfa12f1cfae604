#pragma once
/// @file
/// A place for one thing that is costly to make: who needs it takes it away, and puts it back afterwards.

#include <atomic>
#include <memory>
#include <utility>

namespace kaisched::base {

/// Any thread may take and put; who finds nothing makes its own. Copies start empty.
template <class T>
class shelf {
 public:
  shelf() = default;
  shelf(const shelf&) noexcept {}
  shelf& operator=(const shelf&) = delete;
  ~shelf() { (void)take(); }

  /// Nothing, or what only the caller has now.
  [[nodiscard]] std::unique_ptr<T> take() { return std::unique_ptr<T>(there_.exchange(nullptr)); }
  /// What was there before is given up.
  void put(std::unique_ptr<T> one) { delete there_.exchange(one.release()); }

 private:
  std::atomic<T*> there_{nullptr};
};

}  // namespace kaisched::base
