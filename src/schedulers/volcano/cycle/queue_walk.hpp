#pragma once
/// @file
/// Heaps of queues, jobs and tasks in the order of a session.

#include <map>
#include <vector>

#include "schedulers/volcano/rules/ordered_heap.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

struct queue_first {
  const session* of;
  bool operator()(row left, row right) const { return of->queue_before(left, right); }
};
struct job_first {
  const session* of;
  bool operator()(row left, row right) const { return of->job_before(left, right); }
};
struct task_first {
  const session* of;
  bool operator()(row left, row right) const { return of->task_before(left, right); }
};

using queue_heap = ordered_heap<row, queue_first>;
using job_heap = ordered_heap<row, job_first>;
using task_heap = ordered_heap<row, task_first>;

/// The jobs of each queue.
class jobs_by_queue {
 public:
  explicit jobs_by_queue(const session& of) : session_(&of) {}

  /// True if it is the first one of its queue.
  bool push(row job) {
    const row queue = session_->cluster().jobs[job].queue;
    const auto [at, first] = heaps_.try_emplace(queue, job_first{session_});
    at->second.push(job);
    return first;
  }
  /// Null if the queue has none left.
  [[nodiscard]] job_heap* left_in(row queue) {
    const auto found = heaps_.find(queue);
    return found == heaps_.end() || found->second.empty() ? nullptr : &found->second;
  }

 private:
  const session* session_;
  std::map<row, job_heap> heaps_;
};

}  // namespace kaisched::volcano
