#include "actions/placement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "actions/runtime.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::failure;

/// Goes down the tree of sub-groups; never back to a sibling that has been placed.
class walk {
 public:
  walk(core& c, group_row group, const placing& how, failure& why) : c_(c), group_(group), how_(how), why_(why) {}

  result<bool> place(sub_group_row member, std::span<const pod_row> chunk) {
    if (!c_.state().subs[member].is_set) return place_pods(member, chunk);
    for (const sub_group_row child : work::children_in_order(c_, member)) {
      if (!owns_any(child, chunk)) continue;
      result<bool> placed = place(child, chunk);
      if (!placed || !*placed) return placed;
    }
    return true;
  }

  result<bool> place_pods(sub_group_row pod_set, std::span<const pod_row> chunk) {
    for (const pod_row pod : chunk) {
      if (c_.state().pods[pod].sub != pod_set) continue;
      result<bool> placed = place_pod(pod);
      if (!placed || !*placed) return placed;
    }
    return true;
  }

 private:
  bool owns_any(sub_group_row member, std::span<const pod_row> chunk) const {
    return std::any_of(chunk.begin(), chunk.end(), [&](pod_row p) {
      for (sub_group_row up = c_.state().pods[p].sub; up != no_row; up = c_.state().subs[up].parent) {
        if (up == member) return true;
      }
      return false;
    });
  }

  /// The pod is leaving this node. The reference asks nodes for their pods, and a pod that was moved before is one of
  /// two nodes.
  bool is_on(pod_row pod, std::uint32_t node) const {
    if (c_.live.pod_node[pod] == node) return true;
    return c_.compat() && std::any_of(c_.leaving.begin(), c_.leaving.end(),
                                      [&](const leaving_pod& g) { return g.pod == pod && g.node == node; });
  }

  /// To where it is leaving, and to the devices that it shared there.
  bool comes_back(pod_row pod, const work::place& found) const {
    if (!found.groups.empty()) {
      const policy::group_ids* mine = c_.groups.groups_of(pod, found.row);
      return mine != nullptr && *mine == found.groups;
    }
    if (!is_on(pod, (*c_.state().nodes)[found.row]->slot)) return false;
    const model::pod_class& ask = c_.state().class_of(pod);
    return !ask.is_shared() || model::can_take(c_.state(), c_.live, ask, found.row, c_.live.pod_devices[pod]);
  }

  result<bool> place_pod(pod_row pod) {
    // Queues are asked again per pod, because the ones placed before have been charged.
    const model::pod_class& ask = c_.state().class_of(pod);
    if (c_.has_proportion && c_.has_predicates && !c_.queues_depend_on_node(ask) &&
        c_.queues_refuse(group_, c_.asked(ask), std::span(&pod, 1), why_)) {
      why_.pod = pod;
      return false;
    }
    result<work::place> found = c_.choice.best(c_, pod, how_.only_claims, how_.among);
    if (!found) return found.failure();
    if (found->row == no_row) {
      why_ = c_.refusal;
      why_.group = group_;
      why_.pod = pod;
      return false;
    }
    const std::uint32_t eviction =
        static_cast<pod_status>(c_.live.pod_state[pod]) == pod_status::releasing ? c_.eviction_of(pod) : no_row;
    if (eviction != no_row && comes_back(pod, *found) && !c_.changes_zones(pod, found->row) &&
        !c_.changes_claims(pod, eviction)) {
      c_.unevict(eviction);  // back in its own place: nothing happened to it
    } else if (found->must_wait) {
      c_.pipeline(pod, found->row, found->devices, found->groups);
    } else {
      c_.allocate(pod, found->row, found->devices, found->groups);
    }
    return true;
  }

  core& c_;
  group_row group_;
  const placing& how_;
  failure& why_;
};

}  // namespace

result<bool> place_group(core& c, group_row group, const placing& how, failure& why) {
  const std::vector<pod_row> chunk = c.chunk_of(group, how.only_claims);
  why = {};
  why.group = group;
  if (chunk.empty()) {
    why.what = constraint::gang_incomplete;
    return false;
  }
  if (c.has_proportion && c.queues_refuse(group, work::least_request_of(c, chunk), chunk, why)) return false;
  const std::uint32_t start = c.depth();
  const std::string before = c.digest_for_checks();
  walk w(c, group, how, why);
  const model::group_core& g = c.state().groups[group];
  result<bool> placed = g.sub_count == 2 ? w.place_pods(g.first_sub + 1, chunk) : w.place(g.first_sub, chunk);
  if (!placed || !*placed) {
    c.rollback(start);
    if (c.digest_for_checks() != before)
      return error{status::internal, "invariant violated: undo did not restore the state", {}};
  }
  return placed;
}

std::vector<group_row> groups_to_start(const core& c) {
  std::vector<group_row> groups;
  for (const group_row g : *c.state().pending_groups) {
    if (c.is_schedulable_queue(c.state().groups[g].queue) && work::is_ready(c, c.state().groups[g].first_sub) &&
        work::count_pods(c, g, &model::sub_counts::pending) > 0 && requeue_delay_of(c, g).left() == 0) {
      groups.push_back(g);
    }
  }
  return groups;
}

result<void> commit_group(core& c, group_row group, bool waits, bool had_started) {
  c.commit();
  if (!waits && !had_started) c.note_start(group);
  ++c.statistics.back().groups_placed;
  return c.verify();
}

}  // namespace kaisched::actions
