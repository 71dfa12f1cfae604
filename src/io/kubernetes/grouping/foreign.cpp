// Groups that pods themselves name in the words of others: Kubernetes' workloads and pod groups, applications of
// YuniKorn.
#include <algorithm>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view scheduling_api = "scheduling.k8s.io";
constexpr std::string_view ignore_workload_key = "kai.scheduler/ignore-workload-api";

/// What a pod says about its group.
struct group_reference {
  std::string_view kind;
  std::string_view name;
  std::string_view part;     ///< of a workload: which of its pod groups
  std::string_view replica;  ///< and which copy of it; empty: the only one
};

std::optional<group_reference> reference_of(object& pod) {
  const member spec = pod.section(pod.root(), "spec");
  if (const member group = pod.section(spec, "schedulingGroup")) {
    if (const std::string_view name = pod.text(group, "podGroupName"); !name.empty()) {
      return group_reference{"PodGroup", name, {}, {}};
    }
  }
  const member workload = pod.section(spec, "workloadRef");
  if (!workload) return std::nullopt;
  return group_reference{"Workload", pod.text(workload, "name"), pod.text(workload, "podGroup"),
                         pod.text(workload, "podGroupReplicaKey")};
}

std::string place_scheduling_group(const workload& of, placement& to) {
  const group_reference named = reference_of(of.pod).value_or(group_reference{});
  to.group = named.name;
  if (!named.part.empty()) to.group += fmt::format("-{}", named.part);
  if (!named.replica.empty()) to.group += fmt::format("-{}", named.replica);
  return {};
}

std::string shape_scheduling_group(const workload& of, group_shape& to) {
  object& holder = of.top_object();
  const group_reference named = reference_of(of.pod).value_or(group_reference{});
  const member spec = holder.section(holder.root(), "spec");
  member policy = holder.section(spec, "schedulingPolicy");
  if (named.kind == "Workload") {
    const std::vector<json_value> groups = holder.items(spec, "podGroups");
    const auto known = std::find_if(groups.begin(), groups.end(),
                                    [&](json_value one) { return holder.text(one, "name") == named.part; });
    if (known == groups.end()) return fmt::format("its Workload {} has no pod group '{}'", named.name, named.part);
    policy = holder.section(*known, "policy");
  }
  if (const member gang = holder.section(policy, "gang")) {
    to.min_member = bounded_integer(holder, gang, "minCount", 1).value_or(1);
  }
  return holder.failed() ? holder.fault_text() : std::string{};
}

std::string_view first_of(const object& pod, std::string_view key, std::string_view other) {
  for (const std::string_view one : {key, other}) {
    const std::string_view text = pod.label(one).value_or(pod.annotation(one).value_or(""));
    if (!text.empty()) return text;
  }
  return {};
}

std::string_view application_of(const object& pod) {
  return first_of(pod, "yunikorn.apache.org/app-id", "applicationId");
}

std::string place_application(const workload& of, placement& to) {
  to.group.clear();
  if (of.top().is({"", "Pod"})) place_bare_pod(of, to);
  if (to.group.empty()) to.group = fmt::format("pg-{}", application_of(of.pod));
  return {};
}

std::string shape_application(const workload& of, group_shape& to) {
  to.queue = first_of(of.pod, "yunikorn.apache.org/queue", "queue");
  return {};
}

}  // namespace

std::string choose_scheduling_group(workload& of, grouper& by) {
  const std::optional<group_reference> named = reference_of(of.pod);
  if (!named) return {};
  const auto ignored = [](std::optional<std::string_view> word) { return word.value_or("") == "true"; };
  if (ignored(of.pod.annotation(ignore_workload_key)) || ignored(of.top().annotation(ignore_workload_key))) return {};
  object* const found = of.objects.find(scheduling_api, named->kind, of.pod.name_space(), named->name);
  if (found == nullptr) return fmt::format("its {} {} is not among the objects", named->kind, named->name);
  // What the group does not say its owner may.
  of.owners = {above_owner(of, *found)};
  by.place = place_scheduling_group;
  by.shape = shape_scheduling_group;
  return {};
}

void choose_application(const workload& of, grouper& by) {
  constexpr std::string_view one_by_one[] = {"", "Pod", "Deployment", "Job", "CronJob"};
  const bool may = by.rule == owner_rule::counted &&
                   std::find(std::begin(one_by_one), std::end(one_by_one), by.of.kind) != std::end(one_by_one);
  if (!may || application_of(of.pod).empty()) return;
  by.place = place_application;
  by.shape = shape_application;
}

}  // namespace kaisched::io::kubernetes
