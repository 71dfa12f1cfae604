// The engine's decisions on the scale scenarios against the recorded ones of the KAI Scheduler.
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"

namespace {

using namespace kaisched;
using event = std::tuple<std::string, std::string, std::string>;

std::filesystem::path decisions_folder() {
  const char* named = std::getenv("KAISCHED_SHARED");
  return std::filesystem::path(named != nullptr ? named : KAISCHED_SHARED_DEFAULT) / "benchmarks" / "decisions";
}

session run(const std::string& scenario, std::int32_t nodes, bool reference_path) {
  const bench::scenario_input input = bench::build(scenario, nodes);
  cluster c;
  for (const table& t : bench::to_tables(input)) {
    const auto applied = c.apply(t);
    REQUIRE_MESSAGE(applied.ok(), (applied.ok() ? std::string() : applied.failure().message));
  }
  engine e;
  REQUIRE(e.set("mode", "compat").ok());
  REQUIRE(e.set("reference_path", reference_path ? "true" : "false").ok());
  auto ran = e.run(c.take_snapshot(), bench::scenario_now);
  REQUIRE_MESSAGE(ran.ok(), (ran.ok() ? std::string() : ran.failure().message));
  return std::move(ran).value();
}

std::vector<event> events_of(const session& s) {
  std::vector<event> events;
  for (const decision& d : s.decisions()) {
    events.emplace_back(decision_kind_name(d.kind), s.base().pod_name(d.pod), s.base().node_name(d.node));
  }
  return events;
}

}  // namespace

TEST_CASE("decisions equal the recorded ones, event by event") {
  if (!std::filesystem::exists(decisions_folder())) {
    MESSAGE("skipped: shared data absent");
    return;
  }
  for (const std::string scenario : {"fill", "overflow", "gang", "gang64", "distributed"}) {
    CAPTURE(scenario);
    std::ifstream file(decisions_folder() / (scenario + "-100.json"));
    const nlohmann::json recorded = nlohmann::json::parse(file);
    std::vector<event> theirs;
    for (const auto& e : recorded["events"]) theirs.emplace_back(e["type"], e["task"], e["node"]);
    const session s = run(scenario, 100, false);
    CHECK(s.check().ok());
    CHECK(events_of(s) == theirs);
  }
}

TEST_CASE("the indexes decide as the scan of all nodes does") {
  for (const std::string scenario : {"fill", "overflow", "gang", "distributed", "mixed", "steady"}) {
    CAPTURE(scenario);
    CHECK(events_of(run(scenario, 30, false)) == events_of(run(scenario, 30, true)));
  }
}
