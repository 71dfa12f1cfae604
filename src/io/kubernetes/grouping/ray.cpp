// `RayCluster`, and the cluster of a `RayJob` or `RayService`: the head and each group of workers are sub-groups.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr group_kind ray_cluster{"ray.io", "RayCluster"};
constexpr std::string_view ray_group_label = "ray.io/group";
constexpr std::string_view head_group = "headgroup";

/// The cluster that a job or service says that it has.
std::string_view named_cluster(object& of) {
  const member status = of.section(of.root(), "status");
  if (of.kind() == "RayJob") return of.text(status, "rayClusterName");
  for (const std::string_view key : {"activeServiceStatus", "pendingServiceStatus"}) {
    const std::string_view name = of.text(of.section(status, key), "rayClusterName");
    if (!name.empty()) return name;
  }
  return {};
}

constraint_levels levels_of_template(object& cluster, json_value group) {
  const member metadata = cluster.section(cluster.section(group, "template"), "metadata");
  const member annotations = cluster.section(metadata, "annotations");
  constraint_levels levels = template_levels(cluster, annotations);
  if (levels.topology.empty() && !(levels.required.empty() && levels.preferred.empty())) {
    fail_at(cluster, annotations, fmt::format("levels need a topology, the annotation {}", topology_key));
  }
  return levels;
}

/// Pods that a group of workers needs; 0: it takes no part now.
std::int64_t workers_of(object& cluster, json_value group) {
  if (cluster.flag(group, "suspended")) return 0;
  const std::int64_t wanted = bounded_integer(cluster, group, "replicas", 0).value_or(0);
  const std::int64_t least = bounded_integer(cluster, group, "minReplicas", 0).value_or(0);
  const std::int64_t hosts = bounded_integer(cluster, group, "numOfHosts", 0).value_or(1);
  if (least > wanted) {
    fail_at(cluster, find(group, "minReplicas"), fmt::format("{} are more than the {} replicas", least, wanted));
  }
  const std::int64_t pods = (least > 0 ? least : wanted) * hosts;
  if (pods <= max_group_size) return pods;
  cluster.fail(group, fmt::format("{} pods are more than {}", pods, max_group_size));
  return 0;
}

}  // namespace

std::string choose_ray_cluster(workload& of) {
  if (of.top().is(ray_cluster)) {
    of.cluster = of.top().found;
    return {};
  }
  object& top = of.top_object();
  if (const std::string_view name = named_cluster(top); !name.empty()) {
    of.cluster = of.objects.find(ray_cluster.group, ray_cluster.kind, of.pod.name_space(), name);
  }
  // Before the status says so, the pod itself may be of the cluster.
  for (const workload_owner& one : of.owners) {
    if (of.cluster == nullptr && one.is(ray_cluster)) of.cluster = one.found;
  }
  if (of.cluster != nullptr) return {};
  return fmt::format("{} {} has no RayCluster among the objects", top.kind(), top.full_name());
}

std::string place_ray(const workload& of, placement& to) {
  to.sub_group = of.pod.label(ray_group_label).value_or("");
  return {};
}

std::string shape_ray(const workload& of, group_shape& to) {
  object& cluster = *of.cluster;
  const member spec = cluster.section(cluster.root(), "spec");
  if (const auto name = of.top().label("ray.io/priority-class-name")) {
    to.priority_class = *name;
    to.class_counts = true;
  }
  sub_group_record& head = add_part(head_group, {}, 1, to);
  if (const member group = cluster.section(spec, "headGroupSpec")) head.levels = levels_of_template(cluster, *group);
  std::set<std::string, std::less<>> names{std::string(head_group)};
  std::int64_t index = 0;
  for (const json_value group : cluster.items(spec, "workerGroupSpecs")) {
    const std::int64_t number = index++;
    const std::int64_t pods = workers_of(cluster, group);
    if (pods == 0) continue;
    sub_group_record& row = add_part(cluster.text(group, "groupName"), {}, pods, to);
    if (row.name.empty()) row.name = fmt::format("worker-group-{}", number);
    row.levels = levels_of_template(cluster, group);
    if (!names.insert(row.name).second) cluster.fail(group, fmt::format("there are two groups '{}'", row.name));
  }
  return cluster.failed() ? cluster.fault_text() : std::string{};
}

}  // namespace kaisched::io::kubernetes
