#pragma once
/// @file
/// The order of groups that does not change within a session.

#include <cstdint>
#include <vector>

#include "model/state.hpp"

namespace kaisched::framework {

/// All groups by priority, creation time and name.
struct group_order {
  std::vector<group_row> groups;
  std::vector<std::uint32_t> ranks;                 ///< by group: its position in `groups`
  std::vector<std::vector<std::uint32_t>> of_leaf;  ///< by queue: positions of its groups, ascending
};

[[nodiscard]] group_order order_groups(const model::cluster_state& s);

/// What actions know of a session from having looked at all of its groups and nodes.
struct survey {
  survey() = default;
  survey(const survey&) = default;
  survey& operator=(const survey&) = default;
  virtual ~survey() = default;
};

}  // namespace kaisched::framework
