#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/starving_jobs.hpp"

namespace kaisched::volcano {

namespace {

/// Tasks that ask for nothing, queue by queue and job by job.
std::vector<row> tasks_of_no_weight(const session& of) {
  queue_heap queues(queue_first{&of});
  jobs_by_queue jobs(of);
  std::map<row, task_heap> tasks;
  for (row job = 0; job < of.cluster().jobs.size(); ++job) {
    if (!may_take(of, job)) continue;
    for (const row task : waiting_tasks(of.cluster(), of.cluster().jobs[job].tasks)) {
      if (of.cluster().tasks[task].best_effort) tasks.try_emplace(job, task_first{&of}).first->second.push(task);
    }
    if (tasks.contains(job) && jobs.push(job)) queues.push(of.cluster().jobs[job].queue);
  }
  std::vector<row> ordered;
  while (!queues.empty()) {
    const row queue = queues.pop();
    while (job_heap* left = jobs.left_in(queue)) {
      task_heap& own = tasks.at(left->pop());
      while (!own.empty()) ordered.push_back(own.pop());
    }
  }
  return ordered;
}

}  // namespace

decisions backfill(session& of) {
  decisions committed;
  std::map<row, statement> placed;  // of jobs that are not ready yet
  for (const row task : tasks_of_no_weight(of)) {
    node_search search(of, search_purpose::no_weight);
    row node = no_row;
    for (const std::vector<row>& part : by_shard(of, search.nodes_for(task, all_nodes(of)))) {
      if (node == no_row && !part.empty()) node = best_node(of, task, part);
    }
    if (node == no_row) continue;
    const row job = of.cluster().tasks[task].job;
    statement& made = placed.try_emplace(job, of).first->second;
    made.allocate(task, node);
    if (of.is_ready(job)) made.commit(committed);
  }
  return committed;
}

}  // namespace kaisched::volcano
