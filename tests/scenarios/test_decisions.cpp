// The engine's decisions on the scale scenarios against the recorded ones of the KAI Scheduler.
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"

namespace of_test_decisions {

namespace {

using namespace kaisched;
using event = std::tuple<std::string, std::string, std::string>;

std::filesystem::path decisions_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");
  return std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "benchmarks" / "decisions";
}

session run(const bench::scenario_input& input, bool reference_path) {
  cluster c;
  for (const table& t : bench::to_tables(input)) {
    const auto applied = c.apply(t);
    REQUIRE_MESSAGE(applied.ok(), (applied.ok() ? std::string() : applied.failure().message));
  }
  engine e;
  REQUIRE(e.set("mode", "compat").ok());
  REQUIRE(e.set("reference_path", reference_path ? "true" : "false").ok());
  REQUIRE(e.set("consolidation.max_victims", "-1").ok());
  std::string actions;
  for (const std::string& action : input.actions) actions += (actions.empty() ? "" : ",") + action;
  REQUIRE(e.set("actions", actions).ok());
  auto ran = e.run(c.take_snapshot(), bench::scenario_now);
  REQUIRE_MESSAGE(ran.ok(), (ran.ok() ? std::string() : ran.failure().message));
  return std::move(ran).value();
}

/// As KAI tells of them: a move is an eviction and a claim, and an eviction names the node that the pod runs on.
std::vector<event> events_of(const bench::scenario_input& input, const session& s) {
  std::map<std::string, std::string> runs_on;
  for (const bench::scenario_job& job : input.jobs) {
    for (std::size_t i = 0; i < job.nodes.size(); ++i) {
      runs_on[job.name + "-" + std::to_string(i)] = input.nodes[static_cast<std::size_t>(job.nodes[i])].name;
    }
  }
  std::vector<event> events;
  for (const decision& d : s.decisions()) {
    if (d.kind == decision_kind::unschedulable) continue;
    const std::string pod(s.base().pod_name(d.pod));
    if (d.kind == decision_kind::evict || d.kind == decision_kind::move) {
      events.emplace_back("evict", pod, runs_on[pod]);
      if (d.kind == decision_kind::evict) continue;
    }
    events.emplace_back(d.kind == decision_kind::bind ? "bind" : "pipeline", pod, s.base().node_name(d.node));
  }
  return events;
}

std::vector<event> recorded_events(const std::string& scenario) {
  std::ifstream file(decisions_folder() / (scenario + "-100.json"));
  const nlohmann::json recorded = nlohmann::json::parse(file);
  std::vector<event> events;
  for (const auto& e : recorded["events"]) events.emplace_back(e["type"], e["task"], e["node"]);
  return events;
}

}  // namespace

TEST_CASE("decisions equal the recorded ones, event by event") {
  if (!std::filesystem::exists(decisions_folder())) {
    MESSAGE("skipped: shared data absent");
    return;
  }
  for (const std::string scenario :
       {"fill", "overflow", "overflow_full", "gang", "gang64", "distributed", "fraction", "topology", "steady",
        "reclaim_many", "reclaim_many_cycle", "reclaim_swap_cycle", "reclaim_fail", "reclaim_fail_topo"}) {
    CAPTURE(scenario);
    const bench::scenario_input input = bench::build(scenario, 100);
    const session s = run(input, false);
    CHECK(s.check().ok());
    CHECK(events_of(input, s) == recorded_events(scenario));
  }
}

TEST_CASE("where the recorded order within a commit varies, the same pods are evicted, moved and placed") {
  if (!std::filesystem::exists(decisions_folder())) {
    MESSAGE("skipped: shared data absent");
    return;
  }
  for (const std::string scenario : {"reclaim_large", "reclaim_large_half", "preempt", "consolidation"}) {
    CAPTURE(scenario);
    const bench::scenario_input input = bench::build(scenario, 100);
    const session s = run(input, false);
    CHECK(s.check().ok());
    std::vector<event> mine = events_of(input, s);
    std::vector<event> theirs = recorded_events(scenario);
    std::sort(mine.begin(), mine.end());
    std::sort(theirs.begin(), theirs.end());
    CHECK(mine == theirs);
  }
}

TEST_CASE("the indexes decide as the scan of all nodes does") {
  for (const std::string scenario :
       {"fill", "overflow", "gang", "distributed", "fraction", "topology", "mixed_cycle", "steady", "reclaim_many",
        "reclaim_fail", "reclaim_fail_topo", "preempt", "consolidation"}) {
    CAPTURE(scenario);
    const bench::scenario_input input = bench::build(scenario, 30);
    CHECK(events_of(input, run(input, false)) == events_of(input, run(input, true)));
  }
}

}  // namespace of_test_decisions
