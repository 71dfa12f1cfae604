// Tables of Volcano about what nodes, gangs and queues hold, and about notes that pods carry.

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>
#include <vector>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_plugin_calls.hpp"
#include "conformance/volcano_records.hpp"
#include "conformance/volcano_state.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "policy/gang/readiness.hpp"
#include "schedulers/volcano/rules/state.hpp"

namespace kaisched::conformance {

namespace {

using kaisched::volcano::cluster_state;
using kaisched::volcano::task_status;
using nlohmann::json;
using policy::resource_list;

task_status status_of_pod(const json& pod) {
  const std::string phase = text_or_empty(member(pod, "status"), "phase");
  const bool leaves = has(member(pod, "metadata"), "deletionTimestamp");
  const bool placed = !text_or_empty(member(pod, "spec"), "nodeName").empty();
  if (phase == "Running") return leaves ? task_status::releasing : task_status::running;
  if (phase == "Pending") {
    if (leaves) return task_status::releasing;
    return placed ? task_status::bound : task_status::pending;
  }
  if (phase == "Succeeded") return task_status::succeeded;
  return phase == "Failed" ? task_status::failed : task_status::unknown;
}

resource_list request_of_pod(const json& pod) {
  resource_list request = policy::running_request(volcano_pod_parts(pod, "requests", true));
  request.set("pods", 1);
  return request;
}

std::string name_of_pod(const json& pod) {
  const json& about = member(pod, "metadata");
  return text_or_empty(about, "namespace") + "/" + text_or_empty(about, "name");
}

/// Pods as tasks of one job.
cluster_state tasks_of(const json& pods) {
  cluster_state made;
  made.jobs.emplace_back();
  for (const json& pod : pods) {
    kaisched::volcano::task_state& task = made.tasks.emplace_back();
    task.name = name_of_pod(pod);
    task.uid = text_or_empty(member(pod, "metadata"), "uid");
    task.request = request_of_pod(pod);
    task.first_request = task.request;
    task.status = status_of_pod(pod);
    task.job = 0;
    made.jobs.front().tasks.push_back(made.tasks.size() - 1);
  }
  return made;
}

/// All pods on one node.
cluster_state node_with(const json& node, const json& pods) {
  cluster_state made = tasks_of(pods);
  kaisched::volcano::node_state& there = made.nodes.emplace_back();
  there.name = name_of(member(node, "metadata"));
  there.allocatable = volcano_quantities(items(member(node, "status"), "allocatable"));
  there.idle = there.allocatable;
  for (kaisched::volcano::row task = 0; task < made.tasks.size(); ++task) {
    made.tasks[task].node = 0;
    made.charge(task);
  }
  return made;
}

volcano_difference compare_node(const json& expected, const cluster_state& found) {
  const kaisched::volcano::node_state& node = found.nodes.front();
  const std::array amounts{std::pair{"allocatable", &node.allocatable}, std::pair{"idle", &node.idle},
                           std::pair{"used", &node.used}, std::pair{"releasing", &node.releasing},
                           std::pair{"pipelined", &node.pipelined}};
  for (const auto& [key, amount] : amounts) {
    if (volcano_difference why = compare_resources(member(expected, key), *amount))
      return std::string(key) + ": " + *why;
  }
  std::vector<std::string> there;
  for (const auto& [task, status] : node.tasks) there.push_back(found.tasks[task].name);
  std::vector<std::string> wanted;
  for (const auto& [name, task] : items(expected, "tasks").items()) wanted.push_back(name);
  return compare_names(wanted, there);
}

volcano_difference check_node(const json& one) {
  const json& input = volcano_input(one);
  if (value_or(one.at("expected"), "failure", false)) throw unsupported("pods that a node does not take");
  cluster_state found = node_with(input.at("node"), items(input, "pods"));
  for (const json& pod : items(input, "rm_pods")) {
    const auto gone = std::ranges::find(found.tasks, name_of_pod(pod), &kaisched::volcano::task_state::name);
    if (gone != found.tasks.end()) found.discharge(static_cast<kaisched::volcano::row>(gone - found.tasks.begin()));
  }
  return compare_node(one.at("expected").at("result"), found);
}

/// The node gets other amounts while pods are there, and the first ones again.
volcano_difference check_changed_node(const json& one) {
  const json& input = volcano_input(one);
  const json& pods = items(input, "pods");
  if (volcano_difference why = compare_node(one.at("expected").at("result"), node_with(input.at("updated"), pods)))
    return why;
  return compare_node(input.at("expected2"), node_with(input.at("node"), pods));
}

/// The statuses of job infos are bits, in the order in which the library has them.
constexpr std::array status_bits{"1", "2", "4", "8", "16", "32", "64", "128", "256"};

volcano_difference check_job(const json& one) {
  const json& input = volcano_input(one);
  std::vector<std::string> gone;
  for (const json& pod : items(input, "rm_pods")) gone.push_back(name_of_pod(pod));
  json left = json::array();
  for (const json& pod : items(input, "pods")) {
    if (std::ranges::find(gone, name_of_pod(pod)) == gone.end()) left.push_back(pod);
  }
  const cluster_state found = tasks_of(left);
  const json& wanted = one.at("expected").at("result");
  const kaisched::volcano::job_state& job = found.jobs.front();
  if (volcano_difference why = compare_resources(member(wanted, "allocated"), allocated_of(found, job)))
    return "allocated: " + *why;
  resource_list asked;
  std::map<std::string, std::vector<std::string>> by_status;
  for (const kaisched::volcano::task_state& task : found.tasks) {
    asked.add(task.request);
    by_status[status_bits.at(static_cast<std::size_t>(task.status))].push_back(task.uid);
  }
  if (volcano_difference why = compare_resources(member(wanted, "total_request"), asked)) return "request: " + *why;
  const json& statuses = items(wanted, "task_status_index");
  if (statuses.size() != by_status.size()) return "tasks have other statuses";
  for (const auto& [bit, tasks] : statuses.items()) {
    std::vector<std::string> uids;
    for (const auto& [uid, task] : tasks.items()) uids.push_back(uid);
    if (volcano_difference why = compare_names(uids, by_status[bit])) return "status " + bit + ": " + *why;
  }
  return std::nullopt;
}

namespace {

/// A gang that is not ready lacks no room: those that are about to leave still count, and none waits.
bool is_only_leaving(const cluster_state& cluster, const kaisched::volcano::job_state& job) {
  std::int64_t scheduled = 0;
  std::int64_t leaving = 0;
  bool waits = false;
  for (const kaisched::volcano::row task : job.tasks) {
    const kaisched::volcano::task_state& one = cluster.tasks[task];
    if (is_scheduled(one.status)) ++scheduled;
    if (one.status == task_status::releasing && one.node != kaisched::volcano::no_row) ++leaving;
    waits = waits || one.status == task_status::pending || one.status == task_status::pipelined;
  }
  return leaving > 0 && !waits && scheduled + leaving >= job.min_available;
}

}  // namespace

volcano_difference check_leaving(const json& one) {
  const json& input = volcano_input(one);
  cluster_state cluster;
  kaisched::volcano::job_state& job = cluster.jobs.emplace_back();
  job.min_available = value_or<std::int64_t>(input, "min", 0);
  for (const json& record : items(input, "tasks")) {
    kaisched::volcano::task_state& task = cluster.tasks.emplace_back();
    task.status = volcano_task_status(text_or_empty(record, "status"));
    if (!text_or_empty(record, "node_name").empty()) task.node = 0;
    job.tasks.push_back(cluster.tasks.size() - 1);
  }
  return compare_flag(one.at("expected").at("result"), is_only_leaving(cluster, job));
}

/// How long a pod is spared once it is placed: by a label, else by an annotation, if it is a duration.
volcano_difference check_cooldown(const json& one) {
  constexpr const char* key = "volcano.sh/cooldown-time";
  const json& about = member(member(volcano_input(one), "pod"), "metadata");
  const json& labels = items(about, "labels");
  const json& notes = items(about, "annotations");
  const std::string text = text_or_empty(has(labels, key) ? labels : notes, key);
  const std::optional<std::int64_t> found = io::kubernetes::parse_duration(text);
  const json& expected = one.at("expected");
  if (volcano_difference why = compare_flag(member(expected, "enabled"), found.has_value())) return why;
  if (found.value_or(0) == io::kubernetes::parse_duration(text_or_empty(expected, "value"))) return std::nullopt;
  return "the time is " + std::to_string(found.value_or(0)) + " ns";
}

/// A session in the words of `volcano-session-case/1`. The nodes are those of the sessions of the same test file, one
/// in each of two groups, which the rows do not repeat.
json session_of_limits(const json& input) {
  json nodes = json::array();
  for (const auto& [node, group] : {std::pair{"n1", "group1"}, std::pair{"n2", "group2"}}) {
    nodes.push_back({{"metadata", {{"name", node}, {"labels", {{"volcano.sh/nodegroup-name", group}}}}}});
  }
  json jobs = json::object();
  for (const json& group : items(input, "pod_groups")) {
    const json& about = member(group, "metadata");
    jobs[name_of_pod(group)] = {{"queue", text_or_empty(member(group, "spec"), "queue")}, {"tasks", json::object()}};
    for (const json& pod : items(input, "pods")) {
      const json& notes = items(member(pod, "metadata"), "annotations");
      if (text_or_empty(notes, "scheduling.k8s.io/group-name") != text_or_empty(about, "name")) continue;
      const resource_list request = request_of_pod(pod);
      const std::map<std::string, double> scalars(request.scalars().begin(), request.scalars().end());
      jobs[name_of_pod(group)]["tasks"][name_of_pod(pod)] = {
          {"node", text_or_empty(member(pod, "spec"), "nodeName")},
          {"status", volcano_name(status_of_pod(pod))},
          {"resreq", {{"milli_cpu", request.cpu}, {"memory", request.memory}, {"scalar_resources", json(scalars)}}}};
    }
  }
  return {{"input", {{"nodes", nodes}, {"queues", json::array({input.at("queue")})}}},
          {"resolved", {{"jobs", jobs}}},
          {"actual", {{"events", json::array()}}}};
}

volcano_difference check_group_limits(const json& one) {
  constexpr int unresolvable = 3;
  const json& input = volcano_input(one);
  const json session = session_of_limits(input);
  const json plugin = json::object();
  const node_group_calls asked(session, plugin);
  for (const json& pod : items(input, "pods")) {
    if (text_or_empty(member(pod, "metadata"), "name") != text_or_empty(input, "target_task_name")) continue;
    for (const auto& [node, code] : one.at("expected").at("status").items()) {
      const int found = asked.refusal(name_of_pod(pod), node) ? unresolvable : 0;
      if (volcano_difference why = compare_number(code, found)) return node + ": " + *why;
    }
    return std::nullopt;
  }
  throw unsupported("a task that is not recorded");
}

/// Devices of a pod as Volcano's annotation lists them: their places on the node, with commas between; none if one of
/// them is no whole number. The library is told devices in columns.
std::vector<std::int64_t> device_places(std::string_view text) {
  std::vector<std::int64_t> places;
  while (true) {
    const std::string_view one = text.substr(0, text.find(','));
    std::int64_t place = 0;
    const auto [end, failure] = std::from_chars(one.data(), one.data() + one.size(), place);
    if (failure != std::errc{} || end != one.data() + one.size()) return {};
    places.push_back(place);
    if (one.size() == text.size()) return places;
    text.remove_prefix(one.size() + 1);
  }
}

volcano_difference check_device_places(const json& one) {
  const json& notes = items(member(member(volcano_input(one), "pod"), "metadata"), "annotations");
  const std::string text = text_or_empty(notes, "volcano.sh/gpu-index");
  const json& wanted = member(one.at("expected"), "result");
  const json found = device_places(text);
  if (found == (wanted.is_null() ? json::array() : wanted)) return std::nullopt;
  return "places are " + found.dump();
}

/// A node says to which pods it has given zones, by their uid or by their name. The library is told zones in a column.
volcano_difference check_zoned_pod(const json& one) {
  const json& input = volcano_input(one);
  const json& pod = member(input, "pod_meta");
  const json& given = items(member(input, "info"), "pod_allocations");
  const auto is_same = [&](const json& other, const char* key) {
    return text_or_empty(other, key) == text_or_empty(pod, key);
  };
  const bool found = std::ranges::any_of(given, [&](const json& other) {
    return is_same(other, "uid") || (is_same(other, "namespace") && is_same(other, "name"));
  });
  return compare_flag(one.at("expected").at("result"), found);
}

constexpr std::array book_tables{
    volcano_table{"TestGetGPUIndex", check_device_places},
    volcano_table{"TestCheckNumaPodAssigned", check_zoned_pod},
    volcano_table{"TestNodeInfo_AddPod", check_node},
    volcano_table{"TestNodeInfo_RemovePod", check_node},
    volcano_table{"TestNodeInfo_SetNode", check_changed_node},
    volcano_table{"TestAddTaskInfo", check_job},
    volcano_table{"TestDeleteTaskInfo", check_job},
    volcano_table{"TestShouldSkipUnschedulableForReleasing", check_leaving},
    volcano_table{"Test_CooldownTimePlugin_podPreemptStableTime", check_cooldown},
    volcano_table{"TestNodeGroupResourceLimits", check_group_limits},
};

}  // namespace

std::span<const volcano_table> volcano_book_tables() { return book_tables; }

}  // namespace kaisched::conformance
