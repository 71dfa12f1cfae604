#pragma once
/// @file
/// What would become of groups that do not exist yet: would they start now, whom would they displace, when would they
/// start.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched {

/// How a group would come to start. Values are part of the ABI.
enum class start_way : std::uint8_t {
  none = 0,       ///< nothing of it waits
  now = 1,        ///< on what is free
  displaces = 2,  ///< on what an action takes from others, when these have left
  later = 3,      ///< when groups that run now have ended, by their estimates
  unknown = 4,    ///< nobody knows: `knowledge` says why
};
[[nodiscard]] std::string_view start_way_name(start_way w) noexcept;

/// What is known about the time of a start. Values are part of the ABI.
enum class start_knowledge : std::uint8_t {
  none = 0,         ///< not asked
  known = 1,        ///< from the estimates of those that run
  no_estimate = 2,  ///< groups that have no `runtime_estimate`, or no start, hold what is missing
  never = 3,        ///< it does not start when all those that run have ended either, or not even in an empty cluster
  horizon = 4,      ///< not searched further
};
[[nodiscard]] std::string_view start_knowledge_name(start_knowledge k) noexcept;

/// What would become of one group.
struct forecast {
  group_row group = no_row;  ///< of `what_if_report::over`, as all rows below
  start_way way = start_way::none;
  std::uint32_t starts = 0;                ///< its pods that would start, or claim places
  action_kind action = action_kind::none;  ///< that would place them
  std::vector<decision> decisions;         ///< of that action: places, and who has to leave or move
  std::vector<reason> reasons;             ///< why it does not start on what is free
  std::vector<std::string> texts;          ///< these as sentences, in the language of the engine

  /// When it would have a place if nobody else were served before it: nanoseconds; -1 if nobody knows.
  std::int64_t earliest = -1;
  /// When it would start in the order of the queues: groups that wait are served as others end, and nobody new comes.
  std::int64_t expected = -1;
  start_knowledge knowledge = start_knowledge::none;  ///< about `expected`
  std::uint32_t ends_before = 0;                      ///< groups that end until then
  std::uint32_t starts_before = 0;                    ///< groups that wait now and start until then
};

/// How much is tried.
struct what_if_limits {
  bool displace = true;                 ///< ask consolidation, reclaim and preempt, in this order
  std::uint32_t eviction_steps = 1000;  ///< sets of victims and placements that each of these may try
  std::uint32_t ends = 256;             ///< points in time at which groups end; 0: do not ask when
  /// At each of these points the actions of the policy that start groups decide, `allocate` and `backfill`. False: the
  /// first alone, so that nobody is overtaken by who would not delay him.
  bool policy_actions = false;
};

/// What would become of some groups, each asked about alone.
struct what_if_report {
  snapshot over;  ///< the cluster as the session leaves it, with the change
  std::vector<forecast> groups;
};

}  // namespace kaisched
