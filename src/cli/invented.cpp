#include "cli/invented.hpp"

#include <chrono>
#include <cmath>

#include "io/synthetic.hpp"

namespace kaisched::cli {

void add_invented_arguments(command& to, invented_arguments& told) {
  to.heading("Cluster");
  to.option("--gpus", &told.gpus, any_value("N"), "Number of GPUs, 1 to 1048576").between(1, 1'048'576);
  to.option("--load", &told.load, any_value("X"), "GPUs held and asked for, of all; above 1 is contended")
      .between(0.01, 10);
  to.option("--seed", &told.seed, any_value("N"), "Every seed is another cluster, the same on every machine");
  to.flag(
      "--mix", told.mix,
      "Five models of GPUs, groups in racks and blocks, sub-groups, claims of devices and promised run times as well");
}

result<loaded_cluster> invent_cluster(const invented_arguments& told, progress& shown) {
  const auto start = std::chrono::steady_clock::now();
  io::synthetic_options options;
  options.gpus = told.gpus;
  options.load_percent = std::llround(told.load * 100);
  options.seed = told.seed;
  options.mix = told.mix;
  shown.next("inventing jobs");
  const result<io::cluster_input> tables = io::make_synthetic_cluster(options);
  if (!tables) return tables.failure();
  shown.next("building the cluster");
  result<cluster> built = io::build_cluster(*tables);
  if (!built) return built.take_failure();
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return loaded_cluster{built->take_snapshot(), tables->now, seconds, 0};
}

}  // namespace kaisched::cli
