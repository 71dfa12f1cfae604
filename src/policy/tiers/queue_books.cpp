#include "policy/tiers/queue_books.hpp"

#include <limits>

namespace kaisched::policy::tiers {

void enter_job(const cluster_state& cluster, const job_state& job, queue_book& book) {
  std::int64_t held = 0;
  for (const row task : job.tasks) {
    const task_state& one = cluster.tasks[task];
    if (is_allocated(one.status)) {
      ++held;
      book.allocated.add(one.request);
    }
    if (is_allocated(one.status) || one.status == task_status::pending) book.request.add(one.request);
  }
  const resource_list allocated = allocated_of(cluster, job);
  if (job.min_resources &&
      (job.phase == job_phase::inqueue || (job.phase == job_phase::running && held >= job.min_available))) {
    book.inqueue.add(outstanding_minimum(*job.min_resources, job.min_named, allocated));
  }
  book.elastic.add(beyond_minimum(allocated, job.min_resources.value_or(resource_list{})));
}

resource_list all_guarantees(const cluster_state& cluster) {
  resource_list sum;
  for (const queue_state& queue : cluster.queues) {
    if (queue.guarantee) sum.add(*queue.guarantee);
  }
  return sum;
}

resource_list most_of(const cluster_state& cluster, const queue_state& queue) {
  resource_list most = difference(cluster.total(), all_guarantees(cluster), absent_resource::zero).more;
  if (queue.guarantee) most.add(*queue.guarantee);
  if (queue.capability) {
    resource_list capability = *queue.capability;
    if (capability.cpu <= 0) capability.cpu = std::numeric_limits<double>::max();
    if (capability.memory <= 0) capability.memory = std::numeric_limits<double>::max();
    most.lower_to(capability, absent_resource::infinity);
  }
  return most;
}

bool has_room(const queue_book& book, const resource_list& limit, const resource_list& asked) {
  resource_list future = book.allocated;
  future.add(asked);
  return exceeding_of(future, limit, asked).empty();
}

bool has_room_to_enqueue(const queue_book& book, const resource_list& minimum) {
  resource_list future = minimum;
  future.add(book.allocated);
  future.add(book.inqueue);
  future.subtract(book.elastic);
  return exceeding_of(future, book.most, minimum).empty();
}

}  // namespace kaisched::policy::tiers
