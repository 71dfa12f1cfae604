#pragma once
/// @file
/// All actions that a policy can name.

#include <span>
#include <string_view>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::session_detail {

struct action_entry {
  std::string_view name;
  action_kind kind;
  result<void> (*run)(framework::session_state& c);
  bool asks_groups = false;   ///< for groups that wait: it can be run for one of them
  bool keeps_bounds = false;  ///< starts no pod beyond limits and quotas of queues, if the policy has `proportion`
  bool searches = false;      ///< for victims, with steps of `session_state::search_effort`
};

/// In the order in which a scheduler usually runs them.
[[nodiscard]] std::span<const action_entry> action_list() noexcept;

}  // namespace kaisched::session_detail
