#pragma once
/// @file
/// What the search for victims keeps between groups and brings up to date with what is committed.

#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/gpu_bins.hpp"
#include "actions/group_index.hpp"
#include "actions/job_queue.hpp"
#include "actions/room_bound.hpp"
#include "actions/room_table.hpp"
#include "actions/victim_units.hpp"
#include "base/block_pool.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

class victim_builder;

/// New victims that were offered together.
struct offered_unit {
  group_row group = no_row;
  std::uint32_t first_pod = 0;  ///< position among all pods that were offered
  std::uint32_t pod_count = 0;
  node_row row = no_row;            ///< of a group of one pod: its node
  std::uint32_t previous = no_row;  ///< the unit of the same group before it
  std::int64_t taken_back = 0;      ///< places that its pods need again
};

/// One of their pods.
struct offered_pod {
  pod_row pod = no_row;
  node_row row = no_row;
  std::uint32_t unit = 0;
  std::uint32_t previous = no_row;  ///< the pod that was offered before it on the same node
  std::int64_t gpus = 0;
};

/// What new victims leave on a node.
struct node_marks {
  enum order_state : std::uint8_t { not_there, in_place, moved };
  std::int64_t freed = 0;           ///< GPUs of all victims, old ones too
  std::int64_t taken_back = 0;      ///< places that victims need again
  std::uint32_t position = no_row;  ///< among the nodes of new victims
  std::uint32_t last_pod = no_row;  ///< position of the newest pod that was offered there
  std::int64_t ordered_by = 0;      ///< where it stands in the order of nodes
  order_state order = not_there;
};

/// A pod on a node.
struct placed_pod {
  pod_row pod = no_row;
  node_row row = no_row;
  std::int64_t gpus = 0;
};

/// Groups and nodes as searches for victims see them, brought up to date with what is committed.
struct victim_survey : framework::survey {
  explicit victim_survey(framework::session_state& c) : pending(c, serving::groups), victims(c, serving::victims) {}

  /// Reads the nodes of the session, or the groups once the nodes are known.
  void read_nodes(const framework::session_state& c);
  result<void> read_groups(const framework::session_state& c);
  /// Puts the groups that wait and those that can lose pods in their order.
  result<void> fill_indexes(const framework::session_state& c);
  result<void> update_indexes(const framework::session_state& c, std::span<const group_row> groups);
  /// Looks at a group again after it has changed.
  void note_group(const framework::session_state& c, group_row g);
  /// Adds what a node has free to the sums, again after it has changed.
  void note_node(const framework::session_state& c, node_row row);
  /// The group has one pod that runs, and may lose it.
  [[nodiscard]] bool is_lone_victim(group_row g) const { return is_counted_[g] != 0 && lone_pods[g].pod != no_row; }
  /// GPUs that a node would have free if all pods had left that can be lost; rather too many than too few.
  [[nodiscard]] std::int64_t most_free(const framework::session_state& c, node_row row) const;

  group_index pending;
  group_index victims;
  framework::node_set with_gpus;  ///< nodes with GPUs that are free or coming free
  framework::node_set every_node;
  std::vector<std::int64_t> known_free;  ///< by node, as it is in the sums
  std::int64_t largest_node = 0;         ///< GPUs of the largest node
  std::vector<std::uint8_t> is_spread;   ///< by group: 1 for those that may lose pods and have some on several nodes
  std::vector<placed_pod> lone_pods;     ///< by group: the active pod of a group that has one pod
  std::vector<group_row> spread_groups;  ///< sorted
  std::vector<std::uint32_t> larger_victims;  ///< by queue: groups that may lose pods and have more than one
  bool has_old_chunks = false;                ///< some group that may lose pods has had one
  std::int64_t free_everywhere = 0;
  std::int64_t free_with_gpus = 0;

 private:
  struct counted_pods {
    std::uint32_t first = 0;  ///< position in `holding_`
    std::uint32_t count = 0;
    std::uint32_t room = 0;
  };
  void note_lone_pod(const framework::session_state& c, group_row g);
  void note_spread(group_row g, bool spread);
  /// Adds or takes off what a group holds that can lose pods.
  void count_holding(const framework::session_state& c, group_row g, std::int64_t sign);

  std::vector<std::int64_t> held_;        ///< by node: GPUs of the groups that are counted
  std::vector<std::uint8_t> is_counted_;  ///< by group
  std::vector<counted_pods> counted_;     ///< by group that is counted and not a lone pod
  std::vector<placed_pod> holding_;       ///< their pods
};

/// New victims that are to be tried beside the recorded ones.
struct victim_set {
  std::vector<std::uint32_t> units;  ///< positions among the units of a builder, ascending
  std::vector<victim_unit> again;    ///< recorded ones that come along again (`compat`)
  bool by_group = false;             ///< units of one group are joined

  /// What units these are.
  void make(const victim_builder& from, std::vector<victim_unit>& to) const;
  void clear();
};

/// Units that a search may take, in victim order.
struct candidate_list {
  std::vector<victim_unit> units;
  std::vector<std::uint32_t> before;  ///< by unit: the one that its group loses before it, or no_row
  std::vector<std::pair<node_row, std::uint32_t>> by_node;  ///< units by the nodes that they have pods on, sorted
};

class victims_by_node;

/// Amounts and marks by node or group that one search leaves as it found them.
struct victim_search_state : victim_survey {
  explicit victim_search_state(framework::session_state& of);
  ~victim_search_state() override;
  victim_search_state(const victim_search_state&) = delete;
  victim_search_state& operator=(const victim_search_state&) = delete;

  /// Reads the nodes of the session, or nodes and groups; not again. Many actions find no group that is worth a search.
  void open_nodes();
  result<void> open();
  /// Groups have got or lost pods, nodes others.
  result<void> note_changes(std::span<const group_row> groups, std::span<const node_row> nodes);
  [[nodiscard]] std::int64_t most_free(node_row row) const { return victim_survey::most_free(c, row); }

  framework::session_state& c;
  /// Simulations cannot be left out, as they leave traces: some group that may lose pods remembers a chunk that it
  /// could not start any more, which KAI forgets when the group is simulated to leave; or pods share devices or have
  /// claims, where KAI's undo is not exact.
  bool plays_all;
  std::uint64_t offered = 0;           ///< victims, in all searches
  std::vector<node_row> closed_nodes;  ///< not ready, or cordoned
  framework::touched_nodes touched;    ///< nodes that a simulation has changed, where simulations leave traces
  std::uint64_t traces = 0;            ///< simulations that may have left some

  // Of one search. What it takes from the heap it leaves to the next one.
  base::block_pool memory;
  std::unique_ptr<victims_by_node> by_node;
  job_queue victim_queue;
  job_queue service_queue;  ///< of a simulation, as the four below
  framework::node_set nodes_of_simulation;
  scenario simulated;
  std::vector<victim_unit> recorded;    ///< victims found for fewer pending pods
  std::vector<victim_unit> found;       ///< by the simulation that ended well
  std::vector<std::uint8_t> is_in_set;  ///< by group
  std::vector<order_key> keys;
  framework::node_set nodes_of_part;        ///< that a part of the group is tried on
  victim_set chosen;                        ///< that generators fill
  std::vector<group_row> changed_groups;    ///< by a search that is over
  std::vector<node_row> changed_nodes;      ///< likewise
  std::vector<node_marks> marks;            ///< by node
  std::vector<std::uint32_t> last_unit_of;  ///< by group: its newest unit
  std::vector<offered_unit> units;          ///< new victims in the order in which they were offered
  std::vector<offered_pod> pods;            ///< of the units
  room_table rooms;
  /// What is free once all have left that can lose pods, by the leaf queues that are taken from.
  struct emptied_leaves {
    std::vector<std::pair<queue_row, bool>> leaves;  ///< and whether their pods have to have a place again
    std::size_t groups = 0;                          ///< that leave
    leaving_pods pods;
  };
  std::vector<std::unique_ptr<emptied_leaves>> all_left;
  std::uint64_t all_left_at = 0;  ///< `commits` then
  /// Units of searches that may take all of some leaf queues.
  struct shared_list {
    std::vector<queue_row> leaves;
    std::uint32_t scope = no_row;  ///< of groups with pods on these nodes; no_row: all
    std::shared_ptr<const candidate_list> list;
  };
  std::vector<shared_list> candidates;
  std::uint64_t candidates_at = 0;         ///< `commits` then
  std::vector<std::int64_t> freed_by_set;  ///< by node
  std::vector<node_row> nodes_of_set;
  gpu_bins bins;                                                   ///< of a rehearsal, as the four below
  std::vector<std::int32_t> levels;                                ///< by name rank: GPUs
  std::vector<std::int32_t> base_levels;                           ///< the same before anybody is evicted
  std::vector<std::pair<std::uint32_t, std::int32_t>> idle_nodes;  ///< by name rank: GPUs that are free now

 private:
  bool knows_nodes_ = false;
  bool knows_groups_ = false;
};

}  // namespace kaisched::actions
