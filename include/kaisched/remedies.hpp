#pragma once
/// @file
/// What would let a group that waits start now: the smallest changes, each tried before it is told.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/decisions.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>

namespace kaisched {

/// What a change is about. Values are part of the ABI.
enum class change_kind : std::uint8_t {
  gang_size = 1,       ///< of the group: pods that have to start together
  pod_request = 2,     ///< of the group: what each of its waiting pods asks for, of a dimension
  required_level = 3,  ///< of the group: the level of the topology in which its pods have to be together
  queue_limit = 4,     ///< of a queue, of a dimension
  queue_quota = 5,     ///< of a queue, of a dimension
  new_nodes = 6,       ///< so many nodes like the subject, tried as NAME+1 and so on
  open_node = 7,       ///< the node is ready and not cordoned
  toleration = 8,      ///< of the group: its waiting pods tolerate a taint
  node_selector = 9,   ///< of the group: its waiting pods do without a label
  eviction = 10,       ///< the pod leaves, by an action of the policy
  sub_groups = 11,     ///< of the group: sub-groups that have to start together
  gpu_memory = 12,     ///< of the group: bytes that its waiting pods ask for of each device
  node_label = 13,     ///< the node gets a label
  node_taint = 14,     ///< the node loses a taint
  node_affinity = 15,  ///< of the group: its waiting pods do without their required node affinity
};
inline constexpr std::uint8_t change_kind_count = 16;
[[nodiscard]] std::string_view change_kind_name(change_kind k) noexcept;

/// One change.
struct remedy_change {
  change_kind what = change_kind::gang_size;
  entity_id subject{};     ///< the group, queue or pod; the node that is opened, or that new ones are like; of requests
                           ///< in groups whose waiting pods differ: a pod, for all that ask for the same as it
  dimension dim = no_row;  ///< of amounts
  std::int64_t before = 0;    ///< in the unit of the dimension (pods, nodes); -1: unlimited
  std::int64_t after = 0;     ///< likewise
  std::string text_before{};  ///< level, taint, label (`key=value`) or affinity
  std::string text_after{};   ///< level, empty: none; label that the node gets
  std::string sub_group{};    ///< that the size or level is of; empty: the group itself

  friend bool operator==(const remedy_change&, const remedy_change&) = default;
};

/// Changes that together let the group start.
struct remedy {
  std::vector<remedy_change> changes;      ///< none: nothing has to change, an action has to try
  std::uint32_t starts = 0;                ///< pods of the group that start then
  action_kind action = action_kind::none;  ///< evictions: the action that makes them; the pods start when they are gone

  friend bool operator==(const remedy&, const remedy&) = default;
};

/// How much is tried.
struct remedy_limits {
  std::uint32_t trials = 64;           ///< sessions that are opened to try something
  std::uint32_t together = 2;          ///< changes of so many kinds at once, if fewer do not help
  std::uint32_t node_kinds = 4;        ///< kinds of nodes to add
  std::uint32_t new_nodes = 1024;      ///< of one kind
  bool evictions = true;               ///< ask the actions that evict
  std::uint32_t eviction_steps = 200;  ///< sets of victims and placements that each of these may try
};

/// What was found for one group.
struct remedy_report {
  std::vector<remedy> remedies;  ///< fewest kinds of changes first, then in the order of what is changed
  std::uint32_t trials = 0;
  bool complete = true;  ///< false: not searched further, a limit was reached
};

}  // namespace kaisched
