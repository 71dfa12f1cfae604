#pragma once
/// @file
/// How far apart the nodes of a job are in the topology of the cluster.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/state.hpp"

namespace kaisched::simulation {

/// What nodes are labelled with at one level of a topology; empty: nothing.
struct level_labels {
  std::string level;
  std::vector<std::string> labels;  ///< by row
};
/// Of the topology that distances are told in, widest level first; none without one.
[[nodiscard]] std::vector<level_labels> labels_of_levels(const model::cluster_state& s);

/// Levels of the primary topology, or of the first by name. Without one, all nodes are equally far apart.
class distances {
 public:
  explicit distances(const model::cluster_state& s);
  /// 0: all on one node; 1: in one domain of the lowest level; one more for each level; `levels() + 1`: beyond the
  /// widest one.
  [[nodiscard]] std::uint32_t between(std::span<const std::uint32_t> node_slots) const;
  [[nodiscard]] std::uint32_t levels() const { return levels_; }
  /// The lowest level of which some domain has several nodes; empty if there is none.
  /// @param by the topology that is meant
  [[nodiscard]] std::string_view lowest_shared(const model::topology_info& by) const;

  /// The topology that is meant, or nullptr.
  [[nodiscard]] static const model::topology_info* topology_of(const model::cluster_state& s);

 private:
  std::uint32_t levels_ = 0;
  std::vector<std::uint32_t> domains_;  ///< by slot and level, the widest first; no_row: in none
};

}  // namespace kaisched::simulation
