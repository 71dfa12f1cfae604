#pragma once
/// @file
/// The working state of a session: a private copy of the live part of a snapshot, and its parts, each with one job: the
/// statement with its undo log, the accounts of queues, GPUs of nodes, what groups try to start and what has happened
/// to them, node constraints, the action that runs, results. Actions work on this; the public `session` wraps it.

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

#include "base/first_made.hpp"
#include "base/parallel.hpp"
#include "base/row_marks.hpp"
#include "base/sparse_rows.hpp"
#include "framework/action_run.hpp"
#include "framework/change_ledger.hpp"
#include "framework/chunks.hpp"
#include "framework/domain_books.hpp"
#include "framework/gpu_amounts.hpp"
#include "framework/group_states.hpp"
#include "framework/node_choice.hpp"
#include "framework/queue_accounts.hpp"
#include "framework/results.hpp"
#include "framework/statement.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/constraints/constraint_list.hpp"
#include "policy/constraints/registry.hpp"
#include "policy/topology/domain_tree.hpp"

namespace kaisched::framework {

using part_list = std::vector<std::pair<std::string, part_factory>>;

/// By what sessions decide. All that are opened with it share it.
struct policy_setup {
  policy_options options;
  part_list parts;
  std::shared_ptr<const device_catalog> catalog;
  bool keeps_gangs = true;  ///< no pod of a group starts before its gangs are complete
  /// Those that a session may use.
  std::vector<policy::constraint_factory> constraints = policy::built_in_constraints();
};

class session_state {
 public:
  session_state(snapshot base, std::shared_ptr<const policy_setup> setup, std::int64_t now);
  session_state(const session_state& other);
  session_state& operator=(const session_state&) = delete;
  ~session_state();

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

  /// What column `searched` becomes where it changes; 0 for groups that wait no more.
  [[nodiscard]] std::vector<std::pair<group_row, std::int64_t>> searched_changes() const;

  /// Groups with pending pods that the action is for, by `model::group_before`.
  [[nodiscard]] std::span<const group_row> waiting_groups() const {
    return run.only_group == no_row ? std::span<const group_row>(*state().pending_groups)
                                    : std::span(&run.only_group, 1);
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

  /// KAI adds parts of GPUs up in floating point, in the order in which pods come and go: what its queues hold is not
  /// exactly what their pods hold, and a limit may be missed by a hair. `compat` keeps such sums beside the exact ones.
  [[nodiscard]] bool adds_parts_up() const { return compat() && state().pods_with_shares + state().pods_with_mig > 0; }
  /// Devices of the pod are counted in GPU groups.
  [[nodiscard]] bool in_groups(pod_row pod) const { return access.in_groups(state().class_of(pod)); }
  [[nodiscard]] node_row row_of_slot(std::uint32_t slot) const { return (*state().node_row_of_slot)[slot]; }
  /// Of a pod that is on a node.
  [[nodiscard]] node_row node_of(pod_row pod) const { return row_of_slot(live.pod_node[pod]); }

  // ---- questions
  /// Grows with every change of what a session decides by.
  [[nodiscard]] std::uint64_t changes() const { return access.changes + statement.commits; }
  /// Copies share what is found out about a session until one of them changes: a place for it where this session is as
  /// its copies are, and has some; else null.
  [[nodiscard]] base::first_made<survey>* shared_survey() const {
    return changes() == surveyed_at_ && survey_.use_count() > 1 ? survey_.get() : nullptr;
  }
  /// Copies that are made from now on start with a place of their own if this session has changed.
  void renew_survey();
  [[nodiscard]] std::string_view budget_name(std::uint32_t budget) const {
    return (*state().disruption_budgets)[budget].name;
  }

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
  session_statement statement;
  queue_accounts queues;
  gpu_amounts gpus;
  chunk_store chunks;
  session_results results;
  action_run run;                       ///< the action that runs
  group_states groups;                  ///< what has happened to groups
  policy::constraint_list constraints;  ///< on where pods may be, those that the cluster asks for
  bool has_proportion = false;
  bool has_predicates = false;

  /// Domains of the topologies that some group names, by name; null: constraints are not looked at.
  std::shared_ptr<const std::vector<policy::topology::domain_tree>> topologies;

  domain_books books;  ///< of these; `compat`

  std::vector<share_step>* share_steps = nullptr;  ///< of all queues, if set before the session is opened
  failure refusal;  ///< of the pod that was placed last, by limits or quotas on some node

 private:
  void connect();
  void gate_dependent_groups();
  void take_up_nominations();
  void add_part(std::unique_ptr<policy_part> part);
  [[nodiscard]] result<void> open_constraints(bool first);
  friend class session_statement;

  std::shared_ptr<base::first_made<survey>> survey_ = std::make_shared<base::first_made<survey>>();
  std::uint64_t surveyed_at_ = 0;  ///< `changes` that the survey is of
  change_ledger ledger_;
  const model::cluster_state* state_ = nullptr;
  /// With gates for groups that come after others, and with what divisions have made; null: the snapshot.
  std::shared_ptr<const model::cluster_state> extended_;
};

}  // namespace kaisched::framework
