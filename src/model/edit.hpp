#pragma once
/// @file
/// One `apply`: edits a state in place. The caller lets its columns keep what is overwritten, or gives a copy, to be
/// able to go back; names are not copy-on-write, so the edit keeps a journal of them.
///
/// A row is read and checked before it changes anything, so a bad one can be left out where it stands. What only shows
/// when rows meet (a cycle, a node whose devices do not add up) is blamed on rows: the caller then starts again without
/// them.

#include <array>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

#include "model/bad_rows.hpp"
#include "model/plans.hpp"
#include "model/pod_plan.hpp"
#include "model/state.hpp"
#include "model/table_reader.hpp"
#include "model/writer.hpp"

namespace kaisched::model {

/// Most NUMA zones of one node.
inline constexpr std::uint32_t max_zones_per_node = 64;

class edit {
 public:
  /// `bad`: rows that an earlier attempt at the same tables has found bad.
  edit(cluster_state& state, writer_state& writer, name_maps& names, on_invalid mode, bad_rows bad)
      : s_(state), w_(writer), names_(names), mode_(mode), bad_(std::move(bad)) {}
  edit(const edit&) = delete;
  edit& operator=(const edit&) = delete;
  /// Takes changes of names back that are not kept; the state itself is for the caller to restore.
  ~edit();

  result<void> run(std::span<const table_view> tables);
  /// Names stay where they are, for those who go back afterwards.
  void keep_pool() { compacts_ = false; }
  /// After a failed run: rows were blamed, and another attempt without them may succeed.
  [[nodiscard]] bool wants_retry() const { return retry_; }
  [[nodiscard]] bad_rows take_bad_rows() { return std::move(bad_); }
  void keep_names() noexcept { journal_.clear(); }

 private:
  using map_member = base::name_map name_maps::*;
  /// A pod that its group has no more.
  struct lost_pod {
    std::string_view group;
    pod_status status;
  };
  struct name_change {
    map_member map;
    std::string_view name;
    std::uint32_t slot;
    bool inserted;
  };

  result<void> one_table(const table_reader& t);
  result<void> finish();

  // bad rows
  /// Calls `one` for every row, which changes nothing if it fails, and `left_out` for those that are left out.
  template <class One, class LeftOut>
  result<void> each_row(const table_reader& t, One one, LeftOut left_out) {
    for (std::uint64_t row = 0; row < t.rows(); ++row) {
      result<void> done = start_row(t, row);
      if (done) done = one(row);
      if (done) {
        if (!s_.quarantine->empty()) settle_entry(t, row);
        continue;
      }
      if (auto noted = refuse(t, row, done.take_failure()); !noted) return noted;
      left_out(row);
    }
    return stop_if_blamed();
  }
  template <class One>
  result<void> each_row(const table_reader& t, One one) {
    return each_row(t, one, [](std::uint64_t) {});
  }
  /// Fails for rows that are known to be bad and for bad texts.
  result<void> start_row(const table_reader& t, std::uint64_t row);
  [[nodiscard]] bool is_known_bad(const table_reader& t, std::uint64_t row) const {
    return !bad_.empty() && bad_.contains({t.number(), row});
  }
  result<void> refuse(const table_reader& t, std::uint64_t row, error why);
  /// Of rows that add the same object the first one counts, even if it is bad.
  [[nodiscard]] result<void> check_first(const table_reader& t, std::uint64_t row) const;
  /// The row is the first bad one of the delta that adds this object.
  bool note_first(const table_reader& t, std::uint64_t row, const quarantine_key& key);
  void note(const table_reader& t, std::uint64_t row, const bad_row& bad);
  void refresh_entries();
  result<void> blame(const row_place& place, error why, std::string because_of = {});
  /// An error of a row that an earlier table gave; the column counts if the row is of that kind.
  [[nodiscard]] error fail_at(const row_place& place, status code, table_kind kind, std::uint32_t column,
                              std::string_view what, entity_id subject) const;
  [[nodiscard]] result<void> stop_if_blamed() const;
  [[nodiscard]] quarantine_key key_of(const table_reader& t, std::uint64_t row) const;
  [[nodiscard]] bool exists(const quarantine_key& key) const;
  [[nodiscard]] bool is_quarantined(const quarantine_key& key) const {
    return !s_.quarantine->empty() && s_.quarantine->contains(key);
  }
  void settle_entry(const table_reader& t, std::uint64_t row);
  void clear_entry(const quarantine_key& key, bool with_parts);

  // cluster side
  result<void> resources(const table_reader& t);
  result<void> topologies(const table_reader& t);
  result<void> one_topology(const table_reader& t, std::uint64_t row);
  result<void> check_primary(const table_reader& t);
  result<void> read_shapes(const table_reader& t, std::uint64_t row, topology_info& info) const;
  result<void> read_positions(const table_reader& t, std::uint64_t row, node_info& node) const;
  result<void> check_positions();
  result<void> check_positions_in(const topology_info& topology, std::size_t level,
                                  const std::vector<row_place>& places, const std::vector<bool>& moved);
  result<void> queues(const table_reader& t);
  result<void> read_queue(const table_reader& t, std::uint64_t row, queue_info& q) const;
  result<void> read_gpu_limits(const table_reader& t, std::uint64_t row, queue_info& q) const;
  result<void> read_tier_columns(const table_reader& t, std::uint64_t row, queue_info& q) const;
  result<void> plan_queues(const table_reader& t, queue_plan& plan);
  result<void> plan_parents(const table_reader& t, queue_plan& plan);
  result<void> leave_children_out(const table_reader& t, queue_plan& plan);
  queue_row new_queue(std::string_view name);
  void link_queue(queue_row q, queue_row parent);
  result<void> remove_queue(const table_reader& t, std::uint64_t row);
  result<void> nodes(const table_reader& t);
  result<void> one_node(const table_reader& t, std::uint64_t row);
  void remove_node(const table_reader& t, std::uint64_t row, std::uint32_t slot);
  result<void> read_node(const table_reader& t, std::uint64_t row, node_info& node) const;
  std::uint32_t new_node(std::string_view name);
  result<void> devices(const table_reader& t);
  result<void> one_device(const table_reader& t, std::uint64_t row, node_info& node) const;
  result<void> read_instances(const table_reader& t, std::uint64_t row, const node_info& node, device_info& d) const;
  result<void> read_alignment(const table_reader& t, std::uint64_t row, node_info& node) const;
  result<void> read_claimable(const table_reader& t, std::uint64_t row, node_info& node) const;
  result<void> read_node_figures(const table_reader& t, std::uint64_t row, node_info& node) const;
  result<void> read_device_figures(const table_reader& t, std::uint64_t row, std::string_view node,
                                   device_info& device) const;
  result<void> read_vendor_devices(const table_reader& t, std::uint64_t row, node_info& node) const;
  result<void> device_quotas(const table_reader& t);
  [[nodiscard]] result<void> read_quota(const table_reader& t, std::uint64_t row, device_quota_info& to) const;
  result<void> disruption_budgets(const table_reader& t);
  [[nodiscard]] result<void> read_budget(const table_reader& t, std::uint64_t row, disruption_budget_info& to) const;
  result<void> reservations(const table_reader& t);
  result<void> read_reservation(const table_reader& t, std::uint64_t row, reservation_info& to) const;
  result<void> numa_zones(const table_reader& t);
  result<void> one_zone(const table_reader& t, std::uint64_t row, node_info& node) const;
  void widen(std::uint32_t dims);
  [[nodiscard]] bool has_mig(const node_info& node) const;
  void settle_nodes();
  void number_nodes(std::vector<std::shared_ptr<const node_info>>& nodes, std::size_t sorted) const;
  void count_open_nodes();
  void move_node_amounts(const std::vector<std::shared_ptr<const node_info>>& fresh,
                         const std::vector<std::uint32_t>& old_rows);
  void drop_lost_devices();
  void node_changed(std::uint32_t slot, row_place place, bool added);
  result<void> check_removed_queues();
  result<void> check_queue_tree(const table_reader& t, const std::vector<queue_row>& slots);
  result<void> check_removed_nodes();
  result<void> check_capacities();
  result<void> check_devices();
  result<void> check_devices_of(std::uint32_t slot);
  result<void> blame_devices(std::uint32_t slot, std::uint32_t device_column, std::string_view what);
  [[nodiscard]] const std::string* lost_device(std::uint32_t slot) const;
  [[nodiscard]] std::span<const touched_slot> touched(std::uint32_t slot) const;
  result<void> check_topology_users();

  // workload side
  result<void> groups(const table_reader& t);
  result<void> plan_group(const table_reader& t, std::uint64_t row, group_plan& plan);
  result<void> read_priority_class(const table_reader& t, std::uint64_t row, group_core& group) const;
  void put_group(group_plan plan, group_row g);
  result<void> add_group(const table_reader& t, std::uint64_t row);
  result<void> change_group(const table_reader& t, std::uint64_t row);
  result<void> remove_group(const table_reader& t, std::uint64_t row);
  result<topology_share> read_topology(const table_reader& t, std::uint64_t row, const topology_columns& columns,
                                       const topology_share& before);
  void set_topology(sub_group_row sub, topology_share together);
  result<void> sub_groups(const table_reader& t);
  result<void> refuse_sub_group(const table_reader& t, std::uint64_t row, error why);
  result<void> change_tree(const table_reader& t, group_row g, std::vector<std::uint64_t> rows);
  result<void> read_sub_group(const table_reader& t, std::uint64_t row, group_row g, std::vector<sub_definition>& all);
  [[nodiscard]] std::vector<sub_defect> tree_defects(const table_reader& t, group_row g,
                                                     const std::vector<sub_definition>& all,
                                                     const std::vector<std::uint64_t>& rows);
  void find_loose_parts(const table_reader& t, group_row g, const std::vector<sub_definition>& all,
                        const std::vector<std::uint64_t>& rows, const std::vector<std::uint32_t>& parent,
                        std::vector<sub_defect>& defects);
  [[nodiscard]] std::vector<sub_definition> definitions_of(group_row g) const;
  void rebuild_tree(group_row g, std::vector<sub_definition> definitions);
  result<void> claims(const table_reader& t);
  result<void> one_claim(const table_reader& t, std::uint64_t row);
  result<void> read_claim(const table_reader& t, std::uint64_t row, claim_info& claim) const;
  template <class Info, class Read>
  result<void> named(const table_reader& t, named_rows<Info>& rows, Read read);
  result<void> device_classes(const table_reader& t);
  result<void> resource_slices(const table_reader& t);
  result<void> slice_devices(const table_reader& t);
  result<void> claim_requests(const table_reader& t);

  // pods
  result<void> pods(const table_reader& t);
  result<void> add_pod(const table_reader& t, std::uint64_t row);
  result<void> change_pod(const table_reader& t, std::uint64_t row);
  result<void> remove_pod(const table_reader& t, std::uint64_t row);
  [[nodiscard]] pod_plan present_plan(pod_row p) const;
  result<pod_plan> plan_pod(const table_reader& t, std::uint64_t row, pod_row p);
  result<void> plan_details(const table_reader& t, std::uint64_t row, pod_plan& plan);
  result<void> plan_class(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  void choose_class(pod_plan& plan, pod_class parsed) const;
  result<void> read_ask(const table_reader& t, std::uint64_t row, pod_ask& ask) const;
  result<void> check_total(const table_reader& t, std::uint64_t row, class_row before, const pod_ask& ask) const;
  result<void> plan_place(const table_reader& t, std::uint64_t row, pod_plan& plan);
  result<void> plan_zones(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  result<void> plan_instances(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  result<void> plan_devices(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  pod_row new_pod(std::string_view name);
  void put_pod(pod_plan plan, pod_row p);
  void put_told(pod_row p, const pod_told& what);
  void settle_devices();
  void erase_pod(pod_row p);
  void count_mig(pod_class& c) const;
  void join_class(pod_row p, pod_plan& plan);
  void leave_class(pod_row p);
  [[nodiscard]] bool is_on_node(pod_row p) const;
  void enter(pod_row p);  ///< counts a pod in
  void leave(pod_row p);  ///< counts a pod out
  void relink(sub_group_row old_sub, pod_row p) { relinks_.emplace_back(old_sub, p); }
  void settle_links();
  void unlink_all(sub_group_row sub, const std::vector<pod_row>& gone);
  void unlink_stray(pod_row p);
  void link_all(sub_group_row sub, std::span<const pod_row> added);
  [[nodiscard]] bool task_before(pod_row a, pod_row b) const;
  [[nodiscard]] std::vector<pod_row> pods_of(group_row g) const;
  sub_group_row new_block(std::uint32_t size);
  void free_block(sub_group_row first, std::uint32_t size);
  [[nodiscard]] sub_group_row find_sub(group_row g, std::string_view name) const;
  void touch(group_row g) {
    if (g != no_row) touched_.push_back(g);
  }
  void merge_lists();
  void count_priority(group_row g, bool add);
  void settle_dependencies();
  void settle_entries(group_row g, const std::map<std::string_view, bool>& succeeded);
  void note_class(pod_row p);
  void forget_class(sub_group_row sub);
  void compact_names();

  // pods that stand in for others that were left out
  enum class hold : std::uint8_t { unclear, nothing, place };
  [[nodiscard]] pod_row stand_in_of(std::string_view name) const;
  void keep_place(const table_reader& t, std::uint64_t row);
  void keep_place_of(const table_reader& t, std::uint64_t row, pod_row p);
  void change_stand_in(const table_reader& t, std::uint64_t row, pod_row p);
  hold plan_stand_in(const table_reader& t, std::uint64_t row, pod_plan& plan);
  [[nodiscard]] hold read_held(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  void hold_devices(const table_reader& t, std::uint64_t row, pod_plan& plan) const;
  [[nodiscard]] pod_ask held_ask(const table_reader& t, std::uint64_t row, const pod_plan& plan) const;
  void mark_stand_in(const quarantine_key& key, bool stands_in);

  // references
  result<std::uint32_t> slot_of(const table_reader& t, std::uint64_t row, std::uint32_t column, entity_kind kind);
  result<std::uint32_t> slot_of_id(const table_reader& t, std::uint64_t row, std::uint32_t column, entity_kind kind,
                                   entity_id id) const;
  /// The error for a name that names nothing; remembers what is in quarantine under that name.
  error missing(const table_reader& t, std::uint64_t row, std::uint32_t column, const quarantine_key& key);
  /// A name that an object may have.
  result<void> check_name(const table_reader& t, std::uint64_t row, std::uint32_t column) const;
  /// And that none has.
  result<void> check_new_name(const table_reader& t, std::uint64_t row, std::uint32_t column,
                              const base::name_map& taken) const;
  result<std::int64_t> bounded(const table_reader& t, std::uint64_t row, std::uint32_t column, std::int64_t least,
                               std::int64_t most) const;
  result<bool> flag(const table_reader& t, std::uint64_t row, std::uint32_t column) const;
  /// A length of time, or `unset`.
  result<void> duration(const table_reader& t, std::uint64_t row, std::uint32_t column, std::int64_t& target) const;
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
  on_invalid mode_;
  bad_rows bad_;            ///< of this attempt and those before
  std::string because_of_;  ///< the object in quarantine that the present row depends on
  std::vector<quarantine_key> noted_;
  std::map<quarantine_key, refused_add> refused_adds_;
  std::vector<table_reader> tables_;  ///< of the delta, as far as they have been read
  bool compacts_ = true;
  bool retry_ = false;
  std::vector<name_change> journal_;
  std::vector<std::pair<sub_group_row, pod_row>> relinks_;
  std::set<pod_row> choosing_;  ///< pods of the table that came without devices
  std::vector<group_row> touched_;
  std::vector<lost_pod> lost_pods_;
  std::vector<std::string_view> lost_groups_;
  std::vector<touched_slot> checked_nodes_;                       ///< nodes whose devices must match their capacity
  std::multimap<std::uint32_t, quarantine_key> refused_devices_;  ///< bad rows that add one, by node slot
  std::vector<removed_queue> removed_queues_;
  std::vector<removed_node> removed_nodes_;
  std::vector<std::pair<std::string, row_place>> changed_topologies_;
  std::vector<std::pair<std::string, row_place>> shaped_topologies_;  ///< rows that add or change some
  std::vector<std::pair<std::uint32_t, row_place>> moved_nodes_;      ///< by slot: rows that say where nodes are
  std::map<group_row, row_place> added_groups_;
  bool nodes_unsettled_ = false;  ///< rows have to be given anew
  bool nodes_reopened_ = false;   ///< who is open, or has taints, has to be counted again
  bool order_unsettled_ = false;  ///< nodes that were there may stand elsewhere in the order of rows
  bool recount_ = false;
};

}  // namespace kaisched::model
