#include "benchmarks/thread_pool.hpp"

#include <algorithm>

namespace kaisched::bench {

thread_pool::thread_pool(std::size_t width) {
  for (std::size_t i = 1; i < width; ++i) {
    threads_.emplace_back([this] {
      std::unique_lock lock(mutex_);
      while (!stops_) {
        if (open_.empty())
          wakes_.wait(lock);
        else
          help(*open_.back(), lock);
      }
    });
  }
}

thread_pool::~thread_pool() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wakes_.notify_all();
  for (std::thread& one : threads_) one.join();
}

void thread_pool::help(batch& one, std::unique_lock<std::mutex>& lock) {
  while (one.next < one.count) {
    const std::size_t piece = one.next++;
    if (one.next == one.count) std::erase(open_, &one);
    lock.unlock();
    (*one.work)(piece);
    lock.lock();
    if (++one.done == one.count) {
      ended_.notify_all();
      return;  // its caller may be gone
    }
  }
}

void thread_pool::run(std::size_t count, const std::function<void(std::size_t)>& work) {
  batch mine{&work, count};
  if (count == 0) return;
  std::unique_lock lock(mutex_);
  open_.push_back(&mine);
  wakes_.notify_all();
  help(mine, lock);
  ended_.wait(lock, [&] { return mine.done == mine.count; });
}

}  // namespace kaisched::bench
