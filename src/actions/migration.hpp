#pragma once
/// @file
/// Room by migration: pods of groups with a disruption budget get a copy elsewhere before they leave their nodes.

#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Consolidation migrates pods of the group, instead of taking it for a victim.
[[nodiscard]] inline bool migrates(const framework::session_state& c, group_row group) {
  return c.state().group_extras[group].disruption_budget != unset;
}

/// Migrates as few pods of these groups as it finds necessary so that the group gets its chunk. True: the statement
/// holds the migrations and the claims of the group. False: it is as before.
[[nodiscard]] result<bool> make_room_by_migration(framework::session_state& c, group_row group,
                                                  std::span<const group_row> groups);

}  // namespace kaisched::actions
