#pragma once
/// @file
/// The action that a session runs: for whom, and how far it may go.

#include <cstdint>
#include <limits>

#include <kaisched/decisions.hpp>
#include <kaisched/options.hpp>
#include <kaisched/result.hpp>

#include "base/cancel_flag.hpp"
#include "framework/effort.hpp"

namespace kaisched::framework {

struct action_run {
  explicit action_run(const policy_options& options) : search_effort(options) {}
  /// A copy goes on with the steps that searches have left. It is not cancelled, not for one group, and counts no steps
  /// of its host.
  action_run(const action_run& other)
      : action(other.action), sets_tried(other.sets_tried), search_effort(other.search_effort) {}
  action_run& operator=(const action_run&) = delete;
  ~action_run() = default;

  /// Error if the host has cancelled the action, or all steps that it may take are taken. Asked before each step that
  /// may take long.
  [[nodiscard]] result<void> go_on() {
    if (cancel.is_asked()) return error{status::cancelled, "the host cancelled the action", {}};
    if (steps_left == 0) return error{status::limit, "not searched further", {}};
    --steps_left;
    return {};
  }

  action_kind action = action_kind::none;
  group_row only_group = no_row;  ///< while an action runs for one group alone
  bool keeps_bounds = false;      ///< while an action runs that respects limits and quotas of queues
  std::uint64_t sets_tried = 0;   ///< of victims, since the session opened
  effort search_effort;           ///< that is left to searches for victims
  std::uint64_t steps_left = std::numeric_limits<std::uint64_t>::max();
  base::cancel_flag cancel;
};

}  // namespace kaisched::framework
