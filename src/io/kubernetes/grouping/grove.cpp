// Grove: the `PodGang` that a pod names has the sub-groups; what the set above it says is handed down.
#include <map>
#include <set>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr group_kind pod_gang_kind{"scheduler.grove.io", "PodGang"};
constexpr std::string_view pod_gang_label = "grove.io/podgang";

constraint_levels pack_levels(const workload& of, member holder) {
  object& gang = of.top_object();
  const member pack = gang.section(gang.section(holder, "topologyConstraint"), "packConstraint");
  constraint_levels levels;
  levels.required = gang.text(pack, "required");
  levels.preferred = gang.text(pack, "preferred");
  if (levels.required.empty() && levels.preferred.empty()) return {};
  levels.topology = gang.annotation("grove.io/topology-name").value_or(gang.annotation(topology_key).value_or(""));
  if (levels.topology.empty()) fail_at(gang, pack, "levels need a topology, the annotation grove.io/topology-name");
  return levels;
}

/// Names of cliques that are placed together -> the name of what holds them.
using clique_parents = std::map<std::string, std::string, std::less<>>;

void add_parents(const workload& of, member spec, clique_parents& parents, group_shape& to) {
  object& gang = of.top_object();
  for (const json_value config : gang.items(spec, "topologyConstraintGroupConfigs")) {
    sub_group_record row;
    row.name = gang.text(config, "name");
    if (row.name.empty()) gang.fail(config, "name", "the name is missing");
    const std::vector<std::string_view> cliques = gang.texts(config, "podGroupNames");
    if (cliques.empty()) continue;
    for (const std::string_view one : cliques) parents[std::string(one)] = row.name;
    row.min_sub_group = static_cast<std::int64_t>(cliques.size());
    row.levels = pack_levels(of, config);
    to.sub_groups.push_back(std::move(row));
  }
}

}  // namespace

std::string choose_pod_gang(workload& of) {
  object* const found = labelled_object(of, pod_gang_kind, pod_gang_label);
  if (found == nullptr) return missing_object(of, pod_gang_kind, pod_gang_label);
  of.owners.push_back(above_owner(of, *found));
  return {};
}

std::string place_pod_gang(const workload& of, placement& to) {
  return of.top().is(pod_gang_kind) ? std::string{} : place_alone(of, to);
}

std::string shape_pod_gang(const workload& of, group_shape& to) {
  if (!of.top().is(pod_gang_kind)) return {};
  object& gang = of.top_object();
  const member spec = gang.section(gang.root(), "spec");
  to.priority_class = gang.text(spec, "priorityClassName");
  to.levels = pack_levels(of, spec);
  clique_parents parents;
  add_parents(of, spec, parents, to);
  std::set<std::string, std::less<>> names;
  for (const sub_group_record& one : to.sub_groups) names.insert(one.name);
  std::int64_t total = 0;
  for (const json_value clique : gang.items(spec, "podgroups")) {
    sub_group_record row;
    row.name = gang.text(clique, "name");
    if (row.name.empty()) gang.fail(clique, "name", "the name is missing");
    if (!names.insert(row.name).second) gang.fail(clique, fmt::format("there are two groups '{}'", row.name));
    const std::optional<std::int64_t> least = bounded_integer(gang, clique, "minReplicas", 1);
    if (!least) gang.fail(clique, "minReplicas", "the number of pods is missing");
    row.min_member = least.value_or(1);
    total += row.min_member;
    if (const auto parent = parents.find(row.name); parent != parents.end()) row.parent = parent->second;
    row.levels = pack_levels(of, clique);
    for (const json_value reference : gang.items(clique, "podReferences")) {
      if (gang.text(reference, "namespace") == gang.name_space()) to.members[gang.text(reference, "name")] = row.name;
    }
    to.sub_groups.push_back(std::move(row));
  }
  to.min_member = total;
  return gang.failed() ? gang.fault_text() : std::string{};
}

}  // namespace kaisched::io::kubernetes
