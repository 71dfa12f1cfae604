#include "model/nominations.hpp"

#include <algorithm>
#include <vector>

#include "model/account.hpp"

namespace kaisched::model {

namespace {

/// Puts what is missing into a list in the order of `group_before`.
void add_in_order(const cluster_state& s, base::cow<std::vector<group_row>>& list, std::span<const group_row> groups) {
  const auto before = [&](group_row a, group_row b) { return group_before(s, a, b); };
  for (const group_row g : groups) {
    const auto at = std::lower_bound(list->begin(), list->end(), g, before);
    if (at != list->end() && *at == g) continue;
    const auto position = at - list->begin();
    std::vector<group_row>& written = list.write();
    written.insert(written.begin() + position, g);
  }
}

}  // namespace

cluster_state with_pods_nominated(const cluster_state& s) {
  cluster_state made = s;
  std::vector<group_row> waiting;  // groups that have pending pods now
  std::vector<group_row> touched;
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live || static_cast<pod_status>(s.live.pod_state[p]) != pod_status::pipelined) continue;
    account_pod(made, made.live, p, -1);
    made.pod_extras.write(p).nominated = s.live.pod_node[p];
    made.live.pod_state.write(p) = static_cast<std::uint8_t>(pod_status::pending);
    made.live.pod_node.write(p) = no_row;
    made.live.pod_devices.write(p) = {};
    account_pod(made, made.live, p, 1);
    if (s.pods[p].group == no_row) continue;
    touched.push_back(s.pods[p].group);
    if (s.pods[p].sub != no_row) waiting.push_back(s.pods[p].group);
  }
  std::sort(touched.begin(), touched.end());
  touched.erase(std::unique(touched.begin(), touched.end()), touched.end());
  add_in_order(made, made.pending_groups, waiting);
  std::vector<group_row> partial;
  for (const group_row g : touched) {
    if (lacks_pods_of_gang(made, made.live, g)) partial.push_back(g);
  }
  std::erase_if(made.partial_groups.write(),
                [&](group_row g) { return std::binary_search(touched.begin(), touched.end(), g); });
  add_in_order(made, made.partial_groups, partial);
  made.live.settle_orders();
  return made;
}

}  // namespace kaisched::model
