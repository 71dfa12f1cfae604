#pragma once
/// @file
/// Heaps of queues, jobs and tasks in the order of a session.

#include <map>
#include <vector>

#include "policy/tiers/ordered_heap.hpp"
#include "policy/tiers/session.hpp"

namespace kaisched::actions::tiers {

struct queue_first {
  const policy::tiers::session* of;
  bool operator()(policy::tiers::row left, policy::tiers::row right) const { return of->queue_before(left, right); }
};
struct job_first {
  const policy::tiers::session* of;
  bool operator()(policy::tiers::row left, policy::tiers::row right) const { return of->job_before(left, right); }
};
struct task_first {
  const policy::tiers::session* of;
  bool operator()(policy::tiers::row left, policy::tiers::row right) const { return of->task_before(left, right); }
};

using queue_heap = policy::tiers::ordered_heap<policy::tiers::row, queue_first>;
using job_heap = policy::tiers::ordered_heap<policy::tiers::row, job_first>;
using task_heap = policy::tiers::ordered_heap<policy::tiers::row, task_first>;

/// The jobs of each queue.
class jobs_by_queue {
 public:
  explicit jobs_by_queue(const policy::tiers::session& of) : session_(&of) {}

  /// True if it is the first one of its queue.
  bool push(policy::tiers::row job) {
    const policy::tiers::row queue = session_->cluster().jobs[job].queue;
    const auto [at, first] = heaps_.try_emplace(queue, job_first{session_});
    at->second.push(job);
    return first;
  }
  /// Null if the queue has none left.
  [[nodiscard]] job_heap* left_in(policy::tiers::row queue) {
    const auto found = heaps_.find(queue);
    return found == heaps_.end() || found->second.empty() ? nullptr : &found->second;
  }

 private:
  const policy::tiers::session* session_;
  std::map<policy::tiers::row, job_heap> heaps_;
};

}  // namespace kaisched::actions::tiers
