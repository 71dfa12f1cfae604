#include "schedulers/yunikorn/rules/preemption.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <tuple>

#include "schedulers/yunikorn/rules/queue_books.hpp"

namespace kaisched::yunikorn {

namespace {

/// What queues use while victims are tried; taken back by `reset`.
class queue_trial {
 public:
  queue_trial(const cluster_state& cluster, row ask_queue) : cluster_(cluster), ask_queue_(ask_queue) {
    for (const queue_state& queue : cluster.queues) used_.push_back(queue.used);
  }

  void reset() {
    for (const auto& [queue, ask, sign] : done_) book(queue, ask, -sign);
    done_.clear();
  }
  void remove(row victim) { note(cluster_.apps[cluster_.asks[victim].app].queue, victim, -1); }
  void put_back(row victim) { note(cluster_.apps[cluster_.asks[victim].app].queue, victim, 1); }
  /// As if the queue of the ask got what this one asks for.
  void charge_asker(row ask) { note(ask_queue_, ask, 1); }
  void relieve_asker(row ask) { note(ask_queue_, ask, -1); }

  /// What a queue is guaranteed and does not use, as far as it or one above it says anything; negative where it uses
  /// more.
  [[nodiscard]] bounds remaining(row queue) const {
    const bounds nothing(cluster_.unit.size(), undefined);
    if (queue == no_row) return nothing;
    const bounds above = remaining(cluster_.queues[queue].parent);
    bounds own = cluster_.queues[queue].guaranteed;
    if (says_nothing(own)) return above;
    for (std::size_t d = 0; d < own.size(); ++d) {
      if (own[d] != undefined) own[d] -= used_[queue][d];
    }
    if (queue == ask_queue_) {  // its own guarantee counts before those above it
      for (std::size_t d = 0; d < own.size(); ++d) {
        if (own[d] == undefined) own[d] = above[d];
      }
      return own;
    }
    // What both share says nothing about its queues once the one that asks has a guarantee of its own.
    if (holds(queue, ask_queue_) && !says_nothing(cluster_.queues[ask_queue_].guaranteed)) return nothing;
    return least_of(std::move(own), above);
  }

 private:
  struct entry {
    row queue;
    row ask;
    std::int64_t sign;
  };

  [[nodiscard]] bool holds(row above, row below) const {
    while (below != no_row && below != above) below = cluster_.queues[below].parent;
    return below == above;
  }
  void note(row queue, row ask, std::int64_t sign) {
    book(queue, ask, sign);
    done_.push_back({queue, ask, sign});
  }
  void book(row queue, row ask, std::int64_t sign) {
    for (row q = queue; q != no_row; q = cluster_.queues[q].parent)
      sign > 0 ? add(used_[q], cluster_.request(ask)) : subtract(used_[q], cluster_.request(ask));
  }

  const cluster_state& cluster_;
  row ask_queue_;
  std::vector<amounts> used_;
  std::vector<entry> done_;
};

/// A priority to which offsets can be added.
std::int64_t bounded(std::int64_t priority) {
  constexpr std::int64_t most = std::int64_t{1} << 40;
  return std::clamp(priority, -most, most);
}

/// All that is said of what is asked for is at least 0.
bool is_within(const amounts& request, const bounds& remaining) {
  for (std::size_t d = 0; d < request.size(); ++d) {
    if (request[d] > 0 && remaining[d] != undefined && remaining[d] < 0) return false;
  }
  return true;
}
/// There is as much as is asked for, of all that is said.
bool has_room(const amounts& request, const bounds& remaining) {
  for (std::size_t d = 0; d < request.size(); ++d) {
    if (request[d] > 0 && remaining[d] != undefined && request[d] > remaining[d]) return false;
  }
  return true;
}
amounts shortfall(const amounts& request, const amounts& available) {
  amounts lacking(request.size(), 0);
  for (std::size_t d = 0; d < request.size(); ++d) lacking[d] = std::max<std::int64_t>(request[d] - available[d], 0);
  return lacking;
}

/// Of pods, those leave first that allow it, then those that are no originators, then the youngest.
bool leaves_before(const cluster_state& cluster, row left, row right) {
  const ask_state& l = cluster.asks[left];
  const ask_state& r = cluster.asks[right];
  if (l.allows_preemption != r.allows_preemption) return l.allows_preemption;
  if (l.is_originator != r.is_originator) return r.is_originator;
  if (l.created != r.created) return l.created > r.created;
  return l.name < r.name;
}

class victim_finder {
 public:
  victim_finder(const cluster_state& cluster, const preemption_query& query)
      : cluster_(cluster),
        query_(query),
        request_(cluster.request(query.ask)),
        queue_(cluster.apps[cluster.asks[query.ask].app].queue),
        trial_(cluster, queue_) {}

  std::optional<preemption_plan> find() {
    collect();
    if (!may_gain()) return std::nullopt;
    const std::optional<solution> best = best_node();
    if (!best) return std::nullopt;
    std::vector<row> victims = best->victims;
    if (!add_from_elsewhere(victims) || victims.empty()) return std::nullopt;
    victims = trimmed(best->node, victims);
    if (victims.empty()) return std::nullopt;
    return preemption_plan{best->node, std::move(victims)};
  }

 private:
  struct solution {
    row node = no_row;
    std::vector<row> victims;
    /// Originators and those that do not allow it weigh more than any number.
    [[nodiscard]] std::tuple<bool, bool, std::size_t> harm(const cluster_state& cluster) const {
      const auto any = [&](auto is) {
        return std::ranges::any_of(victims, [&](row one) { return is(cluster.asks[one]); });
      };
      return {any([](const ask_state& one) { return !one.allows_preemption; }),
              any([](const ask_state& one) { return one.is_originator; }), victims.size()};
    }
  };

  // ---- who may leave
  void collect() {
    candidates_.clear();
    std::map<row, std::int64_t> on_path;
    std::int64_t priority = bounded(cluster_.asks[query_.ask].priority);
    row q = queue_;
    for (;; q = cluster_.queues[q].parent) {
      const queue_state& queue = cluster_.queues[q];
      priority = queue.rules.priority_fence ? queue.rules.priority_offset : priority + queue.rules.priority_offset;
      on_path[q] = priority;
      if (queue.parent == no_row || queue.rules.preemption == preemption_policy::fence || would_exceed(q)) break;
    }
    walk(q, on_path, priority, false);
    std::ranges::sort(candidates_, [&](row l, row r) { return leaves_before(cluster_, l, r); });
    for (const row one : candidates_) by_node_[cluster_.asks[one].node].push_back(one);
  }

  /// With the ask the queue would have more than it, or one above it, may.
  [[nodiscard]] bool would_exceed(row queue) const {
    bounds most(request_.size(), undefined);
    for (row q = queue; q != no_row; q = cluster_.queues[q].parent)
      most = least_of(std::move(most), cluster_.queues[q].most);
    for (std::size_t d = 0; d < request_.size(); ++d) {
      if (most[d] != undefined && cluster_.queues[queue].used[d] + request_[d] > most[d]) return true;
    }
    return false;
  }

  void walk(row q, const std::map<row, std::int64_t>& on_path, std::int64_t priority, bool fenced) {
    if (q == queue_) return;
    const queue_state& queue = cluster_.queues[q];
    if (queue.children.empty()) {
      add_leaf(q, priority, fenced);
      return;
    }
    for (const row child : queue.children) {
      const queue_rules& rules = cluster_.queues[child].rules;
      std::int64_t inner = priority - rules.priority_offset;
      bool all_may_leave = fenced;
      if (const auto own = on_path.find(child); own != on_path.end()) {
        inner = own->second;
      } else if (rules.priority_fence) {  // one block of that priority
        if (rules.priority_offset > priority) continue;
        inner = priority;
        all_may_leave = true;
      }
      walk(child, on_path, inner, all_may_leave);
    }
  }

  void add_leaf(row q, std::int64_t priority, bool fenced) {
    const queue_state& queue = cluster_.queues[q];
    if (queue.rules.preemption == preemption_policy::disabled) return;
    const bounds remaining = trial_.remaining(q);
    const bool is_within_all =
        std::ranges::all_of(remaining, [](std::int64_t one) { return one == undefined || one >= 0; });
    if (!says_nothing(remaining) && is_within_all) return;
    for (const row app : queue.apps) {
      for (const row one : cluster_.apps[app].asks) {
        const ask_state& about = cluster_.asks[one];
        if (about.status != ask_status::running || about.protected_always) continue;
        if (shares_dimension(one) && (fenced || bounded(about.priority) <= priority)) candidates_.push_back(one);
      }
    }
  }
  [[nodiscard]] bool shares_dimension(row victim) const {
    const amounts& held = cluster_.request(victim);
    for (std::size_t d = 0; d < held.size(); ++d) {
      if (held[d] > 0 && request_[d] > 0) return true;
    }
    return false;
  }

  // ---- whether it helps
  /// The queue stays within what it is guaranteed, be it once all have left.
  bool may_gain() {
    trial_.reset();
    const bounds before = trial_.remaining(queue_);
    if (!says_nothing(before) && has_room(request_, before)) return true;
    if (candidates_.empty()) return false;
    trial_.charge_asker(query_.ask);
    for (const row one : candidates_) trial_.remove(one);
    const bounds after = trial_.remaining(queue_);
    return !says_nothing(after) && is_within(request_, after);
  }

  /// Removes a victim whose queue uses more than it is guaranteed of something that is asked for.
  bool removes(row victim) {
    const bounds remaining = trial_.remaining(cluster_.apps[cluster_.asks[victim].app].queue);
    if (!says_nothing(remaining) && is_within(request_, remaining)) return false;
    trial_.remove(victim);
    return true;
  }
  /// The queue of the ask has room within its guarantee for what the victim leaves. That is charged to it.
  bool takes_over(row victim) {
    const bounds room = trial_.remaining(queue_);
    if (says_nothing(room) || !has_room(cluster_.request(victim), room)) return false;
    trial_.charge_asker(victim);
    return true;
  }

  // ---- nodes
  /// Kept for somebody else; pods of a gang that is not complete share what they get.
  [[nodiscard]] bool is_kept_from(const node_state& node) const {
    if (node.reserved_for == no_row || node.reserved_for == query_.ask) return false;
    const ask_state& keeper = cluster_.asks[node.reserved_for];
    return keeper.status != ask_status::held || keeper.app != cluster_.asks[query_.ask].app;
  }

  std::optional<solution> best_node() {
    std::vector<solution> found;
    for (row node = 0; node < cluster_.nodes.size(); ++node) {
      const node_state& about = cluster_.nodes[node];
      if (is_kept_from(about)) continue;
      if (!fits(request_, about.total) || !query_.accepts(node)) continue;
      if (fits(request_, about.available)) {
        if (!query_.nodes_tried) found.push_back({node, {}});
      } else if (solution one{node, victims_on(node)}; !one.victims.empty()) {
        found.push_back(std::move(one));
      }
    }
    std::ranges::sort(found, [&](const solution& l, const solution& r) {
      if (l.victims.size() != r.victims.size()) return l.victims.size() < r.victims.size();
      return cluster_.nodes[l.node].name < cluster_.nodes[r.node].name;
    });
    if (found.empty()) return std::nullopt;
    const auto best = std::ranges::min_element(
        found, {}, [&](const solution& one) { return one.harm(cluster_); });  // the first of equals
    return *best;
  }

  /// The fewest first pods of a node, in the order of leaving, without which it has room.
  std::vector<row> victims_on(row node) {
    const auto here = by_node_.find(node);
    if (here == by_node_.end()) return {};
    trial_.reset();
    amounts available = cluster_.nodes[node].available;
    std::vector<row> order;
    std::vector<row> last;  // that do not bring the node nearer
    for (const row victim : here->second) {
      if (!removes(victim)) continue;
      if (!takes_over(victim)) {
        trial_.put_back(victim);
        break;
      }
      amounts more = available;
      add(more, cluster_.request(victim));
      if (shortfall(request_, available) == shortfall(request_, more)) {
        trial_.relieve_asker(victim);
        trial_.put_back(victim);
        last.push_back(victim);
      } else {
        available = std::move(more);
        order.push_back(victim);
      }
    }
    order.insert(order.end(), last.begin(), last.end());
    trial_.reset();
    available = cluster_.nodes[node].available;
    std::vector<row> victims;
    for (const row victim : order) {
      if (!removes(victim)) continue;
      add(available, cluster_.request(victim));
      victims.push_back(victim);
      if (fits(request_, available)) return victims;
    }
    return {};
  }

  /// More victims, from wherever, as long as the queue has room within its guarantee. False: it has not enough.
  bool add_from_elsewhere(std::vector<row>& victims) {
    trial_.reset();
    for (const row one : victims) trial_.remove(one);
    std::vector<row> more;
    for (const row victim : candidates_) {
      if (std::ranges::find(victims, victim) != victims.end() || !removes(victim)) continue;
      if (!takes_over(victim)) {
        trial_.put_back(victim);
        break;
      }
      more.push_back(victim);
    }
    if (more.empty()) return true;
    victims.insert(victims.end(), more.begin(), more.end());
    const bounds after = trial_.remaining(queue_);
    return !says_nothing(after) && is_within(request_, after);
  }

  /// The first of them that cover what is missing; none if they do not.
  [[nodiscard]] std::vector<row> trimmed(row node, const std::vector<row>& victims) const {
    const bool has_place = fits(request_, cluster_.nodes[node].available);
    amounts lacking = has_place ? request_ : shortfall(request_, cluster_.nodes[node].available);
    std::vector<row> kept;
    for (const row one : victims) {
      if (std::ranges::none_of(lacking, [](std::int64_t left) { return left > 0; })) break;
      if (!has_place && cluster_.asks[one].node != node) continue;
      const amounts left = shortfall(lacking, cluster_.request(one));
      if (left == lacking) continue;
      lacking = left;
      kept.push_back(one);
    }
    if (std::ranges::any_of(lacking, [](std::int64_t left) { return left > 0; })) return {};
    return kept;
  }

  const cluster_state& cluster_;
  const preemption_query& query_;
  const amounts& request_;
  row queue_;
  queue_trial trial_;
  std::vector<row> candidates_;
  std::map<row, std::vector<row>> by_node_;
};

}  // namespace

std::optional<preemption_plan> find_victims(const cluster_state& cluster, const preemption_query& query) {
  return victim_finder(cluster, query).find();
}

}  // namespace kaisched::yunikorn
