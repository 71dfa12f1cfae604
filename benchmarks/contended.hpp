#pragma once
/// @file
/// Clusters as `kaisched generate` makes them, with more work than GPUs: what a session costs there.

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

/// What one session cost: processor seconds of this thread.
struct contended_result {
  std::int64_t nodes = 0;
  std::int64_t pods = 0;
  double changes = 0;  ///< to apply what has changed since the session before and to take the snapshot; not in `total`
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

struct contended_settings {
  std::int64_t gpus = 512;
  std::int64_t load_percent = 130;
  std::uint64_t seed = 1;
  int runs = 1;         ///< of each session; the fastest counts
  bool second = false;  ///< a second session follows
  bool mix = false;     ///< as `generate --mix`
};

struct contended_pair {
  contended_result first;
  std::optional<contended_result> second;
};

/// One session of five actions over a new cluster. The second session comes a second later: the cluster has taken in
/// what the first one decided, 9 pods have finished, 10 pods of one GPU have come, and one node takes no more pods.
[[nodiscard]] contended_pair run_contended(const engine& with, const contended_settings& settings);

}  // namespace kaisched::bench
