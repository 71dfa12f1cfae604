#pragma once
/// @file
/// What the page of the program shows, in JSON: queues, what waits and why, nodes and their cards.

#include <chrono>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "cycle/cycle_report.hpp"
#include "load/load_board.hpp"

namespace shim {

/// What agents of nodes have said of the use of cards (`kaisched-cuda-usage/1`). From any thread.
class usage_board {
 public:
  struct use {
    std::int64_t memory = 0;  ///< bytes
    std::int64_t cores = -1;  ///< permille; -1: not known
  };

  /// Takes the report of one node or several. Errors: bad_input.
  void take(const std::string& report, std::chrono::steady_clock::time_point now);
  /// Takes what was measured of GPUs in the last moments.
  void take(const std::vector<measured_card>& all);
  /// What is known of a card, unless it is too old.
  [[nodiscard]] std::optional<use> find(const std::string& node, const std::string& uuid, std::int64_t index,
                                        std::chrono::steady_clock::time_point now) const;

 private:
  static constexpr std::chrono::minutes old{5};
  static constexpr std::size_t most = 100'000;

  struct entry {
    use value;
    std::string uuid;
    std::chrono::steady_clock::time_point at;
  };
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, std::int64_t>, entry> cards_;  ///< by node and index
};

/// @param cycle with a decision.
[[nodiscard]] nlohmann::ordered_json page_state(const cycle_report& cycle, const usage_board& used);

/// What would let one group start, the smallest changes first; null for a group that does not wait.
[[nodiscard]] nlohmann::ordered_json page_fixes(const evidence& seen, const std::string& group);

}  // namespace shim
