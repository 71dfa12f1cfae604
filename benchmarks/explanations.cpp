#include "benchmarks/explanations.hpp"

#include <kaisched/cluster.hpp>

#include "benchmarks/timing.hpp"
#include "io/cluster_input.hpp"
#include "io/synthetic.hpp"

namespace kaisched::bench {

explanations_result run_explanations(const engine& with, std::int32_t nodes, std::size_t most,
                                     const remedy_limits& limits) {
  constexpr std::int64_t gpus_of_a_node = 8;
  constexpr std::int64_t load_percent = 130;
  io::synthetic_options options;
  options.gpus = nodes * gpus_of_a_node;
  options.load_percent = load_percent;
  const io::cluster_input input = must(io::make_synthetic_cluster(options));
  cluster c = must(io::build_cluster(input));
  const snapshot taken = c.take_snapshot();
  const session decided = must(with.run(taken, input.now));
  const table waiting = must(decided.to_table(table_kind::decision));
  const table_view view = waiting.view();
  const auto kinds = view.find(col::decision_kind)->values<std::uint8_t>(view.rows);
  const auto groups = view.find(col::decision_group)->values<std::uint64_t>(view.rows);
  explanations_result made;
  made.nodes = decided.view().node_count();
  made.pods = static_cast<std::int64_t>(taken.count(entity_kind::pod));
  for (std::uint64_t row = 0; row < view.rows && made.seconds.size() < most; ++row) {
    if (static_cast<decision_kind>(kinds[row]) != decision_kind::unschedulable) continue;
    remedy_report found;
    made.seconds.push_back(seconds([&] { found = must(decided.remedies(entity_id(groups[row]).slot(), limits)); }));
    made.trials.push_back(found.trials);
    made.remedies += static_cast<std::uint32_t>(found.remedies.size());
    made.complete += found.complete ? 1U : 0U;
  }
  return made;
}

}  // namespace kaisched::bench
