#pragma once
/// @file
/// Small workloads, in few words. Times are seconds.

#include <string>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>

#include "rows.hpp"
#include "simulation/simulation.hpp"
#include "support.hpp"

namespace kaisched::test {

namespace sim = kaisched::simulation;

struct small_job {
  std::string name;
  std::int64_t submit = 0;
  std::int64_t run_time = 10;
  std::uint32_t pods = 1;
  std::int64_t gpus = 1;  ///< of each pod
  std::int64_t priority = 50;
  std::uint32_t min_pods = 0;
  std::string model{};
};

inline sim::job job_of(const small_job& told) {
  sim::job made;
  made.name = told.name;
  made.model = told.model;
  made.submit = told.submit * second;
  made.run_time = told.run_time * second;
  made.priority = told.priority;
  made.min_pods = told.min_pods;
  made.pods = {{told.pods, 1000, 0, told.gpus * whole_device, 0}};
  return made;
}

inline sim::play play_of(std::initializer_list<small_job> jobs) {
  sim::play made;
  for (const small_job& one : jobs) made.jobs.jobs.push_back(job_of(one));
  return made;
}

/// Nodes n0, n1 and so on with so many GPUs each, and the queue `default`.
inline cluster nodes_with(std::initializer_list<std::int64_t> gpus) {
  cluster c;
  must(c.apply(rows(table_kind::queue, table_op::add, {"name"}).add({"default"})));
  rows nodes(table_kind::node, table_op::add, {"name", "capacity"});
  int number = 0;
  for (const std::int64_t g : gpus) {
    nodes.add({"n" + std::to_string(number++), numbers{64'000, std::int64_t{1} << 40, g * whole_device, 110}});
  }
  must(c.apply(nodes));
  return c;
}

inline engine engine_with(std::initializer_list<std::pair<std::string_view, std::string_view>> options) {
  engine made;
  for (const auto& [option, value] : options) must(made.set(option, value));
  return made;
}

inline sim::run_result played(cluster over, const sim::play& what, const sim::simulation_options& options = {},
                              const engine& with = engine{}) {
  return must(sim::simulate(over, what, with, options));
}

/// Seconds; -1 if it did not come to that.
inline double at(std::int64_t t) { return t == sim::never ? -1 : static_cast<double>(t) / second; }

}  // namespace kaisched::test
