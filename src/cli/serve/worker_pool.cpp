#include "cli/serve/worker_pool.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::cli::serve {

void seat::watch(const session* of) {
  const std::lock_guard lock(mutex_);
  watched_ = of;
  if (of == nullptr) return;
  cancelled_ = false;
  if (!is_late()) return;
  of->cancel();
  cancelled_ = true;
}

worker_pool::worker_pool(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) seats_.push_back(std::make_unique<seat>(i));
  for (const std::unique_ptr<seat>& one : seats_) threads_.emplace_back([this, at = one.get()] { work(*at); });
  watch_ = std::thread([this] { keep_deadlines(); });
}

worker_pool::~worker_pool() { stop(); }

bool worker_pool::post(steady::time_point deadline, job work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || waiting_.size() >= most_waiting_ + seats_.size() - busy_) return false;
    waiting_.push_back({deadline, std::move(work)});
  }
  filled_.notify_one();
  return true;
}

void worker_pool::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  filled_.notify_all();
  for (std::thread& one : threads_) {
    if (one.joinable()) one.join();
  }
  {
    const std::lock_guard lock(watch_mutex_);
    ended_ = true;
  }
  begun_.notify_all();
  if (watch_.joinable()) watch_.join();
}

worker_pool::load worker_pool::present_load() {
  const std::lock_guard lock(mutex_);
  const std::size_t free = seats_.size() - busy_;  // of which some may be about to take what is there
  return {seats_.size(), busy_, waiting_.size() - std::min(free, waiting_.size())};
}

void worker_pool::work(seat& at) {
  for (;;) {
    entry next;
    {
      std::unique_lock lock(mutex_);
      filled_.wait(lock, [this] { return stopping_ || !waiting_.empty(); });
      if (waiting_.empty()) return;
      next = std::move(waiting_.front());
      waiting_.pop_front();
      ++busy_;
    }
    {
      const std::lock_guard lock(at.mutex_);
      at.deadline_ = next.deadline;
      at.busy_ = true;
    }
    bool wake = false;
    {
      const std::lock_guard lock(watch_mutex_);
      wake = std::exchange(idle_, false);
    }
    if (wake) begun_.notify_one();
    next.work(at);
    next.work = nullptr;
    {
      const std::lock_guard lock(at.mutex_);
      at.busy_ = false;
      at.watched_ = nullptr;
    }
    const std::lock_guard lock(mutex_);
    --busy_;
  }
}

/// Jobs are taken in the order of their deadlines, so what begins while this sleeps ends later than what it waits for.
/// It wakes once for each deadline that it waits for, not for each job.
void worker_pool::keep_deadlines() {
  std::unique_lock lock(watch_mutex_);
  while (!ended_) {
    steady::time_point next = no_deadline;
    const steady::time_point now = steady::now();
    for (const std::unique_ptr<seat>& one : seats_) {
      const std::lock_guard hold(one->mutex_);
      if (!one->busy_ || one->deadline_ == no_deadline) continue;
      if (one->deadline_ > now) {
        next = std::min(next, one->deadline_);
      } else if (one->watched_ != nullptr && !one->cancelled_) {
        one->watched_->cancel();
        one->cancelled_ = true;
      }
    }
    if (next == no_deadline) {
      idle_ = true;
      begun_.wait(lock, [this] { return ended_ || !idle_; });
    } else {
      begun_.wait_until(lock, next, [this] { return ended_; });
    }
  }
}

}  // namespace kaisched::cli::serve
