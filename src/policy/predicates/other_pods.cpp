// Host ports, required pod (anti-)affinity and spread, with Kubernetes' semantics: pods that are leaving are still
// there (for spread they are gone), pods that hold a claim are there already.
#include <algorithm>

#include "policy/access.hpp"
#include "policy/predicates/affinity_counts.hpp"
#include "policy/predicates/neighbours.hpp"

namespace kaisched::policy {

void spread_verdicts(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                     std::span<constraint> verdicts) {
  if (a.neighbours == nullptr || !a.neighbours->must_spread(pod)) return;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == constraint::none && a.neighbours->verdict(pod, nodes[i]) != spread_verdict::even)
      verdicts[i] = constraint::spread;
  }
}

bool ignores_other_pods(const session_access& a, const model::pod_class& c) {
  const bool predicates_say_nothing =
      !a.predicates || (a.state->pods_with_affinity == 0 && c.host_ports.empty() && !must_leave_room(a, c));
  const auto is_hard = [](const model::spread_constraint& one) { return !one.soft; };
  return predicates_say_nothing && (a.neighbours == nullptr || std::none_of(c.spread.begin(), c.spread.end(), is_hard));
}

bool is_concerned_by_pods(const session_access& a, pod_row pod) {
  return (a.affinity != nullptr && a.affinity->concerns(pod)) ||
         (a.neighbours != nullptr && a.neighbours->must_spread(pod));
}

void pod_verdicts(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                  std::span<constraint> verdicts) {
  if (a.affinity != nullptr) a.affinity->judge(pod, nodes, verdicts);
  spread_verdicts(a, pod, nodes, verdicts);
}

}  // namespace kaisched::policy
