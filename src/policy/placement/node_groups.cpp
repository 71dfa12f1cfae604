#include "policy/placement/node_groups.hpp"

#include <algorithm>
#include <set>

namespace kaisched::policy {

namespace {

constexpr double group_score = 100;
constexpr std::string_view top_queue = "root";

bool holds(const std::vector<std::string>& groups, std::string_view group) {
  return std::find(groups.begin(), groups.end(), group) != groups.end();
}

const node_group_queue* queue_of(std::span<const node_group_queue> queues, std::string_view name) {
  const auto found =
      std::find_if(queues.begin(), queues.end(), [&](const node_group_queue& one) { return one.name == name; });
  return found == queues.end() ? nullptr : &*found;
}

/// Of groups that stand there twice the last place counts.
double preference(std::string_view group, const std::vector<std::string>& preferred, bool in_order) {
  const auto last = std::find(preferred.rbegin(), preferred.rend(), group);
  if (last == preferred.rend()) return 0;
  if (!in_order) return 0.5 * group_score;
  const auto place = static_cast<double>(preferred.rend() - last - 1);
  const auto groups = static_cast<double>(std::set<std::string_view>(preferred.begin(), preferred.end()).size());
  return 0.5 * group_score * (groups - place) / groups;
}

}  // namespace

const node_group_affinity* node_groups_of(std::span<const node_group_queue> queues, std::string_view name,
                                          bool inherits) {
  std::set<std::string_view> seen;
  for (const node_group_queue* one = queue_of(queues, name); one != nullptr && seen.insert(one->name).second;) {
    if (one->affinity) return &*one->affinity;
    if (!inherits || one->name == top_queue) return nullptr;
    one = queue_of(queues, one->parent.empty() ? top_queue : std::string_view(one->parent));
  }
  return nullptr;
}

node_group_refusal refused_by_group(const std::string* group, const node_group_affinity* affinity, bool strict) {
  const bool says_nothing = affinity == nullptr || affinity->says_nothing();
  if (group == nullptr) return !strict && says_nothing ? node_group_refusal::none : node_group_refusal::no_group;
  if (says_nothing) return node_group_refusal::no_affinity;
  const bool wanted =
      (holds(affinity->required, *group) || holds(affinity->preferred, *group)) && !holds(affinity->avoided, *group);
  return wanted || holds(affinity->rather_avoided, *group) ? node_group_refusal::none : node_group_refusal::unwanted;
}

double node_group_score(std::string_view group, const node_group_affinity& affinity, bool in_order) {
  if (holds(affinity.rather_avoided, group)) return -1;
  const double required = holds(affinity.required, group) ? group_score : 0;
  return required + preference(group, affinity.preferred, in_order);
}

}  // namespace kaisched::policy
