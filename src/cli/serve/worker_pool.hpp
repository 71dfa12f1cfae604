#pragma once
/// @file
/// Threads that make answers, a queue before them that has an end, and a deadline for each answer.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <kaisched/session.hpp>

namespace kaisched::cli::serve {

using steady = std::chrono::steady_clock;

/// What a thread of the pool works at.
class seat {
 public:
  explicit seat(std::size_t number) : number_(number) {}

  [[nodiscard]] std::size_t number() const { return number_; }
  /// The session whose questions end at the deadline; it must live until the next call or the end of the job. Null:
  /// none.
  void watch(const session* of);
  /// The deadline has passed: whatever has come of the job is not an answer.
  [[nodiscard]] bool is_late() const { return steady::now() >= deadline_; }
  /// The watched session was told to end: it is of no use any more.
  [[nodiscard]] bool was_cancelled() const { return cancelled_; }

 private:
  friend class worker_pool;
  const std::size_t number_;
  std::mutex mutex_;
  const session* watched_ = nullptr;
  steady::time_point deadline_;
  bool busy_ = false;
  std::atomic<bool> cancelled_{false};
};

class worker_pool {
 public:
  using job = std::function<void(seat&)>;
  static constexpr steady::time_point no_deadline = steady::time_point::max();

  /// @param most_waiting jobs for which no thread is free
  worker_pool(std::size_t threads, std::size_t most_waiting);
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// False if too many wait already; then nothing happens. Jobs must not throw. Deadlines must not descend, apart from
  /// those of jobs that have none.
  [[nodiscard]] bool post(steady::time_point deadline, job work);
  /// Does what waits and ends.
  void stop();

  struct load {
    std::size_t threads = 0;
    std::size_t busy = 0;     ///< threads that work
    std::size_t waiting = 0;  ///< jobs for which no thread is free
  };
  [[nodiscard]] load present_load();

 private:
  struct entry {
    steady::time_point deadline;
    job work;
  };
  void work(seat& at);
  void keep_deadlines();

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<entry> waiting_;
  std::size_t busy_ = 0;  ///< threads that work
  bool stopping_ = false;
  std::vector<std::unique_ptr<seat>> seats_;
  std::vector<std::thread> threads_;
  std::mutex watch_mutex_;
  std::condition_variable begun_;
  bool idle_ = true;  ///< the thread that keeps the deadlines sleeps
  bool ended_ = false;
  std::thread watch_;
};

}  // namespace kaisched::cli::serve
