#include "io/kubernetes/volcano_groups.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "io/kubernetes/checks.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/quantity.hpp"
#include "io/kubernetes/resources.hpp"
#include "model/selector.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// Of pods: the group.
constexpr std::array<std::string_view, 2> volcano_group_keys{"scheduling.k8s.io/group-name",
                                                             "scheduling.volcano.sh/group-name"};
constexpr std::string_view preemptable_key = "volcano.sh/preemptable";
constexpr std::string_view task_priority_key = "volcano.sh/task-priority";
constexpr std::string_view cooldown_key = "volcano.sh/cooldown-time";
/// The sub-group of pods that no policy of their group is about.
constexpr std::string_view rest_sub_group = "rest";

/// Full name; empty: it names none.
std::string volcano_group_of(const object& pod) {
  for (const std::string_view key : volcano_group_keys) {
    const std::string_view name = pod.annotation(key).value_or("");
    if (!name.empty()) return pod.in_space(name);
  }
  return {};
}

/// Whether an annotation, else a label, says that it must not be taken from. What is no word of Go for true or false
/// says so as well.
bool is_kept(const object& of) {
  constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "TRUE", "true", "True"};
  auto word = of.annotation(preemptable_key);
  if (!word) word = of.label(preemptable_key);
  return word && std::find(yes.begin(), yes.end(), *word) == yes.end();
}

/// `spec.minResources` as a column. A group that says nothing needs nothing to be let in. Names of quotas, which
/// Volcano's controllers write beside those of resources, do not count.
std::vector<std::string> least_of(object& of, member spec) {
  const member list = of.section(spec, "minResources");
  std::vector<std::string> made;
  for (const auto& [name, amount] : amounts_of(of, list)) {
    const bool of_quotas = name.starts_with("count/") || name.starts_with("requests.") || name.starts_with("limits.");
    if (!of_quotas) made.push_back(fmt::format("{}:{}", name, amount));
  }
  if (made.empty()) made.emplace_back("cpu:0");
  return made;
}

/// When a job that has a time to wait should have started.
std::int64_t start_of(const object& of) {
  for (const std::string_view key : {"volcano.sh/sla-waiting-time", "sla-waiting-time"}) {
    const std::optional<std::int64_t> time = parse_duration(of.annotation(key).value_or(""));
    if (!time || *time <= 0) continue;
    return of.created() > std::numeric_limits<std::int64_t>::max() - *time ? unset : of.created() + *time;
  }
  return unset;
}

/// How long a pod is spared after its start, in seconds; 0: it does not say.
std::int64_t cooldown_of(const object& pod) {
  auto text = pod.label(cooldown_key);
  if (!text) text = pod.annotation(cooldown_key);
  const std::int64_t time = parse_duration(text.value_or("")).value_or(0);
  return time <= 0 ? 0 : (time - 1) / second + 1;
}

/// When a pod got its node; unset: it does not run.
std::int64_t placed_at(object& pod) {
  const member status = pod.section(pod.root(), "status");
  if (pod.text(status, "phase") != "Running") return unset;
  for (const json_value one : pod.items(status, "conditions")) {
    if (pod.text(one, "type") == "PodScheduled" && pod.text(one, "status") == "True")
      return pod.time(one, "lastTransitionTime").value_or(unset);
  }
  return unset;
}

std::string_view role_of(const object& pod) {
  const std::string_view noted = pod.annotation(volcano_task_key).value_or("");
  return noted.empty() ? pod.label(volcano_task_key).value_or("") : noted;
}

/// One element of `subGroupPolicy`.
struct sub_group_policy {
  std::string name;
  std::optional<model::selector> selector;  ///< none: all pods
  std::vector<std::string_view> keys;
  std::int64_t size = 1;
  std::int64_t least = 0;  ///< so many sub-groups
  constraint_levels levels;
  std::map<std::string, std::vector<const object*>> members{};  ///< pods by sub-group

  /// The sub-group of a pod; empty: none. Pods that lack a label are in none, and so are all without keys.
  [[nodiscard]] std::string sub_group_of(const object& pod) const {
    if (keys.empty() || (selector && !selector->matches(labels_of(pod)))) return {};
    std::vector<std::string_view> values;
    for (const std::string_view key : keys) {
      values.push_back(pod.label(key).value_or(""));
      if (values.back().empty()) return {};
    }
    return fmt::format("{}-{}", name, fmt::join(values, "-"));
  }
};

}  // namespace

void volcano_groups::note_pod(object& pod) {
  const std::string group = volcano_group_of(pod);
  const std::string_view scheduler = pod.text(pod.section(pod.root(), "spec"), "schedulerName");
  const auto& ours = settings_.schedulers;
  if (group.empty() || std::find(ours.begin(), ours.end(), scheduler) == ours.end()) return;
  named_group& named = named_[group];
  named.pods.push_back(&pod);
  if (named.queue.empty()) named.queue = pod.label(settings_.queue_key).value_or("");
  named.kept = named.kept || is_kept(pod);
}

std::optional<std::size_t> volcano_groups::read(object& of) {
  const std::string name = of.full_name();
  known_group known;
  known.is_ours = is_in_pool(of, settings_);
  if (!known.is_ours) {
    groups_.emplace(name, std::move(known));
    return std::nullopt;
  }
  const member spec = of.section(of.root(), "spec");
  const named_group& named = named_[name];
  pod_group_record row;
  row.line = of.line();
  row.name = name;
  row.name_space = of.name_space();
  row.queue = of.label(settings_.queue_key).value_or(named.queue);
  if (row.queue.empty()) row.queue = of.text(spec, "queue");
  if (row.queue.empty()) row.queue = "default";
  const std::string_view named_class = of.text(spec, "priorityClassName");
  row.priority = classes_.has(named_class) ? classes_.value(named_class) : 0;
  row.preemptible = !named.kept && !is_kept(of);
  row.created = of.created();
  row.min_member = of.integer(spec, "minMember").value_or(0);
  for (object* pod : named.pods) row.last_start = std::max(row.last_start, placed_at(*pod));
  row.deadline = start_of(of);
  row.min_resources = least_of(of, spec);
  row.user = of.label("user").value_or("");
  row.checks = names_in(of.annotation(checks_annotation).value_or(""));
  row.after = after_entries(of.annotation(after_annotation).value_or(""), row.name_space);
  row.levels = network_levels(of, spec, settings_.tiers, known.obstacle);
  known.roles = role_annotations([&](std::string_view key) { return of.annotation(key); });
  const std::size_t sub_groups = rows_.sub_groups.size();
  read_policies(of, spec, row, known);
  if (rows_.sub_groups.size() == sub_groups) read_roles(of, spec, row, known);
  if (rows_.sub_groups.size() > sub_groups) row.min_member = 1;  // sub-groups have their own
  groups_.emplace(name, std::move(known));
  if (of.failed()) {
    rows_.sub_groups.resize(sub_groups);
    return std::nullopt;
  }
  rows_.groups.push_back(std::move(row));
  return rows_.groups.size() - 1;
}

/// `minTaskMember`: roles as sub-groups, where their sizes are that of the group. A smaller sum may be met by any pods,
/// and a larger one is not looked at.
void volcano_groups::read_roles(object& of, member spec, pod_group_record& row, known_group& known) {
  std::map<std::string, std::int64_t, std::less<>> least;
  std::int64_t total = 0;
  if (const member roles = of.section(spec, "minTaskMember")) {
    for (const json_value one : *roles) {
      const std::int64_t size = bounded_integer(of, roles, one.key(), 0).value_or(0);
      least.emplace(one.key(), size);
      total += size;
    }
  }
  if (of.failed() || least.size() < 2 || total != row.min_member) return;
  const auto add = [&](std::string_view role, std::int64_t size) {
    sub_group_record& sub = rows_.sub_groups.emplace_back();
    sub.line = row.line;
    sub.group = row.name;
    sub.name = role;
    sub.min_member = size;
  };
  for (const auto& [role, size] : least) add(role, size);
  bool others = false;
  for (const object* pod : named_[row.name].pods) {
    const bool listed = least.contains(role_of(*pod));
    others = others || !listed;
    known.sub_groups[pod->full_name()] = listed ? role_of(*pod) : rest_sub_group;
  }
  if (others && !least.contains(rest_sub_group)) add(rest_sub_group, 0);
}

/// `subGroupPolicy`: a set for each policy, with so many sub-groups as have to start, and what is left of the gang in
/// a sub-group of all other pods.
void volcano_groups::read_policies(object& of, member spec, pod_group_record& row, known_group& known) {
  std::vector<sub_group_policy> policies;
  for (const json_value one : of.items(spec, "subGroupPolicy")) {
    sub_group_policy& made = policies.emplace_back();
    made.name = of.text(one, "name");
    if (made.name.empty()) made.name = fmt::format("policy{}", policies.size() - 1);
    if (const member selector = of.section(one, "labelSelector")) {
      result<model::selector> read = model::parse_selector(selector_text(of, selector));
      if (!read) return of.fail(*selector, read.failure().message);
      made.selector = std::move(*read);
    }
    made.keys = of.texts(one, "matchLabelKeys");
    made.size = bounded_integer(of, one, "subGroupSize", 1).value_or(1);
    made.least = bounded_integer(of, one, "minSubGroups", 0).value_or(0);
    if (made.least * made.size > max_group_size)
      of.fail(one, "minSubGroups", fmt::format("{} sub-groups of {} pods are too many", made.least, made.size));
    made.levels = network_levels(of, one, settings_.tiers, known.obstacle);
    for (const sub_group_policy& other : policies) {
      if (&other != &made && other.name == made.name)
        of.fail(one, fmt::format("there are two policies '{}'", made.name));
    }
  }
  if (of.failed() || policies.empty()) return;
  std::int64_t others = 0;
  for (const object* pod : named_[row.name].pods) {
    std::string sub_group(rest_sub_group);
    for (sub_group_policy& one : policies) {
      std::string found = one.sub_group_of(*pod);
      if (found.empty()) continue;
      one.members[found].push_back(pod);
      sub_group = std::move(found);
      break;
    }
    others += sub_group == rest_sub_group ? 1 : 0;
    known.sub_groups[pod->full_name()] = std::move(sub_group);
  }
  std::int64_t needed = 0;
  std::set<std::string_view> names;
  const auto add = [&](std::string_view name, std::string_view parent) -> sub_group_record& {
    if (!names.insert(name).second)
      of.fail(of.root(), "spec.subGroupPolicy", fmt::format("two sub-groups are called '{}'", name));
    sub_group_record& sub = rows_.sub_groups.emplace_back();
    sub.line = row.line;
    sub.group = row.name;
    sub.name = name;
    sub.parent = parent;
    return sub;
  };
  for (const sub_group_policy& one : policies) {
    needed += one.least * one.size;
    if (one.members.empty()) {  // what it needs is not there yet
      if (one.least > 0) add(one.name, {}).min_member = one.least * one.size;
      continue;
    }
    add(one.name, {}).min_sub_group = one.least;
    for (const auto& [name, pods] : one.members) {
      sub_group_record& sub = add(name, one.name);
      sub.min_member = one.size;
      sub.levels = one.levels;
    }
  }
  if (rows_.sub_groups.empty() || rows_.sub_groups.back().group != row.name) return;
  const std::int64_t missing = std::clamp<std::int64_t>(row.min_member - needed, 0, others);
  if (others > 0) add(rest_sub_group, {}).min_member = missing;
}

std::optional<membership> volcano_groups::of(object& pod) {
  if (groups_.empty()) return std::nullopt;
  const std::string name = volcano_group_of(pod);
  const auto known = name.empty() ? groups_.end() : groups_.find(name);
  if (known == groups_.end()) return std::nullopt;
  if (!known->second.is_ours) return membership{};
  membership in;
  in.group = name;
  const auto& sub_groups = known->second.sub_groups;
  if (const auto own = sub_groups.find(pod.full_name()); own != sub_groups.end()) in.sub_group = own->second;
  in.obstacle = known->second.obstacle;
  const std::optional<std::int64_t> noted = whole_number(pod.annotation(task_priority_key).value_or(""));
  in.priority = noted ? *noted : pod.integer(pod.section(pod.root(), "spec"), "priority").value_or(unset);
  add_roles(pod, known->second.roles, in);
  if (const std::int64_t time = cooldown_of(pod); time > 0)
    in.roles.push_back(fmt::format("{}={}s", cooldown_key, time));
  return in;
}

}  // namespace kaisched::io::kubernetes
