#include <set>

#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/starving_jobs.hpp"

namespace kaisched::volcano {

namespace {

std::vector<row> tasks_of_other_queues(const session& of, row node, row queue) {
  return those_that(tasks_on(of, node), [&](row task) {
    const auto& one = of.cluster().tasks[task];
    if (one.status != task_status::running || !one.preemptable) return false;
    const row theirs = of.cluster().jobs[one.job].queue;
    return theirs != queue && theirs != no_row && of.cluster().queues[theirs].reclaimable;
  });
}

/// Takes as few as suffice, in the order of victims, and gives the task the place.
bool reclaim_on(session& of, statement& made, row task, row node, row queue) {
  const std::vector<row> candidates = tasks_of_other_queues(of, node, queue);
  if (candidates.empty()) return false;
  const std::vector<row> victims = of.reclaimable(task, candidates);
  if (!could_make_room(of, task, node, victims)) return false;
  const auto& asked = of.cluster().tasks[task].first_request;
  policy::resource_list free = of.cluster().nodes[node].future_idle();
  statement here(of);
  for (const row victim : of.in_victim_order(victims, task)) {
    if (fits(asked, free)) break;
    free.add(of.cluster().tasks[victim].request);
    here.evict(victim);
  }
  if (!fits(asked, free)) {
    here.discard();
    return false;
  }
  here.pipeline(task, node);
  made.merge(here);
  return true;
}

void reclaim_for_task(session& of, statement& made, row task, row queue) {
  node_search search(of, search_purpose::find_victims);
  for (const std::vector<row>& part : by_shard(of, search.nodes_for(task, all_nodes(of)))) {
    for (const row node : part) {
      if (reclaim_on(of, made, task, node, queue)) return;
    }
  }
}

void reclaim_for_job(session& of, row job, row queue, decisions& committed) {
  statement made(of);
  task_heap tasks = waiting_in_order(of, job);
  while (of.is_starving(job) && !tasks.empty()) {
    const row task = tasks.pop();
    if (!of.cluster().tasks[task].preempts || !of.is_preemptive(queue, {task})) continue;
    reclaim_for_task(of, made, task, queue);
  }
  commit_if_pipelined(of, job, made, committed);
}

}  // namespace

decisions reclaim(session& of) {
  queue_heap queues(queue_first{&of});
  jobs_by_queue starving(of);
  std::set<row> seen;
  for (row job = 0; job < of.cluster().jobs.size(); ++job) {
    if (!may_take(of, job)) continue;
    if (seen.insert(of.cluster().jobs[job].queue).second) queues.push(of.cluster().jobs[job].queue);
    const auto& one = of.cluster().jobs[job];
    if (!of.cluster().reclaim_spans_domains && has_hard_topology(one)) continue;
    if (of.is_starving(job) && one.evicts) starving.push(job);
  }
  decisions committed;
  while (!queues.empty()) {
    const row queue = queues.pop();
    if (of.is_overused(queue)) continue;
    // The jobs of a queue are handled in one go; that it comes again is of no use, for none is left by then.
    while (job_heap* jobs = starving.left_in(queue)) reclaim_for_job(of, jobs->pop(), queue, committed);
  }
  return committed;
}

}  // namespace kaisched::volcano
