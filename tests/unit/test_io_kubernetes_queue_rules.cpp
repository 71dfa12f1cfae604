// Rules that say which queue a group belongs to, and the queues that they make.
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "grouped_text.hpp"
#include "io/kubernetes/queue_rules.hpp"

namespace of_test_io_kubernetes_queue_rules {

using namespace grouping_test;
using io::kubernetes::matches_pattern;
using io::kubernetes::parse_queue_rules;

namespace {

std::string file_of(std::string_view rules, std::string_view rest = "") {
  return R"({"schema": "kaisched-queue-rules/1", "rules": [)" + std::string(rules) + "]" + std::string(rest) + "}";
}

grouped with_rules(std::string_view rules, std::string_view rest = "") {
  grouped text;
  text.option("queue_rules", file_of(rules, rest));
  return text;
}

grouped& queue(grouped& to, std::string_view name, std::string_view parent = "") {
  const std::string above = parent.empty() ? "" : R"(, "parentQueue": ")" + std::string(parent) + "\"";
  return to.cluster_object("scheduling.run.ai/v2", "Queue", name,
                           R"(, "spec": {"resources": {"gpu": {"quota": 4, "limit": -1}, "cpu": {"limit": -1},
                              "memory": {"limit": -1}})" +
                               above + "}");
}

/// The queue of the group of a pod that has no owner.
std::string queue_of(const grouped& text, std::string_view pod) {
  const std::string row = text.group("pg-" + std::string(pod) + "-u-" + std::string(pod));
  const std::string key = R"("queue": ")";
  const std::size_t begin = row.find(key);
  if (begin == std::string::npos) return row;
  return row.substr(begin + key.size(), row.find('"', begin + key.size()) - begin - key.size());
}

std::string obstacle_of(const grouped& text, std::string_view pod) { return text.of_pod(pod, "obstacle"); }

std::string queue_row(const grouped& text, std::string_view name) {
  return text.row(R"("name": ")" + std::string(name) + "\"");
}

std::string fault_of(std::string_view text) {
  const auto read = parse_queue_rules(text, "r.json");
  return read ? "(no fault)" : read.failure().message;
}

}  // namespace

TEST_CASE("queue rules: the first one that gives a queue counts") {
  grouped text =
      with_rules(R"({"rule": "provided"}, {"rule": "label", "key": "team"}, {"rule": "fixed", "queue": "rest"})");
  queue(queue(queue(text, "a"), "b"), "rest");
  text.pod("named", "", R"("kai.scheduler/queue": "a", "team": "b")")
      .pod("gone", "", R"("kai.scheduler/queue": "z", "team": "b")")
      .pod("labelled", "", R"("team": "b")")
      .pod("none", "");
  CHECK(queue_of(text, "named") == "a");
  CHECK(queue_of(text, "gone") == "b");
  CHECK(queue_of(text, "labelled") == "b");
  CHECK(queue_of(text, "none") == "rest");
}

TEST_CASE("queue rules: whom no rule takes waits, and says so") {
  grouped text = with_rules(R"({"rule": "label", "key": "team", "create": false})");
  queue(queue(text, "default-queue"), "a").pod("p", "", R"("team": "b")").pod("q", "", R"("team": "a")");
  CHECK(obstacle_of(text, "p") == "no rule gives the group a queue");
  CHECK(queue_of(text, "p") == "default-queue");  // where it counts while it runs
  CHECK(obstacle_of(text, "q").empty());
}

TEST_CASE("queue rules: queues are made below a parent, by its template") {
  grouped text =
      with_rules(R"({"rule": "namespace", "create": true, "parent": {"rule": "fixed", "queue": "research"}})",
                 R"(, "templates": {"research": {"quota": {"gpu": 2, "cpu": "500m"}, "limit": {"memory": "1Gi"},
                                "over_quota_weight": {"gpu": 0.5}, "priority": 7}})");
  queue(text, "research").pod("p", "").pod("q", "");
  CHECK(queue_of(text, "p") == "research.team");
  CHECK(queue_of(text, "q") == "research.team");
  CHECK(queue_row(text, "research.team") == R"({"name": "research.team", "parent": "research", "priority": 7, )"
                                            R"("quota": {"cpu": 500, "memory": 0, "gpu": 2000}, )"
                                            R"("limit": {"memory": 1073741824}, "over_quota_weight": {"gpu": 0.5}})");
  // A queue that everybody else is below is nobody's, whatever is there of it.
  text.object("scheduling.run.ai/v2alpha2", "PodGroup", "g", R"(, "spec": {"queue": "research"})");
  CHECK(holds(text.group("g"), R"("queue": "research.team")"));
}

TEST_CASE("queue rules: the nearest template above counts, that of the root last") {
  grouped text = with_rules(R"({"rule": "label", "key": "t", "create": true})",
                            R"(, "templates": {"root": {"priority": 1}, "a.b": {"priority": 2}})");
  queue(text, "x").pod("p", "", R"("t": "root.a.b.c.d")").pod("q", "", R"("t": "root.a.e")");
  CHECK(queue_row(text, "a.b.c.d") ==
        R"({"name": "a.b.c.d", "parent": "a.b.c", "priority": 2, "quota": {"cpu": 0, "memory": 0, "gpu": 0}})");
  CHECK(holds(queue_row(text, "a.e"), R"("priority": 1)"));
}

TEST_CASE("queue rules: levels between have what those below them have together") {
  grouped text = with_rules(
      R"({"rule": "user", "create": true, "parent": {"rule": "namespace", "create": true, "parent":
          {"rule": "fixed", "queue": "all", "create": true}}})",
      R"(, "templates": {"all": {"quota": {"gpu": 2}}})");
  queue(text, "other").pod("p", "", R"("user": "ann.b")").pod("q", "", R"("user": "bob")");
  CHECK(queue_of(text, "p") == "all.team.ann_dot_b");
  CHECK(holds(queue_row(text, "all.team.bob"), R"("parent": "all.team", )"));
  CHECK(holds(queue_row(text, "all.team.bob"), R"("quota": {"cpu": 0, "memory": 0, "gpu": 2000})"));
  CHECK(holds(queue_row(text, "all.team"), R"("quota": {"cpu": 0, "memory": 0, "gpu": 4000})"));
  CHECK(holds(queue_row(text, "all"), R"("quota": {"cpu": 0, "memory": 0, "gpu": 4000})"));
}

TEST_CASE("queue rules: what is there is used, by its name or by the way down to it") {
  grouped text = with_rules(
      R"({"rule": "label", "key": "t", "create": true, "parent": {"rule": "label", "key": "above", "create": true}},
         {"rule": "label", "key": "t", "create": true})");
  queue(queue(queue(queue(queue(text, "a"), "b", "a"), "a.c", "a"), "lone"), "default-queue");
  text.pod("own", "", R"("t": "b", "above": "a")")
      .pod("way", "", R"("t": "c", "above": "a")")
      .pod("new", "", R"("t": "d", "above": "a")")
      .pod("whole", "", R"("t": "root.a.c", "above": "lone")")
      .pod("leaf", "", R"("t": "x", "above": "lone")")
      .pod("inner", "", R"("t": "a", "above": "")");
  CHECK(queue_of(text, "own") == "b");
  CHECK(queue_of(text, "way") == "a.c");
  CHECK(queue_of(text, "new") == "a.d");
  CHECK(queue_of(text, "whole") == "a.c");
  CHECK(queue_of(text, "leaf") == "x");  // groups may be in `lone`: it stays a leaf
  CHECK(obstacle_of(text, "inner") == "no rule gives the group a queue");
}

TEST_CASE("queue rules: a queue that is made and gets others below it keeps a leaf for its own groups") {
  const std::string_view rules =
      R"({"rule": "label", "key": "t", "create": true, "parent": {"rule": "namespace", "create": true}},
         {"rule": "namespace", "create": true})";
  grouped alone = with_rules(rules);
  queue(alone, "a").pod("p", "");
  CHECK(queue_of(alone, "p") == "team");
  for (const bool first : {true, false}) {
    grouped both = with_rules(rules);
    queue(both, "a");
    if (first) both.pod("p", "");
    both.pod("q", "", R"("t": "x")");
    if (!first) both.pod("p", "");
    CHECK(queue_of(both, "p") == "team.default");
    CHECK(queue_of(both, "q") == "team.x");
    CHECK(holds(queue_row(both, "team.default"), R"("parent": "team")"));
  }
}

TEST_CASE("queue rules: filters look at users, their groups and names") {
  const auto taken = [](std::string_view filter, std::string_view labels, std::string_view annotations = "") {
    grouped text = with_rules(R"({"rule": "provided", "filter": )" + std::string(filter) + "}",
                              R"(, "user_groups": {"lab": ["ann", "cem"]})");
    queue(text, "a").pod("p", "", R"("kai.scheduler/queue": "a")" + std::string(labels), annotations);
    return obstacle_of(text, "p").empty();
  };
  CHECK(taken(R"({"users": ["ann", "b*"]})", R"(, "user": "ann")"));
  CHECK(taken(R"({"users": ["ann", "b*"]})", R"(, "user": "bob")"));
  CHECK_FALSE(taken(R"({"users": ["ann", "b*"]})", R"(, "user": "cem")"));
  CHECK_FALSE(taken(R"({"users": ["*"]})", ""));  // nobody is no user
  CHECK(taken(R"({"groups": ["l?b"]})", R"(, "user": "cem")"));
  CHECK_FALSE(taken(R"({"type": "deny", "groups": ["lab"]})", R"(, "user": "ann")"));
  CHECK(taken(R"({"type": "deny", "groups": ["lab"]})", R"(, "user": "dan")"));
  CHECK_FALSE(taken(R"({"type": "deny"})", R"(, "user": "dan")"));
  CHECK(taken(R"({"names": ["a"]})", ""));
  CHECK_FALSE(taken(R"({"type": "deny", "names": ["a*"]})", ""));
  const std::string_view noted = R"("yunikorn.apache.org/user.info": "{\"user\": \"eve\", \"groups\": [\"lab\"]}")";
  CHECK(taken(R"({"users": ["eve"]})", "", noted));
  CHECK(taken(R"({"groups": ["lab"]})", "", noted));
  CHECK_FALSE(taken(R"({"users": ["eve"]})", "", R"("yunikorn.apache.org/user.info": "{eve")"));
  CHECK(taken(R"({"users": ["fay"]})", R"(, "yunikorn.apache.org/username": "fay")"));
}

TEST_CASE("queue rules: labels and annotations of the group and of its namespace") {
  grouped text = with_rules(
      R"({"rule": "namespace_annotation", "key": "dept", "create": true},
         {"rule": "annotation", "key": "t", "create": true},
         {"rule": "namespace_label", "key": "team", "create": true})");
  queue(text, "a")
      .cluster_object("v1", "Namespace", "team", "", R"(, "labels": {"team": "vision"})")
      .pod("p", "")
      .pod("q", "", "", R"("t": "own")");
  CHECK(queue_of(text, "p") == "vision");
  CHECK(queue_of(text, "q") == "own");
  text.cluster_object("v1", "Namespace", "team", "", R"(, "annotations": {"dept": "d.e"})");
  CHECK(queue_of(text, "p") == "d_dot_e");
}

TEST_CASE("queue rules: a pod group that names a queue keeps it, others are asked about") {
  grouped text = with_rules(R"({"rule": "label", "key": "t", "create": true})");
  queue(text, "a")
      .object("scheduling.run.ai/v2alpha2", "PodGroup", "kept", R"(, "spec": {"queue": "a"})",
              R"(, "labels": {"t": "b"})")
      .object("scheduling.run.ai/v2alpha2", "PodGroup", "lost", R"(, "spec": {"queue": "z"})",
              R"(, "labels": {"t": "b"})")
      .object("scheduling.run.ai/v2alpha2", "PodGroup", "none", R"(, "spec": {"queue": "a.b.c"})")
      .pod("p", "", "", R"("pod-group-name": "none")");
  CHECK(holds(text.group("kept"), R"("queue": "a")"));
  CHECK(holds(text.group("lost"), R"("queue": "b")"));
  CHECK(obstacle_of(text, "p") == "(no row)");  // as without rules: its group has a queue that is not there
}

TEST_CASE("queue rules: a text without queues has the ones that rules make") {
  grouped text = with_rules(R"({"rule": "provided", "parent": {"rule": "fixed", "queue": "all"}})");
  text.pod("p", "", R"("kai.scheduler/queue": "a")").pod("q", "");
  CHECK(queue_of(text, "p") == "all.a");
  CHECK(queue_row(text, "all.a") == R"({"name": "all.a", "parent": "all"})");
  CHECK(queue_of(text, "q") == "default-queue");
  CHECK(obstacle_of(text, "q") == "no rule gives the group a queue");
}

TEST_CASE("queue rules: names that tables cannot have are not made") {
  grouped text =
      with_rules(R"({"rule": "annotation", "key": "t", "create": true}, {"rule": "fixed", "queue": "rest"})");
  queue(text, "rest");
  const std::string longest(254, 'x');
  std::string deep = "root";
  for (int i = 0; i < 200; ++i) deep += ".a";
  const std::vector<std::string> odd{"root.", "root..a", "a b", "root.a.", longest, deep, "a\\u0007"};
  for (std::size_t i = 0; i < odd.size(); ++i) text.pod("p" + std::to_string(i), "", "", R"("t": ")" + odd[i] + "\"");
  for (std::size_t i = 0; i < odd.size(); ++i) CHECK(queue_of(text, "p" + std::to_string(i)) == "rest");
  text.pod("fits", "", "", R"("t": ")" + longest.substr(1) + "\"");
  CHECK(queue_of(text, "fits") == longest.substr(1));
}

TEST_CASE("queue rules: patterns") {
  CHECK(matches_pattern("", ""));
  CHECK(matches_pattern("", "**"));
  CHECK_FALSE(matches_pattern("", "?"));
  CHECK(matches_pattern("abc", "a*c"));
  CHECK(matches_pattern("ac", "a*c"));
  CHECK_FALSE(matches_pattern("acb", "a*c"));
  CHECK(matches_pattern("a.b-a.b-c", "*a.b-c"));
  CHECK(matches_pattern("abc", "?b?"));
  CHECK_FALSE(matches_pattern("abc", "ab"));
  CHECK_FALSE(matches_pattern(std::string(5000, 'a'), "*a*a*a*a*a*a*a*a*a*a*b"));
}

TEST_CASE("queue rules: faults of files name line and field") {
  CHECK(fault_of("[]") == "r.json:1: expected an object, found an array");
  CHECK(fault_of(R"({"rules": [{"rule": "user"}]})") == "r.json:1: \"schema\" is missing");
  CHECK(fault_of(file_of("")) == "r.json:1: rules: there is no rule");
  CHECK(holds(fault_of(file_of(R"({"rule": "usr"})")), "rules[0].rule: expected one of provided, user, "));
  CHECK(holds(fault_of(file_of(R"({"rule": "fixed"})")), "rules[0]: \"queue\" is missing"));
  CHECK(holds(fault_of(file_of(R"({"rule": "label", "key": ""})")), "rules[0].key: is empty"));
  CHECK(holds(fault_of(file_of(R"({"rule": "user", "key": "x"})")), "rules[0].key: no such field"));
  CHECK(holds(fault_of(file_of(R"({"rule": "user", "parent": {"rule": "label"}})")),
              "rules[0].parent: \"key\" is missing"));
  CHECK(holds(fault_of(file_of(R"({"rule": "fixed", "queue": "root.a", "parent": {"rule": "user"}})")),
              "rules[0].parent: the name says the whole way down"));
  CHECK(holds(fault_of(file_of(R"({"rule": "user", "filter": {"type": "block"}})")),
              "rules[0].filter.type: expected one"));
  const auto in_template = [](std::string_view of) {
    return fault_of(file_of(R"({"rule": "user"})", R"(, "templates": {"a": )" + std::string(of) + "}"));
  };
  CHECK(holds(in_template(R"({"quota": {"gpu": "two"}})"),
              "templates.a.quota.gpu: expected a quantity such as 4 or 2Gi"));
  CHECK(holds(in_template(R"({"limit": {"memory": "9Ei"}})"), "templates.a.limit.memory: \"9Ei\" is too large"));
  CHECK(holds(in_template(R"({"over_quota_weight": {"gpu": -1}})"), "templates.a.over_quota_weight.gpu: expected 0"));
  CHECK(in_template(R"({"quota": {"gpu": -1}, "limit": {"cpu": 0.5}})") == "(no fault)");
  io::kubernetes::settings chosen;
  CHECK(holds(io::kubernetes::set(chosen, "queue_rules", "{").failure().message, "queue_rules:1:"));
}

}  // namespace of_test_io_kubernetes_queue_rules
