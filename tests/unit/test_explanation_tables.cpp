// Explanations as tables: what the rows of each are, beside the answer that they are made of.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "columns.hpp"
#include "files/cluster_file.hpp"
#include "support.hpp"

namespace of_test_explanation_tables {

using namespace kaisched;
using test::must;
using test::column::numbers;
using test::column::texts;
using strings = std::vector<std::string>;

namespace {

session ran(std::string_view text, const char* actions = "allocate") {
  cluster built = must(io::build_cluster(must(io::parse_cluster(text, "test.json"))));
  engine e;
  must(e.set("actions", actions));
  return must(e.run(built.take_snapshot(), 1000 * test::second));
}

pod_row pod_of(const session& s, std::string_view name) {
  pod_row p = 0;
  while (s.base().pod_name(p) != name) ++p;
  return p;
}

group_row group_of(const session& s, std::string_view name) {
  group_row g = 0;
  while (s.base().group_name(g) != name) ++g;
  return g;
}

constexpr std::string_view racks = R"({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}],
  "topology": [{"name": "t", "levels": ["rack"]}], "node": [
  {"name": "a1", "capacity": {"gpu": 4000, "pods": 9}, "labels": {"rack": "a"}},
  {"name": "a2", "capacity": {"gpu": 2000, "pods": 9}, "labels": {"rack": "a"}},
  {"name": "b1", "capacity": {"gpu": 4000, "pods": 9}, "labels": {"rack": "b"}},
  {"name": "far", "capacity": {"gpu": 4000, "pods": 9}}],
  "pod_group": [{"name": "g", "queue": "q", "min_member": 3, "topology": "t", "required_level": "rack"}],
  "pod": [{"name": "g-0", "group": "g", "request": {"gpu": 4000}}, {"name": "g-1", "group": "g", "request": {"gpu": 4000}},
          {"name": "g-2", "group": "g", "request": {"gpu": 4000}}]})";

constexpr std::string_view two_nodes = R"({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}], "node": [
  {"name": "a", "capacity": {"gpu": 4000, "pods": 9}}, {"name": "b", "capacity": {"gpu": 2000, "pods": 9}}],
  "pod_group": [{"name": "old", "queue": "q"}, {"name": "new", "queue": "q", "created": 1},
                {"name": "big", "queue": "q", "created": 2}],
  "pod": [{"name": "old-0", "group": "old", "request": {"gpu": 1000}, "status": "running", "node": "a"},
          {"name": "new-0", "group": "new", "request": {"gpu": 1000}},
          {"name": "big-0", "group": "big", "request": {"gpu": 4000}}]})";

constexpr std::string_view urgent = R"({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}, {"name": "other"}],
  "node": [{"name": "n", "capacity": {"gpu": 3000, "pods": 9}}],
  "pod_group": [{"name": "low", "queue": "q", "priority": 10}, {"name": "mid", "queue": "q", "priority": 20},
                {"name": "else", "queue": "other", "priority": 1}, {"name": "urgent", "queue": "q", "priority": 90}],
  "pod": [{"name": "low-0", "group": "low", "request": {"gpu": 1000}, "status": "running", "node": "n"},
          {"name": "mid-0", "group": "mid", "request": {"gpu": 1000}, "status": "running", "node": "n"},
          {"name": "else-0", "group": "else", "request": {"gpu": 1000}, "status": "running", "node": "n"},
          {"name": "urgent-0", "group": "urgent", "request": {"gpu": 1000}}]})";

}  // namespace

TEST_CASE("a certificate of domains has a row for each bound, and one for the nodes in no domain") {
  const session s = ran(racks);  // one pod finds room on a1 and on b1, none on a2; three must be in one rack
  const certificate proof = must(s.certify(group_of(s, "g")));
  REQUIRE(proof.kind == certificate_kind::domain_bound);
  const table t = s.to_table(proof);
  CHECK(texts(t, col::certificate_domain) == strings{"a", "a", "b", ""});
  CHECK(texts(t, col::certificate_nodes) == strings{"a2", "a1", "b1", "far"});
  CHECK(texts(t, col::certificate_level) == strings(4, "rack"));
  CHECK(texts(t, col::certificate_topology) == strings(4, "t"));
  CHECK(texts(t, col::certificate_kind) == strings(4, "domain_bound"));
  CHECK(texts(t, col::certificate_text) == strings(4, s.text(proof)));
  const strings kinds = texts(t, col::certificate_bound_kind);
  CHECK(kinds.back().empty());
  CHECK(texts(t, col::certificate_bound).back().empty());
  const auto need = numbers<std::int64_t>(t, col::certificate_need);
  const auto have = numbers<std::int64_t>(t, col::certificate_have);
  for (std::size_t i = 0; i + 1 < kinds.size(); ++i) {
    CHECK_FALSE(kinds[i].empty());
    CHECK(need[i] > have[i]);
  }
  CHECK(need.back() == 0);
  const table none = s.to_table(certificate{});
  CHECK(texts(none, col::certificate_kind) == strings{"none"});
  CHECK(numbers<std::uint64_t>(none, col::certificate_group) == std::vector<std::uint64_t>{0});
}

TEST_CASE("a choice: the choice, the differences, what would have turned it") {
  const session s = ran(two_nodes);
  const choice_account why = must(s.choice(pod_of(s, "new-0")));
  const table t = s.to_table(why);
  CHECK(texts(t, col::choice_what) == strings{"chosen", "difference", "without_part", "more_score", "closed_node"});
  CHECK(texts(t, col::choice_node_name) == strings{"b", "b", "a", "a", "a"});
  CHECK(texts(t, col::choice_runner_up) == strings{"a", "a", "", "", ""});
  CHECK(texts(t, col::choice_part) == strings{"", "nodeplacement", "nodeplacement", "", ""});
  CHECK(texts(t, col::choice_rule) == strings{"score", "", "", "", ""});
  CHECK(numbers<double>(t, col::choice_score) == std::vector<double>{0, 9, 0, 9, 0});
  CHECK(numbers<double>(t, col::choice_other_score) == std::vector<double>(5, 0));
  CHECK(numbers<double>(t, col::choice_margin)[0] == 9);
  CHECK(numbers<std::uint32_t>(t, col::choice_fitting)[0] == 2);
  CHECK(texts(t, col::choice_text)[0] == s.text(why));
  CHECK(texts(t, col::choice_text)[1].empty());
  CHECK(texts(t, col::choice_text)[4] == s.text(why, why.flips[2]));
}

TEST_CASE("remedies: a row for each change, numbered within the group") {
  const session s = ran(two_nodes);
  const std::vector<group_row> groups{group_of(s, "new"), group_of(s, "big")};
  const std::vector<remedy_report> found = must(s.remedies(groups));
  REQUIRE(found[0].remedies.empty());
  REQUIRE(found[1].remedies.size() > 1);
  const table t = s.to_table(groups, found);
  const auto number = numbers<std::uint32_t>(t, col::remedy_remedy);
  CHECK(number[0] == 0);
  CHECK(texts(t, col::remedy_text)[0].empty());
  std::size_t row = 1;
  for (std::size_t i = 0; i < found[1].remedies.size(); ++i) {
    const remedy& one = found[1].remedies[i];
    for (const remedy_change& change : one.changes) {
      CHECK(number[row] == i + 1);
      CHECK(texts(t, col::remedy_change)[row] == change_kind_name(change.what));
      CHECK(texts(t, col::remedy_subject_name)[row] == s.base().name(change.subject));
      CHECK(numbers<std::int64_t>(t, col::remedy_before)[row] == change.before);
      CHECK(numbers<std::int64_t>(t, col::remedy_after)[row] == change.after);
      CHECK(texts(t, col::remedy_text)[row] == s.text(one));
      ++row;
    }
  }
  CHECK(row == t.rows());
  // A remedy without changes is a row of its own: an action has to try.
  remedy_report nothing;
  nothing.remedies.push_back({{}, 1, action_kind::reclaim});
  const table bare = s.to_table(std::span(groups).first(1), std::span(&nothing, 1));
  CHECK(texts(bare, col::remedy_change) == strings{""});
  CHECK(numbers<std::uint32_t>(bare, col::remedy_remedy) == std::vector<std::uint32_t>{1});
  CHECK(texts(bare, col::remedy_action) == strings{"reclaim"});
  CHECK_FALSE(texts(bare, col::remedy_text)[0].empty());
}

TEST_CASE("a victim: rules, who got places, who lost them, who was left alone, and what if") {
  const session s = ran(urgent, "allocate,preempt");
  const victim_account why = must(s.victim(pod_of(s, "low-0")));
  const table t = s.to_table(why);
  strings rows;
  const strings what = texts(t, col::victim_what);
  const strings code = texts(t, col::victim_code);
  const strings group = texts(t, col::victim_group_name);
  const auto pods = numbers<std::uint32_t>(t, col::victim_pods);
  for (std::size_t i = 0; i < what.size(); ++i)
    rows.push_back(what[i] + " " + code[i] + " " + group[i] + " " + std::to_string(pods[i]));
  CHECK(rows == strings{"rule lowest_priority low 0", "placed  urgent 1", "victim  low 1", "spared not_needed mid 0",
                        "spared other_queue else 0", "protected placed urgent 1", "protected_victim  mid 1"});
  CHECK(texts(t, col::victim_kind) == strings(rows.size(), "evict"));
  CHECK(texts(t, col::victim_action) == strings(rows.size(), "preempt"));
  CHECK(texts(t, col::victim_text)[5] == s.text(why, why.if_protected));
  CHECK(numbers<std::uint32_t>(t, col::victim_commit)[0] == why.commit);
  victim_account alone = why;
  alone.placed.clear();
  alone.if_protected = {};
  const table untried = s.to_table(alone);
  CHECK(texts(untried, col::victim_code).back() == "untried");
  CHECK(numbers<std::uint64_t>(untried, col::victim_group).back() == 0);
}

TEST_CASE("steps of a share, and forecasts with who would be displaced") {
  const session s = ran(urgent);
  const std::vector<share_step> steps = must(s.share_steps(0));
  const table t = s.to_table(steps);
  REQUIRE(t.rows() == steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    CHECK(texts(t, col::share_step_step)[i] == share_step_kind_name(steps[i].what));
    CHECK(numbers<std::int64_t>(t, col::share_step_given)[i] == steps[i].given);
    CHECK(texts(t, col::share_step_text)[i] == s.text(steps[i]));
    CHECK((numbers<std::uint64_t>(t, col::share_step_queue)[i] == 0) == (steps[i].queue == no_row));
  }
  const std::vector<std::string_view> names{"urgent", "mid"};
  const what_if_report report = must(s.what_if({}, names));
  const table would = s.to_table(report);
  CHECK(texts(would, col::forecast_group_name) == strings{"urgent", "mid"});
  CHECK(texts(would, col::forecast_way) == strings{"displaces", "none"});
  CHECK(texts(would, col::forecast_action) == strings{"preempt", "none"});
  CHECK(texts(would, col::forecast_placed_pods) == strings{"urgent-0", ""});
  CHECK(texts(would, col::forecast_placed_nodes) == strings{"n", ""});
  CHECK(texts(would, col::forecast_displaced_pods) == strings{"low-0", ""});
  CHECK(texts(would, col::forecast_displaced_groups) == strings{"low", ""});
  CHECK(texts(would, col::forecast_displaced_by) == strings{"evict", ""});
  CHECK_FALSE(texts(would, col::forecast_reasons)[0].empty());
  CHECK(texts(would, col::forecast_text)[0] == s.text(report, report.groups[0]));
}

TEST_CASE("gaps: victims with their proof, domains with the largest, fragmentation with what bounds") {
  const session s = ran(urgent, "allocate,preempt");
  const std::vector<optimality_gap> gaps = must(s.gaps());
  const table t = s.to_table(gaps);
  REQUIRE(!gaps.empty());
  CHECK(texts(t, col::gap_kind).front() == "victims");
  CHECK(texts(t, col::gap_action).front() == "preempt");
  CHECK(texts(t, col::gap_group_name).front() == "urgent");
  CHECK(texts(t, col::gap_pod_name).front() == "urgent-0");
  CHECK(numbers<std::uint32_t>(t, col::gap_gap).front() == 1);
  CHECK(numbers<std::uint32_t>(t, col::gap_commit).front() == gaps.front().commit);
  CHECK(numbers<std::int64_t>(t, col::gap_achieved).front() == 1);
  CHECK(numbers<std::int64_t>(t, col::gap_bound).front() == 1);
  CHECK(numbers<std::int64_t>(t, col::gap_distance).front() == 0);
  REQUIRE(gaps.front().domains.size() == 1);
  CHECK(numbers<std::int64_t>(t, col::gap_price).front() == gaps.front().domains.front().price);
  CHECK(numbers<std::int64_t>(t, col::gap_per_victim).front() == gaps.front().domains.front().per_victim);
  CHECK(numbers<std::int64_t>(t, col::gap_domain_bound).front() == 1);

  optimality_gap domains{gap_kind::domains, 2, action_kind::allocate, group_of(s, "mid"), pod_of(s, "mid-0"), 4, 3, 2};
  domains.level = "rack";
  domains.largest = {2};
  optimality_gap victims = gaps.front();
  victims.domains = {{"a", true, 0, 1, 0}, {"b", false, 1, 2, 1}};
  optimality_gap room{gap_kind::fragmentation, 0, action_kind::none, no_row, pod_of(s, "mid-0"), 1, 1, 5};
  room.dim = dim_gpu;
  const std::vector<optimality_gap> made{domains, victims, room};
  const table all = s.to_table(made);
  CHECK(numbers<std::uint32_t>(all, col::gap_gap) == std::vector<std::uint32_t>{1, 2, 2, 3});
  CHECK(texts(all, col::gap_domain) == strings{"", "a", "b", ""});
  CHECK(numbers<std::uint8_t>(all, col::gap_too_small) == std::vector<std::uint8_t>{0, 1, 0, 0});
  CHECK(texts(all, col::gap_level)[0] == "rack");
  CHECK(texts(all, col::gap_dimension) == strings{"", "", "", "gpu"});
  CHECK(numbers<std::int64_t>(all, col::gap_distance) == std::vector<std::int64_t>{1, 0, 0, 4});
  CHECK(numbers<std::uint64_t>(all, col::gap_group).back() == 0);
  const table_view view = all.view();
  REQUIRE(view.find(col::gap_largest)->list(0).size() == 1);
  CHECK(view.find(col::gap_largest)->list(0)[0] == 2);
  CHECK(view.find(col::gap_largest)->list(1).empty());
  CHECK(s.to_table(std::span<const optimality_gap>()).rows() == 0);
}

}  // namespace of_test_explanation_tables
