#pragma once
/// @file
/// The scheduler of the demonstration: kaisched over its C interface, decisions as grants.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/abi.hpp>

#include "grant.hpp"

namespace demo {

struct card {
  std::string node;
  std::string uuid;
  std::uint64_t bytes;
};

struct request {
  std::string tenant;
  std::int64_t share;  ///< milli-GPU: of the memory and of the time of one card
};

/// What was measured of a card, as the agent says it; the engine's columns have these names.
struct usage {
  std::string node;
  std::int64_t index, utilization, deviation;
};

class scheduling {
 public:
  explicit scheduling(std::vector<card> cards);
  /// Decides for those who wait now, takes the decisions as done, and says what was granted. Who finds no place is left
  /// out.
  /// @param by_load by what was measured instead of by what was asked for.
  std::vector<cuda_agent::grant> decide(const std::vector<request>& waiting, bool by_load, std::int64_t now_ns);
  void measured(const std::vector<usage>& cards);

 private:
  std::vector<card> cards_;
  kaisched::abi::cluster cluster_;
};

}  // namespace demo
