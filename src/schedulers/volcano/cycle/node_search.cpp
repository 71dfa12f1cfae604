#include "schedulers/volcano/cycle/node_search.hpp"

#include <algorithm>
#include <numeric>

namespace kaisched::volcano {

bool fits(const policy::resource_list& asked, const policy::resource_list& free) {
  return policy::less_equal(asked, free, policy::absent_resource::zero);
}

bool fits_now(const session& of, row task, row node) {
  const policy::resource_list& idle = of.cluster().nodes[node].idle;
  return fits(of.cluster().tasks[task].first_request, idle) && !of.cluster().takes_what_is_set_aside(task, idle) &&
         of.cluster().room_on_devices(task, node) == device_room::now;
}

bool node_search::is_refused(row task, row node) const {
  const auto& cluster = session_->cluster();
  if (cluster.only_shard && !cluster.shard.contains(node)) return true;
  const node_refusal said = session_->refuses(task, node);
  if (purpose_ == search_purpose::find_victims) return said == node_refusal::for_good;
  if (purpose_ == search_purpose::no_weight) return said != node_refusal::none;
  return said != node_refusal::none || !fits(cluster.tasks[task].first_request, cluster.nodes[node].future_idle());
}

std::vector<row> node_search::nodes_for(row task, const std::vector<row>& among) {
  const task_state& one = session_->cluster().tasks[task];
  std::set<row> of_this;
  // Others that have come since may have changed the mind of a node.
  const auto& others = session_->cluster().neighbours;
  const bool forgets = one.role.empty() || (others != nullptr && others->judges(task));
  std::set<row>& refused = forgets ? of_this : refused_[{one.job, one.role}];
  std::vector<row> found;
  for (const row node : among) {
    if (refused.contains(node)) continue;
    if (is_refused(task, node)) {
      refused.insert(node);
    } else {
      found.push_back(node);
    }
  }
  return found;
}

std::vector<row> all_nodes(const session& of) {
  std::vector<row> nodes(of.cluster().nodes.size());
  std::iota(nodes.begin(), nodes.end(), row{0});
  return nodes;
}

std::vector<std::vector<row>> by_shard(const session& of, const std::vector<row>& nodes) {
  std::vector<std::vector<row>> parts(2);
  for (const row node : nodes) {
    const bool other = of.cluster().shard_first && !of.cluster().shard.contains(node);
    parts[other ? 1 : 0].push_back(node);
  }
  return parts;
}

row best_node(const session& of, row task, const std::vector<row>& nodes) {
  if (nodes.size() == 1) return nodes.front();
  const std::vector<double> scores = of.node_scores(task, nodes);
  return nodes[static_cast<std::size_t>(std::ranges::max_element(scores) - scores.begin())];
}

row choose_node(const session& of, row task, const std::vector<row>& nodes) {
  const auto& asked = of.cluster().tasks[task].first_request;
  std::vector<row> now;
  std::vector<row> later;
  for (const row node : nodes) {
    if (fits_now(of, task, node)) {
      now.push_back(node);
    } else if (fits(asked, of.cluster().nodes[node].future_idle())) {
      later.push_back(node);
    }
  }
  for (const std::vector<row>& part : {now, later}) {
    for (const std::vector<row>& candidates : by_shard(of, part)) {
      if (!candidates.empty()) return best_node(of, task, candidates);
    }
  }
  return no_row;
}

std::vector<row> waiting_tasks(const cluster_state& cluster, const std::vector<row>& tasks) {
  return those_that(tasks, [&](row task) {
    return cluster.tasks[task].status == task_status::pending && !cluster.tasks[task].gated;
  });
}

}  // namespace kaisched::volcano
