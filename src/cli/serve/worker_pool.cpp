#include "cli/serve/worker_pool.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::cli::serve {

void seat::watch(const session* of) {
  if (of == nullptr) return request_.notify(nullptr);
  cancelled_ = false;
  request_.notify([this, of] {
    of->cancel();
    cancelled_ = true;
  });
}

worker_pool::worker_pool(std::size_t threads, std::size_t most_waiting) : most_waiting_(most_waiting) {
  for (std::size_t i = 0; i < std::max<std::size_t>(threads, 1); ++i) seats_.push_back(std::make_unique<seat>(i));
  for (const std::unique_ptr<seat>& one : seats_) threads_.emplace_back([this, at = one.get()] { work(*at); });
}

worker_pool::~worker_pool() { stop(); }

bool worker_pool::post(http::cancellation of, job work) {
  {
    const std::lock_guard lock(mutex_);
    if (stopping_ || waiting_.size() >= most_waiting_ + seats_.size() - busy_) return false;
    waiting_.push_back({std::move(of), std::move(work)});
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
    at.request_ = next.of;
    next.work(at);
    next.work = nullptr;
    at.watch(nullptr);
    const std::lock_guard lock(mutex_);
    --busy_;
  }
}

}  // namespace kaisched::cli::serve
