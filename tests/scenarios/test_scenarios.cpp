#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "benchmarks/scenarios.hpp"

namespace of_test_scenarios {

namespace {

namespace bench = kaisched::bench;
using nlohmann::json;

// Reference data is kept outside the project, next to the checkout or where the environment says.
std::filesystem::path shared_benchmarks() {
  std::filesystem::path root;
  if (const char* variable = std::getenv("KAISCHED_SHARED"); variable != nullptr) {
    root = variable;
  } else {
#ifdef KAISCHED_SHARED_DEFAULT
    root = KAISCHED_SHARED_DEFAULT;
#endif
  }
  return root / "benchmarks";
}

bool shared_data_absent() {
  if (std::filesystem::exists(shared_benchmarks() / "hashes.csv")) {
    return false;
  }
  MESSAGE("skipped: shared data absent");
  return true;
}

// A count of nodes with which every scenario that is not bound to one cluster can be built.
std::int32_t usual_nodes(std::string_view name) { return std::max(100, bench::min_nodes(name)); }

std::vector<std::string> all_names() {
  std::vector<std::string> names = bench::scenario_names();
  const std::vector<std::string> extra = bench::extra_scenario_names();
  names.insert(names.end(), extra.begin(), extra.end());
  return names;
}

std::int64_t pods_of(const bench::scenario_input& input, bool running) {
  std::int64_t pods = 0;
  for (const bench::scenario_job& job : input.jobs) {
    pods += job.running() == running ? job.pod_count() : 0;
  }
  return pods;
}

std::string error_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "no error";
}

json to_json(const bench::scenario_job& job, const std::vector<bench::scenario_node>& nodes) {
  json out = {{"name", job.name}, {"queue", job.queue}, {"priority", job.priority}};
  out["gpus_per_task"] = static_cast<double>(job.gpus_milli_per_pod) / 1000.0;
  for (const bench::scenario_pod_set& set : job.pod_sets) {
    out["pod_sets"].push_back({{"name", set.name}, {"min", set.min}, {"count", set.count}});
  }
  if (!job.required_level.empty()) {
    out["required"] = job.required_level;
  }
  if (!job.preferred_level.empty()) {
    out["preferred"] = job.preferred_level;
  }
  for (const std::int32_t node : job.nodes) {
    out["nodes"].push_back(nodes.at(static_cast<std::size_t>(node)).name);
  }
  return out;
}

// The same form as the expanded reference inputs.
json to_json(const bench::scenario_input& input) {
  json out = {{"scenario", input.name},
              {"nodes_count", input.nodes_count},
              {"actions", input.actions},
              {"topology", input.has_topology()}};
  for (const bench::scenario_node& node : input.nodes) {
    json item = {{"name", node.name}, {"gpus", node.gpus}};
    if (!node.block.empty()) {
      item["block"] = node.block;
    }
    if (!node.rack.empty()) {
      item["rack"] = node.rack;
    }
    out["nodes"].push_back(item);
  }
  for (const bench::scenario_department& department : input.departments) {
    out["departments"].push_back({{"name", department.name}, {"deserved_gpus", department.quota_gpus}});
  }
  for (const bench::scenario_queue& queue : input.queues) {
    out["queues"].push_back({{"name", queue.name},
                             {"parent", queue.parent},
                             {"deserved_gpus", queue.quota_gpus},
                             {"gpu_weight", queue.weight_gpus}});
  }
  for (const bench::scenario_job& job : input.jobs) {
    out["jobs"].push_back(to_json(job, input.nodes));
  }
  return out;
}

void check_equal(const json& built, const json& reference) {
  for (const auto& [key, value] : reference.items()) {
    CAPTURE(key);
    REQUIRE(built.contains(key));
    if (key != "nodes" && key != "jobs") {
      CHECK(built.at(key) == value);
      continue;
    }
    REQUIRE(built.at(key).size() == value.size());
    for (std::size_t i = 0; i < value.size(); ++i) {
      CAPTURE(i);
      REQUIRE(built.at(key).at(i) == value.at(i));
    }
  }
  CHECK(built.size() == reference.size());
}

}  // namespace

TEST_CASE("scenarios: every recorded hash and count") {
  if (shared_data_absent()) {
    return;
  }
  std::ifstream file(shared_benchmarks() / "hashes.csv");
  std::string line;
  REQUIRE(std::getline(file, line));
  REQUIRE(line == "scenario,nodes,jobs,pending_pods,running_pods,sha256");
  std::size_t rows = 0;
  while (std::getline(file, line)) {
    CAPTURE(line);
    std::istringstream fields(line);
    std::string name;
    std::string nodes;
    std::getline(fields, name, ',');
    std::getline(fields, nodes, ',');
    const bench::scenario_input input = bench::build(name, std::stoi(nodes));
    std::ostringstream row;
    row << name << ',' << nodes << ',' << input.jobs.size() << ',' << pods_of(input, false) << ','
        << pods_of(input, true) << ',' << bench::input_sha256(input);
    CHECK(row.str() == line);
    ++rows;
  }
  CHECK(rows == 6 * bench::scenario_names().size());
}

TEST_CASE("scenarios: every expanded reference input, field by field") {
  if (shared_data_absent()) {
    return;
  }
  for (const std::string& name : bench::scenario_names()) {
    CAPTURE(name);
    std::ifstream file(shared_benchmarks() / "inputs" / (name + "-100.json"));
    REQUIRE(file.is_open());
    check_equal(to_json(bench::build(name, 100)), json::parse(file));
  }
}

TEST_CASE("scenarios: errors say what is possible") {
  const std::string unknown = error_of([] { static_cast<void>(bench::build("no_such", 100)); });
  CHECK(unknown.find("'no_such'") != std::string::npos);
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    CHECK(unknown.find(name) != std::string::npos);
    const std::int32_t fewest = bench::min_nodes(name);
    CHECK_NOTHROW(static_cast<void>(bench::build(name, fewest)));
    CHECK_THROWS_AS(static_cast<void>(bench::build(name, fewest - 1)), std::invalid_argument);
    CHECK_THROWS_AS(static_cast<void>(bench::build(name, 100'001)), std::invalid_argument);
  }
  CHECK(error_of([] { static_cast<void>(bench::build("gang64", 63)); }) ==
        "scenario gang64 has 64 to 100000 nodes, not 63");
  CHECK(error_of([] { static_cast<void>(bench::build("few_changes", 100'000)); }) ==
        "scenario few_changes with 100000 nodes has more than 1000000 jobs");
}

TEST_CASE("scenarios: inputs are consistent with themselves") {
  for (const std::string& name : all_names()) {
    CAPTURE(name);
    for (const std::int32_t nodes : {bench::min_nodes(name), usual_nodes(name)}) {
      CAPTURE(nodes);
      const bench::scenario_input input = bench::build(name, nodes);
      CHECK(input == bench::build(name, nodes));
      CHECK(input.nodes.size() == static_cast<std::size_t>(nodes));
      CHECK(pods_of(input, false) > 0);
      CHECK(std::is_sorted(input.jobs.begin(), input.jobs.end(), [](const auto& a, const auto& b) {
        return a.running() > b.running() || (a.running() == b.running() && a.name < b.name);
      }));
      std::vector<std::int64_t> free_milli(input.nodes.size(), 8'000);
      for (const bench::scenario_job& job : input.jobs) {
        REQUIRE(job.pod_count() > 0);
        REQUIRE(std::any_of(input.queues.begin(), input.queues.end(),
                            [&](const bench::scenario_queue& queue) { return queue.name == job.queue; }));
        REQUIRE((!job.running() || static_cast<std::int64_t>(job.nodes.size()) == job.pod_count()));
        for (const std::int32_t node : job.nodes) {
          std::int64_t& left = free_milli.at(static_cast<std::size_t>(node));
          left -= job.gpus_milli_per_pod;
          REQUIRE(left >= 0);
        }
      }
    }
  }
}

TEST_CASE("scenarios: canonical text") {
  const std::string fill = bench::canonical_text(bench::build("fill", 2));
  CHECK(
      fill.starts_with("node n00000 8 - -\nnode n00001 8 - -\ndepartment d0 8\ndepartment d1 8\n"
                       "queue q0 d0 4 1\nqueue q1 d0 4 1\nqueue q2 d1 4 1\nqueue q3 d1 4 1\n"
                       "job j000000 q0 50 1 - - default:1:1 -\n"));
  CHECK(fill.ends_with("\njob j000015 q3 50 1 - - default:1:1 -\n"));

  const std::string fraction = bench::canonical_text(bench::build("fraction", 1));
  CHECK(fraction.ends_with("\njob j000015 q3 50 0.5 - - default:1:1 -\n"));

  const std::string topology = bench::canonical_text(bench::build("topology", 130));
  CHECK(topology.find("\nnode n00129 8 b001 r0008\n") != std::string::npos);
  CHECK(topology.find("\njob j000002 q2 50 8 block rack default:64:64 -\n") != std::string::npos);

  const std::string distributed = bench::canonical_text(bench::build("distributed", 16));
  CHECK(distributed.ends_with("\njob j000000 q0 50 8 - - master:1:1 worker:15:15 -\n"));

  bench::scenario_input changed = bench::build("fill", 1);
  changed.jobs.front().gpus_milli_per_pod = 1'025;
  changed.jobs.front().nodes = {0, 0};
  CHECK(bench::canonical_text(changed).find("job j000000 q0 50 1.025 - - default:1:1 n00000,n00000\n") !=
        std::string::npos);
  CHECK(bench::input_sha256(changed) != bench::input_sha256(bench::build("fill", 1)));
}

TEST_CASE("scenarios: few_changes starts with 35 pods a node and gangs that never fit") {
  const bench::scenario_input input = bench::build("few_changes", 400);
  CHECK(pods_of(input, true) == 35 * 400);
  CHECK(pods_of(input, false) == 200 * 16);
  CHECK(input.jobs.back().pod_sets.front().min == 16);
  std::vector<bool> has_gpu_pods(input.nodes.size(), false);
  for (const bench::scenario_job& job : input.jobs) {
    for (const std::int32_t node : job.nodes) {
      if (job.gpus_milli_per_pod > 0) {
        has_gpu_pods.at(static_cast<std::size_t>(node)) = true;
      }
    }
  }
  CHECK(std::count(has_gpu_pods.begin(), has_gpu_pods.end(), false) == 8);
}

TEST_CASE("scenarios: the gang of 512 pods fills one zone exactly") {
  const bench::scenario_input required = bench::build("topology_gang512_required", 512);
  const bench::scenario_input preferred = bench::build("topology_gang512_preferred", 512);
  CHECK(required.topology_levels == std::vector<std::string>{"zone", "block", "rack"});
  REQUIRE(required.jobs.size() == 1);
  const bench::scenario_job& gang = required.jobs.front();
  CHECK(gang.required_level == "zone");
  CHECK(gang.preferred_level.empty());
  CHECK(preferred.jobs.front().required_level.empty());
  CHECK(preferred.jobs.front().preferred_level == "rack");

  const auto in_first_zone = [](const bench::scenario_node& node) { return node.zone == "z0"; };
  const auto zone_gpus = 8 * std::count_if(required.nodes.begin(), required.nodes.end(), in_first_zone);
  CHECK(gang.pod_count() * gang.gpus_milli_per_pod == 1'000 * zone_gpus);
  CHECK(required.nodes.back() == bench::scenario_node{"n00511", 8, "z3", "b31", "r255"});
  CHECK(bench::canonical_text(required).starts_with("node n00000 8 b0 r0 z0\n"));
}

}  // namespace of_test_scenarios
