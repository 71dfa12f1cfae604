#pragma once
/// @file
/// What rows of tables say, between being read and taking effect, and what an edit remembers of rows that did.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>

#include "base/name_map.hpp"
#include "model/bad_rows.hpp"
#include "model/state.hpp"

namespace kaisched::model {

using topology_share = std::shared_ptr<const topology_ask>;
inline constexpr std::uint64_t no_place = ~std::uint64_t{0};

/// A table of queues: parents may come after their children.
struct queue_plan {
  std::vector<bool> good;                 ///< by row
  base::name_map fresh;                   ///< good rows that add a queue, by name
  std::vector<queue_row> parent;          ///< by row: a queue that exists, or no_row
  std::vector<std::uint32_t> parent_row;  ///< by row: or one that another row adds
};

/// A row of a pod group.
struct group_plan {
  group_core core;
  group_extra extra;
  std::string_view name_space;
  std::string_view user;
  std::string_view after;
  std::string_view checks;
  std::string_view speedup;
  std::string_view min_resources;
  std::int64_t pod_min = 1;  ///< size of the gang of a group without sub-groups
  std::int64_t root_min = unset;
  topology_share together;
};

/// Which columns of a table hold the topology and its levels.
struct topology_columns {
  std::uint32_t topology;
  std::uint32_t required;
  std::uint32_t preferred;
};

/// A member of the tree of a group.
struct sub_definition {
  std::string_view name;  ///< of the pool, or of the input if `row` is one that adds it
  std::string_view parent;
  std::int64_t min_member = 0;
  std::int64_t min_sub_group = unset;
  topology_share together;
  std::int64_t unit = 0;
  std::uint64_t row = no_place;  ///< the row that gave it its parent
  bool fresh = false;            ///< added by that row: its name is not in the pool yet
};

/// A row because of which definitions form no tree.
struct sub_defect {
  std::uint64_t row;
  error why;
  std::string because_of;
};

/// A node that rows have touched.
struct touched_slot {
  std::uint32_t slot = no_row;
  row_place place{};
  bool added = false;
};

struct removed_queue {
  queue_row row;
  queue_row parent;
  row_place place;
};

struct removed_node {
  std::string name;
  std::uint32_t slot;
  row_place place;
};

}  // namespace kaisched::model
