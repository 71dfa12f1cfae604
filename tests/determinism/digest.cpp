// Prints one digest per case: every compiler, optimisation level and machine must print the same bytes.
#include <cstdio>
#include <string>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"
#include "io/synthetic.hpp"

namespace {

using namespace kaisched;

int fail(const error& why) {
  std::fprintf(stderr, "error: %s\n", why.message.c_str());
  return 1;
}

/// Both modes and both placements over one snapshot.
int print_digests(const std::string& name, const snapshot& base, std::int64_t now) {
  std::printf("%s snapshot %s\n", name.c_str(), base.digest().c_str());
  for (const char* mode : {"compat", "strict"}) {
    for (const char* placement : {"binpack", "spread"}) {
      engine e;
      for (const auto& [option, value] :
           {std::pair{"mode", mode}, {"placement.gpu", placement}, {"placement.cpu", placement}}) {
        if (auto set = e.set(option, value); !set) return fail(set.failure());
      }
      const result<session> ran = e.run(base, now);
      if (!ran) return fail(ran.failure());
      std::printf("%s %s %s %s\n", name.c_str(), mode, placement, ran->digest().c_str());
    }
  }
  return 0;
}

}  // namespace

int main() {
  for (const std::string scenario : {"fill", "overflow", "gang", "gang64", "distributed", "mixed", "steady"}) {
    cluster c;
    for (const table& t : bench::to_tables(bench::build(scenario, 128))) {
      if (auto applied = c.apply(t); !applied) return fail(applied.failure());
    }
    if (print_digests(scenario, c.take_snapshot(), bench::scenario_now) != 0) return 1;
  }
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    for (const std::int64_t load : {90, 130}) {
      const result<io::cluster_input> input = io::make_synthetic_cluster({1024, load, seed});
      if (!input) return fail(input.failure());
      cluster c;
      for (const table& t : input->tables) {
        if (auto applied = c.apply(t); !applied) return fail(applied.failure());
      }
      const std::string name = "synthetic-" + std::to_string(seed) + "-" + std::to_string(load);
      if (print_digests(name, c.take_snapshot(), input->now) != 0) return 1;
    }
  }
  return 0;
}
