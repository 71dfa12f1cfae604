#include <algorithm>
#include <set>

#include "actions/tiers/starving_jobs.hpp"
#include "actions/tiers/tiered_actions.hpp"

namespace kaisched::actions::tiers {

using policy::tiers::decisions;
using policy::tiers::node_refusal;
using policy::tiers::session;
using policy::tiers::statement;
using policy::tiers::task_state;
using policy::tiers::task_status;

namespace {

/// Whose tasks may be taken.
enum class preempted : std::uint8_t { other_jobs, own_job };

class preemption {
 public:
  explicit preemption(session& of) : session_(of), search_(of, search_purpose::victims) {}

  decisions run() {
    jobs_by_queue starving(session_);
    std::map<row, std::vector<row>> by_queue;
    for (row job = 0; job < session_.cluster().jobs.size(); ++job) {
      const auto& one = session_.cluster().jobs[job];
      if (!may_take(session_, job) || !session_.is_starving(job) || policy::tiers::has_any_topology(one)) continue;
      starving.push(job);
      by_queue[one.queue].push_back(job);
      tasks_.emplace(job, waiting_in_order(session_, job));
    }
    queue_heap queues(queue_first{&session_});
    for (const auto& [queue, jobs] : by_queue) queues.push(queue);
    while (!queues.empty()) {
      const row queue = queues.pop();
      while (job_heap* jobs = starving.left_in(queue)) between_jobs(jobs->pop());
      for (const row job : by_queue.at(queue)) within_job(job);
    }
    return std::move(committed_);
  }

 private:
  void between_jobs(row job) {
    statement made(session_);
    task_heap& tasks = tasks_.at(job);
    while (session_.is_starving(job) && !tasks.empty()) preempt_for(made, tasks.pop(), preempted::other_jobs);
    if (session_.is_pipelined(job)) {
      made.commit(committed_);
    } else {
      made.discard();
    }
  }

  void within_job(row job) {
    task_heap tasks = waiting_in_order(session_, job);
    while (!tasks.empty()) {
      statement made(session_);
      if (!preempt_for(made, tasks.pop(), preempted::own_job)) {
        made.discard();
        break;
      }
      made.commit(committed_);
    }
  }

  [[nodiscard]] const task_state& of(row task) const { return session_.cluster().tasks[task]; }

  bool preempt_for(statement& made, row task, preempted whose) {
    // A task that was promised a node takes again only if that node can never take it.
    if (!of(task).preempts) return false;
    if (of(task).nominated != policy::tiers::no_row) {
      if (session_.refuses(task, of(task).nominated) == node_refusal::none) return false;
    }
    for (const std::vector<row>& part : by_shard(session_, search_.nodes_for(task, all_nodes(session_)))) {
      for (const row node : by_score(task, part)) {
        if (preempt_on(made, task, node, whose)) return true;
      }
    }
    return false;
  }

  [[nodiscard]] std::vector<row> by_score(row task, const std::vector<row>& nodes) const {
    const std::vector<double> scores = session_.node_scores(task, nodes);
    std::vector<std::pair<double, row>> ranked;
    for (std::size_t i = 0; i < nodes.size(); ++i) ranked.emplace_back(-scores[i], nodes[i]);
    std::ranges::sort(ranked);
    std::vector<row> sorted;
    for (const auto& [score, node] : ranked) sorted.push_back(node);
    return sorted;
  }

  [[nodiscard]] bool is_candidate(row victim, row task, preempted whose) const {
    const task_state& one = of(victim);
    if ((one.status != task_status::bound && one.status != task_status::running) || !one.preemptable) return false;
    if (of(task).best_effort && !one.best_effort) return false;
    if (whose == preempted::own_job) return one.job == of(task).job;
    const auto& jobs = session_.cluster().jobs;
    return one.job != of(task).job && jobs[one.job].queue == jobs[of(task).job].queue;
  }

  [[nodiscard]] bool fits_on(row task, row node) const {
    return session_.is_allocatable(session_.cluster().jobs[of(task).job].queue, task) &&
           fits(of(task).first_request, session_.cluster().nodes[node].future_idle()) &&
           session_.refuses(task, node) == node_refusal::none;
  }

  bool preempt_on(statement& made, row task, row node, preempted whose) {
    std::vector<row> candidates;
    std::ranges::copy_if(tasks_on(session_, node), std::back_inserter(candidates),
                         [&](row victim) { return is_candidate(victim, task, whose); });
    const std::vector<row> victims = session_.preemptable(task, candidates);
    if (!could_make_room(session_, task, node, victims)) return false;
    statement here(session_);
    bool has_place = fits_on(task, node);
    for (const row victim : session_.in_victim_order(victims, task)) {
      if (has_place) break;
      here.evict(victim);
      has_place = fits_on(task, node);
    }
    if (!has_place) {
      here.discard();
      return false;
    }
    here.pipeline(task, node);
    made.merge(here);
    return true;
  }

  session& session_;
  node_search search_;
  std::map<row, task_heap> tasks_;
  decisions committed_;
};

}  // namespace

decisions preempt(session& of) { return preemption(of).run(); }

}  // namespace kaisched::actions::tiers
