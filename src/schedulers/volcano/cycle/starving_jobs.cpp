#include "schedulers/volcano/cycle/starving_jobs.hpp"

namespace kaisched::volcano {

bool may_take(const session& of, row job) {
  const auto& one = of.cluster().jobs[job];
  return one.phase != job_phase::pending && of.is_valid(job) && one.queue != no_row;
}

task_heap waiting_in_order(const session& of, row job) {
  task_heap tasks(task_first{&of});
  for (const row task : waiting_tasks(of.cluster(), of.cluster().jobs[job].tasks)) tasks.push(task);
  return tasks;
}

bool could_ever_make_room(const session& of, row task, row node) {
  const auto& there = of.cluster().nodes[node];
  policy::resource_list most = there.allocatable;
  most.subtract(there.pipelined);
  return fits(of.cluster().tasks[task].first_request, most);
}

bool could_make_room(const session& of, row task, row node, const std::vector<row>& taken) {
  policy::resource_list free = of.cluster().nodes[node].future_idle();
  for (const row victim : taken) free.add(of.cluster().tasks[victim].request);
  return fits(of.cluster().tasks[task].first_request, free);
}

void commit_if_pipelined(const session& of, row job, statement& made, decisions& committed) {
  if (of.is_pipelined(job)) {
    made.commit(committed);
  } else {
    made.discard();
  }
}

std::vector<row> tasks_on(const session& of, row node) {
  std::vector<row> tasks;
  for (const auto& [task, status] : of.cluster().nodes[node].tasks) tasks.push_back(task);
  return tasks;
}

}  // namespace kaisched::volcano
