// Host ports, required pod (anti-)affinity and spread, with Kubernetes' semantics: pods that are leaving are still
// there (for spread they are gone), pods that hold a claim are there already.
#include <algorithm>
#include <string_view>

#include "policy/access.hpp"
#include "policy/predicates/neighbours.hpp"

namespace kaisched::policy {

namespace {

using model::affinity_term;
using model::cluster_state;

/// The node that a pod is on, or no_row.
node_row node_of(const session_access& a, pod_row p) {
  const cluster_state& s = *a.state;
  if (!s.pods[p].live || !model::is_in(static_cast<pod_status>(a.live->pod_state[p]), model::active_used))
    return no_row;
  const std::uint32_t slot = a.live->pod_node[p];
  return slot == no_row ? no_row : (*s.node_row_of_slot)[slot];
}

/// Calls `visit(pod, node row)` for every pod on a node; one that is moved is on two.
template <class Visit>
void for_pods_on_nodes(const session_access& a, Visit visit) {
  for (pod_row p = 0; p < a.state->pod_slots; ++p) {
    const node_row row = node_of(a, p);
    if (row != no_row) visit(p, row);
  }
  for (const leaving_pod& one : *a.leaving) visit(one.pod, (*a.state->node_row_of_slot)[one.node]);
}

/// The nodes that a pod is on.
template <class Visit>
void for_nodes_of(const session_access& a, pod_row p, Visit visit) {
  if (const node_row row = node_of(a, p); row != no_row) visit(row);
  for (const leaving_pod& one : *a.leaving) {
    if (one.pod == p) visit((*a.state->node_row_of_slot)[one.node]);
  }
}

/// That of its group; pods without a group are in the empty one.
std::string_view name_space(const cluster_state& s, pod_row p) {
  const group_row g = s.pods[p].group;
  return g == no_row ? std::string_view{} : s.group_extras[g].name_space;
}

model::label_list labels_of(const cluster_state& s, pod_row p) {
  return model::parse_labels(s.pod_extras[p].labels).value();  // checked when the pod came
}

const std::string* domain(const cluster_state& s, node_row row, const affinity_term& term) {
  return model::find_label((*s.nodes)[row]->labels, term.topology_key);
}

bool selects(const cluster_state& s, const affinity_term& term, pod_row owner, pod_row other) {
  return reaches(term, name_space(s, owner), name_space(s, other)) && term.pods.matches(labels_of(s, other));
}

/// Domains of a term in which there is a pod that it selects.
std::vector<std::string_view> domains_with_matches(const session_access& a, const affinity_term& term, pod_row owner,
                                                   bool& any) {
  const cluster_state& s = *a.state;
  std::vector<std::string_view> found;
  any = false;
  for_pods_on_nodes(a, [&](pod_row other, node_row row) {
    if (!selects(s, term, owner, other)) return;
    any = true;
    if (const std::string* value = domain(s, row, term)) found.emplace_back(*value);
  });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

bool contains(const std::vector<std::string_view>& sorted, const std::string* value) {
  return value != nullptr && std::binary_search(sorted.begin(), sorted.end(), std::string_view(*value));
}

void refuse_where(std::span<constraint> verdicts, std::span<const node_row> nodes, constraint what, auto refused) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (verdicts[i] == constraint::none && refused(nodes[i])) verdicts[i] = what;
  }
}

void judge_affinity(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                    std::span<constraint> verdicts) {
  const cluster_state& s = *a.state;
  for (const affinity_term& term : s.class_of(pod).affinity) {
    bool any = false;
    const auto domains = domains_with_matches(a, term, pod, any);
    // The first pod of a group that wants to be together may go anywhere the topology key exists.
    const bool first_of_its_kind = !any && selects(s, term, pod, pod);
    refuse_where(verdicts, nodes, constraint::pod_affinity, [&](node_row row) {
      const std::string* value = domain(s, row, term);
      return value == nullptr || (!first_of_its_kind && !contains(domains, value));
    });
  }
}

void judge_anti_affinity(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                         std::span<constraint> verdicts) {
  const cluster_state& s = *a.state;
  for (const affinity_term& term : s.class_of(pod).anti_affinity) {
    bool any = false;
    const auto domains = domains_with_matches(a, term, pod, any);
    refuse_where(verdicts, nodes, constraint::pod_anti_affinity,
                 [&](node_row row) { return contains(domains, domain(s, row, term)); });
  }
  const model::label_list own_labels = labels_of(s, pod);
  for (const pod_row other : a.repelling_pods) {
    for (const affinity_term& term : s.class_of(other).anti_affinity) {
      if (!reaches(term, name_space(s, other), name_space(s, pod)) || !term.pods.matches(own_labels)) continue;
      for_nodes_of(a, other, [&](node_row at) {
        const std::string* theirs = domain(s, at, term);
        if (theirs == nullptr) return;
        refuse_where(verdicts, nodes, constraint::pod_anti_affinity, [&](node_row row) {
          const std::string* mine = domain(s, row, term);
          return mine != nullptr && *mine == *theirs;
        });
      });
    }
  }
}

void judge_ports(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                 std::span<constraint> verdicts) {
  const cluster_state& s = *a.state;
  const auto& wanted = s.class_of(pod).host_ports;
  if (wanted.empty()) return;
  std::vector<bool> taken(s.node_count(), false);
  for_pods_on_nodes(a, [&](pod_row other, node_row row) {
    for (const model::host_port& theirs : s.class_of(other).host_ports) {
      if (std::any_of(wanted.begin(), wanted.end(), [&](const auto& mine) { return mine.conflicts(theirs); }))
        taken[row] = true;
    }
  });
  refuse_where(verdicts, nodes, constraint::host_port, [&](node_row row) { return taken[row]; });
}

}  // namespace

void spread_verdicts(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                     std::span<constraint> verdicts) {
  if (a.neighbours == nullptr || !a.neighbours->must_spread(pod)) return;
  refuse_where(verdicts, nodes, constraint::spread,
               [&](node_row row) { return a.neighbours->verdict(pod, row) != spread_verdict::even; });
}

bool ignores_other_pods(const session_access& a, const model::pod_class& c) {
  const bool predicates_say_nothing =
      !a.predicates || (a.state->pods_with_affinity == 0 && c.host_ports.empty() && !must_leave_room(a, c));
  const auto is_hard = [](const model::spread_constraint& one) { return !one.soft; };
  return predicates_say_nothing && (a.neighbours == nullptr || std::none_of(c.spread.begin(), c.spread.end(), is_hard));
}

void pod_verdicts(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                  std::span<constraint> verdicts) {
  if (a.predicates) judge_ports(a, pod, nodes, verdicts);
  if (a.predicates && a.state->pods_with_affinity > 0) {
    judge_affinity(a, pod, nodes, verdicts);
    judge_anti_affinity(a, pod, nodes, verdicts);
  }
  spread_verdicts(a, pod, nodes, verdicts);
}

}  // namespace kaisched::policy
