#include <algorithm>
#include <optional>

#include "checker/contention.hpp"
#include "checker/contention_rules.hpp"
#include "checker/survey.hpp"

namespace day_check {

namespace {

constexpr double most_ratio = 2;
constexpr std::size_t most_spanning_units = 8;  // of which all sets are tried

/// When a job ends if it is not stopped.
std::int64_t expected_end(const job_now& one, std::int64_t now) {
  const std::int64_t running = one.count(status::running);
  if (!one.progresses || running == 0) return never;
  return now + (one.left - running * (now - one.since) + running - 1) / running;
}

/// Whether pods of the job may be stopped, or moved, for the one that asks.
bool may_go(const state& of, const shares_now& at, std::size_t asking, std::size_t other, bool reclaims, bool moves) {
  const job_plan& row = of.plan().jobs[asking];
  const job_plan& victim = of.plan().jobs[other];
  if (other == asking) return false;
  if (moves) return victim.preemptible;
  if (victim.queue == row.queue) return victim.priority < row.priority;
  if (!reclaims) return false;
  const std::size_t side = split(of, row.queue, victim.queue).second;
  for (std::size_t d = 0; d < row.ask.size(); ++d) {
    if (row.ask[d] == 0) continue;
    const std::int64_t quota = of.plan().queues[side].quota[d];
    if ((quota != unlimited && at.held[side].held[d] > quota) || at.held[side].held[d] > at.fair[side][d]) return true;
  }
  return false;
}

/// Units on several nodes, and whether they leave.
using spanning_units = std::map<std::size_t, bool>;

/// The least cost to have so many devices of a node, for 0, 1, ... devices, beside what spanning units cost. `here`:
/// other units count with what they have on the node.
std::vector<std::int64_t> node_costs(const node_victims& at, std::int64_t start, bool here,
                                     const spanning_units& spanning) {
  std::int64_t idle = at.idle;
  std::vector<victim> stay;
  for (const victim& one : at.victims) {
    const auto spans = spanning.find(one.unit);
    if (one.end <= start || (spans != spanning.end() && spans->second)) {
      idle += one.devices;
    } else if (spans == spanning.end()) {
      stay.push_back(one);
    }
  }
  std::vector<std::int64_t> costs(static_cast<std::size_t>(std::max<std::int64_t>(0, idle)) + 1, 0);
  for (const victim& one : stay) {
    std::vector<std::int64_t> next = costs;
    next.resize(costs.size() + static_cast<std::size_t>(one.devices), endless);
    for (std::size_t have = 0; have < costs.size(); ++have) {
      const std::size_t then = have + static_cast<std::size_t>(one.devices);
      next[then] = std::min({next[then], costs[have] + (here ? one.cost_here : one.cost), endless});
    }
    costs = std::move(next);
  }
  for (std::size_t have = costs.size() - 1; have-- > 0;) costs[have] = std::min(costs[have], costs[have + 1]);
  return costs;
}

/// The least cost to have room for so many pods, over nodes.
std::int64_t least_cost(const std::vector<const node_victims*>& nodes, std::int64_t pods, std::int64_t devices,
                        std::int64_t start, const spanning_units& spanning) {
  std::vector<std::int64_t> best(static_cast<std::size_t>(pods) + 1, endless);
  best[0] = 0;
  for (const node_victims* node : nodes) {
    const std::vector<std::int64_t> costs = node_costs(*node, start, pods > 1, spanning);
    for (std::size_t have = best.size(); have-- > 1;) {
      for (std::size_t here = 1; here <= have; ++here) {
        const std::size_t wanted = here * static_cast<std::size_t>(devices);
        if (wanted >= costs.size()) break;
        best[have] = std::min({best[have], best[have - here] + costs[wanted], endless});
      }
    }
  }
  return best.back();
}

/// The same with units on several nodes, which leave as a whole: every set of them is tried, unless one node is enough
/// or there are too many.
std::int64_t least_cost_of_units(const std::vector<const node_victims*>& nodes, std::int64_t pods, std::int64_t devices,
                                 std::int64_t start) {
  std::map<std::size_t, std::int64_t> costs;
  for (const node_victims* node : nodes) {
    for (const victim& one : node->victims) {
      if (one.unit != 0 && one.end > start) costs[one.unit] = one.cost;
    }
  }
  if (pods == 1 || costs.size() > most_spanning_units) return least_cost(nodes, pods, devices, start, {});
  std::int64_t least = endless;
  for (std::size_t set = 0; set < std::size_t{1} << costs.size(); ++set) {
    spanning_units spanning;
    std::int64_t sum = 0;
    for (const auto& [unit, cost] : costs) {
      const bool leaves = (set >> spanning.size() & 1U) != 0;
      spanning[unit] = leaves;
      if (leaves) sum += cost;
    }
    if (sum < least) least = std::min(least, sum + least_cost(nodes, pods, devices, start, spanning));
  }
  return least;
}

/// Starts of a session that it does not take back.
std::vector<const decision*> starts(const session_record& at) {
  std::map<pod_name, const decision*> last;
  for (const decision& one : at.decisions) last[one.pod] = &one;
  std::vector<const decision*> all;
  for (const auto& [pod, one] : last) {
    if (one->kind == "bind") all.push_back(one);
  }
  return all;
}

std::set<std::size_t> running_pods(const job_now& one) {
  std::set<std::size_t> all;
  for (std::size_t p = 0; p < one.pods.size(); ++p) {
    if (one.pods[p].is == status::running) all.insert(p);
  }
  return all;
}

/// How many of these pods are on each node.
std::map<std::size_t, std::int64_t> by_node(const job_now& one, const std::vector<std::size_t>& pods) {
  std::map<std::size_t, std::int64_t> all;
  for (const std::size_t p : pods) ++all[one.pods[p].node];
  return all;
}

}  // namespace

void survey::add_shared(std::size_t node, std::int64_t device, std::int64_t cost, std::int64_t end) {
  const auto [found, fresh] = shared_.try_emplace({node, device}, victim{1, 0, 0, 0, 0});
  if (fresh) --nodes_[node].idle;
  found->second.cost = std::min(endless, found->second.cost + cost);
  found->second.cost_here = found->second.cost;
  found->second.end = std::max(found->second.end, end);
}

survey::survey(const state& of, const shares_now& at, std::size_t asking, const session_record& session, bool reclaims,
               bool moves)
    : nodes_(of.plan().nodes.size()) {
  for (std::size_t n = 0; n < nodes_.size(); ++n)
    nodes_[n].idle = of.ready(n) ? of.plan().nodes[n].capacity[gpu] / whole : 0;
  for (const std::size_t j : of.there()) {
    const bool may = may_go(of, at, asking, j, reclaims, moves);
    const std::size_t queue = of.plan().jobs[j].queue;
    std::int64_t promise = 0;
    if (queue == of.plan().jobs[asking].queue) {
      promise = promised(of, queue, &queue_plan::preempt_min);
    } else {
      promise = promised(of, split(of, of.plan().jobs[asking].queue, queue).second, &queue_plan::reclaim_min);
    }
    take(of, j, session.now, may ? std::optional(moves ? 0 : promise) : std::nullopt);
  }
  for (const decision* start : starts(session)) {
    const std::int64_t ask = of.plan().jobs[start->pod.job].ask[gpu];
    if (start->pod.job == asking) continue;
    nodes_[start->node].idle -= ask / whole;
    for (const std::int64_t device : start->devices) {
      if (ask < whole) add_shared(start->node, device, endless, never);
    }
  }
  for (const auto& [where, one] : shared_) nodes_[where.first].victims.push_back(one);
  const job_plan& row = of.plan().jobs[asking];
  for (std::size_t n = 0; n < nodes_.size(); ++n) {
    if (of.ready(n)) racks_[row.one_rack ? of.plan().nodes[n].rack : std::string()].push_back(n);
  }
}

void survey::take(const state& of, std::size_t j, std::int64_t now, std::optional<std::int64_t> promise) {
  const job_plan& row = of.plan().jobs[j];
  const job_now& one = of.jobs()[j];
  const std::int64_t devices = row.ask[gpu] / whole;
  if (row.ask[gpu] == 0) return;
  const std::int64_t end = expected_end(one, now);
  const bool may = promise && !units_of(of, j, now, *promise).empty();
  for (const pod_now& pod : one.pods) {
    if (pod.is != status::running && pod.is != status::releasing) continue;
    const bool leaves = pod.is == status::releasing;
    nodes_[pod.node].idle -= devices;
    if (leaves && devices > 0) nodes_[pod.node].victims.push_back({devices, 0, 0, 0, 0});
    if (devices > 0) continue;
    for (const std::int64_t device : pod.devices)
      add_shared(pod.node, device, leaves ? 0 : may ? row.ask[gpu] : endless, leaves ? 0 : end);
  }
  if (devices == 0) return;
  std::set<std::size_t> stay = running_pods(one);
  for (const unit& group : promise ? units_of(of, j, now, *promise) : std::vector<unit>{}) {
    const std::map<std::size_t, std::int64_t> places = by_node(one, group.pods);
    const std::size_t unit = places.size() > 1 ? ++spanning_units_ : 0;
    for (const auto& [node, pods] : places) {
      const std::int64_t cost = static_cast<std::int64_t>(group.pods.size()) * row.ask[gpu];
      nodes_[node].victims.push_back({pods * devices, cost, pods * row.ask[gpu], end, unit});
    }
    for (const std::size_t p : group.pods) stay.erase(p);
  }
  for (const auto& [node, pods] : by_node(one, {stay.begin(), stay.end()})) {
    nodes_[node].victims.push_back({pods * devices, endless, endless, end, 0});
  }
}

std::int64_t survey::cost(const job_plan& row, std::int64_t pods, std::int64_t start) const {
  std::int64_t least = endless;
  const std::int64_t devices = (row.ask[gpu] + whole - 1) / whole;
  for (const auto& [rack, numbers] : racks_) {
    std::vector<const node_victims*> nodes;
    for (const std::size_t n : numbers) nodes.push_back(&nodes_[n]);
    least = std::min(least, least_cost_of_units(nodes, pods, devices, start));
  }
  return row.ask[gpu] < whole && least < endless ? std::min(least, row.ask[gpu] * pods) : least;
}

void evictions_rule::before(const state& of, const session_record& at) {
  if (!how_.kai()) return;
  for (const decision& one : at.decisions) {
    const bool goes = one.kind == "evict" || one.kind == "move";
    if (!goes || one.action == "stalegangeviction" || of.pod(one.pod).is != status::running) continue;
    evicted_ += static_cast<double>(of.plan().jobs[one.pod.job].ask[gpu]);
    ++pods_;
  }
  last_ = at;
  const room before(of);
  room free(of);
  std::set<std::size_t> starting;
  for (const decision* start : starts(at)) {
    free.claim(of.plan().jobs[start->pod.job], start->node, start->devices);
    starting.insert(start->pod.job);
  }
  shares_now shares{of.count_queues(), {}};
  shares.fair = divide(of, shares.held);
  count_moves(of, at, shares);
  std::map<std::size_t, wait> still;
  for (const std::size_t j : of.there()) {
    const job_plan& row = of.plan().jobs[j];
    const std::int64_t pods = wanted_pods(row, of.jobs()[j]);
    const bool fits = pods > 0 && (starting.contains(j) ? before : free).takes(j, pods);
    if (waits_.contains(j) && (fits || of.jobs()[j].has_claims())) {
      still.emplace(j, std::move(waits_.at(j)));  // its turn has come
      continue;
    }
    if (pods == 0 || row.ask[gpu] == 0 || fits) continue;
    if (std::optional<wait> one = waiting(of, at, shares, j, pods)) still.emplace(j, std::move(*one));
  }
  waits_ = std::move(still);
}

/// Moves give room to a job that has no right to it. What it lacked in the session that moves pods for it counts: once
/// until it starts, and again when room is made for more of its pods.
void evictions_rule::count_moves(const state& of, const session_record& at, const shares_now& shares) {
  std::set<std::int64_t> moving;
  for (const decision& one : at.decisions) {
    const bool goes = one.kind == "evict" || one.kind == "move";
    if (goes && one.action == "consolidation" && of.pod(one.pod).is == status::running) moving.insert(one.commit);
  }
  std::set<std::size_t> asking;
  std::map<std::size_t, std::int64_t> places;  // of the session and kept ones
  for (const decision& one : at.decisions) {
    if (one.kind != "pipeline" || of.pod(one.pod).is == status::running) continue;
    if (moving.contains(one.commit)) asking.insert(one.pod.job);
    if (of.pod(one.pod).is != status::claimed) ++places[one.pod.job];
  }
  for (const std::size_t j : asking) {
    const std::int64_t pods = places[j] + of.jobs()[j].count(status::claimed);
    moves& known = moved_.try_emplace(j, moves{of.jobs()[j].count(status::running), 0}).first->second;
    if (pods <= known.pods) continue;
    known.pods = pods;
    const std::int64_t cost = survey(of, shares, j, at, false, true).cost(of.plan().jobs[j], pods, at.now);
    bound_ += cost < endless ? static_cast<double>(cost) : 0;
  }
}

/// The job as it has waited since it has had a right to room, if it has one.
std::optional<evictions_rule::wait> evictions_rule::waiting(const state& of, const session_record& at,
                                                            const shares_now& shares, std::size_t j,
                                                            std::int64_t pods) {
  const job_plan& row = of.plan().jobs[j];
  if (!allowed(of, shares.held, j, pods)) return std::nullopt;
  const bool reclaims = how_.does("reclaim") && may_reclaim(of, shares, j, pods);
  const bool preempts = how_.does("preempt") && may_preempt(of, j, at.now);
  if (!reclaims && !preempts) return std::nullopt;
  const auto known = waits_.find(j);
  if (known != waits_.end() && known->second.pods == pods) return std::move(known->second);
  survey seen(of, shares, j, at, reclaims, false);
  if (seen.cost(row, pods, at.now) >= endless) return std::nullopt;
  return wait{std::move(seen), pods, of.jobs()[j].count(status::running)};
}

void evictions_rule::after(const state& of, const session_record& at) {
  std::erase_if(waits_, [&](const auto& one) {
    const auto& [j, waited] = one;
    if (!of.jobs()[j].there) return true;
    if (of.jobs()[j].count(status::running) <= waited.running) return false;
    bound_ += static_cast<double>(std::min(waited.before.cost(of.plan().jobs[j], waited.pods, at.now), endless));
    return true;
  });
  std::erase_if(moved_, [&](const auto& one) {
    return !of.jobs()[one.first].there || of.jobs()[one.first].count(status::running) > one.second.running;
  });
}

void evictions_rule::over(const state& of, const std::string&) {
  if (!how_.kai()) return;
  to_.figures["evicted pods"] = static_cast<double>(pods_);
  to_.figures["evicted GPUs"] = evicted_ / whole;
  to_.figures["evicted GPUs, lower bound"] = bound_ / whole;
  if (how_.mode != "strict" || evicted_ <= most_ratio * bound_) return;
  report("evictions", last_, of, none,
         "pods with " + std::to_string(static_cast<std::int64_t>(evicted_)) +
             " thousandths of GPUs were stopped or moved; groups lacked " +
             std::to_string(static_cast<std::int64_t>(bound_)));
}

}  // namespace day_check
