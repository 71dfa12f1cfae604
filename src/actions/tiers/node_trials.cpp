#include "actions/tiers/node_trials.hpp"

#include <algorithm>
#include <limits>
#include <tuple>

#include "policy/tiers/statement.hpp"

namespace kaisched::actions::tiers {

using policy::tiers::node_refusal;
using policy::tiers::session;
using policy::tiers::statement;

bool has_place(const session& of, row task, row node) {
  const auto& one = of.cluster().tasks[task];
  return of.is_allocatable(of.cluster().jobs[one.job].queue, task) &&
         fits(one.first_request, of.cluster().nodes[node].future_idle()) &&
         of.refuses(task, node) == node_refusal::none;
}

namespace {

bool has_place_without(session& of, row task, row node, const std::vector<row>& gone) {
  statement trial(of);
  for (const row victim : gone) trial.evict(victim);
  const bool found = has_place(of, task, node);
  trial.discard();
  return found;
}

/// Those that go until there is room; all of them if there is none even then.
std::vector<row> until_room(session& of, row task, row node, const std::vector<row>& ordered) {
  std::vector<row> gone;
  statement trial(of);
  for (const row victim : ordered) {
    gone.push_back(victim);
    trial.evict(victim);
    if (has_place(of, task, node)) break;
  }
  const bool refused = of.refuses(task, node) != node_refusal::none;
  trial.discard();
  return refused ? std::vector<row>{} : gone;
}

}  // namespace

std::optional<node_trial> try_node(session& of, row task, row node, const std::vector<row>& allowed) {
  const std::vector<row> potential = until_room(of, task, node, of.in_victim_order(allowed, task));
  if (potential.empty()) return std::nullopt;
  node_trial made{node, {}};
  std::vector<row> gone = potential;
  for (auto one = potential.rbegin(); one != potential.rend(); ++one) {
    std::vector<row> fewer = gone;
    std::erase(fewer, *one);
    if (has_place_without(of, task, node, fewer)) {
      gone = std::move(fewer);
    } else {
      made.victims.push_back(*one);
    }
  }
  if (made.victims.empty()) return std::nullopt;
  return made;
}

const node_trial& gentlest(const policy::tiers::cluster_state& cluster, std::span<const node_trial> trials) {
  const auto weight = [&](const node_trial& one) {
    // No priority may make a victim count for less than none.
    constexpr std::int64_t above_all = std::int64_t{std::numeric_limits<std::int32_t>::max()} + 1;
    std::int64_t sum = 0;
    for (const row victim : one.victims) sum += cluster.tasks[victim].pod_priority + above_all;
    return std::tuple(cluster.tasks[one.victims.front()].pod_priority, sum, one.victims.size());
  };
  return *std::ranges::min_element(trials, {}, weight);
}

}  // namespace kaisched::actions::tiers
