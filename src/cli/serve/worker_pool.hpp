#pragma once
/// @file
/// Threads that make answers, and a queue before them that has an end.

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include <kaisched/session.hpp>

#include "http/server.hpp"

namespace kaisched::cli::serve {

/// What a thread of the pool works at.
class seat {
 public:
  explicit seat(std::size_t number) : number_(number) {}

  [[nodiscard]] std::size_t number() const { return number_; }
  /// The session that is told to end when the request is cancelled; it must live until the next call or the end of the
  /// job. Null: none.
  void watch(const session* of);
  /// The request is cancelled, by its deadline, its client or the end of the server: whatever has come of the job is
  /// not an answer.
  [[nodiscard]] bool is_late() const { return request_.is_cancelled(); }
  /// The watched session was told to end: it is of no use any more.
  [[nodiscard]] bool was_cancelled() const { return cancelled_; }
  /// What was asked for happens now and cannot be cancelled any more. False: it has been.
  [[nodiscard]] bool commit() { return request_.commit(); }

 private:
  friend class worker_pool;
  const std::size_t number_;
  http::cancellation request_;
  std::atomic<bool> cancelled_{false};
};

class worker_pool {
 public:
  using job = std::function<void(seat&)>;

  /// @param most_waiting jobs for which no thread is free
  worker_pool(std::size_t threads, std::size_t most_waiting);
  ~worker_pool();
  worker_pool(const worker_pool&) = delete;
  worker_pool& operator=(const worker_pool&) = delete;

  /// False if too many wait already; then nothing happens. Jobs must not throw.
  [[nodiscard]] bool post(http::cancellation of, job work);
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
    http::cancellation of;
    job work;
  };
  void work(seat& at);

  const std::size_t most_waiting_;
  std::mutex mutex_;
  std::condition_variable filled_;
  std::deque<entry> waiting_;
  std::size_t busy_ = 0;  ///< threads that work
  bool stopping_ = false;
  std::vector<std::unique_ptr<seat>> seats_;
  std::vector<std::thread> threads_;
};

}  // namespace kaisched::cli::serve
