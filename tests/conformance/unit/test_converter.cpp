// What cases say and what the tables take: texts of constraints, units, statuses, trees, options.

#include <algorithm>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <nlohmann/json.hpp>

#include "conformance/kai_cluster.hpp"
#include "conformance/kubernetes_texts.hpp"
#include "conformance/unsupported.hpp"

namespace of_test_converter {

namespace {

using namespace kaisched;
using namespace kaisched::conformance;
using nlohmann::json;
using texts = std::vector<std::string>;

json required(const char* kind, const json& what) {
  return {{kind, {{"requiredDuringSchedulingIgnoredDuringExecution", what}}}};
}

json node_terms(const char* expressions) {
  return required("nodeAffinity", {{"nodeSelectorTerms", {{{"matchExpressions", json::parse(expressions)}}}}});
}

json small_case() {
  return json::parse(R"({
    "schema": "kai-session-case/1", "kind": "unit", "actions": ["allocate"], "predicates_enabled": true,
    "resolved": {
      "params": {"staleness_grace_period_s": 60}, "plugins": [], "topologies": [],
      "queues": [
        {"name": "leaf", "parent": "top", "priority": 7, "created_rank": 3, "gpu": {"quota": 0.5, "limit": -2},
         "cpu_milli": {"quota": 1500, "limit": -1, "over_quota_weight": 2}, "memory_mb": {"quota": 2, "limit": 3}},
        {"name": "top", "priority": 100, "created_rank": 0, "gpu": {"quota": -1, "limit": -1}}],
      "nodes": [{"name": "n", "allocatable": {"gpu": 2, "cpu_milli": 4000, "x/nic": 3, "pods": 5},
                 "gpu_memory_mib": 2, "gpu_memory_synced": true, "taints": [{"key": "k", "value": "v", "effect": "NoSchedule"}]}],
      "jobs": [{"name": "j", "queue": "leaf", "priority": 5, "preemptible": false, "created_rank": 2,
        "last_start_age_s": 10,
        "root": {"name": "", "min_sub_group": 1, "pod_sets": [{"name": "a", "min_available": 1}],
                 "groups": [{"name": "g", "pod_sets": [{"name": "b"}]}]},
        "tasks": [
          {"name": "j-0", "sub_group": "b", "status": "Running", "node": "n", "request": {"gpu": 2, "a/fpga": 4},
           "labels": {"kai.scheduler/task-priority": "high", "ray.io/node-type": "head"}},
          {"name": "j-1", "sub_group": "stranger", "status": "Pending", "request": {}},
          {"name": "j-2", "sub_group": "a", "status": "Failed", "node": "n", "request": {}}]}]}})");
}

std::vector<std::string_view> strings(const table& of, std::uint32_t id) {
  const table_view view = of.view();
  std::vector<std::string_view> found;
  found.reserve(view.rows);
  for (std::uint64_t row = 0; row < view.rows; ++row) found.push_back(view.find(id)->string(row));
  return found;
}

std::vector<std::int64_t> numbers(const table& of, std::uint32_t id) {
  const table_view view = of.view();
  const auto values = view.find(id)->values<std::int64_t>(view.rows);
  return {values.begin(), values.end()};
}

/// The table of a kind; every kind comes at most once.
const table& of(const std::vector<table>& tables, table_kind kind) {
  const auto is_it = [&](const table& t) { return t.kind() == static_cast<std::uint32_t>(kind); };
  REQUIRE(std::count_if(tables.begin(), tables.end(), is_it) == 1);
  return *std::find_if(tables.begin(), tables.end(), is_it);
}

using names = std::vector<std::string_view>;
using amounts = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("constraints take their short forms") {
  CHECK(taint_text({{"key", "a"}, {"value", "b"}, {"effect", "NoExecute"}}) == "a=b:NoExecute");
  CHECK(taint_text({{"key", "a"}, {"effect", "NoSchedule"}}) == "a=:NoSchedule");
  CHECK(toleration_text({{"operator", "Exists"}}) == "*");
  CHECK(toleration_text({{"operator", "Exists"}, {"effect", "NoExecute"}}) == "*:NoExecute");
  CHECK(toleration_text({{"key", "a"}, {"operator", "Exists"}, {"effect", "NoSchedule"}}) == "a:NoSchedule");
  CHECK(toleration_text({{"key", "a"}, {"operator", "Exists"}}) == "a");
  CHECK(toleration_text({{"key", "a"}, {"operator", "Equal"}, {"value", "b"}}) == "a=b");
  CHECK(toleration_text({{"key", "a"}, {"effect", "NoSchedule"}}) == "a=:NoSchedule");
  CHECK(label_texts(json::parse(R"({"b": "", "a": "1"})")) == texts{"a", "1", "b", ""});
}

TEST_CASE("selectors take the form of Kubernetes' command line") {
  CHECK(node_affinity_texts(node_terms(R"([{"key": "a", "operator": "In", "values": ["x", "y"]},
      {"key": "b", "operator": "NotIn", "values": ["", "z"]}, {"key": "c", "operator": "Exists"},
      {"key": "d", "operator": "DoesNotExist"}, {"key": "e", "operator": "Gt", "values": ["5"]}])")) ==
        texts{"a in (x,y),b notin (,z),c,!d,e>5"});
  CHECK(node_affinity_texts(json()).empty());
  // A term without expressions matches nothing.
  CHECK(node_affinity_texts(node_terms("[]")) == texts{"none,!none"});
  const json pods = json::parse(R"([{"topologyKey": "zone", "labelSelector": {"matchLabels": {"a": "1", "b": "2"},
      "matchExpressions": [{"key": "c", "operator": "Exists"}]}}, {"topologyKey": "host"}])");
  CHECK(pod_affinity_texts(required("podAffinity", pods), "podAffinity") == texts{"zone: a=1,b=2,c", "host: "});
  CHECK(pod_affinity_texts(required("podAffinity", pods), "podAntiAffinity").empty());
}

TEST_CASE("what the tables cannot say is refused") {
  CHECK_THROWS_AS((void)node_affinity_texts(node_terms(R"([{"key": "a", "operator": "Like", "values": ["x"]}])")),
                  unsupported);
  CHECK_THROWS_AS(
      (void)node_affinity_texts(required("nodeAffinity", {{"nodeSelectorTerms", {{{"matchFields", {1}}}}}})),
      unsupported);
  const json preferred = {{"podAffinity", {{"preferredDuringSchedulingIgnoredDuringExecution", {1}}}}};
  CHECK_THROWS_AS((void)pod_affinity_texts(preferred, "podAffinity"), unsupported);
  const json elsewhere = required("podAffinity", json::parse(R"([{"topologyKey": "zone", "namespaces": ["other"]}])"));
  CHECK_THROWS_AS((void)pod_affinity_texts(elsewhere, "podAffinity"), unsupported);
  CHECK_THROWS_AS((void)kai_status("Deleted"), unsupported);
}

TEST_CASE("resources become dimensions, amounts take the units of the tables") {
  const std::vector<table> tables = kai_tables(small_case());
  CHECK(strings(of(tables, table_kind::resource), col::resource_name) == names{"a/fpga", "x/nic"});
  CHECK(strings(of(tables, table_kind::queue), col::queue_name) == names{"top", "leaf"});  // parents first
  CHECK(numbers(of(tables, table_kind::queue), col::queue_quota) == amounts{0, 0, -1, 1500, 2'000'000, 500});
  CHECK(numbers(of(tables, table_kind::queue), col::queue_limit) == amounts{0, 0, -1, -1, 3'000'000, -1});
  CHECK(numbers(of(tables, table_kind::queue), col::queue_created) == amounts{0, 3'000'000'000});
  CHECK(numbers(of(tables, table_kind::node), col::node_capacity) == amounts{4000, 0, 2000, 5, 0, 3});
  CHECK(numbers(of(tables, table_kind::node), col::node_gpu_memory) == amounts{2 << 20});
}

TEST_CASE("a queue that does not exist is one that is not served") {
  json one = small_case();
  one["resolved"]["jobs"][0]["queue"] = "lost";
  const std::vector<table> tables = kai_tables(one);
  CHECK(strings(of(tables, table_kind::queue), col::queue_name) == names{"top", "leaf", "lost", "lost does not exist"});
  CHECK(strings(of(tables, table_kind::queue), col::queue_parent) == names{"", "top", "", "lost"});
}

TEST_CASE("groups, sub-groups and pods") {
  const std::vector<table> tables = kai_tables(small_case());
  CHECK(numbers(of(tables, table_kind::pod_group), col::pod_group_min_sub_group) == amounts{1});
  CHECK(numbers(of(tables, table_kind::pod_group), col::pod_group_last_start) == amounts{kai_now - 10'000'000'000});
  CHECK(numbers(of(tables, table_kind::pod_group), col::pod_group_staleness_grace) == amounts{60'000'000'000});
  CHECK(strings(of(tables, table_kind::sub_group), col::sub_group_name) == names{"g", "b", "a"});
  CHECK(strings(of(tables, table_kind::sub_group), col::sub_group_parent) == names{"", "g", ""});
  CHECK(numbers(of(tables, table_kind::sub_group), col::sub_group_min_sub_group) == amounts{unset, unset, unset});
  CHECK(strings(of(tables, table_kind::pod), col::pod_name) ==
        names{"j-0", "j-2"});  // a task of an unknown sub-group is left out
  CHECK(strings(of(tables, table_kind::pod), col::pod_node) == names{"n", ""});  // and so is a node that is left
  CHECK(numbers(of(tables, table_kind::pod), col::pod_priority) == amounts{unset + 1, unset});
  CHECK(numbers(of(tables, table_kind::pod), col::pod_request) == amounts{0, 0, 2000, 0, 4, 0, 0, 0, 0, 0, 0, 0});
}

TEST_CASE("later rounds start from what was written back, with clocks of their own") {
  const kai_starts starts{{"j-0", {"Pending", ""}}, {"j-2", {"Bound", "n"}}};
  std::vector<table> tables = kai_tables(small_case(), starts, true);
  CHECK(strings(of(tables, table_kind::pod), col::pod_node) == names{"", "n"});
  CHECK(numbers(of(tables, table_kind::pod_group), col::pod_group_last_start) == amounts{kai_now - 60'000'000'000});
  tables = kai_tables(small_case(), {{"j-0", {"Pending", ""}}}, true);
  CHECK(numbers(of(tables, table_kind::pod_group), col::pod_group_last_start) == amounts{unset});
}

TEST_CASE("plug-ins become parts in their order; those that were not opened or decide nothing are dropped") {
  json one = small_case();
  one["predicates_enabled"] = false;
  one["resolved"]["params"]["queue_depth_per_action"] = {{"allocate", 4}};
  one["resolved"]["plugins"] =
      json::parse(R"([{"name": "b"}, {"name": "predicates"}, {"name": "snapshot"}, {"name": "a"},
      {"name": "nodeplacement", "arguments": {"gpu": "spread"}},
      {"name": "proportion", "arguments": {"kValue": "0.5"}}])");
  const auto options = kai_options(one, {"a", "b", "predicates", "proportion", "nodeplacement"});
  const std::vector<std::pair<std::string, std::string>> expected{
      {"preset", "kai-0.17-r2"},     {"mode", "compat"},
      {"actions", "allocate"},       {"parts", "b,a,nodeplacement,proportion"},
      {"placement.gpu", "spread"},   {"placement.cpu", "binpack"},
      {"proportion.k", "0.5"},       {"search_steps", "-1"},
      {"action_steps", "-1"},        {"session_steps", "-1"},
      {"queue_depth.allocate", "4"}, {"staleness_grace", "60"}};
  CHECK(options == expected);
  CHECK_THROWS_AS((void)kai_options(one, {"a", "predicates", "proportion", "nodeplacement"}), unsupported);
}

}  // namespace of_test_converter
