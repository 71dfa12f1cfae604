#pragma once
/// @file
/// The working state of a session: a private copy of the live part of a snapshot, the statement with its undo log, and
/// the figures of queues. Actions work on this; the public `session` wraps it.

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <kaisched/engine.hpp>
#include <kaisched/session.hpp>

#include "base/cancel_flag.hpp"
#include "base/first_made.hpp"
#include "base/parallel.hpp"
#include "base/row_marks.hpp"
#include "base/sparse_rows.hpp"
#include "model/account.hpp"
#include "model/dependencies.hpp"
#include "policy/access.hpp"
#include "policy/claims/ledger.hpp"
#include "policy/devices/allocation/ledger.hpp"
#include "policy/devices/sharing/load_book.hpp"
#include "policy/numa/ledger.hpp"
#include "policy/ordering/exact_queue_order.hpp"
#include "policy/ordering/kai_queue_order.hpp"
#include "policy/predicates/affinity_counts.hpp"
#include "policy/predicates/neighbours.hpp"
#include "policy/predicates/power_caps.hpp"
#include "policy/predicates/reservations.hpp"
#include "policy/topology/domain_tree.hpp"
#include "session/change_ledger.hpp"
#include "session/disruption_ledger.hpp"
#include "session/domain_books.hpp"
#include "session/effort.hpp"
#include "session/group_order.hpp"
#include "session/node_choice.hpp"

namespace kaisched::work {

enum class operation_kind : std::uint8_t { allocate, pipeline, evict, unevict, finish, divide, withdraw };

/// One entry of the undo log: what was before.
struct operation {
  operation_kind kind = operation_kind::allocate;
  bool undone = false;    ///< evictions only: taken back by a later `unevict`
  bool replaces = false;  ///< claims only: the pod was leaving that very node
  bool again = false;     ///< evictions only: the pod had been evicted already
  pod_status old_status = pod_status::pending;
  pod_row pod = no_row;
  std::uint32_t old_node = no_row;  ///< slot
  device_set old_devices{};
  std::uint32_t old_zones = 0;        ///< number of the placement
  std::uint32_t old_claims = no_row;  ///< what the pod knew of its claims, in `saved_claims`
  std::uint32_t undoes = 0;           ///< unevict: position of the eviction; divide: that of the division
};

/// A device that is divided anew. What is made comes free once the host has done it; what goes is free no more.
struct division {
  group_row group = no_row;  ///< for which
  node_row node = no_row;
  std::uint32_t device = 0;
  bool was_whole = false;                   ///< it was a whole GPU, and idle
  std::vector<model::mig_instance> layout;  ///< what the device has then, by start
  std::vector<model::mig_instance> made;    ///< what of it is new
  std::vector<model::mig_instance> idle;    ///< what goes and is free
  std::vector<model::mig_instance> coming;  ///< what goes and is coming free: pods leave it, or it was yet to be made
  std::int64_t drain_cost = 0;
  std::shared_ptr<const model::cluster_state> before;  ///< the state without what is made, if there was one
};

/// Domains of a topology without room for the pods that must be together.
struct domain_shortage {
  std::int64_t need = 0;      ///< pods
  std::int64_t have = 0;      ///< pods that one of these domains has room for; -1: not counted one by one
  std::uint32_t domains = 0;  ///< how many have room for so many
};

/// Why a group found no place when it was last tried.
struct failure {
  group_row group = no_row;
  pod_row pod = no_row;  ///< the pod that found no node, or no_row
  constraint what = constraint::none;
  queue_row queue = no_row;
  group_row head = no_row;          ///< the group that would start later
  std::uint32_t resource = no_row;  ///< index among the quota dimensions
  std::int64_t need = 0;
  std::int64_t have = 0;
  std::vector<domain_shortage> domains;  ///< the most room first; empty: these are not what is missing
  std::int64_t pieces_tried = 0;         ///< not 0: after so many pieces of domains no further ones were tried
};

/// Pods of one group, of which most have few.
using pod_list = boost::container::small_vector<pod_row, 8>;

/// A group cut to its active pods and some of its pending ones, asking for no larger gangs than these can make: the
/// problem that victims are searched for (KAI's partial job).
struct partial_group {
  group_row group = no_row;
  std::vector<std::int64_t> min;  ///< by sub-group of the group
  std::vector<pod_row> pods;      ///< the pending ones, sorted
  pod_list chunk;                 ///< what it tries to start
  bool asked = false;             ///< somebody wanted to know the request
  model::quota_vector request{};  ///< of the chunk
  double gpus = 0;                ///< the same, if `core::adds_parts_up`

  [[nodiscard]] bool may_start(group_row g, pod_row pod) const {
    return g != group || std::binary_search(pods.begin(), pods.end(), pod);
  }
};

/// What a group tries to start next, and what that asks of queues.
struct chunk_memory {
  bool has_chunk = false;
  bool has_request = false;
  std::uint32_t changes = 0;  ///< grows with every change of the status of one of its pods
  pod_list chunk;
  model::quota_vector request{};
  double gpus = 0;  ///< the same, if `core::adds_parts_up`
};

/// What a group asks of nodes, without amounts, as numbers.
using signature = boost::container::small_vector<std::uint32_t, 6>;
/// What `strict` compares groups by that could fail like others.
struct failure_signature {
  bool is_known = false;
  std::uint32_t changes = 0;  ///< of the group when this was made
  std::uint32_t kind = 0;     ///< number of all that has to be equal
  std::int64_t priority = 0;
  std::vector<std::vector<std::int64_t>> requests;  ///< of its next chunk, sorted
};
struct group_signatures {
  std::map<std::string, std::uint32_t> number_of_text;
  std::vector<std::uint32_t> number_of_class;  ///< no_row: not known yet
  std::vector<std::uint32_t> number_of_depth;  ///< of pod sets so deep in trees without topologies; no_row: likewise
  std::map<signature, std::uint32_t> number_of_signature;
  std::vector<std::uint32_t> number_of_group;  ///< no_row: not known yet
  base::sparse_rows<failure_signature> of_failures;
  std::uint32_t commits = 0;  ///< when the latter were made
};

using part_list = std::vector<std::pair<std::string, part_factory>>;

/// By what sessions decide. All that are opened with it share it.
struct policy_setup {
  policy_options options;
  part_list parts;
  std::shared_ptr<const device_catalog> catalog;
  bool keeps_gangs = true;  ///< nobody of a group starts before its gangs are complete
};

class core {
 public:
  core(snapshot base, std::shared_ptr<const policy_setup> setup, std::int64_t now);
  core(const core& other);
  core& operator=(const core&) = delete;
  ~core();

  /// Divides fair shares, prepares orders, opens the parts.
  result<void> open();

  /// The snapshot. Pods of groups that wait for others are gated in it, and divisions of devices add to what nodes can
  /// have.
  [[nodiscard]] const model::cluster_state& state() const { return *state_; }
  [[nodiscard]] session_view view() const { return access.view(); }
  [[nodiscard]] bool has(std::string_view part) const;
  [[nodiscard]] bool compat() const { return options.mode == decision_mode::compat; }
  /// Decisions are net: what an action gives and a later one takes back was never given. `compat` tells each event.
  [[nodiscard]] bool decides_net() const { return !compat(); }

  // ---- statement
  [[nodiscard]] std::uint32_t depth() const { return static_cast<std::uint32_t>(log.size()); }
  /// `groups`: of a pod that shares devices, where they are counted in groups; none: those of its devices.
  void allocate(pod_row pod, node_row node, const device_set& devices, const policy::group_ids& groups = {});
  void pipeline(pod_row pod, node_row node, const device_set& devices, const policy::group_ids& groups = {});
  void evict(pod_row pod);
  /// Evicts a pod that has been evicted already: its queue gets the amount back a second time. KAI does that where a
  /// victim is listed twice; only `compat` repeats it.
  void evict_again(pod_row pod);
  void unevict(std::uint32_t eviction);
  /// The pod, which was evicted from the node, would not get the NUMA zones back that it had there.
  [[nodiscard]] bool changes_zones(pod_row pod, node_row node);
  /// Or others have got devices since that it shared there by the rules of a vendor.
  [[nodiscard]] bool changes_vendor_devices(pod_row pod, node_row node) const {
    return vendors.concerns(state(), pod) && !vendors.can_hold_again(pod, node);
  }
  /// Or others put so much on the devices that it had there that they do not take its load again.
  [[nodiscard]] bool changes_load(pod_row pod, node_row node) const {
    return loads.used() && !loads.can_take(state(), state().class_of(pod), node, live.pod_devices[pod].mask,
                                           policy::load_book::amount::later);
  }
  /// Or a feed of the node has not enough power left for the devices that it had there.
  [[nodiscard]] bool changes_power(pod_row pod, node_row node) const {
    return power.used() &&
           power.missing(state(), live, state().class_of(pod), node, live.pod_devices[pod], false).has_value();
  }
  /// Or not the devices of its claims.
  [[nodiscard]] bool changes_claims(pod_row pod, std::uint32_t eviction) const;
  /// Gives the place up that a pod which waits holds since this session was opened.
  void withdraw(pod_row pod);
  /// Ends a statement that decides nothing new: what it holds is held since earlier sessions.
  void commit_silently();
  /// Starts a pod that waits on a node, on the same devices if these are free. False: it cannot start there now.
  [[nodiscard]] bool start_in_place(pod_row pod, node_row node, const device_set& devices);
  /// A look ahead: the pod has ended and holds nothing any more. Must be undone before the statement is committed.
  void finish(pod_row pod);
  /// Divides a device anew. What is made can be claimed, and starts nobody in this session.
  void divide(division what);
  /// Charges amounts with what a division has changed.
  void charge_division(model::live_state& to, const division& what, std::int64_t sign) const;
  /// The division that the device had last in this session, or null.
  [[nodiscard]] const division* division_of(node_row node, std::uint32_t device) const;
  /// Error if the host has cancelled the action, or all steps that it may take are taken. Asked before each step that
  /// may take long.
  [[nodiscard]] result<void> go_on() {
    if (cancel.is_asked()) return error{status::cancelled, "the host cancelled the action", {}};
    if (steps_left == 0) return error{status::limit, "not searched further", {}};
    --steps_left;
    return {};
  }
  /// The pod is leaving the node, a slot, and has a claim on another one.
  [[nodiscard]] bool is_leaving(pod_row pod, std::uint32_t node) const;
  /// The same for any node.
  [[nodiscard]] bool is_leaving(pod_row pod) const {
    const std::uint32_t* times = times_leaving.find(pod);
    return times != nullptr && *times > 0;
  }
  /// Position of the eviction in the statement that took the pod from the node where it is leaving now, or no_row.
  [[nodiscard]] std::uint32_t eviction_of(pod_row pod) const;
  void rollback(std::uint32_t to);
  /// All new allocations of the group become claims on the same nodes: nobody starts now.
  void convert_to_pipelined(group_row group);
  void commit();
  /// After an action, and after a commit of the host: if commits have taken back what this session had placed, the
  /// decisions and the state become those of the net outcome. A start that was taken back is no decision. The pod that
  /// got its room starts where no running pod has to leave for it.
  void settle_decisions();
  /// Forgets the statement and keeps what it has done: neither decided nor undone (a defect of KAI).
  void abandon();
  /// The pod was evicted by operations that have not been committed.
  [[nodiscard]] bool is_evicted_here(pod_row pod) const { return !evicted_here.empty() && evicted_here[pod] != 0; }

  /// Bits of the actions that have searched for victims of the group in a round that is longer than a session.
  [[nodiscard]] std::int64_t searched_of(group_row group) const {
    const auto changed = searched.find(group);
    return changed == searched.end() ? state().group_extras[group].searched : changed->second;
  }

  /// What column `searched` becomes where it changes; 0 for groups that wait no more.
  [[nodiscard]] std::vector<std::pair<group_row, std::int64_t>> searched_changes() const;

  /// Groups with pending pods that the action is for, by `model::group_before`.
  [[nodiscard]] std::span<const group_row> waiting_groups() const {
    return only_group == no_row ? std::span<const group_row>(*state().pending_groups) : std::span(&only_group, 1);
  }

  /// Room that was freed for a pod in an earlier session is kept for it.
  [[nodiscard]] bool keeps_nominations() const { return !compat() && options.nomination_timeout != 0; }
  /// The node on which the host says that a place is kept for the pod, or no_row.
  [[nodiscard]] node_row nominated_node(pod_row pod) const {
    const std::uint32_t slot = state().pod_extras[pod].nominated;
    return slot == no_row || !keeps_nominations() || !state().is_nominated(pod) ? no_row : row_of_slot(slot);
  }

  /// With threads of the host all nodes are asked about all classes of groups that wait at once.
  void prepare_classes();

  // ---- what groups try to start
  /// From now on what groups try to start is kept until a pod of them changes its status. For actions that look at the
  /// same groups many times.
  void keep_chunks();
  /// The next chunk of a group, with its victims if they are simulated to leave. `compat` keeps the answer until a pod
  /// of the group changes its status, as KAI does.
  [[nodiscard]] pod_list chunk_of(group_row group, bool simulated);
  /// What the chunk, victims included, asks of its queues.
  [[nodiscard]] model::quota_vector chunk_request(group_row group);
  /// `compat`: the same as KAI's queues see it.
  [[nodiscard]] policy::kai_amounts chunk_ask(group_row group);
  /// A kept chunk names a pod that cannot be started any more.
  [[nodiscard]] bool has_old_chunk(group_row group) const;
  /// Grows with every change of the status of a pod of the group, where chunks are kept.
  [[nodiscard]] std::uint32_t changes_of(group_row group) const {
    const chunk_memory* const kept = keeps_chunks ? chunks.find(group) : nullptr;
    return kept == nullptr ? 0 : kept->changes;
  }
  /// From now on the group is only this part of it; ends with `drop_part`.
  void take_part(group_row group, std::span<const pod_row> pods);
  void drop_part();
  /// Puts the part aside while another group is a part of itself; `resume_part` brings it back.
  [[nodiscard]] partial_group set_part_aside();
  void resume_part(partial_group part);

  // ---- amounts of queues
  /// What pods of a class ask for where the node is not known. Memory of GPUs counts as parts of the smallest GPU of
  /// the cluster; for limits and quotas, which must not refuse too much, as parts of the largest.
  [[nodiscard]] model::quota_vector asked(const model::pod_class& c) const;
  [[nodiscard]] model::quota_vector asked_at_least(const model::pod_class& c) const;
  /// What limits and quotas are asked for if a pod is placed on a node.
  [[nodiscard]] model::quota_vector asked_on(const model::pod_class& c, node_row row) const;
  /// That differs from node to node.
  [[nodiscard]] bool queues_depend_on_node(const model::pod_class& c) const {
    return c.memory_devices > 0 || access.in_groups(c);
  }
  /// KAI adds parts of GPUs up in floating point, in the order in which pods come and go: what its queues hold is not
  /// exactly what their pods hold, and a limit may be missed by a hair. `compat` keeps such sums beside the exact ones.
  [[nodiscard]] bool adds_parts_up() const { return compat() && state().pods_with_shares + state().pods_with_mig > 0; }
  /// `compat`: these pods ask for more GPU memory than all nodes together have free or coming free.
  [[nodiscard]] bool lacks_gpu_memory(std::span<const pod_row> chunk) const;
  /// What a pod holds there.
  [[nodiscard]] model::quota_vector held_on(const model::pod_class& c, node_row row) const;
  /// What a pod holds where it is, or asks for if it is nowhere.
  [[nodiscard]] model::quota_vector held(pod_row pod) const;
  /// GPUs that a pod holds where it is, in milli-GPU, and that it asks for, as far as that does not depend on the node.
  /// Here and below `compat` counts instances of divided GPUs as KAI does, and `strict` leaves them out: they make no
  /// room for others.
  [[nodiscard]] std::int64_t gpus_held(pod_row pod) const;
  [[nodiscard]] std::int64_t gpus_wanted(pod_row pod) const;
  /// The pod asks for devices, parts of devices or instances of divided ones.
  [[nodiscard]] bool wants_gpus(pod_row pod) const {
    return state().class_of(pod).wants_gpu() || state().class_of(pod).mig_slices > 0;
  }
  /// GPUs of a node that are free or coming free, parts of shared devices included, in milli-GPU.
  [[nodiscard]] std::int64_t free_gpus(node_row row) const;
  /// GPUs of nodes that are free are more than the whole ones: parts of shared devices, instances of divided ones.
  [[nodiscard]] bool counts_parts() const { return groups.is_open() || counts_instances_; }
  /// Some GPU of the node is free, or some is coming free, be it in part.
  [[nodiscard]] bool has_free_gpus(node_row row) const;
  /// GPUs of a node, instances of divided ones included.
  [[nodiscard]] std::int64_t gpu_capacity(node_row row) const;

  // ---- queues
  /// A request that a queue on the path refuses; it is that of these pods.
  [[nodiscard]] bool queues_refuse(group_row group, const model::quota_vector& requested, std::span<const pod_row> pods,
                                   failure& why) const;
  /// The same for quotas alone, which bind non-preemptible groups and the cores of semi-preemptible ones.
  [[nodiscard]] bool quota_refuses(group_row group, const model::quota_vector& requested, std::span<const pod_row> pods,
                                   failure& why) const;
  /// By how much the core of a semi-preemptible group grows if these pods start as well.
  [[nodiscard]] model::quota_vector core_growth(group_row group, std::span<const pod_row> pods) const;
  [[nodiscard]] bool is_schedulable_queue(queue_row q) const;

  // ---- groups
  /// All groups by priority, creation time and name.
  [[nodiscard]] std::span<const group_row> groups_in_order() const { return order_of_groups().groups; }
  /// The same with positions. Made when somebody asks, once for a session and its copies.
  [[nodiscard]] const group_order& order_of_groups() const;
  /// Grows with every change of what a session decides by.
  [[nodiscard]] std::uint64_t changes() const { return access.changes + commits; }
  /// Copies share what is found out about a session until one of them changes: a place for it where this session is as
  /// its copies are, and has some; else null.
  [[nodiscard]] base::first_made<survey>* shared_survey() const {
    return changes() == surveyed_at_ && survey_.use_count() > 1 ? survey_.get() : nullptr;
  }
  /// Copies that are made from now on start with a place of their own if this session has changed.
  void renew_survey();
  /// When the group started last, was evicted last: before the session or in it, or `unset`.
  [[nodiscard]] std::int64_t last_start(group_row group) const;
  [[nodiscard]] std::int64_t last_eviction(group_row group) const;
  void note_start(group_row group);
  /// The group has been evicted as often as the option `victims.most_evictions` allows: who makes room for others
  /// chooses no pods of it.
  [[nodiscard]] bool evicted_enough(group_row group) const;
  /// With the option `evicted_groups.wait` the group was evicted, and no group has been created since: it makes no
  /// others leave (EW1).
  [[nodiscard]] bool waits_after_eviction(group_row group) const;
  /// With the same option the group was evicted less than two minutes ago: room goes to others first (EW2).
  [[nodiscard]] bool comes_last_after_eviction(group_row group) const;
  /// What the group waits for before it may be tried; empty: nothing. As it was when the session was opened.
  [[nodiscard]] std::span<const model::open_dependency> open_dependencies(group_row group) const;

  // ---- cells
  /// Where a pod that is placed is in cells: decisions say it.
  void note_cell_place(pod_row pod, std::string place) { cell_places_[pod] = std::move(place); }
  /// The level of cells that the queue of a group has too few of; empty: these are not what is missing.
  void note_missing_cell(group_row group, std::string level) { missing_cells_[group] = std::move(level); }
  [[nodiscard]] std::string_view missing_cell(group_row group) const {
    const auto known = missing_cells_.find(group);
    return known == missing_cells_.end() ? std::string_view() : std::string_view(known->second);
  }

  // ---- plug-ins that refuse
  /// A plug-in refused the group when it was looked at last, whatever nodes say.
  void note_refusing_plugin(group_row group, std::string_view name) { refusing_plugins_[group] = name; }
  /// Its name; empty: none did, or the action does not tell.
  [[nodiscard]] std::string_view refusing_plugin(group_row group) const {
    const auto known = refusing_plugins_.find(group);
    return known == refusing_plugins_.end() ? std::string_view() : std::string_view(known->second);
  }

  // ---- disruption budgets
  /// A budget was in the way when room was to be made for the group.
  void note_budget(group_row group, const budget_refusal& why) { budget_refusals_[group] = why; }
  void forget_budget(group_row group) { budget_refusals_.erase(group); }
  /// The one that was last; null: none was.
  [[nodiscard]] const budget_refusal* budget_in_the_way(group_row group) const {
    const auto known = budget_refusals_.find(group);
    return known == budget_refusals_.end() ? nullptr : &known->second;
  }
  [[nodiscard]] std::string_view budget_name(std::uint32_t budget) const {
    return (*state().disruption_budgets)[budget].name;
  }
  /// Takes the statement back if more pods leave or move than budgets allow, and tells so for a group, if any.
  [[nodiscard]] bool keeps_budgets(group_row waiting = no_row);

  // ---- sub-groups
  [[nodiscard]] const model::sub_counts& counts(sub_group_row sub) const { return live.counts[sub]; }

  /// Recounts everything and compares.
  [[nodiscard]] result<void> check() const;
  /// After a commit: what it has changed, and `check` if everything is counted again, of large clusters after every
  /// 64th commit. Nothing with the option `invariants` off.
  [[nodiscard]] result<void> verify();
  /// With invariants=full, and in builds with KAISCHED_CHECKS.
  [[nodiscard]] bool counts_again() const;
  [[nodiscard]] std::string state_digest() const;
  /// `state_digest` of small clusters if everything is counted again, else empty: an undo must bring it back.
  [[nodiscard]] std::string digest_for_checks() const;

  /// Nodes by what they have free, those with least first. Valid until something is placed or leaves.
  [[nodiscard]] const model::node_index& nodes_by_gpu() { return model::live_state::settled(live.by_gpu); }
  [[nodiscard]] const model::node_index& nodes_by_cpu() { return model::live_state::settled(live.by_cpu); }

  base::parallel threads;  ///< of the host
  snapshot base;
  std::shared_ptr<const policy_setup> setup;
  const policy_options& options;  ///< of the setup
  std::int64_t now = 0;
  model::live_state live;
  session_access access;
  std::vector<std::unique_ptr<policy_part>> parts;
  std::uint32_t capabilities = 0;  ///< of all parts
  node_choice choice;
  policy::zone_ledger zones;
  policy::claim_ledger claims;
  policy::load_book loads;                         ///< what pods put on devices that they share
  policy::device_ledger vendors;                   ///< of devices that are shared by the rules of their vendors
  std::vector<policy::saved_claims> saved_claims;  ///< of operations of the statement
  disruption_ledger budgets;                       ///< with the option `respect_disruption_budgets`
  policy::reservation_book reservations;           ///< of nodes, at times
  policy::affinity_counts affinity;                ///< pods as required affinity and host ports ask for them
  policy::neighbour_book neighbours;               ///< pods by their labels, where a part asks for them
  policy::power_book power;                        ///< what nodes draw of their feeds, with the part `powercap`
  bool has_proportion = false;
  bool has_predicates = false;

  /// Domains of the topologies that some group names, by name; null: constraints are not looked at.
  std::shared_ptr<const std::vector<policy::topology::domain_tree>> topologies;

  domain_books books;  ///< of these; `compat`

  std::vector<policy::kai_queue> kai_queues;      ///< by slot; compat
  std::vector<policy::exact_queue> exact_queues;  ///< by slot; strict
  std::vector<std::uint8_t> is_limited;           ///< by slot: the queue, or one above it, has a limit
  policy::kai_amounts kai_total{};
  model::quota_vector total{};
  std::vector<model::quota_vector> fair_share;     ///< by slot, fixed units
  std::vector<share_step>* share_steps = nullptr;  ///< of all queues, if set before the session is opened

  partial_group partial;
  bool keeps_chunks = false;
  std::uint64_t chunk_changes = 0;         ///< of all groups, while chunks are kept
  base::sparse_rows<chunk_memory> chunks;  ///< by group, while they are kept
  /// What groups that failed ask of nodes. As in KAI they are kept for the session, also when pods are placed.
  group_signatures signatures;

  std::map<group_row, model::quota_vector> core_charges;  ///< what queues count of semi-preemptible groups

  base::row_marks started_groups;      ///< in this session
  base::row_marks evicted_groups;      ///< in this session
  bool looked_at_nominations = false;  ///< the first action has tried to start pods where places are kept for them
  std::vector<pod_row> lapsed;         ///< pods whose places could not be kept
  base::row_marks passed_over;  ///< pods beyond gangs that an action has found no node for; those behind them are tried
  base::row_marks held_groups;  ///< that have a place, and a part did not let start
  /// By pod: 0, or 1 + the position in the statement of the eviction that has not been committed. Empty before the
  /// first eviction.
  std::vector<std::uint32_t> evicted_here;

  /// By pod, `compat` only, empty before the first: placed by a statement that stands and not evicted by one since. KAI
  /// takes such a pod for startable again when it is evicted with its stale gang.
  std::vector<bool> placed_here;
  bool abandoned = false;              ///< a statement of this session was
  std::vector<pod_row> evicted_twice;  ///< by statements that stand; their queues got the amount back twice

  policy::gpu_groups groups;      ///< `compat`
  std::int64_t smallest_gpu = 0;  ///< memory in bytes, MiB in `compat`; 0: not known, or nobody asks
  std::int64_t largest_gpu = 0;
  std::uint64_t steps_left = std::numeric_limits<std::uint64_t>::max();
  base::cancel_flag cancel;
  std::vector<operation> log;
  std::vector<division> divisions;                 ///< in their order, those of the statement last
  std::vector<leaving_pod> leaving;                ///< beside their claims on other nodes
  base::sparse_rows<std::uint32_t> times_leaving;  ///< of pods in that list
  std::vector<decision> decisions;
  failure refusal;                         ///< of the pod that was placed last, by limits or quotas on some node
  std::vector<failure> failures;           ///< one per group that was tried in vain, last one counts
  std::vector<eviction_attempt> attempts;  ///< of the actions that evict, as they ended
  group_row only_group = no_row;           ///< while an action runs for one group alone
  bool keeps_bounds = false;               ///< while an action runs that respects limits and quotas of queues
  std::uint64_t sets_tried = 0;            ///< of victims, since the session opened
  effort search_effort;                    ///< that is left to searches for victims
  /// Column `searched` of groups, where this session changes it; see searched_of.
  std::map<group_row, std::int64_t> searched;
  std::uint64_t withdrawn_starts = 0;  ///< that commits decided and later ones took back, where decisions are net
  std::vector<action_statistics> statistics;
  action_kind action = action_kind::none;
  std::uint32_t commits = 0;
  std::uint64_t frees = 0;  ///< grows whenever something comes free: what did not fit may fit now

 private:
  [[nodiscard]] std::int64_t newest_creation() const;
  void connect();
  void gate_dependent_groups();
  void take_up_nominations();
  void add_part(std::unique_ptr<policy_part> part);
  [[nodiscard]] result<void> ask_for_shares();
  /// Tells those that hear changes.
  void tell(pod_row pod, std::uint32_t node, pod_status before) {
    if (affinity.is_open()) affinity.changed(access, pod);
    if (neighbours.is_open()) neighbours.changed(access, pod);
    if (loads.used()) loads.changed(access, pod);
    if ((capabilities & part_hears_changes) != 0) tell_parts(pod, node, before);
  }
  void tell_parts(pod_row pod, std::uint32_t node, pod_status before);
  void find_gpu_memories();
  [[nodiscard]] std::int64_t gpus_in_instances(const std::vector<std::int64_t>& amounts, node_row row) const;
  [[nodiscard]] std::int64_t idle_gpus(node_row row) const;
  [[nodiscard]] std::int64_t releasing_gpus(node_row row) const;
  void count_in_queues_anew();
  [[nodiscard]] model::quota_vector asked_with(const model::pod_class& c, std::int64_t memory) const;
  void set_status(pod_row pod, pod_status status);
  void note_node(node_row row);
  void forget_chunk(pod_row pod);
  [[nodiscard]] const pod_list& kept_chunk_of(group_row group, bool simulated);
  void mark_evicted(pod_row pod, std::uint32_t mark);
  void note_placed(pod_row pod, bool placed);
  [[nodiscard]] bool bound_refuses(group_row group, const model::quota_vector& requested, bool quota,
                                   failure& why) const;
  void open_claims();
  void charge_node(pod_row pod, node_row row, pod_status status, const device_set& devices, std::int64_t sign);
  void charge_node_anew(pod_row pod, node_row row, pod_status from, pod_status to, const device_set& devices);
  void charge_queues(pod_row pod, std::int64_t sign);
  void put(pod_row pod, node_row node, pod_status status, const device_set& devices, const policy::group_ids& groups,
           std::uint32_t zones, operation_kind kind);
  void undo(std::uint32_t position);
  void undo_division();
  static void describe_division(const division& what, decision& d);
  [[nodiscard]] bool was_placed_here(const operation& eviction) const;
  void describe_leave(const operation& op, decision& d) const;
  void describe_place(decision& d) const;
  void begin_binding(pod_row pod);
  void close_statement();
  void undo_history();
  friend class net_outcome;
  void undo_put(const operation& op, bool restores_claims = true);
  [[nodiscard]] std::uint32_t save_claims(pod_row pod);
  void rejoin_claims(const operation& op);
  void finish_in_zones(pod_row pod, pod_status was, std::int64_t sign);
  [[nodiscard]] bool in_groups(pod_row pod) const { return access.in_groups(state().class_of(pod)); }
  [[nodiscard]] node_row row_of_slot(std::uint32_t slot) const { return (*state().node_row_of_slot)[slot]; }
  [[nodiscard]] node_row node_of(pod_row pod) const { return row_of_slot(live.pod_node[pod]); }
  void release_in_place(pod_row pod, std::uint32_t mark);
  void restore_evicted(const operation& op);
  [[nodiscard]] bool is_charged(pod_row pod, pod_status status) const;
  [[nodiscard]] model::quota_vector surge_of(group_row group) const;
  [[nodiscard]] model::quota_vector core_request(group_row group, std::span<const pod_row> more) const;
  void charge_core(group_row group);
  void charge_core_of(pod_row pod);
  bool fill_part(sub_group_row member, std::span<const std::int64_t> own);
  void divide_shares();
  void count_total();
  void divide_compat();
  void divide_strict();
  void sync_queue(queue_row q);
  void add_parts_up();
  [[nodiscard]] double parts_asked(const model::pod_class& c) const;
  [[nodiscard]] double parts_asked(std::span<const pod_row> pods) const;
  [[nodiscard]] std::vector<double> gpus_requested();
  void add_part(queue_row leaf, double gpus, bool allocated, bool nonpreemptible);
  [[nodiscard]] std::vector<queue_row> queues_by_name() const;

  std::shared_ptr<base::first_made<group_order>> order_ = std::make_shared<base::first_made<group_order>>();
  std::shared_ptr<base::first_made<survey>> survey_ = std::make_shared<base::first_made<survey>>();
  std::uint64_t surveyed_at_ = 0;  ///< `changes` that the survey is of
  change_ledger ledger_;
  bool counts_instances_ = false;  ///< `compat`: some resource is an instance of divided GPUs
  const model::cluster_state* state_ = nullptr;
  /// With gates for groups that come after others, and with what divisions have made; null: the snapshot.
  std::shared_ptr<const model::cluster_state> extended_;
  std::shared_ptr<const model::open_dependencies> dependencies_;  ///< null: nobody waits for others
  std::map<pod_row, std::string> cell_places_;
  std::map<group_row, std::string> missing_cells_;
  std::map<group_row, std::string> refusing_plugins_;
  std::map<group_row, budget_refusal> budget_refusals_;
  std::vector<operation> history_;  ///< what commits have done, where decisions are net
  std::vector<policy::saved_claims> history_claims_;
  bool took_back_ = false;       ///< a commit since has taken back what this session had placed
  base::row_marks lost_places_;  ///< pods from which commits took the places that were kept for them
};

/// An amount in KAI's unit of a quota dimension: devices, milli-cores, bytes.
[[nodiscard]] inline double to_native(std::uint32_t resource, std::int64_t amount) {
  return resource == dim_gpu ? static_cast<double>(amount) / static_cast<double>(whole_device)
                             : static_cast<double>(amount);
}
/// A quota or limit in KAI's unit, where -1 stays "unlimited". An amount may be -1 as well, and then means it.
[[nodiscard]] double bound_to_native(std::uint32_t resource, std::int64_t bound);
[[nodiscard]] std::int64_t to_fixed(std::uint32_t resource, double amount);

}  // namespace kaisched::work
