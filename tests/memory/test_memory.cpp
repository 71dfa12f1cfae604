// The figures of docs/performance.md on memory, and hosts that run for long.
#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "benchmarks/heap.hpp"
#include "benchmarks/memory_use.hpp"
#include "benchmarks/scenarios.hpp"
#include "rows.hpp"
#include "support.hpp"

namespace of_test_memory {

using namespace kaisched::bench;

TEST_CASE("a row of the model takes as many bytes as the docs say, or fewer") {
  const bytes_per_row bytes = measure_rows(5'000, 40'000);
  CAPTURE(bytes.node);
  CAPTURE(bytes.job);
  CAPTURE(bytes.gang_pod);
  CHECK(bytes.node <= 1'200);
  CHECK(bytes.job <= 900);
  CHECK(bytes.gang_pod <= 220);
  CHECK(bytes.gang_pod > 100);  // the counter counts
}

TEST_CASE("the steady state of a session: what a further decision, or group tried in vain, asks of the heap") {
  const std::map<std::string, double> most{
      {"fill", 0.05},
      {"overflow", 0.05},
      {"gang", 0.05},
      {"mixed", 0.05},
      {"overflow_full", 0.2},
      {"fraction", 0.4},
      {"gang64", 0.4},
      {"distributed", 0.6},  // a small column has small pages, and a session copies those that it writes
      {"steady", 0.5},
      {"topology", 2},
      {"reclaim_large", 0.6},
      {"reclaim_large_half", 0.2},
      {"reclaim_many", 0.2},
      {"preempt", 0.2},
      {"consolidation", 0.6},
      {"mixed_cycle", 1.5},
      {"reclaim_fail", 20},
      {"reclaim_fail_topo", 30},
      {"reclaim_many_cycle", 0.2},
      {"reclaim_swap_cycle", 0.2},
  };
  for (const std::string& name : scenario_names()) {
    CAPTURE(name);
    REQUIRE(most.contains(name));
    CHECK(allocations_per_step(name, 200) <= most.at(name));
  }
}

TEST_CASE("a host that runs for long, and whose names change, holds no more memory") {
  using namespace kaisched;
  using test::add;
  using test::must;
  using test::numbers;
  constexpr int sessions_of_window = 2'000;
  constexpr int jobs_there = 20;
  const engine e;
  cluster c;
  must(c.apply(add(table_kind::queue, {"name"}).add({"q"})));
  must(c.apply(add(table_kind::node, {"name", "capacity"}).add({"n", numbers{640'000, 0, 8'000, 200}})));
  const auto name = [](int i) { return std::string(100, 'x') + std::to_string(i); };
  std::vector<std::int64_t> most(3, 0);  // bytes, by window
  for (int i = 0; i < 3 * sessions_of_window; ++i) {
    must(c.apply(add(table_kind::pod_group, {"name", "queue"}).add({name(i), "q"})));
    must(c.apply(add(table_kind::pod, {"name", "group", "request"})
                     .add({name(i) + "-0", name(i), numbers{1'000, 0, 250, 1}})
                     .add({name(i) + "-1", name(i), numbers{1'000, 0, 0, 1}})));
    if (i >= jobs_there) {
      const std::string gone = name(i - jobs_there);
      must(c.apply(test::remove(table_kind::pod, {"name"}).add({gone + "-0"}).add({gone + "-1"})));
      must(c.apply(test::remove(table_kind::pod_group, {"name"}).add({gone})));
    }
    const session s = must(e.run(c.take_snapshot(), i * std::int64_t{1'000'000'000}));
    REQUIRE(must(c.assume(s)).empty());
    std::vector<entity_id> pods;
    for (const assumption& one : c.assumed()) pods.push_back(one.pod);
    REQUIRE(pods.size() == 2);
    must(c.confirm(pods));
    std::int64_t& in_window = most[static_cast<std::size_t>(i / sessions_of_window)];
    in_window = std::max(in_window, heap_now().bytes);
  }
  CHECK(most[2] - most[1] < 4096);
}

}  // namespace of_test_memory
