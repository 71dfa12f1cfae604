#include "framework/group_order.hpp"

#include <algorithm>
#include <functional>
#include <map>

#include "model/account.hpp"

namespace kaisched::framework {

group_order order_groups(const model::cluster_state& s) {
  group_order made;
  // Priorities are few, and the groups of one mostly come in the order of their age: little is left to sort.
  struct aged_group {
    std::int64_t created;
    group_row row;
  };
  std::map<std::int64_t, std::vector<aged_group>, std::greater<>> by_priority;
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (s.groups[g].live) by_priority[s.groups[g].priority].push_back({s.groups[g].created, g});
  }
  const auto is_older = [&](const aged_group& a, const aged_group& b) {
    return a.created != b.created ? a.created < b.created : model::group_before(s, a.row, b.row);
  };
  for (auto& [priority, groups] : by_priority) {
    if (!std::is_sorted(groups.begin(), groups.end(), is_older)) std::sort(groups.begin(), groups.end(), is_older);
    for (const aged_group& one : groups) made.groups.push_back(one.row);
  }
  made.ranks.assign(s.group_slots, no_row);
  made.of_leaf.resize(s.queues->size());
  for (std::uint32_t rank = 0; rank < made.groups.size(); ++rank) {
    made.ranks[made.groups[rank]] = rank;
    const queue_row leaf = s.groups[made.groups[rank]].queue;
    if (leaf != no_row) made.of_leaf[leaf].push_back(rank);
  }
  return made;
}

}  // namespace kaisched::framework
