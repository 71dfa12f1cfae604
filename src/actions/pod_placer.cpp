#include "actions/pod_placer.hpp"

#include <algorithm>
#include <iterator>

#include "framework/members.hpp"

namespace kaisched::actions {

result<bool> pod_placer::place(std::span<const pod_row> pods, bool is_part, const framework::node_scope& scope) {
  c_.choice.start_scope();
  for (const pod_row pod : pods) {
    if (auto on = c_.run.go_on(); !on) return on.failure();
    result<bool> placed = place_one(pod, scope, is_part || pods.size() > 1);
    if (!placed || !*placed) return placed;
  }
  return true;
}

/// The pod is leaving this node. The reference asks nodes for their pods, and a pod that was moved before is one of
/// two nodes.
bool pod_placer::is_on(pod_row pod, std::uint32_t node) const {
  if (c_.live.pod_node[pod] == node) return true;
  return c_.compat() && c_.statement.is_leaving(pod, node);
}

/// To where it is leaving, and to the devices that it shared there.
bool pod_placer::comes_back(pod_row pod, const framework::place& found) const {
  if (!found.groups.empty()) {
    const policy::group_ids* mine = c_.access.groups->groups_of(pod, found.row);
    return mine != nullptr && *mine == found.groups;
  }
  if (!is_on(pod, (*c_.state().nodes)[found.row]->slot)) return false;
  const model::pod_class& ask = c_.state().class_of(pod);
  if (c_.compat() && !ask.is_shared()) return true;
  const device_set& mine = c_.live.pod_devices[pod];
  return model::can_take(c_.state(), c_.live, ask, found.row, mine) &&
         (c_.compat() || model::leaves_claims(c_.state(), c_.live, found.row, mine.mask));
}

result<bool> pod_placer::place_one(pod_row pod, const framework::node_scope& scope, bool is_one_of_several) {
  // Queues have been asked about all of them. They are asked again per pod, because those placed before are charged.
  const model::pod_class& ask = c_.state().class_of(pod);
  if (is_one_of_several && c_.has_proportion && c_.has_predicates && !c_.queues.depend_on_node(ask) &&
      c_.queues.refuse(group_, c_.queues.asked(ask), std::span(&pod, 1), why_)) {
    why_.pod = pod;
    return false;
  }
  result<framework::place> found = c_.choice.best(c_, pod, how_.only_claims, scope);
  if (!found) return found.failure();
  if (found->row == no_row) {
    why_ = c_.refusal;
    why_.group = group_;
    why_.pod = pod;
    return false;
  }
  const std::uint32_t eviction =
      static_cast<pod_status>(c_.live.pod_state[pod]) == pod_status::releasing ? c_.statement.eviction_of(pod) : no_row;
  if (eviction != no_row && comes_back(pod, *found) && c_.statement.gets_back(pod, found->row, eviction)) {
    c_.statement.unevict(eviction);  // back in its own place: nothing happened to it
  } else if (found->must_wait) {
    c_.statement.pipeline(pod, found->row, found->devices, found->groups);
  } else {
    c_.statement.allocate(pod, found->row, found->devices, found->groups);
  }
  return true;
}

}  // namespace kaisched::actions
