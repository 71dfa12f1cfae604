// The cluster format: what is read is what was written, and faults say where they are.
#include <algorithm>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/column_form.hpp"
#include "io/json_document.hpp"
#include "io/synthetic.hpp"
#include "io/table_text.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace of_test_io_json {

using namespace kaisched;

namespace {

constexpr std::string_view small_cluster = R"({
"schema": "kaisched-cluster/1",
"description": "one of everything",
"now": 5000000000,
"pod": [
  {"name": "train-0", "group": "train", "sub_group": "worker", "request": {"cpu": 4000, "memory": 1024, "gpu": 2000},
   "status": "running", "node": "n1", "devices": [0, 3], "labels": {"app": "train"}, "created": 7},
  {"name": "train-1", "group": "train", "sub_group": "worker", "request": {"gpu": 500, "vendor.com/npu": 2},
   "device_count": 1,
   "node_selector": {"zone": "a"}, "node_affinity": ["zone in (a,b),!spot"], "tolerations": ["spot:NoSchedule"],
   "anti_affinity": ["zone: app=train"], "host_ports": ["8080"], "leader": true, "priority": null},
  {"name": "\"quoted\" \\ π", "group": "etl", "request": {"cpu": 1}, "obstacle": "line\nbreak"}
],
"sub_group": [{"group": "train", "name": "worker", "min_member": 2}],
"pod_group": [
  {"name": "train", "queue": "team", "priority": 75, "preemptible": false, "created": 3, "last_start": 4},
  {"name": "etl", "queue": "team", "runtime_estimate": 600000000000}
],
"node": [
  {"name": "n1", "capacity": {"cpu": 64000, "memory": 65536, "gpu": 3000, "pods": 110, "vendor.com/npu": 8},
   "labels": {"zone": "a", "arch": "arm64"}, "gpu_memory": 85899345920},
  {"name": "n2", "capacity": {"cpu": 64000, "memory": 65536, "pods": 110, "vendor.com/fpga": 1},
   "ready": false, "unschedulable": true, "taints": ["spot:NoSchedule", "old=yes:NoExecute"]}
],
"device": [
  {"node": "n1", "index": 0, "uuid": "GPU-0", "model": "H100", "links": [0, 900, 900, 900]},
  {"node": "n1", "index": 1, "healthy": false, "numa": 1},
  {"node": "n1", "index": 2},
  {"node": "n1", "index": 3, "memory": 42949672960}
],
"queue": [
  {"name": "org"},
  {"name": "team", "parent": "org", "priority": 200, "quota": {"gpu": 2000}, "limit": {"cpu": 32000, "gpu": 4000},
   "over_quota_weight": 2.5, "usage": {"gpu": 0.125}}
],
"topology": [{"name": "site", "levels": ["zone"], "primary": true}],
"resource": [{"name": "vendor.com/npu"}, {"name": "vendor.com/fpga", "unit": "cards"}]
})";

snapshot read(std::string_view text) {
  const result<io::cluster_input> input = io::parse_cluster_json(text, "test.json");
  if (!input) FAIL(input.failure().message);
  result<cluster> built = io::build_cluster(*input);
  if (!built) FAIL(built.failure().message);
  return built->take_snapshot();
}

/// The message of the fault in a text that is not accepted.
std::string fault_of(std::string_view text) {
  const result<io::cluster_input> input = io::parse_cluster_json(text, "c.json");
  if (input) return "(no fault)";
  CHECK(input.failure().code == status::argument);
  return input.failure().message;
}

/// The same with only these members beside the schema.
std::string fault_in(std::string_view members) {
  return fault_of(R"({"schema": "kaisched-cluster/1", )" + std::string(members) + "}");
}

std::string replaced(std::string_view text, std::string_view what, std::string_view by) {
  std::string copy(text);
  copy.replace(copy.find(what), what.size(), by);
  return copy;
}

}  // namespace

TEST_CASE("a cluster survives writing and reading") {
  const snapshot first = read(small_cluster);
  CHECK(first.count(entity_kind::node) == 2);
  CHECK(first.count(entity_kind::device) == 4);
  CHECK(first.count(entity_kind::pod) == 3);
  CHECK(first.count(entity_kind::queue) == 2);

  const result<std::string> text = io::format_cluster_json(first, 5'000'000'000);
  REQUIRE(text.ok());
  CHECK(io::parse_cluster_json(*text, "written")->now == 5'000'000'000);
  const snapshot second = read(*text);
  CHECK(second.digest() == first.digest());
  CHECK(*io::format_cluster_json(second, 5'000'000'000) == *text);
}

TEST_CASE("an invented cluster survives writing and reading, and depends on its seed alone") {
  for (const bool mix : {false, true}) {
    const io::synthetic_options options{128, 130, 7, mix};
    const result<io::cluster_input> input = io::make_synthetic_cluster(options);
    REQUIRE(input.ok());
    result<cluster> built = io::build_cluster(*input);
    if (!built) FAIL(built.failure().message);
    const snapshot first = built->take_snapshot();

    const std::string text = *io::format_cluster_json(first, input->now);
    CHECK(read(text).digest() == first.digest());
    CHECK(io::build_cluster(*io::make_synthetic_cluster(options))->take_snapshot().digest() == first.digest());
    const io::synthetic_options other{128, 130, 8, mix};
    CHECK(io::build_cluster(*io::make_synthetic_cluster(other))->take_snapshot().digest() != first.digest());
  }
}

TEST_CASE("sizes of invented clusters have bounds") {
  for (const std::int64_t gpus : {1, 3, 8, 20, 63}) {  // small ones have nothing broken
    const snapshot made = io::build_cluster(*io::make_synthetic_cluster({gpus, 90, 1}))->take_snapshot();
    const model::cluster_state& s = model::state_of(made);
    std::int64_t sum = 0;
    for (node_row row = 0; row < s.node_count(); ++row) sum += (*s.capacity)[row * s.dims() + dim_gpu];
    CHECK(sum == gpus * whole_device);
    CHECK(io::build_cluster(*io::make_synthetic_cluster({gpus, 90, 1, true})).ok());
  }
  CHECK(io::make_synthetic_cluster({0, 90, 1}).failure().message == "gpus: expected 1 to 1048576, found 0");
  CHECK_FALSE(io::make_synthetic_cluster({1'048'577, 90, 1}).ok());
  CHECK_FALSE(io::make_synthetic_cluster({4096, 0, 1}).ok());
  CHECK_FALSE(io::make_synthetic_cluster({4096, 1001, 1}).ok());
}

TEST_CASE("members that are left out take their defaults") {
  const snapshot spelled_out = read(R"({"schema": "kaisched-cluster/1", "queue": [
    {"name": "a", "parent": "", "priority": 100, "created": 0, "quota": {"cpu": -1, "memory": -1, "gpu": -1},
     "limit": -1, "over_quota_weight": 1, "usage": 0, "reclaim_min_runtime": null, "preempt_min_runtime": null}]})");
  const snapshot left_out = read(R"({"schema": "kaisched-cluster/1", "queue": [{"name": "a"}]})");
  CHECK(spelled_out.digest() == left_out.digest());

  const std::string text = *io::format_cluster_json(spelled_out, 0);
  CHECK(text == "{\n\"schema\": \"kaisched-cluster/1\",\n\"now\": 0,\n\"queue\": [\n  {\"name\": \"a\"}\n]\n}\n");
}

TEST_CASE("a member that only a later row has does not change earlier rows") {
  const snapshot mixed = read(R"({"schema": "kaisched-cluster/1", "queue": [
    {"name": "a"}, {"name": "b", "priority": 7, "quota": {"gpu": 1}}, {"name": "c"}]})");
  const std::string text = *io::format_cluster_json(mixed, 0);
  CHECK(text.find("{\"name\": \"a\"}") != std::string::npos);
  CHECK(text.find("{\"name\": \"b\", \"priority\": 7, \"quota\": {\"gpu\": 1}}") != std::string::npos);
  CHECK(text.find("{\"name\": \"c\"}") != std::string::npos);
}

TEST_CASE("an empty text is not the default where that is another text") {
  const snapshot from = read(R"({"schema": "kaisched-cluster/1", "resource": [
    {"name": "a"}, {"name": "b", "unit": "cards"}, {"name": "c", "unit": ""}, {"name": "d", "unit": "count"}]})");
  const std::string text = *io::format_cluster_json(from, 0);
  CHECK(text.find("{\"name\": \"a\"}") != std::string::npos);
  CHECK(text.find("{\"name\": \"c\", \"unit\": \"\"}") != std::string::npos);
  CHECK(text.find("{\"name\": \"d\"}") != std::string::npos);
  CHECK(read(text).digest() == from.digest());
}

TEST_CASE("statuses may be given by number") {
  const snapshot by_number = read(replaced(small_cluster, "\"running\"", "6"));
  CHECK(by_number.digest() == read(small_cluster).digest());
}

TEST_CASE("faults of the text name file, line and column") {
  CHECK(fault_of("{\"schema\": ]").starts_with("c.json:1:12: "));
  CHECK(fault_of("").starts_with("c.json:1:1: "));
  using namespace std::string_view_literals;
  CHECK(fault_of("{\"schema\": \"kaisched-cluster/1\",\n \"now\": 1}\0,"sv) ==
        "c.json:2:11: the control character U+0000 is not allowed here; write \"\\u0000\"");
  // What is no integer does not look like one.
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {"cpu": 1.0}}])").find("found 1.0") != std::string::npos);
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {"cpu": 1e3}}])").find("found 1000.0") != std::string::npos);
  CHECK(fault_of("{\n \"a\": 1,\n}").starts_with("c.json:3:1: "));
  CHECK(fault_in(R"("queue": [{"name": "a", "name": "b"}])") ==
        "c.json:1: queue[0]: the key \"name\" appears twice in one object (first in line 1)");
}

TEST_CASE("faults of the outline say what a cluster looks like") {
  CHECK(fault_of("[]") == "c.json:1: expected an object with \"schema\": \"kaisched-cluster/1\", found an array");
  CHECK(fault_of("{}") == "c.json:1: \"schema\" is missing: a cluster starts with \"schema\": \"kaisched-cluster/1\"");
  CHECK(fault_of(R"({"schema": "kaisched-cluster/2"})") ==
        "c.json:1: schema: expected \"kaisched-cluster/1\", found \"kaisched-cluster/2\"");
  CHECK(fault_in(R"("nodes": [])") == "c.json:1: nodes: no such kind of table; did you mean \"node\"?");
  CHECK(fault_in(R"("decision": [])").starts_with("c.json:1: decision: no such kind of table; "));
  CHECK(fault_in(R"("now": "today")") == "c.json:1: now: expected an integer (ns), found \"today\"");
  CHECK(fault_in(R"("node": {})") == "c.json:1: node: expected an array of objects, found an object");
  CHECK(fault_in(R"("node": [1])") == "c.json:1: node[0]: expected an object, found 1");
}

TEST_CASE("faults of a row name row, member, what was expected and what may have been meant") {
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {}}, {"name": "b", "capcity": {}}])") ==
        "c.json:1: node[1].capcity: node has no such column; did you mean \"capacity\"?");
  CHECK(fault_in(R"("node": [{"name": "a"}])") ==
        "c.json:1: node[0]: \"capacity\" is missing: Allocatable amount of every dimension.");
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {"gpus": 1}}])") ==
        "c.json:1: node[0].capacity.gpus: no such dimension; did you mean \"gpu\"?");
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {"gpu": "8"}}])") ==
        "c.json:1: node[0].capacity.gpu: expected an integer (fixed units), found \"8\"");
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {"gpu": 0.5}}])") ==
        "c.json:1: node[0].capacity.gpu: expected an integer (fixed units), found 0.5");
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": 8}])") ==
        "c.json:1: node[0].capacity: expected an object such as {\"cpu\": 1000}, found 8");
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {}, "ready": "yes"}])") ==
        "c.json:1: node[0].ready: expected true or false, found \"yes\"");
  CHECK(fault_in(R"("node": [{"name": "a", "capacity": {}, "labels": ["zone"]}])") ==
        "c.json:1: node[0].labels: expected an object of keys and values, found an array");
  CHECK(fault_in(R"("node": [{"name": 7, "capacity": {}}])") ==
        "c.json:1: node[0].name: expected a string, found 7; quotes make it one");
  CHECK(fault_in(R"("node": [{"name": "a\u0000b", "capacity": {}}])") ==
        "c.json:1: node[0].name: the text contains a NUL character");
  CHECK(fault_in(R"("pod": [{"name": "p", "group": "g", "request": {}, "status": "runing"}])") ==
        "c.json:1: pod[0].status: no pod status is called \"runing\"; did you mean \"running\"?");
  CHECK(fault_in(R"("pod": [{"name": "p", "group": "g", "request": {}, "devices": [0, "1"]}])") ==
        "c.json:1: pod[0].devices: expected an array of integers, found \"1\"");
  CHECK(fault_in(R"("queue": [{"name": "a", "priority": 9223372036854775808}])")
            .starts_with("c.json:1: queue[0].priority: expected an integer, found "));
}

TEST_CASE("every column of the schema has a form in text") {
  for (const table_info& info : schema()) {
    for (const column_info& column : info.columns) {
      CAPTURE(info.name);
      CAPTURE(column.name);
      // A byte is a flag or one of a list of names; anything else would be written as a bare number.
      if (column.type == column_type::u8) CHECK(io::form_of(column) != io::column_form::plain);
      for (const std::string_view name : io::value_names(io::form_of(column))) CHECK(name != "invalid");
    }
  }
}

TEST_CASE("strings are escaped as JSON wants them") {
  std::string out;
  io::append_json_string(out, "a\"b\\c\nd\te\x01 π");
  CHECK(out == "\"a\\\"b\\\\c\\nd\\te\\u0001 π\"");
}

TEST_CASE("tables become CSV with a column per dimension") {
  const snapshot from = read(small_cluster);
  const result<table> queues = from.to_table(table_kind::queue);
  REQUIRE(queues.ok());
  const std::string text = io::format_csv(queues->view(), from);
  CHECK(text.starts_with("name,parent,priority,created,quota.cpu,quota.memory,quota.gpu,limit.cpu,"));
  CHECK(text.find("\nteam,org,200,0,-1,-1,2000,32000,-1,4000,2.5,2.5,2.5,0,0,0.125,,,,,0,0,0,1,,\n") !=
        std::string::npos);

  const result<table> pods = from.to_table(table_kind::pod);
  REQUIRE(pods.ok());
  const std::string pod_text = io::format_csv(pods->view(), from);
  CHECK(pod_text.find("\"\"\"quoted\"\" \\ π\",etl,") != std::string::npos);
  CHECK(pod_text.find("\"line\nbreak\"") != std::string::npos);
}

TEST_CASE("the cluster in the documentation is one") {
  std::ifstream file(KAISCHED_SOURCE_DIR "/docs/formats.md");
  const std::string page{std::istreambuf_iterator<char>(file), {}};
  constexpr std::string_view fence = "```json\n";
  const std::size_t begin = page.find(fence) + fence.size();
  const snapshot documented = read(page.substr(begin, page.find("```", begin) - begin));
  CHECK(documented.count(entity_kind::queue) == 2);
  CHECK(documented.count(entity_kind::pod) == 3);
}

TEST_CASE("messages are short and printable, whatever the text holds") {
  CHECK(fault_in("\"a\\u001b[31m\": 1").starts_with("c.json:1: a\\x1B[31m: no such kind of table; "));
  CHECK(fault_in("\"node\": [{\"a\\n\": 1}]").starts_with("c.json:1: node[0].a\\x0A: node has no such column; "));
  const std::string key(5000, 'k');
  CHECK(fault_in("\"" + key + "\": 1").size() < 500);
  // Long texts are cut between characters.
  std::string pies;
  for (int i = 0; i < 40; ++i) pies += "π";
  CHECK(fault_in("\"now\": \"a" + pies + "\"").ends_with("π\"..."));
}

}  // namespace of_test_io_json
