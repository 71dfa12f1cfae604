#include "actions/victim_stream.hpp"

#include <algorithm>
#include <iterator>
#include <memory_resource>
#include <utility>

#include "framework/members.hpp"

namespace kaisched::actions {

result<void> offer_victims(job_queue& to, victim_search_state& kept, const victim_rules& rules, group_row waiting,
                           const std::function<bool(queue_row)>& from_queue,
                           const std::function<bool(group_row)>& helps) {
  framework::session_state& c = kept.c;
  // Small enough to be kept without memory of its own where all may help.
  std::function<bool(group_row)> accepts = [waiting, &rules](group_row g) { return g != waiting && rules.may_lose(g); };
  if (helps) {
    accepts = [waiting, &rules, helps](group_row g) { return g != waiting && helps(g) && rules.may_lose(g); };
  }
  if (rules.most == 0) {
    std::pmr::vector<queue_row> leaves(&kept.memory);
    for (const queue_row q : kept.victims.leaves()) {
      if (from_queue(q)) leaves.push_back(q);
    }
    return to.fill_from(kept.victims, leaves, accepts);
  }
  std::vector<group_row> first;
  std::size_t counted = 0;
  for (const group_row g : c.groups.in_order()) {
    if (!has_pods_to_lose(c, g) || has_kept_places_only(c, g) || c.groups.evicted_enough(g) || !accepts(g)) continue;
    // The reference counts groups of queues that are not served as well.
    const queue_row leaf = c.state().groups[g].queue;
    const bool served = c.queues.is_schedulable_queue(leaf) && from_queue(leaf);
    if (served) first.push_back(g);
    if (served || c.compat()) ++counted;
    if (counted == rules.most) break;
  }
  return to.fill(first);
}

std::vector<pod_row> left_without(const framework::session_state& c, std::span<const pod_row> pods,
                                  std::span<const pod_row> unit) {
  const auto active = std::count_if(pods.begin(), pods.end(), [&](pod_row p) { return framework::is_active(c, p); });
  std::vector<pod_row> rest;
  if (static_cast<std::ptrdiff_t>(unit.size()) >= active) return rest;
  std::vector<pod_row> sorted(unit.begin(), unit.end());
  std::sort(sorted.begin(), sorted.end());
  std::copy_if(pods.begin(), pods.end(), std::back_inserter(rest),
               [&](pod_row p) { return !std::binary_search(sorted.begin(), sorted.end(), p); });
  return rest;
}

result<victim_unit> victim_stream::next() {
  result<group_row> group = queue_.pop();
  if (!group) return group.failure();
  const std::vector<pod_row> pods =
      queue_.popped_pods().empty() ? pods_of(c_, *group) : std::move(queue_.popped_pods());
  victim_unit unit{*group, next_unit(c_, *group, pods)};
  if (unit.pods.empty()) return unit;
  if (budgets_refuse(c_, *rules_, unit.pods)) return victim_unit{*group, {}};
  if (std::vector<pod_row> rest = left_without(c_, pods, unit.pods); !rest.empty()) {
    if (auto done = queue_.push(*group, std::move(rest)); !done) return done.failure();
  }
  return unit;
}

}  // namespace kaisched::actions
