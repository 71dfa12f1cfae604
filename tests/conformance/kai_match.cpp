#include "conformance/kai_match.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>
#include <regex>
#include <set>
#include <tuple>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

constexpr double tolerance = 1e-9;
constexpr double milli_cores_per_core = 1000;
constexpr std::array<std::string_view, 3> queue_resources{"cpu_milli", "memory", "gpu"};

std::string number_text(double value) { return json(value).dump(); }

void differ(differences& found, const std::string& what, const std::string& got, const std::string& recorded) {
  if (got != recorded)
    found.push_back(what + ": got " + (got.empty() ? "none" : got) + ", recorded " +
                    (recorded.empty() ? "none" : recorded));
}

void differ(differences& found, const std::string& what, double got, double recorded) {
  if (!same_amount(got, recorded)) {
    found.push_back(what + ": got " + number_text(got) + ", recorded " + number_text(recorded));
  }
}

double amount_or_zero(const kai_amounts& amounts, std::string_view name) {
  const auto found = amounts.find(name);
  return found == amounts.end() ? 0 : found->second;
}

/// Missing amounts are zero, on both sides.
void differ_amounts(differences& found, const std::string& what, const kai_amounts& got, const json& recorded) {
  std::set<std::string, std::less<>> names;
  for (const auto& [name, amount] : got) names.insert(name);
  for (const auto& [name, amount] : recorded.items()) names.insert(name);
  for (const std::string& name : names) {
    // The tables count in milli-GPU.
    const double wanted = value_or(recorded, name, 0.0);
    const double mine = amount_or_zero(got, name);
    const bool same_milli = name == "gpu" && std::abs(mine - wanted) < 0.5 / static_cast<double>(whole_device);
    if (!same_milli) differ(found, std::string(what).append(" ").append(name), mine, wanted);
  }
}

// ---- events --------------------------------------------------------------------------------------

/// type, task, node, number of shared devices, NUMA zones, devices of claims
using happening =
    std::tuple<std::string, std::string, std::string, std::size_t, std::vector<std::int64_t>, std::vector<std::string>>;

/// What one committed transaction did, in no order.
struct commit {
  std::string action;
  std::int64_t number = 0;
  std::vector<happening> happened;
};

std::vector<commit> commits_of(const std::vector<kai_event>& events) {
  std::vector<commit> commits;
  for (const kai_event& event : events) {
    // The reference evicts stale gangs outside of transactions, in no order.
    const std::int64_t number = event.action == "stalegangeviction" ? 0 : event.commit;
    auto found = std::find_if(commits.begin(), commits.end(),
                              [&](const commit& one) { return one.action == event.action && one.number == number; });
    if (found == commits.end()) found = commits.insert(commits.end(), {event.action, number, {}});
    found->happened.emplace_back(event.type, event.task, event.node, event.gpu_groups.size(), event.numa_zones,
                                 event.claim_devices);
  }
  for (commit& one : commits) std::sort(one.happened.begin(), one.happened.end());
  return commits;
}

std::string text_of(const std::vector<commit>& commits) {
  std::string text;
  for (const commit& one : commits) {
    text += (text.empty() ? "" : " | ") + one.action;
    for (const auto& [type, task, node, devices, zones, claimed] : one.happened) {
      text.append(" ").append(type).append(" ").append(task).append("@").append(node);
      for (const std::int64_t zone : zones) text.append("/").append(std::to_string(zone));
      for (const std::string& device : claimed) text.append(" (").append(device).append(")");
    }
  }
  return text.empty() ? "nothing" : text;
}

std::vector<std::string> recorded_devices(const json& event) {
  std::vector<std::string> texts;
  for (const json& claim : items(event, "dra_devices")) {
    for (const json& device : items(claim, "devices"))
      texts.push_back(text_or_empty(claim, "claim") + "=" + device.get<std::string>());
  }
  std::sort(texts.begin(), texts.end());
  return texts;
}

std::vector<kai_event> recorded_events(const json& recorded_round) {
  std::vector<kai_event> events;
  for (const json& event : items(recorded_round, "events")) {
    // Where the session had put a pod that is no longer to go there is told by the event that put it there.
    const bool unbound = value_or(event, "unbound", false);
    events.push_back({text_or_empty(event, "action"), value_or(event, "commit", std::int64_t{0}),
                      text_or_empty(event, "type"), text_or_empty(event, "task"),
                      unbound ? std::string() : text_or_empty(event, "node"),
                      items(event, "gpu_groups").get<std::vector<std::string>>(),
                      items(event, "numa_zones").get<std::vector<std::int64_t>>(), recorded_devices(event)});
  }
  return events;
}

bool same_commits(const std::vector<commit>& left, const std::vector<commit>& right) {
  // Numbers of commits may be skipped on either side: only their sequence counts.
  return std::equal(left.begin(), left.end(), right.begin(), right.end(),
                    [](const commit& l, const commit& r) { return l.action == r.action && l.happened == r.happened; });
}

// ---- shared devices, compared as the sets of their users --------------------------------------------

using users_of_devices = std::map<std::pair<std::string, std::string>, std::vector<std::string>>;

/// Node and users of every device, without the device's name.
std::vector<std::pair<std::string, std::vector<std::string>>> partition(users_of_devices users) {
  std::vector<std::pair<std::string, std::vector<std::string>>> sets;
  for (auto& [device, names] : users) {
    std::sort(names.begin(), names.end());
    sets.emplace_back(device.first, std::move(names));
  }
  std::sort(sets.begin(), sets.end());
  return sets;
}

std::string text_of(const std::vector<std::pair<std::string, std::vector<std::string>>>& sets) {
  std::string text;
  for (const auto& [node, names] : sets) {
    text += (text.empty() ? "" : " ") + node + "(";
    for (const std::string& name : names) text += (text.back() == '(' ? "" : ",") + name;
    text += ")";
  }
  return text;
}

/// A device is another group as soon as all of its users have been evicted: nobody joins those who leave.
users_of_devices users_in_events(std::vector<kai_event> events, const kai_starts& starts) {
  // A decision to move is two events, which stand apart in the recordings: within a commit evictions come first.
  for (auto first = events.begin(); first != events.end();) {
    const auto last = std::find_if(first, events.end(), [&](const kai_event& e) { return e.commit != first->commit; });
    std::stable_partition(first, last, [](const kai_event& e) { return e.type == "evict"; });
    first = last;
  }
  users_of_devices users;
  std::map<std::pair<std::string, std::string>, std::set<std::string>> present;
  std::map<std::string, std::pair<std::string, std::vector<std::string>>> places;
  std::map<std::pair<std::string, std::string>, std::size_t> left;  // so often
  const auto enter = [&](const std::string& task, const std::string& node, const std::vector<std::string>& devices) {
    for (const std::string& device : devices) present[{node, device}].insert(task);
    places[task] = {node, devices};
  };
  for (const auto& [task, start] : starts) {
    if (kai_uses_node(start.status) && start.status != "Releasing") enter(task, start.node, start.gpu_groups);
  }
  for (const kai_event& event : events) {
    if (event.type == "evict") {
      const auto [node, devices] = places[event.task];
      for (const std::string& device : devices) {
        std::set<std::string>& those = present[{node, device}];
        those.erase(event.task);
        if (those.empty()) ++left[{node, device}];
      }
      continue;
    }
    for (const std::string& device : event.gpu_groups) {
      const std::string name = device + " after " + std::to_string(left[{event.node, device}]);
      users[{event.node, name}].push_back(event.type + " " + event.task);
    }
    enter(event.task, event.node, event.gpu_groups);
  }
  return users;
}

std::vector<kai_event> without_untold(std::vector<kai_event> events, const kai_outcome& outcome) {
  for (kai_event& event : events) {
    if (outcome.untold_nodes.contains(event.node)) event.gpu_groups.clear();
  }
  return events;
}

void differ_events(differences& found, const json& recorded_round, const kai_outcome& outcome) {
  const kai_starts starts = kai_round_starts(recorded_round);
  const std::vector<kai_event> recorded = without_untold(recorded_events(recorded_round), outcome);
  const std::vector<kai_event> played = without_untold(outcome.events, outcome);
  const std::vector<commit> mine = commits_of(played);
  const std::vector<commit> theirs = commits_of(recorded);
  if (!same_commits(mine, theirs)) {
    found.push_back("events: got " + text_of(mine) + ", recorded " + text_of(theirs));
    return;
  }
  differ(found, "shared GPUs in events", text_of(partition(users_in_events(played, outcome.starts))),
         text_of(partition(users_in_events(recorded, starts))));
}

// ---- tasks -----------------------------------------------------------------------------------------

void differ_tasks(differences& found, const json& recorded_round, const kai_outcome& outcome) {
  users_of_devices mine;
  users_of_devices theirs;
  for (const json& recorded : items(member(recorded_round, "result"), "tasks")) {
    const std::string name = name_of(recorded);
    const auto task = outcome.tasks.find(name);
    if (task == outcome.tasks.end()) {
      found.push_back(name + ": the engine does not know this task");
      continue;
    }
    const std::string status = recorded.at("status").get<std::string>();
    const std::string node = text_or_empty(recorded, "node");
    differ(found, name + " status", task->second.status, status);
    differ(found, name + " node", task->second.node, node);
    // KAI leaves the devices of its last failed attempt in a task that it evicted.
    if (text_or_empty(recorded, "received_type") != "Fraction" || status == "Pending" || status == "Releasing" ||
        outcome.untold_nodes.contains(node))
      continue;
    for (const std::string& device : task->second.gpu_groups) mine[{task->second.node, device}].push_back(name);
    for (const json& device : items(recorded, "gpu_groups")) {
      theirs[{node, device.get<std::string>()}].push_back(name);
    }
  }
  differ(found, "shared GPUs", text_of(partition(std::move(mine))), text_of(partition(std::move(theirs))));
}

// ---- queues ----------------------------------------------------------------------------------------

void differ_queues(differences& found, const std::string& what, const json& recorded,
                   const std::map<std::string, kai_amounts, std::less<>>& got) {
  for (const auto& [name, amounts] : recorded.items()) {
    const auto mine = got.find(name);
    if (mine == got.end()) {
      found.push_back("queue " + name + ": the engine does not know this queue");
    } else {
      differ_amounts(found, std::string("queue ").append(name).append(" ").append(what), mine->second, amounts);
    }
  }
}

void differ_nodes(differences& found, const json& recorded_nodes, const kai_outcome& outcome) {
  for (const json& recorded : recorded_nodes) {
    const std::string name = name_of(recorded);
    const auto node = outcome.nodes.find(name);
    if (node == outcome.nodes.end()) {
      found.push_back("node " + name + ": the engine does not know this node");
      continue;
    }
    differ_amounts(found, "node " + name + " idle", node->second.idle, items(recorded, "idle"));
    // Of pods that share devices KAI's nodes know more: who has moved and come back is used twice.
    if (!outcome.shares_devices && has(recorded, "used"))
      differ_amounts(found, "node " + name + " used", node->second.used, items(recorded, "used"));
    differ_amounts(found, "node " + name + " releasing", node->second.releasing, items(recorded, "releasing"));
    const json& zones = items(member(recorded, "numa"), "zones");
    for (std::size_t zone = 0; zone < std::min(zones.size(), node->second.zones.size()); ++zone) {
      differ_amounts(found, "node " + name + " zone " + std::to_string(zone), node->second.zones[zone],
                     items(zones[zone], "available"));
    }
  }
}

// ---- what a test asserts ----------------------------------------------------------------------------

/// GPUs that a task asks for the plain way; shares count with two decimals.
double gpus_of(const json& task) {
  const json& asked = member(task, "gpu_request");
  if (value_or(task, "request_type", std::string("Regular")) == "Regular") return value_or(asked, "gpu", 0.0);
  return std::round(value_or(asked, "fraction", 0.0) * 100) * value_or(asked, "devices", 0.0) / 100;
}

double requested_of(const json& task, std::string_view resource) {
  return value_or(member(task, "request"), resource, 0.0);
}

bool is_started(std::string_view status) {
  return status == "Allocated" || status == "Binding" || status == "Bound" || status == "Running";
}

class asserted_check {
 public:
  asserted_check(const json& session_case, const kai_outcome& outcome, const kai_start_ages& last_starts)
      : session_case_(session_case), outcome_(outcome), last_starts_(last_starts) {}

  differences run() {
    const json& expected = member(session_case_, "expected");
    for (const auto& [name, wanted] : items(expected, "jobs").items()) job(name, wanted);
    for (const auto& [name, wanted] : items(expected, "tasks").items()) task(name, wanted);
    for (const auto& [name, wanted] : items(expected, "nodes").items()) node(name, wanted);
    return std::move(found_);
  }

 private:
  void job(const std::string& name, const json& wanted) {
    for (const json& one : items(session_case_.at("resolved"), "jobs")) {
      if (name_of(one) != name) continue;
      std::vector<const json*> tasks;
      for (const json& member : items(one, "tasks")) tasks.push_back(&member);
      return check("job " + name, wanted, name, tasks);
    }
    found_.push_back("no job " + name);
  }

  /// KAI ignores names that do not exist.
  void task(const std::string& name, const json& wanted) {
    for (const json& one : items(session_case_.at("resolved"), "jobs")) {
      for (const json& member : items(one, "tasks")) {
        if (name_of(member) == name) check("task " + name, wanted, name_of(one), {&member});
      }
    }
  }

  void check(const std::string& what, const json& wanted, const std::string& job,
             const std::vector<const json*>& tasks) {
    double gpus = 0;
    double cpu = 0;
    double memory = 0;
    const std::string status = wanted.at("status").get<std::string>();
    for (const json* one : tasks) {
      placement(what, wanted, status, name_of(*one));
      gpus += gpus_of(*one);
      cpu += requested_of(*one, "cpu_milli");
      memory += requested_of(*one, "memory");
    }
    differ(found_, what + " gpus_required", gpus, value_or(wanted, "gpus_required", 0.0));
    if (has(wanted, "gpus_accepted"))
      differ(found_, what + " gpus_accepted", gpus, wanted.at("gpus_accepted").get<double>());
    if (has(wanted, "cpu_milli_required")) {
      differ(found_, what + " cpu_milli_required", cpu, wanted.at("cpu_milli_required").get<double>());
    }
    if (has(wanted, "memory_required")) {
      differ(found_, what + " memory_required", memory, wanted.at("memory_required").get<double>());
    }
    if (has(wanted, "error_message")) error_message(what, wanted.at("error_message").get<std::string>(), job);
    start(what, wanted, status, job);
  }

  /// Of a message the figures of domains are compared; the engine's own text is another.
  void error_message(const std::string& what, const std::string& message, const std::string& job) {
    static const std::regex domain("<([^>]*)>: node-group ([^ ]*) can allocate only (\\d+) of (\\d+) required pods");
    std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t> recorded;
    for (std::sregex_iterator at(message.begin(), message.end(), domain), end; at != end; ++at) {
      ++recorded[{std::stoll((*at)[4].str()), std::stoll((*at)[3].str())}];
    }
    const auto found = outcome_.small_domains.find(job);
    // Messages about nodes are KAI's words for what every node says; the engine tells reasons of its own.
    if (recorded.empty()) throw unsupported("message about nodes");
    if (found == outcome_.small_domains.end() || found->second != recorded) {
      found_.push_back(what + ": other domains are too small than KAI's message says");
    }
  }

  void placement(const std::string& what, const json& wanted, const std::string& status, const std::string& name) {
    const auto found = outcome_.tasks.find(name);
    if (found == outcome_.tasks.end()) {
      found_.push_back(what + ": the engine does not know " + name);
      return;
    }
    differ(found_, what + ": " + name + " status", found->second.status, status);
    const std::string node = text_or_empty(wanted, "node");
    if (!node.empty()) differ(found_, what + ": " + name + " node", found->second.node, node);
    if (has(wanted, "numa_zones")) {
      differ(found_, what + ": " + name + " numa_zones", json(found->second.numa_zones).dump(),
             wanted.at("numa_zones").dump());
    }
  }

  void start(const std::string& what, const json& wanted, const std::string& status, const std::string& job) {
    const auto known = last_starts_.find(job);
    const std::optional<double> age = known == last_starts_.end() ? std::nullopt : known->second;
    if (is_started(status) && !age) found_.push_back(what + ": never started");
    if (has(wanted, "last_start_older_than_s") &&
        age.value_or(0) <= wanted.at("last_start_older_than_s").get<double>()) {
      found_.push_back(what + ": started too recently");
    }
  }

  void node(const std::string& name, const json& wanted) {
    const auto found = outcome_.nodes.find(name);
    if (found == outcome_.nodes.end()) {
      found_.push_back("no node " + name);
      return;
    }
    if (has(wanted, "idle_gpu")) {
      differ(found_, name + " idle_gpu", amount_or_zero(found->second.idle, "gpu"),
             wanted.at("idle_gpu").get<double>());
    }
    if (has(wanted, "releasing_gpu")) {
      differ(found_, name + " releasing_gpu", amount_or_zero(found->second.releasing, "gpu"),
             wanted.at("releasing_gpu").get<double>());
    }
    for (const auto& [zone, amounts] : items(wanted, "numa_zones_available").items()) {
      const std::size_t number = std::stoul(zone);
      const std::string what = name + " zone " + zone + " ";
      for (const auto& [resource, text] : amounts.items()) {
        const bool known = number < found->second.zones.size();
        const std::string amount = text.get<std::string>();
        differ(found_, what + resource,
               known ? amount_or_zero(found->second.zones[number], resource == "cpu" ? "cpu_milli" : resource) : -1,
               std::stod(amount) * (resource == "cpu" ? milli_cores_per_core : 1));
      }
    }
  }

  const json& session_case_;
  const kai_outcome& outcome_;
  const kai_start_ages& last_starts_;
  differences found_;
};

}  // namespace

bool same_amount(double left, double right) {
  return std::abs(left - right) <= tolerance * std::max({1.0, std::abs(left), std::abs(right)});
}

differences asserted_differences(const json& session_case, const kai_outcome& outcome,
                                 const kai_start_ages& last_starts) {
  return asserted_check(session_case, outcome, last_starts).run();
}

differences golden_differences(const json& recorded_round, const kai_outcome& outcome) {
  differences found;
  differ_events(found, recorded_round, outcome);
  differ_tasks(found, recorded_round, outcome);
  differ_queues(found, "fair share", items(recorded_round, "fair_share"), outcome.fair_share);
  return found;
}

differences amount_differences(const json& recorded_round, const kai_outcome& outcome) {
  const json& recorded = member(recorded_round, "result");
  differences found;
  differ_nodes(found, items(recorded, "nodes"), outcome);
  for (const json& queue : items(recorded, "queues")) {
    const json amounts{{name_of(queue), items(queue, "allocated")}};
    differ_queues(found, "allocated", amounts, outcome.allocated);
  }
  return found;
}

differences state_differences(const json& resolved, const kai_outcome& outcome) {
  differences found;
  differ_nodes(found, items(resolved, "nodes"), outcome);
  const json& division = member(resolved, "fair_share");
  differ_queues(found, "fair share", items(division, "out"), outcome.fair_share);
  json requested = json::object();
  json allocated = json::object();
  for (const json& queue : items(member(division, "in"), "queues")) {
    const std::string name = queue.at("uid").get<std::string>();
    for (const std::string_view resource : queue_resources) {
      requested[name][resource] = value_or(member(queue, resource), "request", 0.0);
      allocated[name][resource] = value_or(member(queue, resource), "allocated", 0.0);
    }
  }
  differ_queues(found, "request", requested, outcome.requested);
  differ_queues(found, "allocated", allocated, outcome.allocated);
  return found;
}

}  // namespace kaisched::conformance
