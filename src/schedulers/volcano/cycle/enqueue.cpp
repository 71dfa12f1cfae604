#include <set>

#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/queue_walk.hpp"

namespace kaisched::volcano {

std::vector<row> enqueue(session& of) {
  queue_heap queues(queue_first{&of});
  jobs_by_queue waiting(of);
  std::set<row> seen;
  for (row job = 0; job < of.cluster().jobs.size(); ++job) {
    const auto& one = of.cluster().jobs[job];
    if (one.queue == no_row) continue;
    if (seen.insert(one.queue).second) queues.push(one.queue);
    if (one.phase == job_phase::pending) waiting.push(job);
  }
  std::vector<row> let_in;
  while (!queues.empty()) {
    const row queue = queues.pop();
    job_heap* jobs = waiting.left_in(queue);
    if (jobs == nullptr) continue;
    const row job = jobs->pop();
    auto& one = of.cluster().jobs[job];
    const plugin* const refuser = one.min_resources ? of.enqueue_refuser(job) : nullptr;
    if (refuser != nullptr) {
      one.kept_out_by = refuser->name();
    } else {
      of.enqueued(job);
      one.phase = job_phase::inqueue;
      let_in.push_back(job);
    }
    queues.push(queue);
  }
  return let_in;
}

}  // namespace kaisched::volcano
