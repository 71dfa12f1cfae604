#pragma once
/// @file
/// The cluster as a session leaves it, to try changes on.

#include <cstdint>
#include <span>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/session.hpp>

#include "session/core.hpp"

namespace kaisched::engine_detail {

/// What becomes of a group when the session after a change tries to start it.
struct trial {
  std::uint32_t starts = 0;  ///< pods of the group
  std::vector<reason> reasons;
};

class trial_world {
 public:
  /// Goes on from the session's snapshot with its decisions taken in. Errors: an open statement, those of `assume`.
  [[nodiscard]] static result<trial_world> of(const session& decided, const work::core& c);

  /// Runs `allocate` for the group over the cluster with the delta. A delta that the cluster refuses starts nothing.
  [[nodiscard]] result<trial> start(std::span<const table> delta, group_row group);

  [[nodiscard]] cluster& world() { return world_; }

 private:
  trial_world(const work::core& c, cluster world) : c_(c), world_(std::move(world)) {}
  const work::core& c_;
  cluster world_;
};

}  // namespace kaisched::engine_detail
