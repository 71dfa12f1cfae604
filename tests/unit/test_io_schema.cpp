// The JSON Schema documents: committed as they are made, true of what is written, and false of what is refused.
#include <algorithm>
#include <cstdlib>
#include <regex>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "io/cluster_input.hpp"
#include "io/cluster_json.hpp"
#include "io/decisions_text.hpp"
#include "io/files.hpp"
#include "io/json_schema.hpp"
#include "io/synthetic.hpp"
#include "support.hpp"

namespace of_test_io_schema {

using namespace kaisched;
using nlohmann::json;
using test::must;

namespace {

/// Judges values by the part of JSON Schema that the documents use. Words that it does not know fail the test, so that
/// none is passed over.
class validator {
 public:
  explicit validator(const json& root) : root_(root) {}

  bool accepts(const json& value) const { return accepts(root_, value); }

 private:
  bool accepts(const json& rule, const json& value) const {
    if (rule.is_boolean()) return rule.get<bool>();
    return std::all_of(rule.items().begin(), rule.items().end(),
                       [&](const auto& word) { return holds(word.key(), word.value(), rule, value); });
  }

  bool holds(const std::string& word, const json& given, const json& rule, const json& value) const {
    if (word == "$ref") return accepts(root_.at(json::json_pointer(given.get<std::string>().substr(1))), value);
    if (word == "type") return has_type(given.get<std::string>(), value);
    if (word == "const") return value == given;
    if (word == "enum") return std::find(given.begin(), given.end(), value) != given.end();
    if (word == "anyOf") {
      return std::any_of(given.begin(), given.end(), [&](const json& one) { return accepts(one, value); });
    }
    if (word == "minimum") return !value.is_number() || value >= given;
    if (word == "maximum") return !value.is_number() || value <= given;
    if (word == "pattern") {
      if (!value.is_string()) return true;
      if (given == "^[^\\u0000]*$") return value.get<std::string>().find('\0') == std::string::npos;
      return std::regex_search(value.get<std::string>(), std::regex(given.get<std::string>()));
    }
    if (word == "items") {
      return !value.is_array() ||
             std::all_of(value.begin(), value.end(), [&](const json& item) { return accepts(given, item); });
    }
    if (word == "required") {
      return !value.is_object() ||
             std::all_of(given.begin(), given.end(), [&](const json& key) { return value.contains(key); });
    }
    if (word == "properties") {
      return !value.is_object() || std::all_of(given.items().begin(), given.items().end(), [&](const auto& property) {
        return !value.contains(property.key()) || accepts(property.value(), value.at(property.key()));
      });
    }
    if (word == "additionalProperties") {
      return !value.is_object() || std::all_of(value.items().begin(), value.items().end(), [&](const auto& member) {
        const bool is_property = rule.contains("properties") && rule["properties"].contains(member.key());
        return is_property || accepts(given, member.value());
      });
    }
    const bool says_nothing = word == "$schema" || word == "$defs" || word == "$comment" || word == "title" ||
                              word == "description" || word == "default";
    CHECK_MESSAGE(says_nothing, word);
    return says_nothing;
  }

  static bool has_type(const std::string& type, const json& value) {
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    return type == value.type_name();
  }

  const json& root_;
};

void check_committed(const std::string& name, const std::string& made) {
  const std::string path = std::string(KAISCHED_SOURCE_DIR) + "/docs/schema/" + name;
  if (std::getenv("KAISCHED_UPDATE") != nullptr) must(io::write_file(path, made));
  const result<std::string> committed = io::read_file(path);
  CHECK_MESSAGE((committed.ok() && *committed == made),
                (path + " is out of date; renew it: KAISCHED_UPDATE=1 build/dev/bin/kaisched_unit_tests "
                        "--source-file='*test_io_schema.cpp'"));
}

json cluster_schema() { return json::parse(io::json_schema_of_cluster()); }
json decisions_schema() { return json::parse(io::json_schema_of_decisions()); }

}  // namespace

TEST_CASE("the documents are those that are committed") {
  check_committed("kaisched-cluster-1.schema.json", io::json_schema_of_cluster());
  check_committed("kaisched-decisions-1.schema.json", io::json_schema_of_decisions());
}

TEST_CASE("what is written is what the documents describe") {
  const result<io::cluster_input> input = io::make_synthetic_cluster({128, 130, 3});
  const snapshot from = must(io::build_cluster(*input)).take_snapshot();
  const json rules = cluster_schema();
  CHECK(validator(rules).accepts(json::parse(must(io::format_cluster_json(from, 1)))));

  const session decided = must(engine().run(from, 1));
  const json decision_rules = decisions_schema();
  const json decisions = json::parse(must(io::format_decisions_json(decided, "kai-0.17-r2", "strict")));
  CHECK(validator(decision_rules).accepts(decisions));
  CHECK_FALSE(validator(rules).accepts(decisions));
  CHECK_FALSE(validator(decision_rules).accepts(json::parse(must(io::format_cluster_json(from, 1)))));
}

TEST_CASE("document and reader accept the same outlines and values") {
  const json rules = cluster_schema();
  const auto agree = [&](std::string_view members) {
    const std::string text = R"({"schema": "kaisched-cluster/1", )" + std::string(members) + "}";
    CAPTURE(text);
    const bool read = io::parse_cluster_json(text, "c.json").ok();
    CHECK(validator(rules).accepts(json::parse(text)) == read);
    return read;
  };
  CHECK(agree(R"("now": 5, "description": ["any", {"thing": 1}])"));
  CHECK(agree(R"("queue": [])"));
  CHECK(agree(R"("queue": [{"name": "q", "quota": {"gpu": 1}, "limit": -1, "over_quota_weight": 0.5, "usage": {}}])"));
  CHECK(agree(R"("queue": [{"name": "q", "reclaim_min_runtime": null}])"));
  CHECK(agree(R"("node": [{"name": "n", "capacity": {"cpu": 1}, "ready": false, "unschedulable": 1,
                           "labels": {"a": "b"}, "taints": ["a:NoSchedule"]}])"));
  CHECK(agree(R"("pod": [{"name": "p", "group": "g", "request": {}, "status": "running", "devices": [0, 1]}])"));
  CHECK(agree(R"("pod": [{"name": "p", "group": "g", "request": {}, "status": 6, "priority": null}])"));

  for (const std::string_view wrong : {R"("now": "5")",
                                       R"("now": 1.5)",
                                       R"("nodes": [])",
                                       R"("queue": {})",
                                       R"("queue": [1])",
                                       R"("queue": [{}])",
                                       R"("queue": [{"name": 1}])",
                                       R"("queue": [{"name": "q", "qouta": 1}])",
                                       R"("queue": [{"name": "q", "quota": {"gpus": 1}}])",
                                       R"("queue": [{"name": "q", "quota": 1.5}])",
                                       R"("queue": [{"name": "q", "quota": {"gpu": 9223372036854775808}}])",
                                       R"("queue": [{"name": "q", "priority": null}])",
                                       R"("queue": [{"name": "a\u0000b"}])",
                                       R"("node": [{"name": "n"}])",
                                       R"("node": [{"name": "n", "capacity": 1}])",
                                       R"("node": [{"name": "n", "capacity": {}, "ready": 2}])",
                                       R"("node": [{"name": "n", "capacity": {}, "labels": []}])",
                                       R"("node": [{"name": "n", "capacity": {}, "taints": {}}])",
                                       R"("pod": [{"name": "p", "group": "g", "request": {}, "status": "runing"}])",
                                       R"("pod": [{"name": "p", "group": "g", "request": {}, "status": 12}])",
                                       R"("pod": [{"name": "p", "group": "g", "request": {}, "device_count": -1}])",
                                       R"("pod": [{"name": "p", "group": "g", "request": {}, "devices": [0.5]}])",
                                       R"("decision": [])"}) {
    CHECK_FALSE(agree(wrong));
  }
  CHECK_FALSE(validator(rules).accepts(json::parse("[]")));
  CHECK_FALSE(validator(rules).accepts(json::parse("{}")));
}

}  // namespace of_test_io_schema
