#pragma once
/// @file
/// Parts that say who must not lose pods to a group that waits.

#include <cstdint>
#include <vector>

#include "framework/session_state.hpp"

namespace kaisched::actions {

class victim_judges {
 public:
  explicit victim_judges(framework::session_state& c) : c_(c) {}

  /// Some part judges; else nobody is spared.
  [[nodiscard]] bool used() const { return (c_.capabilities & part_judges_victims) != 0; }
  /// Asks about all groups with pods on nodes, for a group that waits.
  [[nodiscard]] result<void> ask(group_row waiting);
  [[nodiscard]] bool spare(group_row group) const { return group < spared_.size() && spared_[group] != 0; }

 private:
  framework::session_state& c_;
  std::vector<std::uint8_t> spared_;  ///< by group
};

}  // namespace kaisched::actions
