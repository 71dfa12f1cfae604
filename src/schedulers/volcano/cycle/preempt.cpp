#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <tuple>

#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/node_trials.hpp"
#include "schedulers/volcano/cycle/starving_jobs.hpp"

namespace kaisched::volcano {

namespace {

/// Whose tasks may be taken.
enum class preempted : std::uint8_t { other_jobs, own_job };

class preemption {
 public:
  preemption(session& of, const preemption_settings& settings)
      : session_(of), settings_(settings), search_(of, search_purpose::find_victims) {}

  decisions run() {
    jobs_by_queue starving(session_);
    std::map<row, std::vector<row>> by_queue;
    for (row job = 0; job < session_.cluster().jobs.size(); ++job) {
      const auto& one = session_.cluster().jobs[job];
      if (!may_take(session_, job) || !one.evicts || !session_.is_starving(job) || has_any_topology(one)) continue;
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
    commit_if_pipelined(session_, job, made, committed_);
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
    if (of(task).nominated != no_row) {
      if (session_.refuses(task, of(task).nominated) == node_refusal::none) return false;
    }
    if (goes_by_kind(task)) return preempt_among(made, task, open_to(task), whose);
    const std::vector<std::vector<row>> parts = by_shard(session_, search_.nodes_for(task, all_nodes(session_)));
    return std::ranges::any_of(parts,
                               [&](const std::vector<row>& part) { return preempt_among(made, task, part, whose); });
  }

  bool preempt_among(statement& made, row task, const std::vector<row>& nodes, preempted whose) {
    return settings_.by_trials ? preempt_by_trials(made, task, nodes, whose)
                               : preempt_by_score(made, task, nodes, whose);
  }

  /// What nodes say of the task they say of all of its kind.
  [[nodiscard]] bool goes_by_kind(row task) const {
    const auto& cluster = session_.cluster();
    return session_.judges_by_kind() && of(task).kind != no_row && !cluster.only_shard && !cluster.shard_first;
  }
  /// Nodes that do not refuse tasks of its kind for good.
  const std::vector<row>& open_to(row task) {
    const auto [at, is_new] = open_nodes_.try_emplace(of(task).kind);
    if (is_new) at->second = node_search(session_, search_purpose::find_victims).nodes_for(task, all_nodes(session_));
    return at->second;
  }

  [[nodiscard]] std::vector<double> scores_of(row task, const std::vector<row>& nodes) {
    if (!goes_by_kind(task)) return session_.node_scores(task, nodes);
    const auto& answers = session_.answers_for(task).nodes();
    std::vector<double> scores;
    scores.reserve(nodes.size());
    for (const row node : nodes) scores.push_back(answers[node].score);
    return scores;
  }

  [[nodiscard]] bool is_candidate(row victim, row task, preempted whose) const {
    const task_state& one = of(victim);
    if ((one.status != task_status::bound && one.status != task_status::running) || !one.preemptable) return false;
    if (of(task).best_effort && !one.best_effort && !settings_.for_nothing) return false;
    if (whose == preempted::own_job) return one.job == of(task).job;
    const auto& jobs = session_.cluster().jobs;
    return one.job != of(task).job && (settings_.any_queue || jobs[one.job].queue == jobs[of(task).job].queue);
  }

  bool preempt_by_score(statement& made, row task, const std::vector<row>& nodes, preempted whose) {
    const std::vector<double> scores = scores_of(task, nodes);
    std::vector<std::pair<double, row>> ranked;  // a heap: the first few are all that is asked for
    ranked.reserve(nodes.size());
    for (std::size_t i = 0; i < nodes.size(); ++i) ranked.emplace_back(-scores[i], nodes[i]);
    std::ranges::make_heap(ranked, std::greater{});
    for (; !ranked.empty(); ranked.pop_back()) {
      std::ranges::pop_heap(ranked, std::greater{});
      if (preempt_on(made, task, ranked.back().second, whose)) return true;
    }
    return false;
  }

  bool preempt_by_trials(statement& made, row task, const std::vector<row>& nodes, preempted whose) {
    const auto count = static_cast<std::int64_t>(nodes.size());
    const std::int64_t wanted = std::min(
        {std::max(count * settings_.percent_of_nodes / 100, settings_.fewest_nodes), settings_.most_nodes, count});
    std::deque<std::optional<node_trial>> own;  // of this task alone
    std::vector<const node_trial*> found;
    node_trials* const shared = shared_trials(task, whose);
    for (const row node : nodes) {
      if (static_cast<std::int64_t>(found.size()) >= wanted) break;
      const std::optional<node_trial>& one = shared != nullptr && !has_tasks_of(of(task).job, node)
                                                 ? trial_of(*shared, task, node)
                                                 : own.emplace_back(trial_on(task, node, whose));
      if (one) found.push_back(&*one);
    }
    if (found.empty()) return false;
    const node_trial& best = gentlest(session_.cluster(), found, settings_.by_start);
    for (const row victim : best.victims) made.evict(victim);
    made.pipeline(task, best.node);
    return true;
  }

  [[nodiscard]] std::optional<node_trial> trial_on(row task, row node, preempted whose) {
    if (!could_ever_make_room(session_, task, node)) return std::nullopt;
    const std::vector<row> allowed = allowed_on(task, node, whose);
    if (!could_make_room(session_, task, node, allowed)) return std::nullopt;
    return try_node(session_, task, node, allowed, settings_.by_start);
  }

  /// What was tried on nodes for tasks that have the same answers.
  struct known_trial {
    std::optional<std::uint64_t> at;  ///< changes of the node and of the jobs there; none: never tried
    std::optional<node_trial> made;
  };
  using node_trials = std::vector<known_trial>;  ///< by node
  using taker =
      std::tuple<row, row, std::int64_t, bool>;   ///< kind, queue, priority of the job, whether it asks for little
  static constexpr std::size_t most_takers = 16;  ///< that are remembered at once

  /// Null: nothing that was tried for others is true for the task.
  [[nodiscard]] node_trials* shared_trials(row task, preempted whose) {
    if (!settings_.remembers || whose == preempted::own_job || !goes_by_kind(task) ||
        !session_.judges_victims_by_node() || session_.limits_queues()) {
      return nullptr;
    }
    const auto& job = session_.cluster().jobs[of(task).job];
    const taker key{of(task).kind, job.queue, job.priority, of(task).best_effort};
    if (trials_.size() >= most_takers && !trials_.contains(key)) trials_.clear();
    node_trials& all = trials_[key];
    all.resize(session_.cluster().nodes.size());
    return &all;
  }
  [[nodiscard]] bool has_tasks_of(row job, row node) const {
    return std::ranges::any_of(session_.cluster().nodes[node].tasks,
                               [&](const auto& there) { return of(there.first).job == job; });
  }
  const std::optional<node_trial>& trial_of(node_trials& all, row task, row node) {
    // Counts only rise, so a sum is as before if all of them are.
    std::uint64_t at = session_.cluster().nodes[node].changes;
    for (const auto& [there, status] : session_.cluster().nodes[node].tasks) {
      if (of(there).job != no_row) at += session_.cluster().changes_of_job(of(there).job);
    }
    known_trial& known = all[node];
    if (known.at != at) known = {at, trial_on(task, node, preempted::other_jobs)};
    return known.made;
  }

  [[nodiscard]] std::vector<row> allowed_on(row task, row node, preempted whose) const {
    return session_.preemptable(
        task, those_that(tasks_on(session_, node), [&](row victim) { return is_candidate(victim, task, whose); }));
  }

  bool preempt_on(statement& made, row task, row node, preempted whose) {
    if (!could_ever_make_room(session_, task, node)) return false;
    const std::vector<row> victims = allowed_on(task, node, whose);
    if (!could_make_room(session_, task, node, victims)) return false;
    statement here(session_);
    bool placed = has_place(session_, task, node);
    for (const row victim : session_.in_victim_order(victims, task)) {
      if (placed) break;
      here.evict(victim);
      placed = has_place(session_, task, node);
    }
    if (!placed) {
      here.discard();
      return false;
    }
    here.pipeline(task, node);
    made.merge(here);
    return true;
  }

  session& session_;
  preemption_settings settings_;
  node_search search_;
  std::map<row, std::vector<row>> open_nodes_;  ///< by kind
  std::map<taker, node_trials> trials_;
  std::map<row, task_heap> tasks_;
  decisions committed_;
};

}  // namespace

decisions preempt(session& of, const preemption_settings& settings) { return preemption(of, settings).run(); }

}  // namespace kaisched::volcano
