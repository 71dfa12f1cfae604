#pragma once
/// @file
/// An executor with threads of its own, as a host would bring one.

#include <condition_variable>
#include <cstddef>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include <kaisched/executor.hpp>

namespace kaisched::bench {

/// The caller works as well: `width` threads are `width - 1` more.
class thread_pool : public executor {
 public:
  explicit thread_pool(std::size_t width);
  ~thread_pool() override;
  thread_pool(const thread_pool&) = delete;
  thread_pool& operator=(const thread_pool&) = delete;

  void run(std::size_t count, const std::function<void(std::size_t)>& work) override;
  [[nodiscard]] std::size_t width() const override { return threads_.size() + 1; }

 private:
  /// One call of `run`, on the stack of its caller.
  struct batch {
    const std::function<void(std::size_t)>* work;
    std::size_t count;
    std::size_t next = 0;
    std::size_t done = 0;
  };
  /// Takes pieces until none is left; the lock is held at the start and at the end.
  void help(batch& one, std::unique_lock<std::mutex>& lock);

  std::mutex mutex_;
  std::condition_variable wakes_;
  std::condition_variable ended_;
  std::vector<batch*> open_;  ///< with pieces that nobody has taken
  bool stops_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace kaisched::bench
