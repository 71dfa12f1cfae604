#pragma once
/// @file
/// What the writer of a cluster keeps besides the state.

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/cow.hpp"
#include "base/name_map.hpp"

namespace kaisched::model {

/// Names to slots. Kept outside of the state: snapshots are never searched by name.
struct name_maps {
  base::name_map queues;
  base::name_map nodes;
  base::name_map groups;
  base::name_map pods;
  base::name_map classes;  ///< key of a class to its row
  base::name_map claims;
};

/// What the writer counts.
struct writer_counts {
  std::size_t dead_name_bytes = 0;
  std::uint64_t last_version = 0;  ///< of all states that anybody has seen, previews included
};

/// What only the writer needs. An edit can be undone here as well.
struct writer_state : writer_counts {
  base::cow<std::vector<std::uint32_t>> free_queues;
  base::cow<std::vector<std::uint32_t>> free_nodes;
  base::cow<std::vector<std::uint32_t>> free_groups;
  base::cow<std::vector<std::uint32_t>> free_pods;
  base::cow<std::vector<std::uint32_t>> free_classes;
  base::cow<std::vector<std::uint32_t>> free_claims;
  base::cow<std::vector<std::vector<std::uint32_t>>> free_subs;  ///< first rows of vacant blocks, by size of block
  base::cow_column<std::uint32_t> class_users;
  base::cow_column<std::string_view> class_keys;
  base::cow<std::vector<std::uint32_t>> pods_on_node;  ///< by node slot
  base::cow<std::vector<std::int64_t>> total_request;  ///< by dimension, over all pods

  /// Everything but counts, for what is done with each.
  template <class Do>
  void each_column(const Do& act) {
    act(free_queues), act(free_nodes), act(free_groups), act(free_pods), act(free_classes), act(free_claims);
    act(free_subs), act(class_users), act(class_keys), act(pods_on_node), act(total_request);
  }
};

}  // namespace kaisched::model
