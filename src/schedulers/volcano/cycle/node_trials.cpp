#include "schedulers/volcano/cycle/node_trials.hpp"

#include <algorithm>
#include <limits>
#include <tuple>
#include <utility>

#include "base/unwinding.hpp"

namespace kaisched::volcano {

bool has_place(const session& of, row task, row node) {
  const auto& one = of.cluster().tasks[task];
  return of.is_allocatable(of.cluster().jobs[one.job].queue, task) &&
         fits(one.first_request, of.cluster().nodes[node].future_idle()) &&
         of.refuses(task, node) == node_refusal::none;
}

namespace {

/// Tasks of a node that go and come back while places are looked for. Where no queue is limited only the node changes
/// by it, and no plug-in has to hear of it; at the end it is as it was, and nobody has to ask about it again. So in
/// between nothing may be asked that is remembered by counts of changes: orders, `answers_for`.
class rehearsal {
 public:
  rehearsal(session& of, row node)
      : session_(of),
        node_(node),
        tells_(of.limits_queues()),
        changes_(of.cluster().nodes[node].changes),
        releasing_(of.cluster().nodes[node].releasing) {}
  rehearsal(const rehearsal&) = delete;
  rehearsal& operator=(const rehearsal&) = delete;
  /// Who has gone comes back.
  ~rehearsal() noexcept(false) {
    if (unwinding_.is_under_way()) return;
    for (std::size_t i = gone_.size(); i-- > 0;) put_back(gone_[i]);
    if (tells_) return;
    cluster_state& cluster = session_.cluster();
    cluster.nodes[node_].changes = changes_;
    cluster.nodes[node_].releasing = std::move(releasing_);
    for (std::size_t i = job_changes_.size(); i-- > 0;)
      cluster.restore_changes_of_job(job_changes_[i].first, job_changes_[i].second);
  }

  void take(row task) {
    const row job = session_.cluster().tasks[task].job;
    job_changes_.emplace_back(job, session_.cluster().changes_of_job(job));
    session_.cluster().change_status(task, task_status::releasing);
    if (tells_) session_.task_deallocated(task);
    gone_.push_back(task);
  }
  /// True: whatever `still` asks for holds without the task's going, and it stays. Else it is gone as before.
  template <class Still>
  bool spare(row task, const Still& still) {
    put_back(task);
    if (still()) {
      std::erase(gone_, task);
      return true;
    }
    session_.cluster().change_status(task, task_status::releasing);
    if (tells_) session_.task_deallocated(task);
    return false;
  }

 private:
  void put_back(row task) {
    session_.cluster().change_status(task, task_status::running);
    if (tells_) session_.task_allocated(task);
  }

  session& session_;
  row node_;
  bool tells_;
  std::uint64_t changes_;
  policy::resource_list releasing_;
  std::vector<std::pair<row, std::uint64_t>> job_changes_;
  std::vector<row> gone_;
  base::unwinding unwinding_;
};

/// The least important first.
std::vector<row> in_order_of_leaving(const session& of, row task, const std::vector<row>& allowed, bool by_start) {
  std::vector<row> order = of.in_victim_order(allowed, task);
  if (!by_start) return order;
  const auto& tasks = of.cluster().tasks;
  std::ranges::stable_sort(order, [&](row left, row right) {
    if (tasks[left].pod_priority != tasks[right].pod_priority)
      return tasks[left].pod_priority < tasks[right].pod_priority;
    return tasks[left].started > tasks[right].started;
  });
  return order;
}

/// When the first of the most important victims started.
std::int64_t first_start(const cluster_state& cluster, const std::vector<row>& victims) {
  const std::int64_t highest = cluster.tasks[victims.front()].pod_priority;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  for (const row victim : victims) {
    const task_state& one = cluster.tasks[victim];
    if (one.pod_priority == highest) first = std::min(first, one.started);
  }
  return first;
}

}  // namespace

std::optional<node_trial> try_node(session& of, row task, row node, const std::vector<row>& allowed, bool by_start) {
  node_trial made{node, {}};
  std::vector<row> potential;
  rehearsal trial(of, node);
  const auto has_room = [&] { return has_place(of, task, node); };
  for (const row victim : in_order_of_leaving(of, task, allowed, by_start)) {
    potential.push_back(victim);
    trial.take(victim);
    if (has_room()) break;
  }
  if (of.refuses(task, node) != node_refusal::none) return std::nullopt;
  // Those that matter most stay if they can.
  for (std::size_t i = potential.size(); i-- > 0;) {
    if (!trial.spare(potential[i], has_room)) made.victims.push_back(potential[i]);
  }
  if (made.victims.empty()) return std::nullopt;
  return made;
}

const node_trial& gentlest(const cluster_state& cluster, std::span<const node_trial* const> trials, bool by_start) {
  const auto weight = [&](const node_trial* of) {
    const node_trial& one = *of;
    // No priority may make a victim count for less than none.
    constexpr std::int64_t above_all = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
    std::int64_t sum = 0;
    for (const row victim : one.victims) sum += cluster.tasks[victim].pod_priority + above_all;
    // The later one is the smaller.
    const std::int64_t start = by_start ? ~first_start(cluster, one.victims) : 0;
    return std::tuple(cluster.tasks[one.victims.front()].pod_priority, sum, one.victims.size(), start);
  };
  return **std::ranges::min_element(trials, {}, weight);
}

}  // namespace kaisched::volcano
