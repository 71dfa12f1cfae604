// What pods on nodes and node constraints mean for others. For spread, pods that are leaving are gone, and pods that
// hold a claim are there already, as in Kubernetes.
#include <algorithm>

#include "policy/access.hpp"
#include "policy/constraints/constraint_list.hpp"
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
  return !must_leave_room(a, c) && !a.constraints->follows_other_pods(a, c);
}

bool has_part(const session_access& a, std::string_view name) {
  return std::find(a.options->parts.begin(), a.options->parts.end(), name) != a.options->parts.end();
}

std::int64_t gpus_paid(const session_access& a, pod_row pod, node_row row, free_amount which) {
  return a.constraints->gpus_paid(pod, row, which);
}

}  // namespace kaisched::policy
