// The gates can fail: a case that passes, with one figure of its recording changed, must be refused by the right gate.

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "conformance/folder.hpp"
#include "conformance/schemas.hpp"

namespace of_test_gates {

namespace {

using namespace kaisched::conformance;
using nlohmann::json;

std::filesystem::path cases() { return std::filesystem::path(KAISCHED_SOURCE_DIR) / "tests" / "conformance" / "cases"; }

json load(const std::string& name) { return json::parse(std::ifstream(cases() / "pass" / (name + ".json"))); }

/// Gates that refuse the case, each once; the first finding is shown if the test fails.
std::string refusing_gates(const json& one, const judge_options& options = {}) {
  const verdict found = judge_case(one, options);
  std::string gates;
  for (const finding& finding : found.findings) {
    INFO(finding.gate << ": " << finding.why);
    if (gates.find(finding.gate) == std::string::npos) gates += (gates.empty() ? "" : " ") + finding.gate;
  }
  return gates;
}

struct edit {
  const char* file;
  const char* where;  ///< JSON pointer
  const char* value;  ///< JSON text; empty removes the member
  const char* gates;
};

json edited(const edit& change) {
  json one = load(change.file);
  const json::json_pointer where(change.where);
  if (std::string(change.value).empty()) {
    one.at(where.parent_pointer()).erase(where.back());
  } else {
    one[where] = json::parse(change.value);
  }
  return one;
}

constexpr edit edits[] = {
    {"larger-job-first", "/rounds/0/result/tasks/0/node", R"("alpha")", "golden"},
    {"larger-job-first", "/rounds/0/result/tasks/1/status", R"("Pending")", "golden"},
    {"larger-job-first", "/rounds/0/result/tasks/2", R"({"name": "third-0", "status": "Pending"})", "golden"},
    {"larger-job-first", "/rounds/0/events/0/node", R"("alpha")", "golden"},
    {"larger-job-first", "/rounds/0/events/0/type", R"("pipeline")", "golden"},
    {"larger-job-first", "/rounds/0/events/1/commit", "1", "golden"},
    {"larger-job-first", "/rounds/0/fair_share/team/gpu", "3.001", "golden"},
    {"larger-job-first", "/rounds/0/fair_share/nobody", R"({"gpu": 0})", "golden"},
    {"gang-waits", "/rounds/0/events", "[]", "golden"},
    {"write-back", "/rounds/1/result/tasks/0/status", R"("Running")", "golden"},
    {"write-back", "/rounds/3/result/tasks/1", R"({"name": "waiting-0", "status": "Running", "node": "alpha"})",
     "golden"},
    {"claim-on-releasing", "/expected/tasks/waiting-0/status", R"("Binding")", "asserted"},
    {"claim-on-releasing", "/expected/tasks/waiting-0/node", R"("beta")", "asserted"},
    {"claim-on-releasing", "/expected/nodes/alpha/releasing_gpu", "1", "asserted"},
    {"larger-job-first", "/expected/jobs/first/gpus_required", "1", "asserted"},
    {"larger-job-first", "/expected/jobs/first/memory_required", "1", "asserted"},
    {"larger-job-first", "/expected/jobs/first/last_start_older_than_s", "30", "asserted"},
    {"larger-job-first", "/expected/jobs/first/error_message", R"("no")", "unsupported"},
    {"larger-job-first", "/expected/jobs/nobody", R"({"status": "Pending"})", "asserted"},
    {"larger-job-first", "/expected/nodes/alpha/idle_gpu", "1", "asserted"},
    {"nothing-runs", "/resolved/nodes/0/idle/gpu", "1", "state"},
    {"nothing-runs", "/resolved/nodes/0/used/cpu_milli", "1", "state"},
    {"nothing-runs", "/resolved/nodes/0/releasing", "{}", "state"},
    {"nothing-runs", "/resolved/fair_share/out/team/gpu", "1", "state"},
    {"nothing-runs", "/resolved/fair_share/in/queues/0/gpu/request", "3", "state"},
    {"nothing-runs", "/resolved/fair_share/in/queues/1/memory/allocated", "3", "state"},
    {"larger-job-first", "/schema", R"("kai-session-case/99")", "schema"},
    {"larger-job-first", "/schema", "", "schema"},
    {"larger-job-first", "/resolved/jobs/0/queue", "", "error"},
    {"larger-job-first", "/resolved/queues/0/parent", R"("nobody")", "unsupported"},
    {"larger-job-first", "/actions/1", R"("defragment")", "unsupported"},
    {"larger-job-first", "/special", R"({"bind_fails": true})", "unsupported"},
    {"larger-job-first", "/resolved/plugins/0/name", R"("astrology")", "unsupported"},
    {"larger-job-first", "/resolved/jobs/0/tasks/0/status", R"("Deleted")", "unsupported"},
};

}  // namespace

TEST_CASE("cases that are right pass") {
  const report found = judge_folder(cases() / "pass", {});
  INFO(found.to_json().dump(1));
  CHECK(found.failed() == 0);
  CHECK(found.passed() >= 16);
}

TEST_CASE("every case that is wrong fails") {
  const report found = judge_folder(cases() / "fail", {});
  CHECK(found.passed() == 0);
  CHECK(found.failed() >= 18);
  const auto failures = found.to_json()["failures"];
  const auto node =
      std::find_if(failures.begin(), failures.end(), [](const auto& one) { return one["file"] == "golden-node.json"; });
  REQUIRE(node != failures.end());
  CHECK((*node)["gate"] == "golden");
  CHECK((*node)["why"] == "first-0 node: got beta, recorded alpha");
}

TEST_CASE("every gate refuses what is wrong") {
  for (const edit& change : edits) {
    CAPTURE(change.file);
    CAPTURE(change.where);
    CAPTURE(change.value);
    CHECK(refusing_gates(edited(change)) == change.gates);
  }
}

TEST_CASE("only what a test asserts as data is asserted") {
  json one = edited({"claim-on-releasing", "/expected/nodes/alpha/releasing_gpu", "1", ""});
  one["asserted"] = "code";
  CHECK(refusing_gates(one).empty());
}

TEST_CASE("the order of events inside a commit has no meaning") {
  json one = load("gang-waits");
  one["resolved"]["nodes"][0]["allocatable"]["gpu"] = 3;
  one["rounds"][0]["fair_share"]["team"]["gpu"] = 3;
  one["asserted"] = "none";
  one["rounds"][0]["result"]["tasks"] = json::array();
  json& events = one["rounds"][0]["events"];
  events.clear();
  for (const char* task : {"gang-2", "gang-0", "gang-1"}) {
    events.push_back({{"action", "allocate"}, {"commit", 7}, {"type", "bind"}, {"task", task}, {"node", "alpha"}});
  }
  CHECK(refusing_gates(one).empty());
  events[0]["commit"] = 8;
  CHECK(refusing_gates(one) == "golden");
}

TEST_CASE("amounts at the end of a round are compared where they are asked for") {
  json one = load("larger-job-first");
  one["rounds"][0]["result"]["nodes"] = json::parse(
      R"([{"name": "alpha", "idle": {"cpu_milli": 7000, "memory": 15000000000, "pods": 9},
           "used": {"cpu_milli": 1000, "gpu": 1, "memory": 1000000000, "pods": 1}}])");
  one["rounds"][0]["result"]["queues"] =
      json::parse(R"([{"name": "team", "allocated": {"cpu_milli": 2000, "gpu": 3, "memory": 2000000000}}])");
  judge_options options;
  options.amounts = true;
  CHECK(refusing_gates(one, options).empty());
  one["rounds"][0]["result"]["nodes"][0]["idle"]["pods"] = 10;
  CHECK(refusing_gates(one, options) == "amounts");
  CHECK(refusing_gates(one).empty());
  one["rounds"][0]["result"].erase("nodes");
  one["rounds"][0]["result"]["queues"][0]["allocated"]["gpu"] = 2;
  CHECK(refusing_gates(one, options) == "amounts");
}

TEST_CASE("calls are refused for a wrong answer and for an unknown kind") {
  std::ifstream lines(cases() / "pass" / "calls.jsonl");
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    json one = json::parse(line);
    CAPTURE(line);
    CHECK(refusing_gates(one).empty());
    // The first figure of the answer, wherever it is.
    json* place = &one["out"];
    while (place->is_object()) place = &place->begin().value();
    if (place->is_number()) {
      *place = place->get<double>() + 1e-6;
    } else {
      *place = place->is_string() ? json("3 GPUs") : json(!place->get<bool>());
    }
    CHECK(refusing_gates(one) == "call");
  }
  CHECK(count == 10);
  CHECK(refusing_gates(json::parse(R"({"schema": "kai-call/1", "kind": "guess", "in": {}, "out": {}})")) ==
        "unsupported");
}

}  // namespace of_test_gates
