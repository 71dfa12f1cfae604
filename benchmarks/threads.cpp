#include "benchmarks/threads.hpp"

#include <functional>
#include <memory>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>

#include "benchmarks/adapter.hpp"
#include "benchmarks/many_classes.hpp"
#include "benchmarks/scenarios.hpp"
#include "benchmarks/thread_pool.hpp"
#include "benchmarks/timing.hpp"

namespace kaisched::bench {

namespace {

/// One kind of work: what is prepared outside of the time, and the work itself, which returns a digest.
struct work {
  std::string name;
  std::function<std::string(const engine&, double&)> run;
};

std::string digest_of(const std::vector<what_if_answer>& answers) {
  std::string all;
  for (const what_if_answer& one : answers) {
    all += fmt::format("{}:", one.group);
    for (const decision& d : one.decisions) all += fmt::format(" {} {} {}", static_cast<int>(d.kind), d.pod, d.node);
  }
  return all;
}

std::vector<work> works(std::int32_t nodes) {
  const scenario_input input = build("reclaim_many", nodes);
  auto full = std::make_shared<cluster>();
  for (const table& t : to_tables(input)) must(full->apply(t));
  std::vector<group_row> waiting;
  for (const scenario_job& job : input.jobs) {
    if (job.nodes.empty() && waiting.size() < 500)
      waiting.push_back(must(full->find(entity_kind::pod_group, job.name)).slot());
  }
  auto racks = std::make_shared<cluster>();
  for (const table& t : to_tables(build("topology", nodes))) must(racks->apply(t));
  auto labelled = std::make_shared<cluster>(many_classes(nodes, 200));
  const auto actions_of = [](const std::shared_ptr<cluster>& of) {
    return [of](const engine& with, double& time) {
      session opened = must(with.open(of->take_snapshot(), scenario_now));
      time = seconds([&] { must(opened.run("allocate")); });
      return opened.digest();
    };
  };
  return {{"ask",
           [full, waiting](const engine& with, double& time) {
             const session opened = must(with.open(full->take_snapshot(), scenario_now));
             std::vector<what_if_answer> answers;
             time = seconds([&] { answers = must(opened.ask("reclaim", waiting)); });
             return digest_of(answers);
           }},
          {"classes", actions_of(labelled)},
          {"topology", actions_of(racks)}};
}

}  // namespace

std::vector<threads_result> run_threads(const std::string& mode, std::int32_t nodes, std::size_t threads, int runs) {
  engine alone;
  engine with;
  for (engine* one : {&alone, &with}) must(one->set("mode", mode));
  with.set_executor(std::make_shared<thread_pool>(threads));
  std::vector<threads_result> results;
  for (const work& what : works(nodes)) {
    threads_result& made = results.emplace_back();
    made.work = what.name;
    made.equal = true;
    for (int run = 0; run < runs; ++run) {
      made.equal = what.run(alone, made.alone.emplace_back()) == what.run(with, made.with.emplace_back()) && made.equal;
    }
  }
  return results;
}

}  // namespace kaisched::bench
