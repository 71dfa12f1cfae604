#include "actions/placement.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::failure;

/// Goes down the tree of sub-groups; never back to a sibling that has been placed.
class walk {
 public:
  walk(core& c, group_row group, bool only_claims, failure& why)
      : c_(c), group_(group), only_claims_(only_claims), why_(why) {}

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

  result<bool> place_pod(pod_row pod) {
    // Queues are asked again per pod, because the ones placed before have been charged.
    if (c_.has_proportion && c_.has_predicates &&
        c_.queues_refuse(group_, model::quota_request(c_.state().class_of(pod)), why_)) {
      why_.pod = pod;
      return false;
    }
    result<work::place> found = c_.choice.best(c_, pod, only_claims_);
    if (!found) return found.failure();
    if (found->row == no_row) {
      why_ = {};
      why_.group = group_;
      why_.pod = pod;
      return false;
    }
    if (found->must_wait) {
      c_.pipeline(pod, found->row, found->devices);
    } else {
      c_.allocate(pod, found->row, found->devices);
    }
    return true;
  }

  core& c_;
  group_row group_;
  bool only_claims_;
  failure& why_;
};

}  // namespace

result<bool> place_group(core& c, group_row group, bool only_claims, failure& why) {
  std::vector<pod_row> chunk;
  work::next_chunk(c, group, chunk);
  why = {};
  why.group = group;
  if (chunk.empty()) {
    why.what = constraint::gang_incomplete;
    return false;
  }
  if (c.has_proportion && c.queues_refuse(group, work::request_of(c, chunk), why)) return false;
  const std::uint32_t start = c.depth();
  const std::string before = c.digest_for_checks();
  walk w(c, group, only_claims, why);
  const model::group_core& g = c.state().groups[group];
  result<bool> placed = g.sub_count == 2 ? w.place_pods(g.first_sub + 1, chunk) : w.place(g.first_sub, chunk);
  if (!placed || !*placed) {
    c.rollback(start);
    if (c.digest_for_checks() != before)
      return error{status::internal, "invariant violated: undo did not restore the state", {}};
  }
  return placed;
}

}  // namespace kaisched::actions
