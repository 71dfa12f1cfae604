// Queues that hold more than their limits: limits were lowered, or pods came from elsewhere.
#include <algorithm>
#include <utility>
#include <vector>

#include "actions/actions.hpp"
#include "actions/victim_units.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;
using model::quota_vector;

/// What a queue holds beyond its limit, by dimension.
quota_vector excess_of(const session_state& c, queue_row q) {
  const quota_vector& limit = (*c.state().queues)[q].limit;
  const quota_vector& held = (*c.live.queue_allocated)[q];
  quota_vector over{};
  for (std::size_t r = 0; r < over.size(); ++r) {
    if (limit[r] != unlimited && held[r] > limit[r]) over[r] = held[r] - limit[r];
  }
  return over;
}

bool is_over(const quota_vector& over) {
  return std::ranges::any_of(over, [](std::int64_t one) { return one > 0; });
}

class limit_keeper {
 public:
  explicit limit_keeper(session_state& c) : c_(c), chains_(c) {
    for (const group_row g : c.groups.in_order()) {
      if (c.queues.is_schedulable_queue(c.state().groups[g].queue) && has_pods_to_lose(c, g)) last_first_.push_back(g);
    }
    std::ranges::reverse(last_first_);
  }

  /// Makes the queue hold no more than its limit, as far as what may leave goes.
  result<void> keep(queue_row q) {
    quota_vector over = excess_of(c_, q);
    if (!is_over(over)) return {};
    std::vector<choice> chosen;
    for (const group_row g : last_first_) {
      if (!is_over(over)) break;
      if (!is_below(c_.state().groups[g].queue, q)) continue;
      for (const victim_unit& unit : chains_.of(g)) {
        if (!is_over(over)) break;
        if (is_lost(c_, unit)) continue;  // for a queue below
        const quota_vector frees = held_by(unit);
        if (!helps(frees, over)) break;  // what is behind it in its group leaves only with it
        take_from(over, frees);
        chosen.push_back({&unit, frees});
      }
    }
    spare_what_need_not_go(chosen, over);
    group_row kept = no_row;  // whose budget lets no more go
    for (const choice& one : chosen) {
      if (one.unit->group == kept) continue;
      for (const pod_row p : one.unit->pods) c_.statement.evict(p);
      if (!c_.statement.keeps_budgets()) {
        kept = one.unit->group;
        continue;
      }
      c_.statement.commit();
      if (auto sound = c_.verify(); !sound) return sound;
    }
    return {};
  }

 private:
  struct choice {
    const victim_unit* unit;
    quota_vector frees;
  };

  [[nodiscard]] bool is_below(queue_row q, queue_row top) const {
    while (q != no_row && q != top) q = (*c_.state().queues)[q].parent;
    return q == top;
  }
  [[nodiscard]] quota_vector held_by(const victim_unit& unit) const {
    quota_vector sum{};
    for (const pod_row p : unit.pods) {
      const quota_vector one = c_.queues.held(p);
      for (std::size_t r = 0; r < sum.size(); ++r) sum[r] += one[r];
    }
    return sum;
  }
  [[nodiscard]] static bool helps(const quota_vector& frees, const quota_vector& over) {
    for (std::size_t r = 0; r < over.size(); ++r) {
      if (over[r] > 0 && frees[r] > 0) return true;
    }
    return false;
  }
  /// Below 0: what is free beneath the limit by then.
  static void take_from(quota_vector& over, const quota_vector& frees) {
    for (std::size_t r = 0; r < over.size(); ++r) over[r] -= frees[r];
  }

  /// Those that matter most first: what others have freed since may be enough. Of a group the unit that leaves last.
  void spare_what_need_not_go(std::vector<choice>& chosen, quota_vector& over) const {
    for (std::size_t i = chosen.size(); i-- > 0;) {
      const bool is_last = i + 1 == chosen.size() || chosen[i + 1].unit->group != chosen[i].unit->group;
      if (!is_last) continue;
      quota_vector without = over;
      for (std::size_t r = 0; r < without.size(); ++r) without[r] += chosen[i].frees[r];
      if (is_over(without)) continue;
      over = without;
      chosen.erase(chosen.begin() + static_cast<std::ptrdiff_t>(i));
    }
  }

  session_state& c_;
  victim_chains chains_;
  std::vector<group_row> last_first_;
};

/// Queues above others last: what leaves for those below has left them as well.
std::vector<queue_row> from_the_leaves(const session_state& c) {
  const auto& queues = *c.state().queues;
  std::vector<std::pair<std::size_t, queue_row>> by_depth;
  for (queue_row q = 0; q < queues.size(); ++q) {
    if (!queues[q].live || !std::ranges::any_of(queues[q].limit, [](std::int64_t one) { return one != unlimited; }))
      continue;
    std::size_t depth = 0;
    for (queue_row up = queues[q].parent; up != no_row; up = queues[up].parent) ++depth;
    by_depth.emplace_back(depth, q);
  }
  std::ranges::sort(by_depth, [&](const auto& a, const auto& b) {
    return a.first == b.first ? queues[a.second].name < queues[b.second].name : a.first > b.first;
  });
  std::vector<queue_row> order;
  for (const auto& [depth, q] : by_depth) order.push_back(q);
  return order;
}

}  // namespace

result<void> keep_limits(session_state& c) {
  std::vector<queue_row> over;
  for (const queue_row q : from_the_leaves(c)) {
    if (is_over(excess_of(c, q))) over.push_back(q);
  }
  if (over.empty()) return {};
  limit_keeper keeper(c);
  for (const queue_row q : over) {
    if (auto on = c.run.go_on(); !on) return on;
    if (auto done = keeper.keep(q); !done) return done;
  }
  return {};
}

}  // namespace kaisched::actions
