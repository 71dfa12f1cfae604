#include "benchmarks/contended.hpp"

#include <numeric>

#include <kaisched/cluster.hpp>

#include "benchmarks/timing.hpp"
#include "io/cluster_input.hpp"
#include "io/synthetic.hpp"

namespace kaisched::bench {

double contended_result::total() const { return std::accumulate(actions.begin(), actions.end(), open); }

namespace {

contended_result run_once(const engine& with, cluster& of, std::int64_t now) {
  const snapshot taken = of.take_snapshot();
  contended_result made;
  std::unique_ptr<session> opened;
  made.open = processor_seconds([&] { opened = std::make_unique<session>(must(with.open(taken, now))); });
  for (const char* action : {"allocate", "consolidation", "reclaim", "preempt", "stalegangeviction"}) {
    made.names.emplace_back(action);
    made.actions.push_back(processor_seconds([&] { must(opened->run(action)); }));
    made.simulations.push_back(opened->statistics().back().simulations);
  }
  for (const decision& d : opened->decisions()) {
    ++made.decisions[static_cast<std::size_t>(d.kind)];
    if (d.pod == no_row) continue;
    const std::int64_t held = opened->view().pod_request(d.pod)[dim_gpu];
    if (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline) made.placed += held;
    if (d.kind == decision_kind::evict) made.lost += held;
  }
  made.nodes = opened->view().node_count();
  made.pods = static_cast<std::int64_t>(taken.count(entity_kind::pod));
  made.digest = opened->digest();
  return made;
}

}  // namespace

contended_result run_contended(const engine& with, std::int64_t gpus, std::int64_t load_percent, std::uint64_t seed,
                               int runs) {
  io::synthetic_options options;
  options.gpus = gpus;
  options.load_percent = load_percent;
  options.seed = seed;
  const io::cluster_input input = must(io::make_synthetic_cluster(options));
  cluster c = must(io::build_cluster(input));
  contended_result least = run_once(with, c, input.now);
  for (int run = 1; run < runs; ++run) {
    contended_result again = run_once(with, c, input.now);
    if (again.digest != least.digest) throw std::runtime_error("decisions of two runs differ");
    if (again.total() < least.total()) least = std::move(again);
  }
  least.seed = seed;
  return least;
}

}  // namespace kaisched::bench
