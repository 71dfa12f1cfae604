#include "session/group_order.hpp"

#include <algorithm>

#include "model/account.hpp"

namespace kaisched::work {

group_order order_groups(const model::cluster_state& s) {
  group_order made;
  for (group_row g = 0; g < s.group_slots; ++g) {
    if (s.groups[g].live) made.groups.push_back(g);
  }
  std::sort(made.groups.begin(), made.groups.end(),
            [&](group_row a, group_row b) { return model::group_before(s, a, b); });
  made.ranks.assign(s.group_slots, no_row);
  made.of_leaf.resize(s.queues->size());
  for (std::uint32_t rank = 0; rank < made.groups.size(); ++rank) {
    made.ranks[made.groups[rank]] = rank;
    const queue_row leaf = s.groups[made.groups[rank]].queue;
    if (leaf != no_row) made.of_leaf[leaf].push_back(rank);
  }
  return made;
}

}  // namespace kaisched::work
