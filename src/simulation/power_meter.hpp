#pragma once
/// @file
/// What nodes draw as pods come and go, by the model of the part `energy`: devices their idle power until somebody uses
/// them, then their largest; of the CPU in proportion.

#include <cstdint>
#include <vector>

#include "base/int128.hpp"
#include "model/state.hpp"
#include "simulation/simulation.hpp"

namespace kaisched::simulation {

class power_meter {
 public:
  /// Nodes that say nothing draw nothing. Pods that are in the cluster draw nothing of their own.
  explicit power_meter(const model::cluster_state& s);

  /// A pod comes (`sign` 1) or goes (-1).
  void charge(std::uint32_t slot, std::int64_t cpu, const device_set& devices, int sign, std::int64_t now);
  /// A node that is not there draws nothing.
  void node_is_there(std::uint32_t slot, bool is, std::int64_t now);
  /// After all that happens at one moment.
  void note_peaks();
  /// What has been drawn until then.
  [[nodiscard]] power_use until(std::int64_t now);

 private:
  struct node {
    model::power_figures power;
    std::int64_t cores = 0;
    std::int64_t used_cores = 0;
    std::vector<model::power_figures> devices;
    std::vector<std::uint32_t> users;  ///< by device
    std::vector<std::uint32_t> feeds;
    std::int64_t draws = 0;
    bool is_there = true;
  };
  void draw_anew(node& of, std::int64_t now);

  bool used_ = false;
  std::vector<node> nodes_;          ///< by slot
  std::vector<feed_use> feeds_;      ///< by name
  std::vector<base::int128> drawn_;  ///< by feed, now
  base::int128 sum_ = 0;             ///< milliwatts of all nodes
  base::int128 energy_ = 0;          ///< milliwatt nanoseconds
  base::int128 peak_ = 0;
  std::int64_t since_ = 0;
};

}  // namespace kaisched::simulation
