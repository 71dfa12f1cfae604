#pragma once
/// @file
/// Threads of the host, for work whose result cannot depend on them.

#include <cstddef>
#include <functional>

namespace kaisched {

/// Runs pieces of work, perhaps several at once. The library has no threads of its own: a host that wants some used
/// gives one of these to an engine (`engine::set_executor`). Decisions and digests are the same with any executor and
/// without one.
class executor {
 public:
  virtual ~executor() = default;
  /// Calls `work(i)` once for every i below `count`, in any order and on any threads, and returns when all calls have
  /// returned. `work` does not throw and calls no executor. May itself be called from several threads at once, when the
  /// host uses several sessions at once.
  virtual void run(std::size_t count, const std::function<void(std::size_t)>& work) = 0;
  /// Into how many pieces work is divided: about the number of threads. 0 counts as 1.
  [[nodiscard]] virtual std::size_t width() const = 0;
};

}  // namespace kaisched
