// Plays of an invented workload in virtual time under every policy that has a name, and the bits of their figures.
#include <bit>
#include <string>
#include <vector>

#include "determinism/plays.hpp"
#include "simulation/metrics.hpp"
#include "simulation/plain_cluster.hpp"
#include "simulation/policies.hpp"
#include "simulation/simulation.hpp"
#include "simulation/workload_model.hpp"

namespace kaisched::determinism {

namespace {

namespace sim = kaisched::simulation;

sim::play invented(std::string_view model) {
  sim::generator_options options = sim::options_of(*sim::find_workload_model(model));
  options.jobs = 40;
  options.queues = 3;
  sim::play made;
  made.jobs = must(sim::generate_workload(options));
  made.outages = {{"node-00000", 60 * minute, 90 * minute, 10 * minute, true},
                  {"node-00001", 100 * minute, 200 * minute, 0, false, {2, 3}}};
  made.pools = {{{"node-00004", "node-00005"}, 1, 5 * minute, 30 * minute}};
  return made;
}

std::string bits_of(const sim::metrics& m) {
  std::string text;
  for (const double value :
       {m.completion.mean, m.completion.p50, m.completion.p99, m.waiting.mean, m.makespan, m.utilisation_of_span,
        m.utilisation_of_arrivals, m.gpu_hours, m.lost_gpu_hours, m.worst_fairness, m.unfair, m.jain, m.fragmentation,
        m.idle_though_asked, m.share_error, m.topology_cost, m.gpu_hours_there}) {
    text += std::to_string(std::bit_cast<std::uint64_t>(value)) + " ";
  }
  return sha256_of(text);
}

}  // namespace

std::vector<std::string> virtual_time() {
  std::vector<std::string> lines;
  for (const std::string_view model : {"philly", "gavel"}) {
    const sim::play what = invented(model);
    for (const sim::named_policy& policy : sim::named_policies()) {
      sim::simulation_options options;
      engine with;
      must(sim::apply_policy(policy, with, options));
      options.checkpoint_interval = 7 * minute;
      options.start_overhead = minute / 2;
      options.estimates = sim::told_times::drawn;
      options.estimate_factor = 2.5;
      cluster over =
          build(must(sim::plain_cluster("6x8", what.jobs, options.queue, options.model_label, false, 2)).tables);
      const sim::run_result run = must(sim::simulate(over, what, with, options));
      lines.push_back("virtual time " + std::string(model) + " " + std::string(policy.name) + " " + run.digest +
                      " figures " + bits_of(sim::metrics_of(what.jobs, run)));
    }
  }
  return lines;
}

}  // namespace kaisched::determinism
