#include "schedulers/volcano/cycle/task_placer.hpp"

#include <algorithm>
#include <map>
#include <string_view>

#include "schedulers/volcano/cycle/node_search.hpp"

namespace kaisched::volcano {

namespace {

bool is_whole(const session& of, const std::string& domain) {
  return domain.empty() || domain == of.cluster().top_domain;
}

}  // namespace

std::vector<row> nodes_in(const session& of, const std::string& domain) {
  if (is_whole(of, domain)) return all_nodes(of);
  const policy::network_domains::domain* found = of.cluster().domains.find(domain);
  std::vector<row> nodes;
  for (const row node : all_nodes(of)) {
    if (found != nullptr && found->nodes.contains(of.cluster().nodes[node].name)) nodes.push_back(node);
  }
  return nodes;
}

bool can_go_by_kind(const session& of, const sub_job_state& sub_job) {
  const auto& cluster = of.cluster();
  if (!of.judges_by_kind() || cluster.only_shard || cluster.shard_first || sub_job.has_topology) return false;
  std::map<std::string_view, row> kinds;
  return std::ranges::all_of(sub_job.tasks, [&](row task) {
    const task_state& one = cluster.tasks[task];
    if (one.status != task_status::pending || one.gated) return true;
    return one.kind != no_row && one.nominated == no_row &&
           (one.role.empty() || kinds.try_emplace(one.role, one.kind).first->second == one.kind);
  });
}

row choose_by_kind(session& of, row task, const std::vector<row>* among) {
  const node_answers& answers = of.answers_for(task);
  if (among == nullptr || among->size() == of.cluster().nodes.size()) return answers.best();
  row best = no_row;
  for (const row node : *among) best = answers.better(best, node);
  return best;
}

namespace {

/// The domain of the lowest tier that has a node.
std::string lowest_domain_of(const session& of, row node) {
  const std::string& name = of.cluster().nodes[node].name;
  std::string found;
  std::int64_t tier = 0;
  for (const auto& [domain, about] : of.cluster().domains.all()) {
    if (!about.nodes.contains(name) || (!found.empty() && about.tier >= tier)) continue;
    found = domain;
    tier = about.tier;
  }
  return found;
}

class placing {
 public:
  placing(session& of, row job, sub_job_context& sheet, const std::string& domain)
      : session_(of),
        job_(job),
        sheet_(sheet),
        search_(of, search_purpose::place),
        made_(of),
        near_(sub_job().allocated_domain),
        by_kind_(can_go_by_kind(of, sub_job())),
        asks_all_(by_kind_ && is_whole(of, domain)) {
    if (!asks_all_) nodes_ = nodes_in(of, domain);
  }

  std::optional<statement> run() {
    if (asks_all_ ? session_.cluster().nodes.empty() : nodes_.empty()) return std::nullopt;
    while (!sheet_.tasks.empty() && step(sheet_.tasks.pop())) {
    }
    if (session_.is_ready(job_, sub_job())) {
      const bool soft = sub_job().has_topology && !sub_job().topology.hard;
      if (soft) job().sub_jobs[sheet_.sub_job].allocated_domain = near_;
      return std::move(made_);
    }
    if (session_.is_pipelined(job_, sub_job())) return std::move(made_);
    made_.discard();
    return std::nullopt;
  }

 private:
  [[nodiscard]] job_state& job() { return session_.cluster().jobs[job_]; }
  [[nodiscard]] const sub_job_state& sub_job() const { return session_.cluster().jobs[job_].sub_jobs[sheet_.sub_job]; }

  /// False: no more tasks.
  bool step(row task) {
    task_state& one = session_.cluster().tasks[task];
    if (!session_.is_allocatable(job().queue, task) || one.gated) return true;
    if (role_failed(session_.cluster(), job(), task)) {
      job().unplaced.insert(task);
      return true;
    }
    row node = no_row;
    if (by_kind_) {
      node = choose_by_kind(session_, task, asks_all_ ? nullptr : &nodes_);
      if (node == no_row) return goes_on_without(task);
    } else {
      const std::vector<row> found = nodes_to_try(task);
      if (found.empty()) return goes_on_without(task);
      if (sub_job().has_topology) one.near = near_;
      node = choose_node(session_, task, found);
      if (node == no_row) return true;
    }
    if (fits_now(session_, task, node)) {
      made_.allocate(task, node);
    } else {
      made_.pipeline(task, node);
    }
    if (sub_job().has_topology) widen(node);
    return !session_.is_ready(job_, sub_job());
  }

  bool goes_on_without(row task) {
    job().unplaced.insert(task);
    return worth_continuing(session_.cluster(), job(), sheet_.sub_job);
  }

  [[nodiscard]] std::vector<row> nodes_to_try(row task) {
    const row nominated = session_.cluster().tasks[task].nominated;
    if (nominated != no_row && std::ranges::find(nodes_, nominated) != nodes_.end()) {
      std::vector<row> found = search_.nodes_for(task, {nominated});
      if (!found.empty()) return found;
    }
    return search_.nodes_for(task, nodes_);
  }

  void widen(row node) {
    const std::string lowest = lowest_domain_of(session_, node);
    if (lowest.empty()) return;
    near_ = near_.empty() ? lowest : session_.cluster().domains.common_ancestor(lowest, near_);
  }

  session& session_;
  row job_;
  sub_job_context& sheet_;
  node_search search_;
  statement made_;
  std::string near_;
  bool by_kind_;
  bool asks_all_;           ///< every node, by kind: nobody has to list them
  std::vector<row> nodes_;  ///< else those to try
};

}  // namespace

std::optional<statement> place_tasks(session& of, row job, sub_job_context& sheet, const std::string& domain) {
  return placing(of, job, sheet, domain).run();
}

}  // namespace kaisched::volcano
