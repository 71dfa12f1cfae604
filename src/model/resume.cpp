#include "model/resume.hpp"

#include <algorithm>
#include <memory>
#include <vector>

namespace kaisched::model {

namespace {

/// Slots that nothing is in, the smallest one last: it is the first that is used again.
template <class IsLive>
base::cow<std::vector<std::uint32_t>> vacant_slots(std::uint32_t count, IsLive is_live) {
  std::vector<std::uint32_t> vacant;
  for (std::uint32_t slot = count; slot-- > 0;) {
    if (!is_live(slot)) vacant.push_back(slot);
  }
  return base::cow(std::move(vacant));
}

void resume_queues(const cluster_state& s, writer_state& w, name_maps& names) {
  const auto count = static_cast<queue_row>(s.queues->size());
  w.free_queues = vacant_slots(count, [&](queue_row q) { return (*s.queues)[q].live; });
  for (queue_row q = 0; q < count; ++q) {
    if ((*s.queues)[q].live) names.queues.insert(s.names->add((*s.queues)[q].name), q);
  }
}

void resume_nodes(const cluster_state& s, writer_state& w, name_maps& names) {
  const std::vector<std::uint32_t>& rows = *s.node_row_of_slot;
  w.free_nodes =
      vacant_slots(static_cast<std::uint32_t>(rows.size()), [&](std::uint32_t n) { return rows[n] != no_row; });
  names.nodes.reserve(s.node_count());
  for (const auto& node : *s.nodes) names.nodes.insert(s.names->add(node->name), node->slot);
}

void resume_groups(const cluster_state& s, writer_state& w, name_maps& names) {
  w.free_groups = vacant_slots(s.group_slots, [&](group_row g) { return s.groups[g].live; });
  names.groups.reserve(s.live_groups);
  std::vector<std::uint8_t> used(s.sub_slots, 0);
  for (group_row g = 0; g < s.group_slots; ++g) {
    const group_core& group = s.groups[g];
    if (!group.live) continue;
    names.groups.insert(s.group_names[g], g);
    std::fill_n(used.begin() + group.first_sub, group.sub_count, std::uint8_t{1});
  }
  std::vector<std::vector<std::uint32_t>>& vacant = w.free_subs.write();
  for (sub_group_row first = 0; first < s.sub_slots;) {
    sub_group_row end = first;
    while (end < s.sub_slots && used[end] == 0) ++end;
    const std::uint32_t size = end - first;
    if (size > 0) {
      if (vacant.size() <= size) vacant.resize(size + 1);
      vacant[size].push_back(first);
    }
    first = end + 1;
  }
}

void resume_classes(const cluster_state& s, writer_state& w, name_maps& names) {
  w.free_classes = vacant_slots(s.class_slots, [&](class_row c) { return s.classes[c] != nullptr; });
  w.class_users.grow(s.class_slots);
  w.class_keys.grow(s.class_slots);
  for (class_row c = 0; c < s.class_slots; ++c) {
    if (s.classes[c] == nullptr) continue;
    w.class_keys.write(c) = s.names->add(s.classes[c]->ask.key());
    names.classes.insert(w.class_keys[c], c);
  }
}

void resume_pods(const cluster_state& s, writer_state& w, name_maps& names) {
  w.free_pods = vacant_slots(s.pod_slots, [&](pod_row p) { return s.pods[p].live; });
  names.pods.reserve(s.live_pods);
  std::vector<std::uint32_t> users(s.class_slots, 0);
  std::vector<std::uint32_t>& on_node = w.pods_on_node.write();
  on_node.assign(s.node_row_of_slot->size(), 0);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    names.pods.insert(s.pod_names[p], p);
    ++users[s.pods[p].pod_class];
    const std::uint32_t node = s.live.pod_node[p];
    if (node != no_row && is_in(static_cast<pod_status>(s.live.pod_state[p]), active_used)) ++on_node[node];
  }
  std::vector<std::int64_t>& sums = w.total_request.write();
  sums.assign(s.dims(), 0);
  for (class_row c = 0; c < s.class_slots; ++c) {
    w.class_users.write(c) = users[c];
    if (s.classes[c] == nullptr) continue;
    const std::vector<std::int64_t>& request = s.classes[c]->ask.request;
    for (std::size_t d = 0; d < request.size(); ++d) sums[d] += request[d] * users[c];
  }
}

void resume_claims(const cluster_state& s, writer_state& w, name_maps& names) {
  w.free_claims = vacant_slots(s.claim_slots, [&](std::uint32_t i) { return s.claims[i] != nullptr; });
  for (std::uint32_t i = 0; i < s.claim_slots; ++i) {
    if (s.claims[i] != nullptr) names.claims.insert(s.names->add(s.claims[i]->name), i);
  }
}

}  // namespace

void resume(cluster_state& state, writer_state& writer, name_maps& names) {
  writer = {};
  writer.last_version = state.version;
  names = {};
  state.names = std::make_shared<base::string_pool>(state.names);
  resume_queues(state, writer, names);
  resume_nodes(state, writer, names);
  resume_groups(state, writer, names);
  resume_classes(state, writer, names);
  resume_pods(state, writer, names);
  resume_claims(state, writer, names);
}

}  // namespace kaisched::model
