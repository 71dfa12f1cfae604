#pragma once
/// @file
/// Random small clusters that are full: groups that run and may be victims, and a few that wait. Small enough to try
/// all sets of victims.

#include <string>
#include <utility>
#include <vector>

#include "oracle/random_cluster.hpp"

namespace kaisched::test {

struct contended_size {
  std::int64_t nodes = 6;   ///< most
  std::int64_t units = 10;  ///< most that all groups together could lose
};

struct contended_case {
  cluster_rows rows;
  std::int64_t now = 0;                                       ///< nanoseconds
  std::vector<std::pair<std::string, std::string>> settings;  ///< options
};

/// `action`: the one that evicts; `mode`: as the option.
[[nodiscard]] contended_case contended_cluster(dice& d, const std::string& action, const std::string& mode,
                                               const contended_size& size = {});

}  // namespace kaisched::test
