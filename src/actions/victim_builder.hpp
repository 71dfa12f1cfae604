#pragma once
/// @file
/// Collects victims for a group that waits, and says which sets of them are worth a simulation.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/job_queue.hpp"
#include "actions/victim_search_state.hpp"
#include "actions/victim_units.hpp"
#include "session/core.hpp"

namespace kaisched::actions {

/// Collects victims in victim order; they only accumulate.
class victim_builder {
 public:
  victim_builder(victim_search_state& kept, const victim_rules& rules, group_row waiting,
                 const std::vector<victim_unit>& recorded, const work::node_set& feasible,
                 std::int64_t free_of_feasible);

  ~victim_builder();
  victim_builder(const victim_builder&) = delete;
  victim_builder& operator=(const victim_builder&) = delete;

  /// Calls `visit` for the scenario without new victims and then for ever more, those that may work. It returns true to
  /// end the search.
  result<bool> each_state(const std::function<result<bool>()>& visit);

  [[nodiscard]] const std::vector<victim_unit>& recorded() const { return recorded_; }
  [[nodiscard]] const std::vector<victim_unit>& potential() const { return potential_; }
  /// New units with pods on a node, and of a group, by their positions.
  [[nodiscard]] const std::vector<std::uint32_t>& units_on(node_row row) const { return kept_.units_on[row]; }
  [[nodiscard]] const std::vector<std::uint32_t>& units_of(group_row group) const { return kept_.units_of[group]; }
  /// GPUs that the pending pods need beyond what nodes without new victims have free.
  [[nodiscard]] std::int64_t needed() const { return needed_; }
  /// Nodes of new victims: by GPUs that are free, coming free or held by victims, then by first victim.
  struct touched_node {
    std::int64_t freed;
    std::uint32_t position;
    node_row row;
    auto operator<=>(const touched_node&) const = default;
  };
  [[nodiscard]] const std::set<touched_node>& touched() const { return by_freed_; }
  /// To be called before the first state where `touched` is looked at.
  void keep_nodes_in_order() { orders_nodes_ = true; }
  [[nodiscard]] std::int64_t smallest_request() const { return smallest_; }

  /// The pending pods, and those victims that may not be lost, need more places than all nodes have when these new
  /// victims leave: no simulation could end well.
  [[nodiscard]] bool too_small(const std::vector<victim_unit>& chosen);
  /// The same for the new victims of a node, where none of their groups reaches over several nodes.
  [[nodiscard]] bool node_is_too_small(node_row row);
  /// Even the largest node, emptied beside what recorded victims leave, has not places enough.
  [[nodiscard]] bool one_node_is_too_small() const;

 private:
  [[nodiscard]] std::int64_t places_on(std::int64_t free) const { return std::max<std::int64_t>(0, free) / smallest_; }

  /// Places that a victim needs again because its queue may not end with less.
  [[nodiscard]] std::int64_t places_taken_back(pod_row p);

  [[nodiscard]] std::int64_t freed(node_row row) const { return free_gpus(c_, row) + kept_.freed_here[row]; }

  result<void> fill();

  /// GPUs of a victim count as free on its node.
  void free_more(node_row row, std::int64_t gpus);

  void touch(pod_row p, std::uint32_t unit);

  result<bool> advance();

  [[nodiscard]] pod_row only_pod_of(group_row group) const;

  /// One more unit of new victims.
  void offer(group_row group, std::vector<pod_row> unit);

  /// Pending pods that ask for certain nodes and have seen none yet.
  void satisfy(node_row row);

  [[nodiscard]] bool plausible() const { return choosy_.empty() && nodes_large_enough(); }

  [[nodiscard]] bool nodes_large_enough() const;

  victim_search_state& kept_;
  work::core& c_;
  const victim_rules& rules_;
  group_row waiting_;
  const std::vector<victim_unit>& recorded_;
  std::vector<pod_row> recorded_pods_;  ///< sorted
  const work::node_set& feasible_;
  job_queue& queue_;
  std::vector<victim_unit> potential_;
  std::vector<std::int64_t> requests_;
  std::int64_t smallest_ = 0;
  std::int64_t largest_ = 0;
  bool same_size_ = false;
  std::int64_t places_ = 0;         ///< for pods of that size
  std::int64_t places_before_ = 0;  ///< the same without new victims, less those that old ones need again
  std::map<queue_row, bool> may_end_with_less_;
  std::map<node_row, std::int64_t> freed_by_recorded_;
  bool alone_on_nodes_ = true;  ///< no group of new victims is on several nodes
  std::int64_t needed_ = 0;
  std::vector<pod_row> choosy_;
  std::vector<node_row> freed_rows_;
  std::vector<node_row> touched_;
  bool orders_nodes_ = false;
  std::set<touched_node> by_freed_;
};

}  // namespace kaisched::actions
