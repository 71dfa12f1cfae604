#pragma once
/// @file
/// The actions of a session.

#include <span>
#include <string_view>

#include <kaisched/result.hpp>

#include "session/core.hpp"

namespace kaisched::actions {

struct action_entry {
  std::string_view name;
  action_kind kind;
  result<void> (*run)(work::core& c);
};

/// All actions, in the order in which a scheduler usually runs them.
[[nodiscard]] std::span<const action_entry> action_list() noexcept;

/// Starts pending pods on free resources, most deserving group first; gangs completely or not at all.
result<void> allocate(work::core& c);

}  // namespace kaisched::actions
