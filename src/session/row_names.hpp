#pragma once
/// @file
/// Rows of a session as ids and names, as tables and texts give them.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/mask.hpp"
#include "framework/session_state.hpp"

namespace kaisched::session_detail {

[[nodiscard]] inline entity_id id_of_pod(const framework::session_state& c, pod_row p) {
  return p == no_row ? entity_id{} : entity_id(entity_kind::pod, c.state().pods[p].generation, p);
}
[[nodiscard]] inline entity_id id_of_group(const framework::session_state& c, group_row g) {
  return {entity_kind::pod_group, c.state().groups[g].generation, g};
}
[[nodiscard]] inline entity_id id_of_node(const framework::session_state& c, node_row row) {
  if (row == no_row) return {};
  const std::uint32_t slot = (*c.state().nodes)[row]->slot;
  return {entity_kind::node, (*c.state().node_generation)[slot], slot};
}
[[nodiscard]] inline entity_id id_of_queue(const framework::session_state& c, queue_row q) {
  return q == no_row ? entity_id{} : entity_id(entity_kind::queue, (*c.state().queues)[q].generation, q);
}

[[nodiscard]] inline std::string_view name_of_node(const framework::session_state& c, node_row row) {
  return row == no_row ? std::string_view{} : std::string_view((*c.state().nodes)[row]->name);
}

[[nodiscard]] inline std::vector<std::string_view> views_of(const std::vector<std::string>& texts) {
  return {texts.begin(), texts.end()};
}

using base::indices_of;

}  // namespace kaisched::session_detail
