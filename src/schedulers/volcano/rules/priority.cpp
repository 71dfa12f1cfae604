// The plug-ins priority, conformance and predicates.

#include <algorithm>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

int higher_first(std::int64_t left, std::int64_t right) {
  if (left == right) return 0;
  return left > right ? -1 : 1;
}

class priority final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "priority"; }
  [[nodiscard]] points orders() const override {
    return points_at({point::job_order, point::sub_job_order, point::task_order});
  }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] bool has_job_keys() const override { return true; }
  /// The highest first.
  [[nodiscard]] std::int64_t job_key(const session& of, row job) const override {
    return ~of.cluster().jobs[job].priority;
  }
  [[nodiscard]] order sub_job_order(const session&, const sub_job_state& left,
                                    const sub_job_state& right) const override {
    return higher_first(left.priority, right.priority);
  }
  [[nodiscard]] order task_order(const session& of, row left, row right) const override {
    return higher_first(of.cluster().tasks[left].priority, of.cluster().tasks[right].priority);
  }

  /// Other jobs by their priority, tasks of the same job by their own.
  [[nodiscard]] victims preemptable(const session& of, row task, const std::vector<row>& candidates) const override {
    const cluster_state& cluster = of.cluster();
    const task_state& taker = cluster.tasks[task];
    return those_that(candidates, [&](row one) {
      const task_state& other = cluster.tasks[one];
      if (other.job == taker.job) return other.priority < taker.priority;
      return cluster.jobs[other.job].priority < cluster.jobs[taker.job].priority;
    });
  }

  [[nodiscard]] victims evictable(const session& of, row job, taking how,
                                  const std::vector<row>& candidates) const override {
    if (how == taking::reclaim) return candidates;
    const std::vector<job_state>& jobs = of.cluster().jobs;
    return those_that(candidates,
                      [&](row one) { return jobs[of.cluster().tasks[one].job].priority < jobs[job].priority; });
  }

  [[nodiscard]] answer is_starving(const session& of, row job) const override {
    const job_state& one = of.cluster().jobs[job];
    const policy::gang_counts counts = counts_of(of.cluster(), one);
    return counts.ready + counts.waiting < static_cast<std::int64_t>(one.tasks.size());
  }
};

class conformance final : public sparing_plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "conformance"; }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] victims preemptable(const session& of, row, const std::vector<row>& candidates) const override {
    return those_that(candidates, [&](row one) { return !of.cluster().tasks[one].critical; });
  }
  [[nodiscard]] victims evictable(const session& of, row, taking, const std::vector<row>& candidates) const override {
    return preemptable(of, no_row, candidates);
  }
};

class predicates final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "predicates"; }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] node_refusal refuses(const session& of, row task, row node) const override {
    const task_state& one = of.cluster().tasks[task];
    const node_refusal own = one.refusals == nullptr ? node_refusal::none : (*one.refusals)[node];
    if (own != node_refusal::none) return own;
    if (const auto& others = of.cluster().neighbours; others != nullptr) {
      if (const node_refusal said = others->refuses(task, node); said != node_refusal::none) return said;
    }
    if (of.cluster().room_on_devices(task, node) == device_room::none) return node_refusal::for_now;
    const node_state& there = of.cluster().nodes[node];
    if (one.leaves_room && of.cluster().takes_what_is_set_aside(task, there.future_idle()))
      return node_refusal::for_now;
    const auto staying = std::ranges::count_if(
        there.tasks, [](const auto& charged) { return charged.second != task_status::releasing; });
    return static_cast<double>(staying) < there.allocatable.get("pods") ? node_refusal::none : node_refusal::for_now;
  }
};

}  // namespace

std::unique_ptr<plugin> make_priority() { return std::make_unique<priority>(); }
std::unique_ptr<plugin> make_conformance() { return std::make_unique<conformance>(); }
std::unique_ptr<plugin> make_predicates() { return std::make_unique<predicates>(); }

}  // namespace kaisched::volcano
