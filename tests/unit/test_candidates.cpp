// Why here: the table of nodes for a pod, in the state in which it was placed.
#include <algorithm>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include <kaisched/kaisched.hpp>

#include "files/cluster_file.hpp"
#include "io/synthetic.hpp"

namespace of_test_candidates {

using namespace kaisched;

namespace {

snapshot read(std::string_view text) {
  result<io::cluster_input> input = io::parse_cluster(text, "test.json");
  if (!input) FAIL(input.failure().message);
  result<cluster> built = io::build_cluster(*input);
  if (!built) FAIL(built.failure().message);
  return built->take_snapshot();
}

pod_row row_of(const session& s, std::string_view name) {
  for (pod_row p = 0;; ++p) {
    if (s.base().pod_name(p) == name) return p;
  }
}

session run(const engine& with, const snapshot& over) {
  result<session> ran = with.run(over, 0);
  if (!ran) FAIL(ran.failure().message);
  return std::move(*ran);
}

constexpr std::string_view three_nodes = R"({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}], "node": [
  {"name": "a", "capacity": {"gpu": 4000, "pods": 9}},
  {"name": "b", "capacity": {"gpu": 2000, "pods": 9}},
  {"name": "c", "capacity": {"gpu": 4000, "pods": 9}, "taints": ["away:NoSchedule"]}],
  "pod_group": [{"name": "old", "queue": "q"}, {"name": "first", "queue": "q", "created": 1},
                {"name": "second", "queue": "q", "created": 2}, {"name": "third", "queue": "q", "created": 3}],
  "pod": [{"name": "old-0", "group": "old", "request": {"gpu": 1000}, "status": "running", "node": "a"},
          {"name": "first-0", "group": "first", "request": {"gpu": 1000}},
          {"name": "second-0", "group": "second", "request": {"gpu": 2000}},
          {"name": "third-0", "group": "third", "request": {"gpu": 4000}}]})";

}  // namespace

TEST_CASE("the table shows the state in which a pod was placed, and who came second") {
  const session s = run(engine(), read(three_nodes));
  // first-0: b has 2 GPUs free and a has 3; binpack takes b. second-0 then finds b too full.
  const result<candidate_table> first = s.candidates(row_of(s, "first-0"));
  REQUIRE(first.ok());
  CHECK(s.base().node_name(first->chosen) == "b");
  CHECK(first->decisions_before == 0);
  REQUIRE(first->nodes.size() == 3);
  CHECK(first->fitting == 2);
  CHECK(s.base().node_name(first->nodes[0].node) == "b");
  CHECK(s.base().node_name(first->nodes[1].node) == "a");
  CHECK(first->nodes[0].score > first->nodes[1].score);
  CHECK(first->nodes[0].starts_now);
  CHECK(first->nodes[0].devices.mask == 1);
  CHECK(first->nodes[2].refusal.what == constraint::taint);
  const auto by_part = first->scores_of(0);
  REQUIRE(by_part.size() == first->parts.size());
  double sum = 0;
  for (const double score : by_part) sum += score;
  CHECK(sum == doctest::Approx(first->nodes[0].score));

  const result<candidate_table> second = s.candidates(row_of(s, "second-0"));
  REQUIRE(second.ok());
  CHECK(second->decisions_before == 1);
  CHECK(second->fitting == 1);
  CHECK(s.base().node_name(second->chosen) == "a");
  CHECK(second->nodes[1].refusal.what == constraint::resource);
  CHECK(second->nodes[1].refusal.need == 2000);
  CHECK(second->nodes[1].refusal.have == 1000);
}

TEST_CASE("a pod that waits is asked about now; one that was there before has no decision") {
  const session s = run(engine(), read(three_nodes));
  const result<candidate_table> third = s.candidates(row_of(s, "third-0"));
  REQUIRE(third.ok());
  CHECK(third->fitting == 0);
  CHECK(third->chosen == no_row);
  CHECK(third->decisions_before == 2);
  CHECK(s.candidates(row_of(s, "old-0")).failure().code == status::state);
  CHECK(s.candidates(row_of(s, "old-0")).failure().message == "pod 'old-0' was not placed by this session");
  CHECK(s.candidates(1000).failure().code == status::argument);
}

TEST_CASE("an obstacle refuses every node") {
  const session s = run(engine(), read(R"({"schema": "kaisched-cluster/1", "queue": [{"name": "q"}],
    "node": [{"name": "a", "capacity": {"gpu": 4000, "pods": 9}}], "pod_group": [{"name": "g", "queue": "q"}],
    "pod": [{"name": "p", "group": "g", "request": {"gpu": 1000}, "obstacle": "no volume"}]})"));
  const result<candidate_table> table = s.candidates(row_of(s, "p"));
  REQUIRE(table.ok());
  CHECK(table->nodes[0].refusal.what == constraint::obstacle);
}

TEST_CASE("the first of the table is where the pod was put, for every policy") {
  std::size_t claims = 0;
  std::size_t places = 0;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    const result<io::cluster_input> input = io::make_synthetic_cluster({512, 130, seed});
    REQUIRE(input.ok());
    const snapshot over = io::build_cluster(*input)->take_snapshot();
    for (const std::string_view mode : {"strict", "compat"}) {
      for (const std::string_view placement : {"binpack", "spread"}) {
        engine with;
        for (const auto& [option, value] :
             {std::pair{"actions", std::string_view("allocate")}, {"mode", mode}, {"placement.gpu", placement}}) {
          REQUIRE(with.set(option, value).ok());
        }
        const session s = run(with, over);
        for (const decision& d : s.decisions()) {
          if (d.kind != decision_kind::bind && d.kind != decision_kind::pipeline) continue;
          const result<candidate_table> table = s.candidates(d.pod);
          REQUIRE(table.ok());
          REQUIRE(table->fitting > 0);
          CHECK_MESSAGE(table->nodes.front().node == d.node, over.pod_name(d.pod));
          if (d.kind == decision_kind::bind) CHECK(table->nodes.front().devices == d.devices);
          if (d.kind == decision_kind::bind) CHECK(table->nodes.front().starts_now);
          if (d.kind == decision_kind::pipeline) ++claims;
          ++places;
        }
      }
    }
  }
  CHECK(places > 500);
  CHECK(claims > 10);
}

}  // namespace of_test_candidates
