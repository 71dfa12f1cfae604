#include "io/kubernetes/pod_group.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/kubernetes/clock_text.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view group_annotation = "pod-group-name";
constexpr std::string_view sub_group_label = "kai.scheduler/subgroup-name";
constexpr std::string_view priority_label = "priorityClassName";
constexpr std::string_view preemptibility_label = "kai.scheduler/preemptibility";
/// Below it groups are preemptible unless they say otherwise.
constexpr std::int64_t first_non_preemptible_priority = 100;

/// Preemptible, or semi-preemptible; empty if a word is neither this nor `non-preemptible`.
struct preemptibility {
  bool preemptible = true;
  bool semi = false;
};
std::optional<preemptibility> parse_preemptibility(std::string_view word) {
  if (word == "preemptible") return preemptibility{true, false};
  if (word == "non-preemptible") return preemptibility{false, false};
  if (word == "semi-preemptible") return preemptibility{false, true};
  return std::nullopt;
}

void set_preemptibility(pod_group_record& of, std::string_view word) {
  const preemptibility chosen =
      parse_preemptibility(word).value_or(preemptibility{of.priority < first_non_preemptible_priority, false});
  of.preemptible = chosen.preemptible;
  of.semi_preemptible = chosen.semi;
}

/// KAI passes over annotations that it cannot read.
std::int64_t time_of(const object& of, std::string_view annotation) {
  return parse_time(of.annotation(annotation).value_or("")).value_or(unset);
}

/// Whether the group waits until somebody moves it to another pool.
bool is_given_up(object& group, member spec, const std::string& pool) {
  if (group.integer(spec, "schedulingBackoff").value_or(-1) != 1) return false;
  const member status = group.section(group.root(), "status");
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  bool here = false;
  for (const json_value one : group.items(status, "schedulingConditions")) {
    const std::string_view id = group.text(one, "transitionID");
    std::int64_t number = 0;
    std::from_chars(id.data(), id.data() + id.size(), number);
    if (number < last) continue;
    last = number;
    here = group.text(one, "nodePool") == (pool.empty() ? "default" : pool);
  }
  return here;
}

}  // namespace

constraint_levels pod_groups::levels_of(object& of, member constraint) const {
  constraint_levels levels;
  levels.topology = of.text(constraint, "topology");
  // Levels without a topology are no constraint.
  if (levels.topology.empty()) return levels;
  levels.required = of.text(constraint, "requiredTopologyLevel");
  levels.preferred = of.text(constraint, "preferredTopologyLevel");
  resolve_aliases(levels, aliases_);
  return levels;
}

void pod_groups::read(object& of) {
  const member spec = of.section(of.root(), "spec");
  const std::string name = of.full_name();
  if (!is_in_pool(of, settings_) || is_given_up(of, spec, *settings_.node_pool)) {
    known_.emplace(name, false);
    return;
  }
  pod_group_record row;
  row.line = of.line();
  row.name = name;
  row.name_space = of.name_space();
  row.queue = of.text(spec, "queue");
  row.priority = classes_.value(of.text(spec, "priorityClassName"));
  set_preemptibility(row, of.text(spec, "preemptibility"));
  row.created = of.created();
  row.min_member = of.integer(spec, "minMember").value_or(1);
  row.min_sub_group = of.integer(spec, "minSubGroup").value_or(unset);
  row.last_start = time_of(of, "kai.scheduler/last-start-timestamp");
  row.last_eviction = time_of(of, "kai.scheduler/last-eviction-timestamp");
  row.stale_since = time_of(of, "kai.scheduler/stale-podgroup-timestamp");
  row.preemption_delay = of.duration(spec, "preemptionDelay").value_or(unset);
  row.staleness_grace = of.duration(spec, "stalenessGracePeriod").value_or(unset);
  row.levels = levels_of(of, of.section(spec, "topologyConstraint"));
  row.user = of.label("user").value_or("");
  const std::size_t sub_groups = rows_.sub_groups.size();
  read_sub_groups(of, spec, name);
  known_.emplace(name, true);
  if (of.failed()) {
    rows_.sub_groups.resize(sub_groups);
    return;
  }
  if (rows_.sub_groups.size() > sub_groups) {
    row.min_member = 1;  // sub-groups have their own
    with_sub_groups_.insert(name);
  } else {
    row.min_sub_group = unset;
  }
  rows_.groups.push_back(std::move(row));
}

void pod_groups::read_sub_groups(object& of, member spec, const std::string& group) {
  std::vector<sub_group_record> read;
  std::set<std::string, std::less<>> parents;
  for (const json_value one : of.items(spec, "subGroups")) {
    sub_group_record row;
    row.line = one.line();
    row.group = group;
    row.name = of.text(one, "name");
    row.parent = of.text(one, "parent");
    row.min_member = of.integer(one, "minMember").value_or(0);
    row.min_sub_group = of.integer(one, "minSubGroup").value_or(unset);
    row.levels = levels_of(of, of.section(one, "topologyConstraint"));
    parents.insert(row.parent);
    read.push_back(std::move(row));
  }
  for (sub_group_record& row : read) {
    if (parents.contains(row.name)) {
      row.min_member = 0;
    } else {
      row.min_sub_group = unset;
    }
  }
  put_parents_first(read);
  for (sub_group_record& row : read) rows_.sub_groups.push_back(std::move(row));
}

// ---- groups of pods that have none -------------------------------------------------------------------------------

void pod_groups::read_owner(object& of) {
  owners_.emplace(std::tuple(std::string(of.kind()), std::string(of.name_space()), std::string(of.name())), &of);
}

/// The workload that a pod belongs to; the pod itself if it has no owner.
struct pod_groups::owner {
  std::string kind;
  std::string name;
  std::string uid;
  object* found = nullptr;  ///< the object, where the text has it
};

pod_groups::owner pod_groups::top_owner(object& pod) const {
  constexpr int longest_chain = 16;
  owner top{"Pod", std::string(pod.name()), std::string(pod.uid()), &pod};
  object* at = &pod;
  for (int step = 0; at != nullptr && step < longest_chain; ++step) {
    const member metadata = at->section(at->root(), "metadata");
    const std::vector<json_value> references = at->items(metadata, "ownerReferences");
    if (references.empty()) break;
    const auto controller =
        std::find_if(references.begin(), references.end(), [&](json_value one) { return at->flag(one, "controller"); });
    const json_value reference = controller == references.end() ? references.front() : *controller;
    top = {std::string(at->text(reference, "kind")), std::string(at->text(reference, "name")),
           std::string(at->text(reference, "uid")), nullptr};
    const auto known = owners_.find(std::tuple(top.kind, std::string(pod.name_space()), top.name));
    at = top.found = known == owners_.end() ? nullptr : known->second;
  }
  // A replica set that is not there itself belongs to a deployment if the pod carries the mark of one.
  if (top.kind == "ReplicaSet" && top.found == nullptr && pod.label("pod-template-hash")) top.kind = "Deployment";
  return top;
}

namespace {

struct kind_rule {
  std::string_view kind;
  bool per_pod;
  std::string_view priority_class;
};

/// How the pod grouper treats workloads. Gangs whose size is in an object of their own kind are not read: their pods
/// get a group each.
kind_rule rule_of(std::string_view kind) {
  constexpr std::string_view train = "train";
  constexpr std::string_view inference = "inference";
  constexpr std::array<kind_rule, 20> rules{{
      {"Pod", true, train},         {"Deployment", true, inference}, {"Notebook", false, "build"},
      {"Service", true, inference}, {"Revision", true, inference},   {"SPOTRequest", false, inference},
      {"PyTorchJob", true, train},  {"TFJob", true, train},          {"XGBoostJob", true, train},
      {"JAXJob", true, train},      {"MPIJob", true, train},         {"RayCluster", true, train},
      {"RayJob", true, train},      {"RayService", true, train},     {"LeaderWorkerSet", true, train},
      {"JobSet", true, train},      {"PodCliqueSet", true, train},   {"PodGang", true, train},
      {"AmlJob", true, train},      {"RunaiJob", true, train},
  }};
  const auto* known = std::find_if(rules.begin(), rules.end(), [&](const kind_rule& one) { return one.kind == kind; });
  return known == rules.end() ? kind_rule{kind, false, train} : *known;
}

/// The label of the owner if the text has it, else of the pod.
std::optional<std::string_view> owner_label(const object* owner, const object& pod, std::string_view key) {
  if (owner != nullptr) {
    if (const auto own = owner->label(key)) return own;
  }
  return pod.label(key);
}

std::string queue_of(const object* owner, const object& pod, const settings& chosen) {
  if (const auto queue = owner_label(owner, pod, chosen.queue_key)) return std::string(*queue);
  const std::string_view project = owner_label(owner, pod, "project").value_or("");
  if (project.empty()) return "default-queue";
  const auto pool = pod.label(chosen.node_pool_key);
  return pool ? fmt::format("{}-{}", project, *pool) : std::string(project);
}

/// The duration of an annotation of the owner, else of the pod; unset if neither has one that can be read.
std::int64_t annotated_duration(const object* owner, const object& pod, std::string_view key) {
  if (owner != nullptr) {
    if (const auto own = parse_duration(owner->annotation(key).value_or(""))) return *own;
  }
  return parse_duration(pod.annotation(key).value_or("")).value_or(unset);
}

}  // namespace

std::string pod_groups::made_group(object& pod) {
  const owner top = top_owner(pod);
  const kind_rule rule = rule_of(top.kind);
  const bool named = pod.annotation(group_annotation).value_or("").size() > 0;
  std::string own_name =
      named ? std::string(*pod.annotation(group_annotation))
            : (rule.per_pod ? fmt::format("pg-{}-{}", pod.name(), top.kind == "Job" ? top.uid : std::string(pod.uid()))
                            : fmt::format("pg-{}-{}", top.name, top.uid));
  const std::string name = pod.name_space().empty() ? own_name : fmt::format("{}/{}", pod.name_space(), own_name);
  if (const auto made = made_.find(name); made != made_.end()) {
    pod_group_record& row = rows_.groups[made->second];
    row.created = std::min(row.created, pod.created());
    return name;
  }
  pod_group_record row;
  row.line = pod.line();
  row.name = name;
  row.name_space = pod.name_space();
  row.queue = queue_of(top.found, pod, settings_);
  row.created = pod.created();
  std::string_view chosen_class = owner_label(top.found, pod, priority_label).value_or("");
  if (chosen_class.empty()) chosen_class = pod.text(pod.section(pod.root(), "spec"), "priorityClassName");
  row.priority = classes_.value(classes_.has(chosen_class) ? chosen_class : rule.priority_class);
  set_preemptibility(row, owner_label(top.found, pod, preemptibility_label).value_or(""));
  row.preemption_delay = annotated_duration(top.found, pod, "kai.scheduler/preemption-delay");
  row.staleness_grace = annotated_duration(top.found, pod, "kai.scheduler/staleness-grace-period");
  const object& from = top.found == nullptr ? pod : *top.found;
  row.levels.topology = from.annotation("kai.scheduler/topology").value_or("");
  if (!row.levels.topology.empty()) {
    row.levels.required = from.annotation("kai.scheduler/topology-required-placement").value_or("");
    row.levels.preferred = from.annotation("kai.scheduler/topology-preferred-placement").value_or("");
    resolve_aliases(row.levels, aliases_);
  }
  if (top.kind == "Job") {
    const std::string_view least = from.annotation("kai.scheduler/batch-min-member").value_or("");
    std::int64_t number = 0;
    const auto [end, failure] = std::from_chars(least.data(), least.data() + least.size(), number);
    if (failure == std::errc{} && end == least.data() + least.size() && number > 0) row.min_member = number;
  }
  row.user = owner_label(top.found, pod, "user").value_or("");
  made_.emplace(name, rows_.groups.size());
  rows_.groups.push_back(std::move(row));
  return name;
}

pod_groups::membership pod_groups::of(object& pod, bool is_finished) {
  const std::string_view named = pod.annotation(group_annotation).value_or("");
  if (!named.empty()) {
    const std::string name =
        pod.name_space().empty() ? std::string(named) : fmt::format("{}/{}", pod.name_space(), named);
    if (const auto known = known_.find(name); known != known_.end()) {
      if (!known->second) return {};
      const bool has_sub_groups = with_sub_groups_.contains(name);
      return {name, has_sub_groups ? std::string(pod.label(sub_group_label).value_or("")) : std::string{}};
    }
  }
  const std::string_view scheduler = pod.text(pod.section(pod.root(), "spec"), "schedulerName");
  const auto& ours = settings_.schedulers;
  if (is_finished || std::find(ours.begin(), ours.end(), scheduler) == ours.end()) return {};
  const std::string app(pod.label("app").value_or(""));
  if (app == settings_.reservation_app) return {};
  return {made_group(pod), {}};
}

}  // namespace kaisched::io::kubernetes
