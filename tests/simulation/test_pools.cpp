/// Nodes that are switched on and off, devices that fail.
#include <doctest/doctest.h>

#include "simulation/metrics.hpp"
#include "simulation/play_support.hpp"

namespace of_test_pools {

using namespace kaisched;
using namespace kaisched::test;

TEST_CASE("nodes of a pool come for those who wait and go when they are empty") {
  sim::play what = play_of({{"a", 0, 100}, {"b", 10, 20}, {"c", 300, 10}});
  what.pools = {{{"n0", "n1", "n2"}, 1, 30 * second, 60 * second}};
  const sim::run_result r = played(nodes_with({1, 1, 1}), what);
  CHECK(at(r.jobs[0].first_start) == 0);
  CHECK(at(r.jobs[1].first_start) == 40);  // one node is asked for at 10 and there at 40
  CHECK(at(r.jobs[1].end) == 60);
  CHECK(at(r.jobs[2].first_start) == 300);  // on the node that is never off
  std::vector<std::int64_t> there;
  for (const sim::sample& s : r.timeline) {
    if (there.empty() || there.back() != s.gpus_there) there.push_back(s.gpus_there);
  }
  CHECK(there == std::vector<std::int64_t>{1000, 2000, 1000});
  // One GPU all the time, a second one from 40 to 120: 60 s after its last pod.
  CHECK(sim::metrics_of(what.jobs, r).gpu_hours_there * 3600 == doctest::Approx(310 + 80));
}

TEST_CASE("the first nodes of a pool are never off") {
  sim::play what = play_of({{"a", 0, 100, 1, 2}, {"b", 0, 1000, 1, 2}, {"c", 2000, 10, 1, 2}});
  what.pools = {{{"n0", "n1"}, 1, 60 * second, 30 * second}};
  what.outages = {{"n1", 1500 * second, 9000 * second}};
  const sim::run_result r = played(nodes_with({2, 2}), what);
  CHECK(at(r.jobs[2].first_start) == 2000);
  for (const sim::sample& s : r.timeline) CHECK(s.gpus_there >= 2000);
}

TEST_CASE("a node that was not there does not count after an outage either") {
  cluster c = nodes_with({4, 4});
  must(c.apply(rows(table_kind::node, table_op::change, {"name", "ready"}).add({"n0", 0})));
  sim::play what = play_of({{"a", 0, 100, 1, 8}, {"b", 0, 100, 1, 3}});
  what.outages = {{"n0", 20 * second, 30 * second}};
  const sim::run_result r = played(std::move(c), what);
  for (const sim::sample& s : r.timeline) CHECK(s.gpus_fragmented <= s.gpus_there - s.gpus_held);
}

TEST_CASE("sessions follow as long as they start something") {
  sim::play what = play_of({{"a"}, {"b"}, {"c"}, {"d"}});
  const engine one_by_one = engine_with({{"actions", "allocate"}, {"queue_depth.allocate", "1"}});
  CHECK(at(played(nodes_with({4}), what, {}, one_by_one).jobs[3].first_start) > 0);
  const sim::run_result r = played(nodes_with({4}), what, {.repeat = true, .most_sessions_at_once = 2}, one_by_one);
  CHECK(at(r.jobs[3].first_start) == 0);
  CHECK(r.counts.restless == 0);
}

TEST_CASE("as many nodes come as those who wait would fill") {
  sim::play what = play_of({{"a", 0, 10, 3, 2}});
  what.pools = {{{"n0", "n1", "n2", "n3", "n4"}, 0, 5 * second, 0}};
  const sim::run_result r = played(nodes_with({2, 2, 2, 2, 2}), what);
  CHECK(at(r.jobs[0].first_start) == 5);
  std::int64_t most = 0;
  for (const sim::sample& s : r.timeline) most = std::max(most, s.gpus_there);
  CHECK(most == 6000);
  CHECK(r.timeline.back().gpus_there == 0);
}

TEST_CASE("who can never run keeps the nodes, and the play ends") {
  sim::play what = play_of({{"a", 0, 10, 1, 4}});
  what.pools = {{{"n0", "n1"}, 0, 5 * second, second}};
  const sim::run_result r = played(nodes_with({2, 2}), what);
  CHECK(r.jobs[0].first_start == sim::never);
  CHECK(r.timeline.back().gpus_there == 4000);
}

TEST_CASE("pools that make no sense are named") {
  const auto refused = [](std::vector<sim::node_pool> pools) {
    cluster c = nodes_with({1, 1});
    sim::play what = play_of({{"a"}});
    what.pools = std::move(pools);
    const auto r = sim::simulate(c, what, engine{});
    return r ? std::string() : r.failure().message;
  };
  CHECK(refused({{{"n0", "n9"}}}) == "pool: there is no node 'n9'");
  CHECK(refused({{{"n0"}}, {{"n0"}}}) == "pool: node 'n0' is there twice");
  CHECK(refused({{{"n0"}, 2}}).find("least is 2") != std::string::npos);
  CHECK(refused({{{}}}) == "a pool has no nodes");
}

TEST_CASE("a device that fails takes its pods along, and no others") {
  sim::play what = play_of({{"a", 0, 100}, {"b", 0, 100}});
  what.outages = {{"n0", 30 * second, 50 * second, 0, true, {0}}};
  const sim::run_result r = played(nodes_with({2}), what);
  const bool a_failed = r.jobs[0].failures == 1;
  CHECK(r.jobs[0].failures + r.jobs[1].failures == 1);
  CHECK(at(r.jobs[a_failed ? 0 : 1].end) == 120);
  CHECK(at(r.jobs[a_failed ? 1 : 0].end) == 100);
  CHECK(r.timeline[1].gpus_there == 1000);
  CHECK(r.timeline[2].gpus_there == 2000);
}

TEST_CASE("devices that cannot fail are named") {
  const auto refused = [](sim::outage o) {
    cluster c = nodes_with({2});
    sim::play what = play_of({{"a"}});
    what.outages = {std::move(o)};
    const auto r = sim::simulate(c, what, engine{});
    return r ? std::string() : r.failure().message;
  };
  CHECK(refused({"n0", 0, second, 0, false, {2}}) == "outage: node 'n0' has no device 2");
  CHECK(refused({"n0", 0, second, 0, false, {1, 1}}).find("device 1 is named twice") != std::string::npos);
  CHECK(refused({"n0", second, 2 * second, second, false, {1}}).find("only whole nodes") != std::string::npos);
}

TEST_CASE("distances between nodes of a job, and what is asked for") {
  const auto in_racks = [] {
    cluster c;
    must(c.apply(rows(table_kind::queue, table_op::add, {"name"}).add({"default"})));
    must(c.apply(rows(table_kind::topology, table_op::add, {"name", "levels"}).add({"t", texts{"zone", "rack"}})));
    rows nodes(table_kind::node, table_op::add, {"name", "capacity", "labels"});
    const char* const racks[] = {"r0", "r1", "r0", "r2"};
    const char* const zones[] = {"z0", "z0", "z0", "z1"};
    for (int i = 0; i < 4; ++i) {
      nodes.add({"n" + std::to_string(i), numbers{64'000, std::int64_t{1} << 40, 1000, 110},
                 texts{"zone", zones[i], "rack", racks[i]}});
    }
    must(c.apply(nodes));
    return c;
  };
  const auto distance = [&](sim::simulation_options options) {
    cluster c = in_racks();
    const sim::play what = play_of({{"a", 0, 10, 2}, {"b", 0, 5, 1}});
    const engine with = engine_with({{"placement.gpu", "spread"}});
    const sim::run_result r = must(sim::simulate(c, what, with, options));
    CHECK(r.levels == 2);
    CHECK(r.jobs[1].distance == 0);
    return std::pair{r.jobs[0].distance, sim::metrics_of(what.jobs, r).topology_cost};
  };
  CHECK(distance({}) == std::pair{2U, 2.0});  // n0 and n1 are in one zone
  CHECK(distance({.preferred_level = "rack"}) == std::pair{1U, 1.0});
  cluster c = in_racks();
  CHECK(!sim::simulate(c, play_of({{"a"}}), engine{}, {.preferred_level = "row"}));
}

TEST_CASE("GPUs that are free in pieces, and with the wrong queue") {
  cluster c = nodes_with({4, 4});
  must(c.apply(rows(table_kind::queue, table_op::add, {"name"}).add({"other"})));
  sim::play what = play_of({{"a", 0, 100, 1, 1}, {"big", 0, 50, 1, 4}, {"b", 10, 10, 1, 4}});
  what.jobs.jobs[2].queue = "other";
  const sim::run_result r = played(std::move(c), what, {}, engine_with({{"actions", "allocate"}}));
  // Three GPUs are free on the node of a. Of the pods, one of three can use them: big and b want four.
  CHECK(r.timeline[0].gpus_fragmented == 2000);
  CHECK(r.timeline[0].gpus_misplaced == 0);
  // Five are held by one queue, and the other one wants four: half of them would be with it.
  CHECK(r.timeline[1].gpus_misplaced == 2500);
  const sim::metrics m = sim::metrics_of(what.jobs, r);
  CHECK(m.share_error == doctest::Approx(2.5 * 40 / (5 * 60 + 40)));
  CHECK(m.fragmentation > 0);
  CHECK(m.idle_though_asked > 0);
}

}  // namespace of_test_pools
