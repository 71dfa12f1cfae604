#include "io/kubernetes/pod_group.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "io/kubernetes/checks.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/preemptibility.hpp"
#include "io/kubernetes/volcano_queue.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view group_annotation = "pod-group-name";
constexpr std::string_view sub_group_label = "kai.scheduler/subgroup-name";

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
  row.evictions = std::clamp<std::int64_t>(
      whole_number(of.annotation("kaisched.io/evictions").value_or("")).value_or(0), 0, max_amount);
  row.stale_since = time_of(of, "kai.scheduler/stale-podgroup-timestamp");
  row.preemption_delay = of.duration(spec, "preemptionDelay").value_or(unset);
  row.staleness_grace = of.duration(spec, "stalenessGracePeriod").value_or(unset);
  row.levels = levels_of(of, of.section(spec, "topologyConstraint"));
  row.user = of.label("user").value_or("");
  row.checks = names_in(of.annotation(checks_annotation).value_or(""));
  row.after = after_entries(of.annotation(after_annotation).value_or(""), row.name_space);
  roles_[name] = role_annotations([&](std::string_view key) { return of.annotation(key); });
  const std::size_t sub_groups = rows_.sub_groups.size();
  read_sub_groups(of, spec, name);
  known_.emplace(name, true);
  if (of.failed()) {
    rows_.sub_groups.resize(sub_groups);
    return;
  }
  if (rows_.sub_groups.size() > sub_groups) {
    row.min_member = 1;  // sub-groups have their own
    sub_group_names& known = sub_groups_[name];
    for (std::size_t i = sub_groups; i < rows_.sub_groups.size(); ++i) known.names.insert(rows_.sub_groups[i].name);
    known.needs_all = row.min_sub_group == unset;
    known.later = settings_.later_members || of.annotation(later_key).value_or("") == "true";
  } else {
    row.min_sub_group = unset;
  }
  if (std::string why = settle_queue(of, row.queue); !why.empty()) refused_.emplace(name, std::move(why));
  rows_.groups.push_back(std::move(row));
}

std::string pod_groups::settle_queue(const object& of, std::string& queue) const {
  if (queues_ != nullptr && queues_->decides_about(queue)) {
    std::string chosen = maker_.chosen_queue(of, queue);
    if (chosen.empty()) return std::string(refused_by_rules);
    queue = std::move(chosen);
  }
  return settings_.closed_queues.contains(queue) ? closed_queue_text(queue) : std::string{};
}

void pod_groups::read_volcano(object& of) {
  const std::string name = of.full_name();
  if (known_.contains(name)) return;
  if (const std::optional<std::size_t> row = volcano_.read(of)) {
    const std::string why = settle_queue(of, rows_.groups[*row].queue);
    if (!why.empty()) volcano_.refuse(name, why);
  }
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

membership pod_groups::member_of(object& pod, std::string_view group, std::string_view sub_group) {
  membership in;
  in.group = group;
  put_into_sub_group(pod, sub_group, in);
  if (const auto said = roles_.find(group); said != roles_.end()) add_roles(pod, said->second, in);
  return in;
}

void pod_groups::put_into_sub_group(const object& pod, std::string_view sub_group, membership& in) {
  const std::string& group = in.group;
  if (const auto why = refused_.find(group); why != refused_.end()) in.obstacle = why->second;
  const auto named = sub_groups_.find(group);
  if (named == sub_groups_.end()) return;
  // Where the pod says nothing, it belongs where its owner would put it.
  if (const auto label = pod.label(sub_group_label)) {
    in.sub_group = *label;
  } else if (sub_group_names& known = named->second; known.names.contains(sub_group)) {
    in.sub_group = sub_group;
  } else if (known.needs_all && (known.later || pod.annotation(later_key).value_or("") == "true")) {
    if (known.names.insert(std::string(later_sub_group)).second) {
      sub_group_record& row = rows_.sub_groups.emplace_back();
      row.group = group;
      row.name = later_sub_group;
    }
    in.sub_group = later_sub_group;
  }
}

membership pod_groups::of(object& pod, bool is_finished) {
  const auto is_known = [&](std::string_view name) -> std::optional<bool> {
    const auto known = known_.find(name);
    return known == known_.end() ? std::nullopt : std::optional(known->second);
  };
  const std::string_view named = pod.annotation(group_annotation).value_or("");
  if (!named.empty()) {
    const std::string name = pod.in_space(named);
    if (const auto ours = is_known(name)) return *ours ? member_of(pod, name, {}) : membership{};
  }
  const std::string_view scheduler = pod.text(pod.section(pod.root(), "spec"), "schedulerName");
  const auto& ours = settings_.schedulers;
  if (std::find(ours.begin(), ours.end(), scheduler) == ours.end()) return {};
  if (std::optional<membership> in = volcano_.of(pod)) return std::move(*in);
  if (is_finished) return {};
  if (pod.label("app").value_or("") == settings_.reservation_app) return {};
  membership made = maker_.of(pod, named, is_known);
  return known_.contains(made.group) ? member_of(pod, made.group, made.sub_group) : made;
}

}  // namespace kaisched::io::kubernetes
