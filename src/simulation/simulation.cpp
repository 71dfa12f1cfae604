#include "simulation/simulation.hpp"

#include "simulation/player.hpp"

namespace kaisched::simulation {

result<run_result> simulate(cluster& over, const play& what, const engine& with, const simulation_options& options,
                            const session_watcher& watcher) {
  return player(over, what, with, options, watcher).run();
}

}  // namespace kaisched::simulation
