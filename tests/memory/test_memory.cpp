// The figures of docs/performance.md on memory.
#include <map>
#include <string>

#include <doctest/doctest.h>

#include "benchmarks/memory_use.hpp"
#include "benchmarks/scenarios.hpp"

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

}  // namespace of_test_memory
