#pragma once
/// @file
/// One `apply`: edits a state in place. The caller keeps a copy of the state to go back to, which costs nothing but
/// reference counts; names are not copy-on-write, so the edit keeps a journal of them.

#include <array>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

#include "base/name_map.hpp"
#include "model/state.hpp"
#include "model/table_reader.hpp"

namespace kaisched::model {

/// Name of the pod set of groups without sub-groups.
inline constexpr std::string_view implied_pod_set = "default";
/// Most NUMA zones of one node.
inline constexpr std::uint32_t max_zones_per_node = 64;

/// Names to slots. Kept outside of the state: snapshots are never searched by name.
struct name_maps {
  base::name_map queues;
  base::name_map nodes;
  base::name_map groups;
  base::name_map pods;
  base::name_map classes;  ///< key of a class to its row
  base::name_map claims;
};

/// What only the writer needs. Copied before an edit, so it is copy-on-write too.
struct writer_state {
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
  std::size_t dead_name_bytes = 0;
};

class edit {
 public:
  edit(cluster_state& state, writer_state& writer, name_maps& names) : s_(state), w_(writer), names_(names) {}

  result<void> run(std::span<const table_view> tables);
  /// Takes all changes of names back; the state itself is restored by the caller.
  void revert_names();

 private:
  using map_member = base::name_map name_maps::*;
  struct name_change {
    map_member map;
    std::string_view name;
    std::uint32_t slot;
    bool inserted;
  };

  result<void> one_table(const table_reader& t);
  result<void> finish();

  // cluster side
  result<void> resources(const table_reader& t);
  result<void> topologies(const table_reader& t);
  result<void> queues(const table_reader& t);
  result<void> read_queue(const table_reader& t, std::uint64_t row, queue_info& q);
  result<void> link_queue(const table_reader& t, std::uint64_t row, queue_row q);
  result<void> remove_queue(const table_reader& t, std::uint64_t row, queue_row q);
  result<void> nodes(const table_reader& t);
  result<void> read_node(const table_reader& t, std::uint64_t row, node_info& node);
  result<std::uint32_t> new_node(const table_reader& t, std::uint64_t row);
  result<void> devices(const table_reader& t);
  result<void> one_device(const table_reader& t, std::uint64_t row, node_info& node);
  result<void> read_alignment(const table_reader& t, std::uint64_t row, node_info& node);
  result<void> numa_zones(const table_reader& t);
  result<void> one_zone(const table_reader& t, std::uint64_t row, node_info& node);
  void widen(std::uint32_t dims);
  void settle_nodes();
  void number_nodes(std::vector<std::shared_ptr<const node_info>>& nodes) const;
  void move_node_amounts(const std::vector<std::shared_ptr<const node_info>>& fresh,
                         const std::vector<std::uint32_t>& old_rows);
  void drop_lost_devices();
  void node_changed(std::uint32_t slot);
  result<void> check_queues() const;
  result<void> check_queue_tree();
  result<void> check_nodes() const;
  result<void> check_topology_users() const;

  // workload side
  result<void> groups(const table_reader& t);
  result<void> read_group(const table_reader& t, std::uint64_t row, group_row g);
  result<void> add_group(const table_reader& t, std::uint64_t row);
  result<void> change_group(const table_reader& t, std::uint64_t row);
  result<void> remove_group(const table_reader& t, std::uint64_t row);
  result<void> sub_groups(const table_reader& t);
  /// Which columns of a table hold the topology and its levels.
  struct topology_columns {
    std::uint32_t topology;
    std::uint32_t required;
    std::uint32_t preferred;
  };
  using topology_share = std::shared_ptr<const topology_ask>;
  result<topology_share> read_topology(const table_reader& t, std::uint64_t row, const topology_columns& columns,
                                       const topology_share& before) const;
  void set_topology(sub_group_row sub, topology_share together);
  result<void> claims(const table_reader& t);
  result<void> read_claim(const table_reader& t, std::uint64_t row, claim_info& claim) const;
  result<void> pods(const table_reader& t);
  result<void> add_pod(const table_reader& t, std::uint64_t row);
  result<void> change_pod(const table_reader& t, std::uint64_t row);
  result<void> remove_pod(const table_reader& t, std::uint64_t row);
  /// What a row makes of a pod. Views are into the input or the pool.
  struct pod_plan {
    group_row group = no_row;  ///< no_row: the pod only uses its node
    std::string_view sub_name = implied_pod_set;
    std::string_view labels;
    std::int64_t created = 0;
    std::int64_t priority = unset;
    std::uint32_t nominated = no_row;
    std::uint64_t zones = 0;
    class_row known_class = no_row;        ///< its class now, or the one it will join
    std::optional<pod_class> fresh_class;  ///< the class it will join, if there is none yet
    pod_status status = pod_status::pending;
    std::uint32_t node = no_row;  ///< slot
    device_set devices{};
    bool chooses_devices = false;  ///< devices are chosen by what is free
    bool leader = false;
  };
  [[nodiscard]] pod_plan present_plan(pod_row p) const;
  result<pod_plan> plan_pod(const table_reader& t, std::uint64_t row, pod_row p);
  result<void> plan_details(const table_reader& t, std::uint64_t row, pod_plan& plan);
  result<void> plan_class(const table_reader& t, std::uint64_t row, pod_plan& plan);
  result<void> read_ask(const table_reader& t, std::uint64_t row, pod_ask& ask) const;
  result<void> check_total(const table_reader& t, std::uint64_t row, class_row before, const pod_ask& ask) const;
  result<void> plan_place(const table_reader& t, std::uint64_t row, pod_plan& plan);
  result<void> plan_zones(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  result<void> plan_devices(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  pod_row new_pod(std::string_view name);
  void put_pod(pod_plan plan, pod_row p);
  void settle_devices();
  void erase_pod(pod_row p);
  void unlink_stray(pod_row p);
  void join_class(pod_row p, pod_plan& plan);
  void leave_class(pod_row p);
  [[nodiscard]] bool is_on_node(pod_row p) const;
  void enter(pod_row p);  ///< counts a pod in
  void leave(pod_row p);  ///< counts a pod out
  void relink(sub_group_row old_sub, pod_row p) { relinks_.emplace_back(old_sub, p); }
  void settle_links();
  void unlink_all(sub_group_row sub, const std::vector<pod_row>& gone);
  void link_all(sub_group_row sub, std::span<const pod_row> added);
  [[nodiscard]] bool task_before(pod_row a, pod_row b) const;
  [[nodiscard]] std::vector<pod_row> pods_of(group_row g) const;
  sub_group_row new_block(std::uint32_t size);
  void free_block(sub_group_row first, std::uint32_t size);
  struct sub_definition {
    std::string_view name;
    std::string_view parent;
    std::int64_t min_member = 0;
    std::int64_t min_sub_group = unset;
    topology_share together;
  };
  [[nodiscard]] std::vector<sub_definition> definitions_of(group_row g) const;
  result<void> rebuild_tree(group_row g, const std::vector<sub_definition>& definitions);
  [[nodiscard]] sub_group_row find_sub(group_row g, std::string_view name) const;
  void touch(group_row g) {
    if (g != no_row) touched_.push_back(g);
  }
  void merge_pending();
  void compact_names();

  // references
  result<std::uint32_t> slot_of(const table_reader& t, std::uint64_t row, std::uint32_t column, entity_kind kind) const;
  result<std::uint32_t> slot_of_id(const table_reader& t, std::uint64_t row, std::uint32_t column, entity_kind kind,
                                   entity_id id) const;
  /// A name that an `add` may take.
  result<void> check_new_name(const table_reader& t, std::uint64_t row, std::uint32_t column,
                              const base::name_map& taken) const;
  result<std::string_view> new_name(const table_reader& t, std::uint64_t row, std::uint32_t column, map_member map);
  result<std::int64_t> bounded(const table_reader& t, std::uint64_t row, std::uint32_t column, std::int64_t least,
                               std::int64_t most) const;
  /// The value whose name a text column holds; the error names the nearest one.
  template <class Enum, std::size_t N>
  result<Enum> one_of(const table_reader& t, std::uint64_t row, std::uint32_t column, const std::array<Enum, N>& values,
                      std::string_view (*name)(Enum) noexcept) const {
    std::array<std::string_view, N> names;
    for (std::size_t i = 0; i < N; ++i) {
      names[i] = name(values[i]);
      if (names[i] == t.text(column, row)) return values[i];
    }
    return not_among(t, row, column, names);
  }
  [[nodiscard]] error not_among(const table_reader& t, std::uint64_t row, std::uint32_t column,
                                std::span<const std::string_view> names) const;
  void add_name(map_member map, std::string_view name, std::uint32_t slot);
  void drop_name(map_member map, std::string_view name, std::uint32_t slot);
  /// Counts text of the pool that nobody uses any more.
  void discard(std::string_view text) { w_.dead_name_bytes += text.size(); }

  cluster_state& s_;
  writer_state& w_;
  name_maps& names_;
  std::vector<name_change> journal_;
  std::vector<std::pair<sub_group_row, pod_row>> relinks_;
  std::set<pod_row> choosing_;  ///< pods of the table that came without devices
  std::vector<group_row> touched_;
  std::vector<std::uint32_t> checked_nodes_;  ///< slots whose devices must match their capacity
  std::vector<queue_row> removed_queues_;
  std::vector<std::uint32_t> removed_nodes_;
  bool nodes_unsettled_ = false;
  bool recount_ = false;
  bool queue_tree_changed_ = false;
  bool topologies_changed_ = false;
};

}  // namespace kaisched::model
