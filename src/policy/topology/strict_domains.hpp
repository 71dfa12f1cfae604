#pragma once
/// @file
/// Which domains of a topology pods are tried on in `strict`, in integers.

#include <cstdint>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <kaisched/ids.hpp>
#include <kaisched/options.hpp>

#include "policy/topology/domain_tree.hpp"

namespace kaisched::policy::topology {

/// What the nodes have that pods may go to; of a node, or of all nodes of a domain.
struct domain_room {
  /// Pods of each kind that there is room for, if there are no others. Mostly all are of one kind.
  boost::container::small_vector<std::int64_t, 1> pods;
  std::int64_t largest = 0;  ///< pods with the largest request of all kinds for each resource
  std::int64_t free = 0;     ///< what is idle and coming free of the resource that orders domains
  std::int64_t used = 0;     ///< pods of the group that are there already
};

/// Pods that look for a domain together.
struct domain_need {
  std::vector<std::int64_t> pods;  ///< of each kind
  std::int64_t count = 0;          ///< all of them
  std::int64_t amount = 0;         ///< of the resource that orders domains
};

/// Levels by number, wider than or equal to the preferred one; `preferred`: no_row, or narrower than `required`.
struct level_range {
  std::uint32_t required = root_level;
  std::uint32_t preferred = no_row;
  [[nodiscard]] std::uint32_t narrowest() const { return preferred == no_row ? required : preferred; }
};

/// Adds up the rooms of nodes, which are by leaf domain already, from the leaves to the root.
void add_up(const domain_tree& tree, std::vector<domain_room>& rooms);

/// Domains that may hold the pods, in the order in which they are tried: narrowest level first, there those with most
/// pods of the group, then the tightest (binpack) or the emptiest (spread), then by name. Where the group has pods
/// already only domains that have some.
[[nodiscard]] std::vector<std::uint32_t> domains_to_try(const domain_tree& tree, const std::vector<domain_room>& rooms,
                                                        const level_range& levels, const domain_need& need,
                                                        placement_strategy order);

/// Domains of a level below one, in the order in which pods fill them: those with pods of the group first; then as few
/// as possible, at each level on the way down, the last one as tight as possible.
[[nodiscard]] std::vector<std::uint32_t> domains_to_fill(const domain_tree& tree, const std::vector<domain_room>& rooms,
                                                         std::uint32_t from, std::uint32_t level, std::int64_t pods,
                                                         placement_strategy order);

/// How many times `pods` pods of one kind fit into single domains of a level at or below one.
[[nodiscard]] std::int64_t slices_in(const domain_tree& tree, const std::vector<domain_room>& rooms, std::uint32_t from,
                                     std::uint32_t level, std::size_t kind, std::int64_t pods);

}  // namespace kaisched::policy::topology
