#pragma once
/// @file
/// What was measured of GPUs lately, and what the engine is told of it: means and deviations, per mille.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "prometheus/prometheus.hpp"
#include "watch/object_store.hpp"

namespace shim {

inline constexpr std::string_view utilisation_metric = "DCGM_FI_DEV_GPU_UTIL";  ///< percent
inline constexpr std::string_view memory_metric = "DCGM_FI_DEV_FB_USED";        ///< MiB

/// A GPU as an exporter names it.
struct measured_card {
  std::string node;
  std::int64_t index = 0;
  std::string uuid;
  std::int64_t used_permille = -1;  ///< -1: not known
  std::int64_t used_bytes = -1;
};

class load_board {
 public:
  using clock = std::chrono::steady_clock;

  /// @param window after which a value counts no more. @param node_label of samples.
  load_board(std::chrono::milliseconds window, std::string node_label)
      : window_(window), node_label_(std::move(node_label)) {}

  /// Takes a value of one of the two metrics. What names no node and no GPU, or the part of one, is passed over.
  void take(std::string_view metric, const sample& what, clock::time_point now);
  /// What the nodes' annotations `kaisched.io/load` are to say.
  [[nodiscard]] object_store::notes notes(clock::time_point now);
  /// The last values of all GPUs that are known.
  [[nodiscard]] std::vector<measured_card> cards() const;

 private:
  struct card {
    measured_card last;
    clock::time_point last_at;
    std::deque<std::pair<clock::time_point, double>> permille;
  };
  static constexpr std::size_t most_cards = 100'000;

  std::chrono::milliseconds window_;
  std::string node_label_;
  std::map<std::pair<std::string, std::int64_t>, card> cards_;  ///< by node and index
};

}  // namespace shim
