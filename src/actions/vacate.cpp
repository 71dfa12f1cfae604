// Nodes that are reserved: others leave them, for another place if there is one.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "actions/actions.hpp"
#include "actions/runtime.hpp"
#include "actions/victim_trial.hpp"
#include "actions/victim_units.hpp"
#include "framework/members.hpp"
#include "framework/remaining_group.hpp"
#include "policy/predicates/reservations.hpp"

namespace kaisched::actions {

namespace {

using framework::is_active;
using framework::session_state;

class vacating {
 public:
  explicit vacating(session_state& c) : c_(c) {}

  result<void> run() {
    for (const group_row g : c_.groups.in_order()) {
      if (auto on = c_.run.go_on(); !on) return on;
      if (!has_pods_to_lose(c_, g)) continue;
      active_.clear();
      for (const pod_row p : pods_of(c_, g)) {
        if (is_active(c_, p)) active_.push_back(p);
      }
      const std::vector<pod_row> pods = leaving_pods(g);
      if (pods.empty()) continue;
      if (auto done = make_leave(g, pods); !done) return done;
    }
    return {};
  }

 private:
  /// Those on reserved nodes, in task order; of a semi-preemptible group so many as its gangs can do without, the last
  /// ones first.
  [[nodiscard]] std::vector<pod_row> leaving_pods(group_row g) const {
    std::vector<pod_row> pods;
    for (const pod_row p : active_) {
      if (vacated_by(c_, p)) pods.push_back(p);
    }
    if (!c_.state().groups[g].semi_preemptible) return pods;
    std::vector<pod_row> kept;
    while (!pods.empty() && !without(g, pods).keeps_gangs()) {
      kept.push_back(pods.front());
      pods.erase(pods.begin());
    }
    for (const pod_row p : kept) {  // of another pod set, perhaps
      pods.push_back(p);
      if (!without(g, pods).keeps_gangs()) pods.pop_back();
    }
    return pods;
  }

  [[nodiscard]] framework::remaining_group without(group_row g, const std::vector<pod_row>& pods) const {
    framework::remaining_group left(c_, g);
    for (const pod_row p : active_) left.add(p);
    left.remove(pods);
    return left;
  }

  /// Gangs that lose pods which they need go with these. Gangs that lacked some before are none of this action's.
  [[nodiscard]] std::vector<pod_row> with_broken_gangs(group_row g, std::vector<pod_row> pods) const {
    std::vector<pod_row> before = without(g, {}).broken();
    std::ranges::sort(before);
    for (const pod_row p : without(g, pods).broken()) {
      if (!std::ranges::binary_search(before, p)) pods.push_back(p);
    }
    return pods;
  }

  /// They move if all of them have a place elsewhere. Else their gangs go with them, and who has a place moves.
  result<void> make_leave(group_row g, const std::vector<pod_row>& pods) {
    result<bool> all_moved = move(g, pods);
    if (!all_moved) return all_moved.failure();
    if (!*all_moved) {
      const std::vector<pod_row> more = with_broken_gangs(g, pods);
      if (more.size() > pods.size()) {
        c_.statement.rollback(0);
        if (result<bool> some = move(g, more); !some) return some.failure();
      }
    }
    if (!c_.statement.keeps_budgets()) return {};
    c_.statement.commit();
    return c_.verify();
  }

  /// True: all have places. The statement holds what becomes of them.
  result<bool> move(group_row g, const std::vector<pod_row>& pods) {
    for (const pod_row p : pods) c_.statement.evict(p);
    if (c_.queues.is_schedulable_queue(c_.state().groups[g].queue)) {
      if (auto done = place_again(c_, g, pods); !done) return done.failure();
    }
    return std::ranges::all_of(pods, [&](pod_row p) { return is_active(c_, p); });
  }

  session_state& c_;
  std::vector<pod_row> active_;  ///< of the group that is looked at
};

}  // namespace

std::optional<policy::reservation_refusal> vacated_by(const session_state& c, pod_row pod) {
  const group_row g = c.state().pods[pod].group;
  if (g == no_row || !is_active(c, pod)) return std::nullopt;
  return c.access.reservations->evicts(g, node_of(c, pod), expected_end(c, g));
}

result<void> vacate(session_state& c) {
  return c.access.reservations->evicts_some() ? vacating(c).run() : result<void>{};
}

}  // namespace kaisched::actions
