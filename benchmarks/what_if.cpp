#include "benchmarks/what_if.hpp"

#include <algorithm>

#include <kaisched/cluster.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

std::vector<what_if_question> what_if_questions() {
  return {{"what_if_pod", "steady", "allocate"},
          {"what_if_gang", "gang64", "allocate"},
          {"what_if_victims", "reclaim_many", "reclaim"}};
}

what_if_result run_what_if(const engine& with, const what_if_question& what, std::int32_t nodes, std::size_t count) {
  const scenario_input input = build(what.scenario, nodes);
  cluster c;
  const std::vector<table> tables = to_tables(input);
  must(c.apply(tables));
  const snapshot taken = c.take_snapshot();
  const session opened = must(with.open(taken, scenario_now));
  std::vector<group_row> waiting;
  for (const scenario_job& job : input.jobs) {
    if (job.nodes.empty()) waiting.push_back(must(c.find(entity_kind::pod_group, job.name)).slot());
  }
  what_if_result made;
  for (std::size_t i = 0; i < count; ++i) {
    bool yes = false;
    made.seconds.push_back(seconds([&] {
      session fork = opened.fork();
      must(fork.run(what.action, waiting[i % waiting.size()]));
      yes = !fork.decisions().empty();
    }));
    made.yes += yes ? 1 : 0;
  }
  return made;
}

}  // namespace kaisched::bench
