#include "io/kubernetes/grouping/group_maker.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/json_document.hpp"
#include "io/kubernetes/checks.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/preemptibility.hpp"
#include "io/kubernetes/volcano_queue.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view class_label = "priorityClassName";
constexpr std::string_view preemptible_label = "kai.scheduler/preemptibility";
constexpr std::string_view skip_key = "kai.scheduler/skip-podgrouper";

bool is_left_alone(const object& of) { return of.annotation(skip_key).value_or("") == "true"; }

/// The label of the owner that counts, else of the pod.
std::optional<std::string_view> label_of(const workload& of, std::string_view key) {
  const auto own = of.top().label(key);
  return own ? own : of.pod.label(key);
}

/// The first duration that can be read: of the owners, else of the pod; unset without any.
std::int64_t duration_of(const workload& of, std::string_view key, bool may_be_negative) {
  const auto read = [&](std::optional<std::string_view> text) {
    const std::optional<std::int64_t> time = parse_duration(text.value_or(""));
    return time && (*time >= 0 || may_be_negative) ? time : std::nullopt;
  };
  for (const workload_owner& owner : of.owners) {
    if (const auto time = read(owner.annotation(key))) return *time;
  }
  return read(of.pod.annotation(key)).value_or(unset);
}

/// Those that the nearest to the top names: an owner, else the pod.
std::vector<std::string> checks_of(const workload& of) {
  for (auto owner = of.owners.rbegin(); owner != of.owners.rend(); ++owner) {
    if (const auto text = owner->annotation(checks_annotation)) return names_in(*text);
  }
  return names_in(of.pod.annotation(checks_annotation).value_or(""));
}

/// Levels that the owner asks for, or the pod of an owner that is not there.
constraint_levels annotated_levels(const workload& of) {
  constexpr topology_keys keys;
  const bool by_pod = of.top().found == nullptr && of.top().skipped.empty();
  const auto text_of = [&](std::string_view key) {
    return std::string((by_pod ? of.pod.annotation(key) : of.top().annotation(key)).value_or(""));
  };
  constraint_levels levels;
  levels.topology = text_of(topology_key);
  // Levels without a topology are no constraint.
  if (levels.topology.empty()) return levels;
  levels.required = text_of(keys.required);
  levels.preferred = text_of(keys.preferred);
  return levels;
}

/// What YuniKorn's admission controller notes: the user, unless somebody else has said it, and whom it belongs to.
/// Anything else is passed over.
void add_user_of(std::string_view annotation, std::string& user, std::vector<std::string>& groups) {
  if (annotation.empty()) return;
  const result<json_document> read = json_document::parse(annotation, "annotation");
  if (!read) return;
  if (user.empty()) user = text_if_any(read->root(), "user");
  const member list = find(read->root(), "groups");
  if (!list || !list->is(json_kind::array)) return;
  for (const json_value one : *list) {
    if (one.is(json_kind::string)) groups.emplace_back(one.text());
  }
}

/// Steps down from owners that hand on what is below them, and from those that cannot be read. The error is an owner
/// that should be there, as others of its kind are.
std::string settle(workload& of, grouper& by) {
  std::vector<object*> handed_down;
  for (;;) {
    workload_owner& top = of.owners.back();
    top.skipped.insert(top.skipped.end(), handed_down.begin(), handed_down.end());
    by = grouper_of(top);
    const bool unread = by.rule == owner_rule::sized && top.found == nullptr;
    if (unread && of.objects.has_kind(by.of)) {
      return fmt::format("its {} {} is not among the objects", top.kind, top.name);
    }
    if (!unread && by.rule != owner_rule::skipped) return {};
    if (!unread) {
      of.skipped_kinds.push_back(by.of);
      handed_down.clear();
      if (top.found != nullptr) handed_down.push_back(top.found);
      handed_down.insert(handed_down.end(), top.skipped.begin(), top.skipped.end());
    }
    of.owners.pop_back();
    if (of.owners.empty()) of.owners.push_back(as_owner(of.pod));
  }
}

}  // namespace

std::vector<std::string> after_entries(std::string_view annotation, std::string_view name_space) {
  std::vector<std::string> entries;
  for (std::string& entry : base::split_names(annotation)) {
    const std::size_t colon = entry.find(':');
    const bool has_space = entry.find('/') != std::string::npos || name_space.empty();
    if (colon != std::string::npos && !has_space) entry.insert(colon + 1, fmt::format("{}/", name_space));
    entries.push_back(std::move(entry));
  }
  return entries;
}

std::vector<std::string> role_annotations(const annotation_lookup& annotation) {
  std::vector<std::string> found;
  for (const std::string_view key : {"volcano.sh/task-topology-affinity", "volcano.sh/task-topology-anti-affinity",
                                     "volcano.sh/task-topology-task-order"}) {
    if (const auto text = annotation(key)) found.push_back(fmt::format("{}={}", key, *text));
  }
  return found;
}

void add_roles(const object& pod, const std::vector<std::string>& of_group, membership& to) {
  to.roles = of_group;
  if (of_group.empty() || !to.sub_group.empty()) return;
  const std::string_view role = pod.annotation(volcano_task_key).value_or(pod.label(volcano_task_key).value_or(""));
  if (!role.empty()) to.roles.push_back(fmt::format("{}={}", volcano_task_key, role));
}

void group_maker::add(object& of) {
  objects_.add(of);
  const bool wanted = of.kind() == "ConfigMap" && !settings_.kind_defaults.empty();
  if (wanted && of.name() == settings_.kind_defaults && of.name_space() == settings_.kind_defaults_space) {
    defaults_.read(of);
  }
}

// ---- common rules ------------------------------------------------------------------------------------------------

std::string group_maker::chosen_queue(std::string_view named, std::string_view name_space, const texts_of_group& label,
                                      const texts_of_group& annotation) const {
  std::string user(label("user"));
  if (user.empty()) user = label("yunikorn.apache.org/username");
  std::vector<std::string> groups;
  add_user_of(annotation("yunikorn.apache.org/user.info"), user, groups);
  const object* const space = objects_.find("", "Namespace", {}, name_space);
  const auto text = [&](queue_source source, std::string_view key) -> std::string_view {
    if (source == queue_source::label) return label(key);
    if (source == queue_source::annotation) return annotation(key);
    if (space == nullptr) return {};
    return (source == queue_source::name_space_label ? space->label(key) : space->annotation(key)).value_or("");
  };
  return queues_->choose({named, user, std::move(groups), name_space, text});
}

std::string group_maker::chosen_queue(const object& group, std::string_view named) const {
  return chosen_queue(
      named, group.name_space(), [&](std::string_view key) { return group.label(key).value_or(""); },
      [&](std::string_view key) { return group.annotation(key).value_or(""); });
}

std::optional<std::string> group_maker::named_queue(const workload& of, const group_shape& shape) const {
  if (const auto queue = label_of(of, settings_.queue_key)) return std::string(*queue);
  const std::string_view project = label_of(of, "project").value_or("");
  if (project.empty()) {
    if (!shape.queue.empty()) return shape.queue;
    const std::string_view noted = of.pod.annotation("scheduling.volcano.sh/queue-name").value_or("");
    return noted.empty() ? std::nullopt : std::optional(std::string(noted));
  }
  const auto pool = of.pod.label(settings_.node_pool_key);
  return pool ? fmt::format("{}-{}", project, *pool) : std::string(project);
}

std::vector<const kind_default*> group_maker::defaults_of(const workload& of) const {
  std::vector<const kind_default*> found;
  const auto add = [&](std::string_view group, std::string_view kind) {
    if (const kind_default* known = defaults_.of(group, kind)) found.push_back(known);
  };
  for (const group_kind& one : of.skipped_kinds) add(one.group, one.kind);
  for (const workload_owner& owner : of.owners) add(owner.group.value_or(""), owner.kind);
  return found;
}

std::int64_t group_maker::priority_of(const workload& of, const grouper& by, const group_shape& shape) const {
  if (shape.class_counts) return classes_.value(shape.priority_class);
  const std::string_view of_pod = of.pod.text(of.pod.section(of.pod.root(), "spec"), "priorityClassName");
  for (const workload_owner& owner : of.owners) {
    const auto own = owner.label(class_label);
    const std::string_view named = own ? *own : of.pod.label(class_label).value_or(of_pod);
    if (classes_.has(named)) return classes_.value(named);
  }
  if (classes_.has(shape.priority_class)) return classes_.value(shape.priority_class);
  for (const kind_default* one : defaults_of(of)) {
    if (classes_.has(one->priority_class)) return classes_.value(one->priority_class);
  }
  return classes_.value(by.priority_class);
}

std::string_view group_maker::preemptibility_of(const workload& of) const {
  for (const workload_owner& owner : of.owners) {
    const std::string_view word = owner.label(preemptible_label).value_or("");
    if (is_preemptibility(word)) return word;
  }
  const std::string_view own = of.pod.label(preemptible_label).value_or("");
  if (is_preemptibility(own)) return own;
  for (const kind_default* one : defaults_of(of)) {
    if (is_preemptibility(one->preemptibility)) return one->preemptibility;
  }
  return {};
}

bool group_maker::fill(const workload& of, const grouper& by, const group_shape& shape, pod_group_record& row) const {
  row.line = of.pod.line();
  row.name_space = of.pod.name_space();
  row.created = of.pod.created();
  const std::optional<std::string> named = named_queue(of, shape);
  row.queue = named.value_or(settings_.default_queue);
  bool is_taken = true;
  if (queues_ != nullptr) {
    std::string chosen = chosen_queue(
        named.value_or(""), of.pod.name_space(), [&](std::string_view key) { return label_of(of, key).value_or(""); },
        [&](std::string_view key) { return of.top().annotation(key).value_or(of.pod.annotation(key).value_or("")); });
    is_taken = !chosen.empty();
    if (is_taken) row.queue = std::move(chosen);
  }
  row.priority = priority_of(of, by, shape);
  set_preemptibility(row, preemptibility_of(of));
  row.preemption_delay = duration_of(of, "kai.scheduler/preemption-delay", false);
  row.staleness_grace = duration_of(of, "kai.scheduler/staleness-grace-period", true);
  row.levels = shape.levels.topology.empty() ? annotated_levels(of) : shape.levels;
  resolve_aliases(row.levels, aliases_);
  row.user = label_of(of, "user").value_or("");
  row.checks = checks_of(of);
  row.after = after_entries(of.top().annotation(after_annotation).value_or(""), row.name_space);
  row.min_member = shape.sub_groups.empty() ? shape.min_member : 1;  // sub-groups have their own
  row.min_sub_group = shape.sub_groups.empty() ? unset : shape.min_sub_group;
  return is_taken;
}

// ---- rows --------------------------------------------------------------------------------------------------------

void group_maker::add_sub_groups(group_shape& shape, made_group& made) {
  put_parents_first(shape.sub_groups);
  for (sub_group_record& one : shape.sub_groups) {
    one.line = rows_.groups[made.row].line;
    one.group = rows_.groups[made.row].name;
    resolve_aliases(one.levels, aliases_);
    made.sub_groups.insert(one.name);
    rows_.sub_groups.push_back(std::move(one));
  }
  made.members = std::move(shape.members);
}

group_maker::made_group group_maker::make(const workload& of, const grouper& by, const std::string& name, bool shaped) {
  made_group made;
  group_shape shape;
  if (shaped && by.shape != nullptr) made.obstacle = by.shape(of, shape);
  // A kind whose object is wrong has no size: its pods wait.
  const object* sized = by.rule == owner_rule::sized ? of.top().found : nullptr;
  if (shaped && sized != nullptr && sized->failed()) made.obstacle = sized->fault_text();
  if (!made.obstacle.empty()) shape = {};
  made.row = rows_.groups.size();
  pod_group_record& row = rows_.groups.emplace_back();
  row.name = name;
  made.is_refused = !fill(of, by, shape, row);
  made.roles = role_annotations([&](std::string_view key) { return of.top().annotation(key); });
  add_sub_groups(shape, made);
  return made;
}

bool group_maker::starts_later(const workload& of) const {
  return settings_.later_members || of.top().annotation(later_key).value_or("") == "true" ||
         of.pod.annotation(later_key).value_or("") == "true";
}

membership group_maker::join(const workload& of, const grouper& by, const placement& at, const std::string& obstacle) {
  membership in;
  in.group = of.pod.in_space(at.group);
  auto known = made_.find(in.group);
  if (known == made_.end()) {
    known = made_.emplace(in.group, make(of, by, in.group, obstacle.empty())).first;
  }
  made_group& made = known->second;
  std::int64_t& created = rows_.groups[made.row].created;
  created = std::min(created, of.pod.created());
  in.obstacle = obstacle.empty() ? made.obstacle : obstacle;
  if (!in.obstacle.empty()) return in;
  const auto listed = made.members.find(of.pod.name());
  const std::string& wanted = listed == made.members.end() ? at.sub_group : listed->second;
  if (made.sub_groups.contains(wanted)) {
    in.sub_group = wanted;
  } else if (at.strict) {
    in.obstacle = fmt::format("{} {} has no sub-group {}", of.top().kind, of.top().name, wanted);
  } else if (!made.sub_groups.empty() && rows_.groups[made.row].min_sub_group == unset && starts_later(of)) {
    if (made.sub_groups.insert(std::string(later_sub_group)).second) {
      sub_group_record& row = rows_.sub_groups.emplace_back();
      row.line = rows_.groups[made.row].line;
      row.group = in.group;
      row.name = later_sub_group;
    }
    in.sub_group = later_sub_group;
  }
  if (in.obstacle.empty() && made.is_refused) in.obstacle = refused_by_rules;
  const std::string& queue = rows_.groups[made.row].queue;
  if (in.obstacle.empty() && settings_.closed_queues.contains(queue)) in.obstacle = closed_queue_text(queue);
  add_roles(of.pod, made.roles, in);
  return in;
}

std::string group_maker::choose(workload& of, grouper& by) const {
  std::string obstacle = settle(of, by);
  if (obstacle.empty() && by.choose != nullptr) obstacle = by.choose(of);
  if (obstacle.empty()) obstacle = choose_scheduling_group(of, by);
  if (obstacle.empty()) choose_application(of, by);
  // Groupers of kinds look at who counts alone; the one without a kind looks at all owners.
  if (!by.of.kind.empty()) of.owners.erase(of.owners.begin(), of.owners.end() - 1);
  return obstacle;
}

membership group_maker::of(object& pod, std::string_view named,
                           const std::function<std::optional<bool>(std::string_view)>& is_known) {
  if (is_left_alone(pod)) return {};
  workload who{pod, objects_, settings_, objects_.chain_of(pod), {}};
  const bool left_alone = std::any_of(who.owners.begin(), who.owners.end(), [](const workload_owner& one) {
    return one.found != nullptr && is_left_alone(*one.found);
  });
  if (left_alone) return {};
  grouper by;
  placement at;
  std::string obstacle = choose(who, by);
  if (label_of(who, settings_.node_pool_key).value_or("") != settings_.node_pool.value_or("")) return {};
  at.group = group_name(who.top().name, who.top().uid);
  if (obstacle.empty() && by.place != nullptr) obstacle = by.place(who, at);
  // A pod that nobody knows how to group must not stand in for one of a gang.
  if (!obstacle.empty()) place_alone(who, at);
  if (!named.empty() && obstacle.empty()) at.group = named;
  if (const std::optional<bool> ours = is_known(pod.in_space(at.group))) {
    if (!*ours) return {};
    return {pod.in_space(at.group), at.sub_group, std::move(obstacle), {}};
  }
  return join(who, by, at, obstacle);
}

}  // namespace kaisched::io::kubernetes
