#pragma once
/// @file
/// Summaries of one cluster, again and again: what follows from its nodes alone is kept as long as these are the same.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <kaisched/cluster_summary.hpp>

#include "model/state.hpp"

namespace kaisched::federation_detail {

/// Domains of one level.
struct level_domains {
  std::string topology;
  std::string level;
  std::vector<std::uint32_t> of_node;  ///< by row, no_row: in none
  std::uint32_t count = 0;
};
/// What follows from nodes and topologies.
struct node_layout {
  base::cow<std::vector<std::shared_ptr<const model::node_info>>> nodes;
  base::cow<std::vector<model::topology_info>> topologies;
  std::uint32_t dims = 0;
  bool judges_labels = false;
  bool counts_devices = false;
  summary_limits limits;
  std::vector<std::string> unknown_labels;
  std::vector<node_kind> kinds;
  std::vector<std::uint32_t> kind_of;  ///< by row, no_row: pods may not be placed there
  std::vector<std::int64_t> devices;   ///< by row, GPUs as a whole
  std::vector<level_domains> levels;
  std::vector<domain_room> domains;  ///< with `empty` alone
  std::int64_t nodes_counted = 0;
  std::int64_t gpu = 0;
  std::int64_t largest_node_devices = 0;
};

class summary_maker {
 public:
  [[nodiscard]] result<cluster_summary> make(const engine& with, const snapshot& of, std::int64_t now,
                                             const summary_limits& limits);

 private:
  void lay_out(const snapshot& of, const summary_rules& rules, bool counts_devices, const summary_limits& limits);
  void add_kinds(const model::cluster_state& s);
  void add_levels(const model::cluster_state& s, bool compat);
  void add_free(const model::cluster_state& s, cluster_summary& to) const;

  std::optional<node_layout> layout_;
};

}  // namespace kaisched::federation_detail
