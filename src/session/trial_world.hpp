#pragma once
/// @file
/// The cluster as a session leaves it, to try changes on.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/session.hpp>

#include "framework/session_state.hpp"

namespace kaisched::session_detail {

/// What becomes of a group when the session after a change tries to start it.
struct trial {
  std::uint32_t starts = 0;  ///< pods of the group
  std::vector<reason> reasons;
};

class trial_world {
 public:
  /// Goes on from the session's snapshot with its decisions taken in; the session must outlive it, and may be moved.
  /// Errors: an open statement, those of `assume`.
  [[nodiscard]] static result<trial_world> of(const session& decided);

  /// A session that decides by this setup, and that of a session.
  [[nodiscard]] static result<session> open_by(const snapshot& over,
                                               std::shared_ptr<const framework::policy_setup> setup, std::int64_t now);
  [[nodiscard]] static std::shared_ptr<const framework::policy_setup> setup_of(const session& of);

  [[nodiscard]] cluster& world() { return world_; }
  /// A session like the one that decided.
  [[nodiscard]] result<session> open(const snapshot& over, std::int64_t now) const;
  /// Runs `allocate` for the group over the cluster with the delta. A delta that the cluster refuses starts nothing.
  [[nodiscard]] result<trial> start(std::span<const table> delta, group_row group);
  /// Why a group waits in a session of this world.
  [[nodiscard]] static std::vector<reason> reasons_in(const session& then, group_row group);

 private:
  trial_world(const session::impl& decided, cluster world) : decided_(&decided), world_(std::move(world)) {}
  const session::impl* decided_;
  cluster world_;
};

/// Pods of the group that a session has given places.
[[nodiscard]] std::uint32_t places_of(std::span<const decision> made, group_row group);

}  // namespace kaisched::session_detail
