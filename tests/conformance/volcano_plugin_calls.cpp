#include "conformance/volcano_plugin_calls.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/rules/limits.hpp"
#include "conformance/rules/revocable_zones.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"
#include "policy/placement/node_groups.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using policy::node_group_refusal;
using policy::resource_list;

constexpr const char* group_label = "volcano.sh/nodegroup-name";
constexpr const char* limits_key = "volcano.sh/nodegroup-resource-limits";
constexpr const char* zone_label = "volcano.sh/revocable-zone";

const json& named_object(const json& one, std::string_view list, const std::string& name) {
  for (const json& object : items(one.at("input"), list)) {
    if (text_or_empty(member(object, "metadata"), "name") == name) return object;
  }
  throw unsupported("an object that is not recorded");
}

std::optional<std::string> label_of(const json& one, const std::string& node, const char* key) {
  const json& labels = items(member(named_object(one, "nodes", node), "metadata"), "labels");
  if (!labels.is_object() || !labels.contains(key)) return std::nullopt;
  return labels.at(key).get<std::string>();
}

std::pair<std::string, const json*> job_with(const json& one, const std::string& task) {
  for (const auto& [name, job] : items(one.at("resolved"), "jobs").items()) {
    if (items(job, "tasks").contains(task)) return {name, &job};
  }
  throw unsupported("a task without a job");
}

std::vector<std::string> groups_at(const json& of, const char* kind, const char* when) {
  return items(member(of, kind), when).get<std::vector<std::string>>();
}

}  // namespace

policy::node_group_affinity volcano_node_groups(const json& says) {
  constexpr const char* required = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  return {groups_at(says, "nodeGroupAffinity", required), groups_at(says, "nodeGroupAffinity", preferred),
          groups_at(says, "nodeGroupAntiAffinity", required), groups_at(says, "nodeGroupAntiAffinity", preferred)};
}

namespace {

std::vector<policy::node_group_queue> queues_of(const json& one) {
  std::vector<policy::node_group_queue> made;
  for (const json& queue : items(one.at("input"), "queues")) {
    const json& spec = member(queue, "spec");
    policy::node_group_queue& to = made.emplace_back();
    to.name = text_or_empty(member(queue, "metadata"), "name");
    to.parent = text_or_empty(spec, "parent");
    if (has(spec, "affinity")) to.affinity = volcano_node_groups(spec.at("affinity"));
  }
  return made;
}

/// What a queue holds of a group: at the opening, and what other tasks were given since.
resource_list held_by(const json& one, const std::string& queue, const std::string& group, const std::string& but) {
  static const std::set<std::string> allocated{"Allocated", "Binding", "Bound", "Running"};
  resource_list held;
  std::map<std::string, std::string> given;
  for (const json& event : items(one.at("actual"), "events")) {
    if (text_or_empty(event, "op") != "allocate") throw unsupported("what happens between calls");
    given[text_or_empty(event, "task")] = text_or_empty(event, "node");
  }
  for (const auto& [name, job] : items(one.at("resolved"), "jobs").items()) {
    if (text_or_empty(job, "queue") != queue) continue;
    for (const auto& [task, record] : items(job, "tasks").items()) {
      const bool there = allocated.contains(text_or_empty(record, "status"));
      if (!there && (task == but || !given.contains(task))) continue;
      const std::string node = there ? text_or_empty(record, "node") : given.at(task);
      if (!node.empty() && label_of(one, node, group_label) == group) held.add(volcano_resources(record.at("resreq")));
    }
  }
  return held;
}

/// By group; null: the queue has none. What nobody can read is discarded.
json limits_of(const json& one, const std::string& queue) {
  const json& notes = items(member(named_object(one, "queues", queue), "metadata"), "annotations");
  const std::string text = text_or_empty(notes, limits_key);
  return text.empty() ? json() : json::parse(text, nullptr, false);
}

bool is_within_limit(const json& one, const std::string& queue, const std::string& group, const std::string& task,
                     const json& record) {
  const json limits = limits_of(one, queue);
  if (!limits.is_object() || !limits.contains(group)) return true;
  std::vector<std::string> named;
  for (const auto& [name, amount] : limits.at(group).items()) named.push_back(name);
  return policy::within_group_limit(held_by(one, queue, group, task), volcano_resources(record.at("resreq")),
                                    volcano_quantities(limits.at(group)), named);
}

bool inherits(const json& plugin) { return value_or(member(plugin, "enabled"), "hierarchy", false); }

}  // namespace

double node_group_calls::score(const std::string& task, const std::string& node) const {
  const std::optional<std::string> group = label_of(case_, node, group_label);
  if (!group) return 0;
  const std::vector<policy::node_group_queue> queues = queues_of(case_);
  const policy::node_group_affinity* affinity =
      policy::node_groups_of(queues, text_or_empty(*job_with(case_, task).second, "queue"), inherits(plugin_));
  const bool in_order = value_or(member(plugin_, "arguments"), "enablePreferredOrder", false);
  return affinity == nullptr ? 0 : policy::node_group_score(*group, *affinity, in_order);
}

std::optional<std::string> node_group_calls::refusal(const std::string& task, const std::string& node) const {
  static constexpr std::array<const char*, 4> texts{"", "node group label not found",
                                                    "node group affinity not specified",
                                                    "node does not satisfy the node group affinity"};
  const std::optional<std::string> group = label_of(case_, node, group_label);
  const json& job = *job_with(case_, task).second;
  const std::string queue = text_or_empty(job, "queue");
  if (limits_of(case_, queue).is_discarded()) return std::string{};  // the queue gets no node at all
  const std::vector<policy::node_group_queue> queues = queues_of(case_);
  const policy::node_group_affinity* affinity = policy::node_groups_of(queues, queue, inherits(plugin_));
  const bool strict = value_or(member(plugin_, "arguments"), "strict", true);
  const node_group_refusal why = policy::refused_by_group(group ? &*group : nullptr, affinity, strict);
  if (why != node_group_refusal::none) return texts[static_cast<std::size_t>(why)];
  if (group && !is_within_limit(case_, queue, *group, task, items(job, "tasks").at(task)))
    return "node group resource limit exceeded";
  return std::nullopt;
}

std::vector<std::string> leaving_zones(const json& one, const json& plugin) {
  constexpr std::string_view zone_argument = "tdm.revocable-zone.";
  std::vector<std::string> leaving;
  for (const auto& [argument, hours] : items(plugin, "arguments").items()) {
    if (!argument.starts_with(zone_argument)) continue;
    const std::string text = hours.get<std::string>();
    const std::optional<policy::daily_window> window = policy::daily_window_of(text);
    if (window && (window->start != 0 || window->end != 1)) throw unsupported("the time of day");
    const std::string zone = argument.substr(zone_argument.size());
    for (const auto& [name, job] : items(one.at("resolved"), "jobs").items()) {
      policy::job_pods pods;
      std::vector<std::string> found;  // in the order of the input, where Volcano takes any
      for (const json& pod : items(one.at("input"), "pods")) {
        const json& about = member(pod, "metadata");
        const std::string task = text_or_empty(about, "namespace") + "/" + text_or_empty(about, "name");
        if (!items(job, "tasks").contains(task)) continue;
        const json& record = job.at("tasks").at(task);
        const std::string status = text_or_empty(record, "status");
        ++pods.all;
        if (status == "Running") ++pods.running;
        if (status == "Succeeded" || status == "Failed") ++pods.over;
        const std::string node = text_or_empty(record, "node");
        if (status == "Running" && value_or(record, "preemptable", false) && !node.empty() &&
            label_of(one, node, zone_label) == zone) {
          found.push_back(task);
        }
      }
      json notes = json::object();
      for (const json& group : items(one.at("input"), "pod_groups")) {
        const json& about = member(group, "metadata");
        if (text_or_empty(about, "namespace") + "/" + text_or_empty(about, "name") == name)
          notes = items(about, "annotations");
      }
      const std::string most = text_or_empty(notes, "volcano.sh/jdb-max-unavailable");
      const std::string least = text_or_empty(notes, "volcano.sh/jdb-min-available");
      found.resize(std::min(found.size(), policy::most_leaving(pods, {most, least})));
      leaving.insert(leaving.end(), found.begin(), found.end());
    }
  }
  std::sort(leaving.begin(), leaving.end());
  return leaving;
}

}  // namespace kaisched::conformance
