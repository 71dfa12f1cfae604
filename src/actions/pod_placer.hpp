#pragma once
/// @file
/// Placing pods of one group one after the other on the nodes that they are offered.

#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/placement.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

class pod_placer {
 public:
  pod_placer(framework::session_state& c, group_row group, const placing& how, framework::failure& why)
      : c_(c), group_(group), how_(how), why_(why) {}

  /// Places pods of one pod set. False: one of them has no place, `why` tells which.
  /// @param is_part the chunk has more pods, of other sets
  result<bool> place(std::span<const pod_row> pods, bool is_part, const framework::node_scope& scope);

 private:
  [[nodiscard]] bool is_on(pod_row pod, std::uint32_t node) const;
  [[nodiscard]] bool comes_back(pod_row pod, const framework::place& found) const;
  result<bool> place_one(pod_row pod, const framework::node_scope& scope, bool is_one_of_several);

  framework::session_state& c_;
  group_row group_;
  const placing& how_;
  framework::failure& why_;
};

}  // namespace kaisched::actions
