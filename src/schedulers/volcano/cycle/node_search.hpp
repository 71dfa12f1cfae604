#pragma once
/// @file
/// Which nodes a task may be put on, and the best of them.
///
/// Source: volcano-sh/volcano, pkg/scheduler/util (predicate_helper.go, scheduler_helper.go).

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

/// What a search is for: `place` needs room and no refusal, `no_weight` no refusal, `find_victims` only that nothing
/// refuses for good.
enum class search_purpose : std::uint8_t { place, no_weight, find_victims };

/// Nodes by what they refuse. Tasks of one role of a job are taken to be alike: what refused one refuses all, also for
/// lack of room, until the search is over. A task without a role is asked for anew.
class node_search {
 public:
  node_search(const session& of, search_purpose purpose) : session_(&of), purpose_(purpose) {}

  [[nodiscard]] std::vector<row> nodes_for(row task, const std::vector<row>& among);

 private:
  [[nodiscard]] bool is_refused(row task, row node) const;

  const session* session_;
  search_purpose purpose_;
  std::map<std::pair<row, std::string>, std::set<row>> refused_;  ///< by job and role
};

[[nodiscard]] std::vector<row> all_nodes(const session& of);
/// Nodes of this scheduler, then those of others; without a division all are of this one.
[[nodiscard]] std::vector<std::vector<row>> by_shard(const session& of, const std::vector<row>& nodes);
/// The node with the highest score, of equals the first; a single one is not scored. @pre not empty
[[nodiscard]] row best_node(const session& of, row task, const std::vector<row>& nodes);
/// The node to take: with room now before room that is being released, and of the own shard before others. no_row: none
/// has room.
[[nodiscard]] row choose_node(const session& of, row task, const std::vector<row>& nodes);
[[nodiscard]] bool fits(const policy::resource_list& asked, const policy::resource_list& free);
/// The task may start on the node with what is free now.
[[nodiscard]] bool fits_now(const session& of, row task, row node);
/// Tasks of a job that wait, in the order of the vector; those behind a gate of others only if asked for.
[[nodiscard]] std::vector<row> waiting_tasks(const cluster_state& cluster, const std::vector<row>& tasks);

}  // namespace kaisched::volcano
