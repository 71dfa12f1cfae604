// Clusters as YAML: the same clusters as in JSON, and what YAML has beyond JSON is told where it stands.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "files/cluster_yaml.hpp"
#include "files/yaml_document.hpp"
#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/files.hpp"
#include "io/json_document.hpp"
#include "io/synthetic.hpp"
#include "io/yaml_string.hpp"

namespace of_test_io_yaml {

using namespace kaisched;

namespace {

constexpr std::string_view as_yaml = R"(---
schema: kaisched-cluster/1
now: 5000000000
queue:
  - name: "on"
  - name: team
    parent: "on"
    quota:
      gpu: 0x10      # 16
    over_quota_weight: 2.5e-1
    reclaim_min_runtime: ~
node:
- {name: n1, capacity: {cpu: +4000, gpu: 2000}, ready: false, labels: {1: "1", yes: 'no', "a b": 2024-01-01}}
pod_group:
  - name: yes
    queue: team
pod:
  - name: 'p: #1'
    group: yes
    request: {gpu: 500}
    obstacle: |
      two
      lines
    tolerations: [spot, "*"]
    node_selector: {}
...
)";

constexpr std::string_view as_json = R"({"schema": "kaisched-cluster/1", "now": 5000000000,
"queue": [{"name": "on"}, {"name": "team", "parent": "on", "quota": {"gpu": 16}, "over_quota_weight": 0.25}],
"node": [{"name": "n1", "capacity": {"cpu": 4000, "gpu": 2000}, "ready": false,
          "labels": {"1": "1", "yes": "no", "a b": "2024-01-01"}}],
"pod_group": [{"name": "yes", "queue": "team"}],
"pod": [{"name": "p: #1", "group": "yes", "request": {"gpu": 500}, "obstacle": "two\nlines\n",
         "tolerations": ["spot", "*"]}]})";

snapshot built(result<io::cluster_input> input) {
  if (!input) FAIL(input.failure().message);
  result<cluster> made = io::build_cluster(*input);
  if (!made) FAIL(made.failure().message);
  return made->take_snapshot();
}
snapshot read_yaml(std::string_view text) { return built(io::parse_cluster_yaml(text, "c.yaml")); }
snapshot read_json(std::string_view text) { return built(io::parse_cluster_json(text, "c.json")); }

std::string fault_of(std::string_view text) {
  const result<io::cluster_input> input = io::parse_cluster_yaml(text, "c.yaml");
  if (input) return "(no fault)";
  CHECK(input.failure().code == status::argument);
  return input.failure().message;
}
std::string fault_in(std::string_view lines) { return fault_of("schema: kaisched-cluster/1\n" + std::string(lines)); }

std::string written(std::string_view text) {
  std::string out;
  io::append_yaml_string(out, text);
  return out;
}

/// The one value of a YAML text, as JSON would show it.
std::string meaning(std::string_view text) {
  const result<io::json_document> document = io::parse_yaml(text, "t");
  return document ? document->root().shown() : document.failure().message;
}

}  // namespace

TEST_CASE("YAML and JSON say the same") {
  const snapshot from_yaml = read_yaml(as_yaml);
  CHECK(from_yaml.digest() == read_json(as_json).digest());
  CHECK(io::parse_cluster_yaml(as_yaml, "c.yaml")->now == 5'000'000'000);
  CHECK(*io::format_cluster_json(from_yaml, 7) == *io::format_cluster_json(read_json(as_json), 7));
}

TEST_CASE("a cluster survives YAML: the detour changes no byte of the JSON") {
  const result<io::cluster_input> input = io::make_synthetic_cluster({128, 130, 7});
  const snapshot first = io::build_cluster(*input)->take_snapshot();
  const std::string yaml = *io::format_cluster_yaml(first, input->now);
  const snapshot second = read_yaml(yaml);
  CHECK(second.digest() == first.digest());
  CHECK(io::parse_cluster_yaml(yaml, "c.yaml")->now == input->now);
  CHECK(*io::format_cluster_json(second, 1) == *io::format_cluster_json(first, 1));
  CHECK(*io::format_cluster_yaml(second, input->now) == yaml);
}

TEST_CASE("written YAML has a row a line, and long rows a member a line") {
  const std::string long_name(100, 'x');
  const snapshot from = read_json(R"({"schema": "kaisched-cluster/1", "now": 0,
    "queue": [{"name": "a"}, {"name": "no", "parent": "a", "quota": {"gpu": 1}}],
    "node": [{"name": ")" + long_name +
                                  R"(", "capacity": {"cpu": 1, "gpu": 2000}, "labels": {"k": "1.0"}}]})");
  CHECK(
      *io::format_cluster_yaml(from, 3) ==
      "schema: kaisched-cluster/1\nnow: 3\n\nqueue:\n  - {name: a}\n  - {name: \"no\", parent: a, quota: {gpu: 1}}\n\n"
      "node:\n  - name: " +
          long_name + "\n    capacity: {cpu: 1, gpu: 2000}\n    labels: {k: \"1.0\"}\n");
}

TEST_CASE("words that mean something else without quotes get them") {
  for (const std::string_view word :
       {"train-0", "gpu.model", "vendor.com/npu", "H100", "yesterday", "nullable", "a_b"}) {
    CHECK(written(word) == word);
  }
  for (const std::string_view word :
       {"on",   "Off", "YES", "n",    "null",  "Null", "~",          "true",  "False", "1",  "1.0", "0x1",
        "1e3",  "-1",  "+1",  ".inf", "-.INF", ".nan", "2024-01-01", "12:30", "",      " a", "a ",  "a: b",
        "a #b", "#a",  "a,b", "[a]",  "{a}",   "&a",   "*a",         "!a",    "|",     ">",  "%a",  "@a",
        "`a",   "'a'", "-",   "- a",  "?",     "? a",  ":",          "---",   "...",   "<<", "=",   "π"}) {
    CAPTURE(word);
    CHECK(written(word) == "\"" + std::string(word) + "\"");
    CHECK(meaning(written(word)) == "\"" + std::string(word) + "\"");
  }
  CHECK(written("a\"b\\c\nd\te\r") == "\"a\\\"b\\\\c\\nd\\te\\u000d\"");
  CHECK(written("\x7F\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF π") == "\"\\u007f\\u0085\\u2028\\ufeff π\"");
}

TEST_CASE("every text survives as a value and as a key") {
  for (const std::string& text :
       {std::string("a\"b\\c\nd\te\r\x01\x7F"), std::string("\xC2\x85\xE2\x80\xA8\xEF\xBB\xBF\xF0\x9F\x98\x80"),
        std::string(3000, 'k'), std::string(700, '\n'), std::string("  "), std::string("\n"),
        std::string("# no comment")}) {
    std::string value;
    io::append_yaml_string(value, text);
    const result<io::json_document> document = io::parse_yaml("- {? " + value + ": " + value + "}\n", "t");
    if (!document) FAIL(document.failure().message);
    const io::json_value member = *(*document->root().begin()).begin();
    CHECK(member.key() == text);
    CHECK(member.text() == text);
  }
}

TEST_CASE("long labels are written so that they can be read") {
  std::string json = R"({"schema": "kaisched-cluster/1", "node": [{"name": "n", "capacity": {}, "labels": {")";
  json += std::string(2000, 'k') + R"(": ")" + std::string(2000, 'v') + R"(", "z": "1"}}]})";
  const snapshot from = read_json(json);
  CHECK(read_yaml(*io::format_cluster_yaml(from, 0)).digest() == from.digest());
}

TEST_CASE("plain scalars follow the core schema") {
  CHECK(meaning("yes") == "\"yes\"");
  CHECK(meaning("TRUE") == "true");
  CHECK(meaning("~") == "null");
  CHECK(meaning("") == "t:1:1: the text is empty");
  CHECK(meaning("# nothing\n") == "t:1:1: the text is empty");
  CHECK(meaning("--- \n") == "null");
  CHECK(meaning("012") == "12");
  CHECK(meaning("-12") == "-12");
  CHECK(meaning("0o17") == "15");
  CHECK(meaning("0xfF") == "255");
  CHECK(meaning("+1") == "1");
  CHECK(meaning("1.") == "1.0");
  CHECK(meaning(".5") == "0.5");
  CHECK(meaning("-1.5E+2") == "-150.0");
  CHECK(meaning("1_000") == "\"1_000\"");
  CHECK(meaning("1:30") == "\"1:30\"");
  CHECK(meaning("0b1") == "\"0b1\"");
  CHECK(meaning("1e") == "\"1e\"");
  CHECK(meaning("-1-") == "\"-1-\"");
  CHECK(meaning(".") == "\".\"");
  CHECK(meaning("9223372036854775807") == "9223372036854775807");
  CHECK(meaning("9223372036854775808") == "9.223372036854776e+18");
  CHECK(meaning("'1'") == "\"1\"");
}

TEST_CASE("what JSON has no word for is refused with its place") {
  CHECK(meaning("a: &x 1\nb: *x") == "t:1:4: anchors (&name) are not supported");
  CHECK(meaning("a: &x [1]\nb: *x") == "t:1:4: anchors (&name) are not supported");
  CHECK(meaning("a: *x").starts_with("t:1:4: the referenced anchor is not defined"));
  CHECK(meaning("a: !!str 1") == "t:1:4: tags (tag:yaml.org,2002:str) are not supported");
  CHECK(meaning("a: !x [1]") == "t:1:4: tags (!x) are not supported");
  CHECK(meaning("a: 1\n---\nb: 2") == "t:2:1: a second document starts here; expected one");
  CHECK(meaning("a: -.inf") == "t:1:4: -.inf is no finite number");
  CHECK(meaning("[.NaN]") == "t:1:2: .NaN is no finite number");
  CHECK(meaning("a: 1e999") == "t:1:4: 1e999 is no number that a double can hold");
  CHECK(meaning("? [a]\n: 1") == "t:1:3: expected a key, found an array");
  CHECK(meaning("? {a: 1}\n: 1") == "t:1:3: expected a key, found an object");
  CHECK(meaning(": 1") == "t:1:1: a key is missing here");
  CHECK(meaning("a: 1\nb: 2\na: 3") == "t:3: the key \"a\" appears twice in one object (first in line 1)");
  CHECK(meaning("a: [{b: 1, \"b\": 2}]") == "t:1: a[0]: the key \"b\" appears twice in one object (first in line 1)");
  CHECK(meaning(std::string(65, '[') + std::string(65, ']')) == "t:1: " + [] {
    std::string path;
    for (int i = 0; i < 63; ++i) path += "[0]";
    return path;
  }() + ": arrays and objects nest deeper than 64 levels");
  CHECK(meaning(std::string(64, '[') + std::string(64, ']')) == "an array");
  CHECK(meaning("a: \"\x01\"") == "t:1:5: the control character U+0001 is not allowed here; write \"\\x01\"");
  CHECK(meaning("a: 1\nb: \xFF") == "t:2:4: this byte is not UTF-8");
  CHECK(meaning("a: 1\nb: \xED\xA0\x80") == "t:2:4: this byte is not UTF-8");
  CHECK(meaning("a: \"\\N\"") == "t:1:4: the escapes \\N and \\_ are not supported; write \\u0085 and \\u00A0");
  CHECK(meaning("\"\\u0085\\u00A0\\L\\P\"") == "\"\xC2\x85\xC2\xA0\xE2\x80\xA8\xE2\x80\xA9\"");
  CHECK(meaning("a: [1").starts_with("t:1:"));
  CHECK(meaning("a: [1").ends_with(": end of sequence flow not found"));
  CHECK(meaning("a:\n\t- b").starts_with("t:2:"));
}

TEST_CASE("a quote that does not end is no text") {
  const std::string start = "schema: kaisched-cluster/1\nnode:\n  - capacity: {cpu: 1}\n    name: ";
  for (const std::string_view text :
       {"\"trunc", "\"trunc\n", "'trunc\n", "'it''s\n\n", "\"a\\\"\n", "\"a \\\\\\\"\n"}) {
    CAPTURE(text);
    CHECK(fault_of(start + std::string(text)).starts_with("c.yaml:4:"));
  }
  for (const std::string_view text :
       {"\"trunc\"\n", "'it''s'", "\"a\\\"\"  # \"", "\"a\\\\\"", "a\"b\n", "\"a\n      b\"\n"}) {
    CAPTURE(text);
    CHECK(fault_of(start + std::string(text)) == "(no fault)");
  }
  CHECK(fault_of("\xEF\xBB\xBF\"schema\": 'x\n").starts_with("c.yaml:1:"));
  CHECK(fault_in("node:\n  - {name: a, capacity: {cpu: 0xFFFFFFFFFFFFFFFF}}\n")
            .ends_with("0xFFFFFFFFFFFFFFFF does not fit into an integer of 64 bits"));
}

TEST_CASE("faults of a row name line, row and member") {
  CHECK(fault_in("node:\n  - name: a\n    capacity: {}\n  - name: b\n    capcity: {}\n") ==
        "c.yaml:6: node[1].capcity: node has no such column; did you mean \"capacity\"?");
  CHECK(fault_in("node:\n  - name: a\n    capacity:\n      cpu: 1\n      gpus: 2\n") ==
        "c.yaml:6: node[0].capacity.gpus: no such dimension; did you mean \"gpu\"?");
  CHECK(fault_in("queue:\n  - name: 1.0\n") ==
        "c.yaml:3: queue[0].name: expected a string, found 1.0; quotes make it one");
  CHECK(fault_in("queue:\n  - parent: a\n").starts_with("c.yaml:3: queue[0]: \"name\" is missing: "));
  CHECK(fault_in("nodes: []") == "c.yaml:2: nodes: no such kind of table; did you mean \"node\"?");
  CHECK(fault_in("queue:\n  - <<: {}\n").starts_with("c.yaml:3: queue[0].<<: queue has no such column; "));
}

TEST_CASE("faults that only the whole cluster shows name the line as well") {
  const result<io::cluster_input> input = io::parse_cluster_yaml(
      "schema: kaisched-cluster/1\nqueue:\n  - {name: a}\n\n  - {name: b, parent: nowhere}\n", "c.yaml");
  REQUIRE(input.ok());
  const result<cluster> made = io::build_cluster(*input);
  REQUIRE_FALSE(made.ok());
  CHECK(made.failure().code == status::not_found);
  CHECK(made.failure().message.starts_with("c.yaml:5: queue[1].parent: "));
}

TEST_CASE("the two clusters in the documentation are one") {
  const std::string page = *io::read_file(KAISCHED_SOURCE_DIR "/docs/formats.md");
  const auto block = [&](std::string_view fence) {
    const std::size_t begin = page.find(fence);
    REQUIRE(begin != std::string::npos);
    return page.substr(begin + fence.size(), page.find("```", begin + fence.size()) - begin - fence.size());
  };
  const snapshot documented = read_yaml(block("```yaml\n"));
  CHECK(documented.digest() == read_json(block("```json\n")).digest());
}

}  // namespace of_test_io_yaml
