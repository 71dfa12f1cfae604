// Recorded sessions of Volcano in which actions run: they are played, and what was decided is compared.

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/json_values.hpp"
#include "conformance/report.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_pods.hpp"
#include "conformance/volcano_state.hpp"
#include "schedulers/volcano/cycle/actions.hpp"

namespace kaisched::conformance {

namespace {

using kaisched::volcano::cluster_state;
using kaisched::volcano::decisions;
using kaisched::volcano::deed;
using kaisched::volcano::job_phase;
using kaisched::volcano::job_state;
using kaisched::volcano::no_row;
using kaisched::volcano::row;
using kaisched::volcano::session;
using kaisched::volcano::task_status;
using nlohmann::json;

const json& arguments_of(const json& one, const std::string& action) {
  for (const json& record : items(one, "configurations")) {
    if (name_of(record) == action) return member(record, "arguments");
  }
  return member(json(), "");
}

kaisched::volcano::preemption_settings preemption_of(const json& arguments) {
  kaisched::volcano::preemption_settings settings;
  settings.by_trials = value_or(arguments, "enableTopologyAwarePreemption", false);
  settings.percent_of_nodes = value_or<std::int64_t>(arguments, "minCandidateNodesPercentage", 10);
  settings.fewest_nodes = value_or<std::int64_t>(arguments, "minCandidateNodesAbsolute", 1);
  settings.most_nodes = value_or<std::int64_t>(arguments, "maxCandidateNodesAbsolute", 100);
  return settings;
}

void play(const json& one, const std::string& action, session& of, decisions& made) {
  const auto add = [&](const decisions& more) { made.insert(made.end(), more.begin(), more.end()); };
  if (action == "enqueue") {
    kaisched::volcano::enqueue(of);
  } else if (action == "allocate") {
    add(kaisched::volcano::allocate(of));
  } else if (action == "reclaim") {
    add(kaisched::volcano::reclaim(of));
  } else if (action == "backfill") {
    add(kaisched::volcano::backfill(of));
  } else if (action == "preempt") {
    add(kaisched::volcano::preempt(of, preemption_of(arguments_of(one, action))));
  } else {
    throw unsupported("action " + action);
  }
}

/// The phase after a session. The recordings were made without what plug-ins say at the end.
job_phase phase_after(const cluster_state& cluster, const job_state& job) {
  std::int64_t scheduled = 0;
  std::int64_t ended = 0;
  for (const row task : job.tasks) {
    const auto& one = cluster.tasks[task];
    if (one.status == task_status::failed || one.status == task_status::succeeded) ++ended;
    if (is_scheduled(one.status) || (one.status == task_status::releasing && one.node != no_row)) ++scheduled;
  }
  if (scheduled >= job.min_available) return scheduled == ended ? job_phase::completed : job_phase::running;
  return job.phase == job_phase::inqueue ? job_phase::inqueue : job_phase::pending;
}

/// What was decided, in the words of the records.
json outcome_of(const json& recorded, const session& of, const decisions& made) {
  const auto& cluster = of.cluster();
  json found{{"binds", json::object()},
             {"evicts", json::array()},
             {"tasks", json::object()},
             {"pod_group_phase", json::object()}};
  std::set<std::string> waits;
  for (const json& pod : items(recorded.at("input"), "pods")) {
    const json& about = member(pod, "metadata");
    if (waits_for_volume(recorded, pod)) waits.insert(text_or_empty(about, "namespace") + "/" + name_of(about));
  }
  for (const kaisched::volcano::operation& one : made) {
    const std::string& task = cluster.tasks[one.task].name;
    if (one.what == deed::allocate && !waits.contains(task)) found["binds"][task] = cluster.nodes[one.node].name;
    if (one.what == deed::evict) found["evicts"].push_back(task);
  }
  for (const auto& task : cluster.tasks) {
    found["tasks"][task.name] = {{"node", task.node == no_row ? "" : cluster.nodes[task.node].name},
                                 {"status", volcano_name(task.status)}};
  }
  for (const auto& job : cluster.jobs) found["pod_group_phase"][job.name] = volcano_name(phase_after(cluster, job));
  return found;
}

std::multiset<std::string> names_in(const json& list) {
  std::multiset<std::string> names;
  for (const json& name : list) names.insert(name.get<std::string>());
  return names;
}

json object_or_empty(const json& of, const char* key) {
  const json& found = member(of, key);
  return found.is_null() ? json::object() : found;
}

/// Tests that look at what jobs hold, with a comparison that cannot fail, bind nobody: what became of tasks is
/// recorded.
bool binds_nobody(const json& one) {
  const json& direct = member(one.at("expected"), "direct");
  return direct.is_object() && direct.size() == 1 && has(direct, "job_allocated_not_checked");
}

/// The first difference, or nothing. Evictions are compared as a multiset.
/// @param closed whether the session came to its end.
std::string difference_to(const json& found, const json& recorded, bool closed) {
  for (const char* key : {"binds", "tasks", "pod_group_phase"}) {
    if (!closed && std::string_view(key) != "tasks") continue;
    const json wanted = object_or_empty(recorded, key);
    if (found.at(key) != wanted)
      return std::string(key) + " are " + found.at(key).dump() + ", recorded " + wanted.dump();
  }
  const json& evicts = items(recorded, "evicts");
  if (names_in(found.at("evicts")) == names_in(evicts)) return {};
  return "evicts are " + found.at("evicts").dump() + ", recorded " + evicts.dump();
}

class expectation {
 public:
  expectation(const json& one, const json& found) : case_(one), wanted_(one.at("expected")), found_(found) {}

  std::vector<std::string> differences() {
    if (!binds_nobody(case_)) binds();
    evictions();
    pipelined();
    numbers();
    for (const auto& [job, phase] : items(wanted_, "pod_group_phase").items()) {
      expect("phase of " + job, found_.at("pod_group_phase").at(job), phase);
    }
    for (const auto& [key, value] : wanted_.items()) {
      if (!known_.contains(key) && !(key == "direct" && binds_nobody(case_))) throw unsupported("expectation " + key);
    }
    return std::move(different_);
  }

 private:
  void expect(const std::string& what, const json& is, const json& wanted) {
    if (is != wanted) different_.push_back(what + " is " + is.dump() + ", expected " + wanted.dump());
  }

  void binds() {
    expect("number of binds", found_.at("binds").size(), value_or<std::size_t>(wanted_, "binds_num", 0));
    if (!value_or(wanted_, "minimal_bind_check", false)) {
      expect("binds", found_.at("binds"), object_or_empty(wanted_, "bind_map"));
    }
    if (!has(wanted_, "bind_nums_in_hypernode")) return;
    std::map<std::string, std::size_t> numbers;
    for (const auto& [task, node] : found_.at("binds").items()) {
      for (const auto& [domain, record] : items(case_.at("resolved"), "hypernodes").items()) {
        const json& nodes = items(record, "real_nodes");
        if (items(record, "children").empty() && std::ranges::find(nodes, node) != nodes.end()) ++numbers[domain];
      }
    }
    std::vector<std::size_t> sorted;
    for (const auto& [domain, number] : numbers) sorted.push_back(number);
    std::ranges::sort(sorted);
    expect("binds by hypernode", sorted, wanted_.at("bind_nums_in_hypernode"));
  }

  void evictions() {
    expect("number of evictions", found_.at("evicts").size(), value_or<std::size_t>(wanted_, "evict_num", 0));
    if (names_in(found_.at("evicts")) != names_in(items(wanted_, "evicted"))) {
      expect("evictions", found_.at("evicts"), items(wanted_, "evicted"));
    }
  }

  void pipelined() {
    for (const auto& [job, nodes] : items(wanted_, "pipelined").items()) {
      std::size_t count = 0;
      for (const auto& [task, record] : items(case_.at("resolved").at("jobs").at(job), "tasks").items()) {
        const json& is = found_.at("tasks").at(task);
        if (is.at("status") != "Pipelined") continue;
        ++count;
        if (std::ranges::find(nodes, is.at("node")) == nodes.end()) expect("node of " + task, is.at("node"), nodes);
      }
      if (count == 0) different_.push_back("no task of " + job + " is pipelined");
    }
  }

  void numbers() {
    for (const auto& [job, wanted] : items(wanted_, "task_status_nums").items()) {
      for (const auto& [status, number] : wanted.items()) {
        std::size_t count = 0;
        for (const auto& [task, record] : items(case_.at("resolved").at("jobs").at(job), "tasks").items()) {
          if (found_.at("tasks").at(task).at("status") == status) ++count;
        }
        expect(status + " of " + job, count, number);
      }
    }
  }

  const std::set<std::string> known_{"bind_map",       "binds_num", "minimal_bind_check", "bind_nums_in_hypernode",
                                     "evicted",        "evict_num", "pipelined",          "task_status_nums",
                                     "pod_group_phase"};
  const json& case_;
  const json& wanted_;
  const json& found_;
  std::vector<std::string> different_;
};

}  // namespace

std::vector<finding> replay_volcano_actions(const json& one) {
  session of(volcano_cluster(one), volcano_tiers(one));
  decisions made;
  for (const json& action : items(one, "actions")) play(one, action.get<std::string>(), of, made);
  const json found = outcome_of(one, of, made);
  std::vector<finding> findings;
  for (const std::string& why : expectation(one, found).differences()) findings.push_back({"expected", why});
  if (value_or(one, "deterministic", false)) {
    if (const std::string why = difference_to(found, one.at("actual"), !binds_nobody(one)); !why.empty())
      findings.push_back({"actual", why});
  } else if (!findings.empty()) {
    // An outcome that was seen is allowed, whatever the test says of it.
    const json& observed = items(one, "observed");
    if (std::ranges::any_of(observed,
                            [&](const json& seen) { return difference_to(found, seen, !binds_nobody(one)).empty(); })) {
      findings.clear();
    }
  }
  return findings;
}

}  // namespace kaisched::conformance
