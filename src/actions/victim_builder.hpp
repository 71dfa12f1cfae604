#pragma once
/// @file
/// Collects victims for a group that waits, and says which sets of them are worth a simulation.

#include <algorithm>
#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <memory_resource>
#include <set>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/domain_filter.hpp"
#include "actions/job_queue.hpp"
#include "actions/victim_search_state.hpp"
#include "actions/victim_units.hpp"
#include "base/set_hash.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Collects victims in victim order; they only accumulate.
class victim_builder {
 public:
  victim_builder(victim_search_state& kept, const victim_rules& rules, group_row waiting,
                 const std::vector<victim_unit>& recorded, const framework::node_set& feasible,
                 std::int64_t free_of_feasible);

  ~victim_builder();
  victim_builder(const victim_builder&) = delete;
  victim_builder& operator=(const victim_builder&) = delete;

  /// Calls `visit` for the scenario without new victims and then for ever more, those that may work. It returns true to
  /// end the search.
  result<bool> each_state(const std::function<result<bool>()>& visit);

  /// Sets of victims are worth a try only where one node becomes large enough, and which ones do is known.
  [[nodiscard]] bool knows_nodes() const;
  /// As `each_state` where `knows_nodes`, but only for victims on nodes that are large enough then. `visit` gets the
  /// node.
  result<bool> each_large_node(const std::function<result<bool>(node_row)>& visit);

  /// For lists of this search.
  [[nodiscard]] std::pmr::memory_resource* memory() const { return &kept_.memory; }
  /// A set for generators to fill again and again.
  [[nodiscard]] victim_set& chosen() const { return kept_.chosen; }
  [[nodiscard]] const std::vector<victim_unit>& recorded() const { return recorded_; }
  /// Number of units of new victims.
  [[nodiscard]] std::size_t size() const { return kept_.units.size(); }
  [[nodiscard]] group_row group_of(std::uint32_t unit) const { return kept_.units[unit].group; }
  [[nodiscard]] victim_unit unit_at(std::uint32_t unit) const;
  [[nodiscard]] std::span<const offered_pod> pods_of_unit(std::uint32_t unit) const {
    return std::span(kept_.pods).subspan(kept_.units[unit].first_pod, kept_.units[unit].pod_count);
  }
  /// Changes with every new victim on a node.
  [[nodiscard]] std::uint32_t newest_on(node_row row) const { return kept_.marks[row].last_pod; }
  /// Calls `visit` for new units with pods on a node, the newest first; for one of several pods there perhaps again.
  template <class Visit>
  void each_unit_on(node_row row, Visit visit) const {
    for (std::uint32_t i = kept_.marks[row].last_pod; i != no_row; i = kept_.pods[i].previous)
      visit(kept_.pods[i].unit);
  }
  /// The same for the new units of a group, once each.
  template <class Visit>
  void each_unit_of(group_row group, Visit visit) const {
    for (std::uint32_t i = kept_.last_unit_of[group]; i != no_row; i = kept_.units[i].previous) visit(i);
  }
  void add_pods_of(std::uint32_t unit, base::set_hash& to) const {
    for (const offered_pod& one : pods_of_unit(unit)) to.add(one.pod);
  }
  /// A set of so many units has been put together: many of them are a step, whether the set is tried or not.
  void note_set(std::size_t units);
  /// The node of a unit that is a group of one pod; no_row for others.
  [[nodiscard]] node_row only_node_of(std::uint32_t unit) const { return kept_.units[unit].row; }
  /// GPUs that the pending pods need beyond what nodes without new victims have free.
  [[nodiscard]] std::int64_t needed() const { return needed_; }
  /// Nodes of new victims: by GPUs that are free, coming free or held by victims, then by first victim.
  struct touched_node {
    std::int64_t freed;
    std::uint32_t position;
    node_row row;
    auto operator<=>(const touched_node&) const = default;
  };
  using touched_nodes = std::pmr::set<touched_node>;
  [[nodiscard]] const touched_nodes& touched();
  /// What the nodes of `touched` that have enough for the smallest request come to. Most sets are too small, and then
  /// nobody has to put the nodes in order.
  [[nodiscard]] std::int64_t freed_of_touched() const { return freed_of_touched_; }
  /// To be called before the first state where these are looked at.
  void keep_nodes_in_order() { orders_nodes_ = true; }
  [[nodiscard]] std::int64_t smallest_request() const { return smallest_; }
  /// All pending pods ask for the same number of GPUs, and for some.
  [[nodiscard]] bool requests_are_equal() const { return same_size_; }

  /// The pending pods, and those victims that may not be lost, need more places than all nodes have when these new
  /// victims leave: no simulation could end well.
  [[nodiscard]] bool too_small(std::span<const std::uint32_t> units) const;
  /// The same for the new victims of a node, where none of their groups reaches over several nodes.
  [[nodiscard]] bool node_is_too_small(node_row row) const;
  /// Even the largest node, emptied beside what recorded victims leave, has not places enough.
  [[nodiscard]] bool one_node_is_too_small() const;

 private:
  [[nodiscard]] std::int64_t places_on(std::int64_t free) const { return std::max<std::int64_t>(0, free) / smallest_; }

  /// Places that a victim needs again because its queue may not end with less.
  [[nodiscard]] std::int64_t places_taken_back(queue_row leaf, std::int64_t gpus);

  [[nodiscard]] std::int64_t freed(node_row row) const { return free_gpus(c_, row) + kept_.marks[row].freed; }
  [[nodiscard]] std::int64_t free_before(node_row row) const;

  void recount();
  /// GPUs of a victim count as free on its node.
  void free_more(node_row row, std::int64_t gpus);

  /// What a node adds to `freed_of_touched`.
  [[nodiscard]] std::int64_t counted(std::int64_t freed) const { return freed >= smallest_ ? freed : 0; }
  void touch(const placed_pod& one, std::uint32_t unit, queue_row leaf);

  result<bool> advance();

  /// One more unit of new victims.
  void offer(group_row group, std::span<const pod_row> unit);
  void offer(group_row group, const placed_pod& only);
  [[nodiscard]] std::uint32_t add_unit(group_row group, std::size_t pods);

  /// Pending pods that ask for certain nodes and have seen none yet.
  /// `strict`: no pod of the chunk may use a node of the unit, and no limit of a queue is in the way (S23).
  [[nodiscard]] bool frees_nothing_usable(std::span<const pod_row> unit) const;
  void find_usable_nodes();
  [[nodiscard]] bool is_limited() const;
  void satisfy(node_row row);

  [[nodiscard]] bool plausible() { return choosy_.empty() && domains_.plausible() && nodes_large_enough(); }

  /// The largest nodes hold the pending pods, by GPUs alone.
  [[nodiscard]] bool nodes_large_enough();
  [[nodiscard]] bool look_at_largest_nodes();
  /// The only leaf queue that victims are of; no_row if there are several.
  [[nodiscard]] queue_row only_leaf() const;

  victim_search_state& kept_;
  framework::session_state& c_;
  const victim_rules& rules_;
  group_row waiting_;
  const std::vector<victim_unit>& recorded_;
  std::pmr::vector<pod_row> recorded_pods_;  ///< sorted
  const framework::node_set& feasible_;
  job_queue& queue_;
  std::pmr::vector<std::int64_t> requests_;
  std::int64_t smallest_ = 0;
  std::int64_t largest_ = 0;
  bool same_size_ = false;
  std::int64_t places_ = 0;         ///< for pods of that size
  std::int64_t places_before_ = 0;  ///< the same without new victims, less those that old ones need again
  std::pmr::map<queue_row, bool> may_end_with_less_;
  std::pair<queue_row, bool> last_leaf_{no_row, true};  ///< of these, as asked last
  std::pmr::map<node_row, std::int64_t> freed_by_recorded_;
  bool alone_on_nodes_ = true;  ///< no group of new victims is on several nodes
  /// What `nodes_large_enough` has found, for pods of several sizes.
  struct largest_nodes {
    bool known = false;
    bool enough = false;
    std::uint64_t traces = 0;  ///< that amounts knew then
    std::int64_t least = 0;    ///< GPUs of the smallest one that was looked at
    std::int64_t changed = 0;  ///< GPUs of the largest node on which victims were offered since
  };
  largest_nodes largest_nodes_;
  std::int64_t needed_ = 0;
  std::pmr::vector<pod_row> choosy_;
  std::vector<std::uint8_t> usable_;  ///< by node: some pod of the chunk may use it; empty: not looked at
  std::pmr::vector<node_row> freed_rows_;
  std::pmr::vector<node_row> touched_;
  bool orders_nodes_ = false;
  std::size_t units_of_sets_ = 0;  ///< for which no step has been drawn
  touched_nodes by_freed_;
  std::pmr::vector<node_row> moved_;  ///< nodes whose place there is an old one
  std::int64_t freed_of_touched_ = 0;
  std::uint64_t seen_traces_;  ///< of simulations, that amounts know
  domain_filter domains_;
};

}  // namespace kaisched::actions
