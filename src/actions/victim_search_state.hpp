#pragma once
/// @file
/// What the search for victims keeps between groups and brings up to date with what is committed.

#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/group_index.hpp"
#include "actions/job_queue.hpp"
#include "actions/victim_units.hpp"
#include "session/core.hpp"

namespace kaisched::actions {

/// Amounts and marks by node or group that one search leaves as it found them.
struct victim_search_state {
  explicit victim_search_state(work::core& of)
      : c(of), pending(of, serving::groups), victims(of, serving::victims), victim_queue(of, 0, serving::victims) {}

  /// Reads the session.
  result<void> open();
  /// Groups have got or lost pods.
  result<void> update_indexes(std::span<const group_row> groups);
  /// Looks at a group again after it has changed.
  void note_group(group_row g);
  /// Adds what a node has free to the sums, again after it has changed.
  void note_node(node_row row);

  work::core& c;
  group_index pending;
  group_index victims;
  work::node_set with_gpus;  ///< nodes with GPUs that are free or coming free
  work::node_set every_node;
  std::vector<std::int64_t> known_free;  ///< by node, as it is in the sums
  std::int64_t largest_node = 0;         ///< GPUs of the largest node
  std::set<group_row> spread_groups;     ///< that may lose pods and have some on several nodes
  /// Some group that may lose pods remembers a chunk that it could not start any more. KAI forgets it when the group is
  /// simulated to leave, so that simulations cannot be left out.
  bool has_old_chunks = false;
  std::int64_t free_everywhere = 0;
  std::int64_t free_with_gpus = 0;

  // Of one search.
  job_queue victim_queue;
  std::vector<std::int64_t> freed_here;              ///< by node: GPUs of victims
  std::vector<std::int64_t> taken_back_on;           ///< by node: places that its new victims need again
  std::vector<std::uint32_t> touched_at;             ///< by node: position among the nodes of victims
  std::vector<std::vector<std::uint32_t>> units_on;  ///< by node: new units with pods there
  std::vector<std::vector<std::uint32_t>> units_of;  ///< by group: its new units

 private:
  result<void> fill_indexes();
  [[nodiscard]] bool waits(group_row g) const;
};

}  // namespace kaisched::actions
