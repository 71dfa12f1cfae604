#pragma once
/// @file
/// Clusters as `kaisched generate` makes them, with more work than GPUs: what a session costs there.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

/// What one cluster cost: processor seconds of this thread.
struct contended_result {
  std::uint64_t seed = 0;
  std::int64_t nodes = 0;
  std::int64_t pods = 0;
  double open = 0;
  std::vector<double> actions;              ///< in their order
  std::vector<std::string> names;           ///< of the actions
  std::vector<std::uint64_t> simulations;   ///< sets of victims that were tried, by action
  std::array<std::int64_t, 8> decisions{};  ///< by `decision_kind`
  std::int64_t placed = 0;                  ///< milli-GPU of pods that start or get a place
  std::int64_t lost = 0;                    ///< milli-GPU of pods that leave for good
  std::string digest;

  [[nodiscard]] double total() const;
};

/// One session of five actions over a new cluster with so many GPUs; of several runs the fastest.
[[nodiscard]] contended_result run_contended(const engine& with, std::int64_t gpus, std::int64_t load_percent,
                                             std::uint64_t seed, int runs);

}  // namespace kaisched::bench
