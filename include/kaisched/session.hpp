#pragma once
/// @file
/// A session: one run of actions over one snapshot.

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/candidates.hpp>
#include <kaisched/certificates.hpp>
#include <kaisched/choice.hpp>
#include <kaisched/decisions.hpp>
#include <kaisched/gaps.hpp>
#include <kaisched/policy.hpp>
#include <kaisched/remedies.hpp>
#include <kaisched/result.hpp>
#include <kaisched/share_steps.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>
#include <kaisched/victims.hpp>
#include <kaisched/what_if.hpp>

namespace kaisched {

class engine;
namespace session_detail {
class trial_world;
}

/// A position in the statement of a session, see `session::mark`.
struct checkpoint {
  std::uint32_t depth = 0;
  std::uint32_t statement = 0;  ///< number of commits before: a checkpoint dies with its statement
};

/// What happened in one action.
struct action_statistics {
  action_kind action = action_kind::none;
  std::uint64_t steps = 0;  ///< units of work that budgets are counted in: candidate nodes looked at
  std::uint64_t groups_tried = 0;
  std::uint64_t groups_placed = 0;
  std::uint64_t candidates = 0;   ///< nodes that were tested for a fit
  std::uint64_t filtered = 0;     ///< of these, refused
  std::uint64_t rollbacks = 0;    ///< undone operations
  std::uint64_t simulations = 0;  ///< sets of victims that were tried
};

/// What an action would do for one group.
struct what_if_answer {
  group_row group = no_row;
  std::vector<decision> decisions;  ///< of other groups as well, if they make room; none: nothing would change
};

/// One run over one snapshot. Operations change the session's own view at once and are collected in a statement;
/// `commit` turns them into decisions, `rollback` undoes them. The snapshot never changes.
/// Threads: exclusive use, except that const functions may run concurrently with each other.
class session {
 public:
  session(session&&) noexcept;
  session& operator=(session&&) noexcept;
  session(const session&) = delete;
  session& operator=(const session&) = delete;
  ~session();

  /// Runs one action by name ("allocate", "reclaim", ...). Errors: unknown action, plug-in failure, open statement. A
  /// name of the version before is taken for the present one, with a warning.
  result<void> run(std::string_view action);
  /// Runs an action for one group alone, the others wait as they are: would it start now ("allocate"), and if others
  /// made room ("reclaim", "preempt", "consolidation", "repartition")? Asked on a fork it changes nothing. A group that
  /// has nothing to start is passed over. Errors: as above, an action that is not for waiting groups, a row without a
  /// group.
  result<void> run(std::string_view action, group_row group);
  /// Runs all actions that the options list, in order.
  result<void> run();
  /// The same three, on a fork that the session becomes: where memory is missing (`std::bad_alloc`, or `no_memory`) it
  /// stays as it was. Costs a fork. After the others a session from which `std::bad_alloc` has come can only be
  /// destroyed.
  result<void> try_run(std::string_view action);
  result<void> try_run(std::string_view action, group_row group);
  result<void> try_run();

  /// A sentence for each name of an earlier version that the options of this session were set by, or an action of it
  /// was run by, each once: it says the present name. No decision depends on them.
  [[nodiscard]] std::vector<std::string> warnings() const;

  /// Asks the action that runs, and questions that try things out (`ask`, `remedies`, `victim`, `what_if`), to end:
  /// they fail with `cancelled`, what was being tried is undone, what is committed stays. Where no action runs the next
  /// one fails so, once, and questions until then. Any thread may ask while the session lives; forks do not notice.
  void cancel() const noexcept;

  /// A second session over the same state, for what-if questions. Cost: independent of the size of the cluster.
  /// The open statement and the decisions so far are copied.
  [[nodiscard]] session fork() const;

  /// What an action would do for each of these groups if it ran for that group alone, as a fork of its own finds out.
  /// The answers are in the order of the groups; nothing changes. Uses the executor of the engine.
  /// Errors: as of `run` for one group, those of the first group that has one.
  [[nodiscard]] result<std::vector<what_if_answer>> ask(std::string_view action,
                                                        std::span<const group_row> groups) const;

  /// Groups that have something to start, in the order in which action `allocate` would try them as things are: of
  /// queues by what they hold now, of a queue by its groups. Who starts changes what his queue holds, so behind groups
  /// that start the order may be another one. What `queue_depth.allocate` leaves out is not there.
  /// Errors: an open statement; `allocate` is no action of the options: other actions have orders of their own.
  [[nodiscard]] result<std::vector<group_row>> line() const;

  // ---- the statement -----------------------------------------------------------------------------

  /// Present end of the statement; checkpoints nest.
  [[nodiscard]] checkpoint mark() const;
  /// Undoes everything since the checkpoint, last operation first: exactly, to the byte. Mode `compat` undoes as KAI
  /// does, which is not exact where pods share devices or have resource claims. Error if the checkpoint lies beyond the
  /// end or belongs to a statement that has been committed.
  result<void> rollback(checkpoint to);
  /// Puts a pending pod on a node, on free resources. False if it does not fit now (nothing changes).
  /// Only resources and devices are tested, not the predicates of the policy.
  result<bool> allocate(pod_row pod, node_row node);
  /// Claims free or releasing resources of a node for a pending or evicted pod.
  result<bool> pipeline(pod_row pod, node_row node);
  /// Stops a pod that is on a node; its resources become releasing. Error if the pod is on no node, has no pod group,
  /// has a claim only, or has been placed by the open statement (going back undoes that).
  result<void> evict(pod_row pod);
  /// Turns the statement into decisions of one commit. An empty statement commits nothing.
  result<void> commit();

  // ---- results -----------------------------------------------------------------------------------

  /// Committed decisions, in order of commits. The decision table adds the groups that have pending pods now
  /// (`unschedulable`), by priority, creation time and name; before the first action these are all that wait.
  [[nodiscard]] std::span<const decision> decisions() const;
  /// Reasons of the groups that wait, in that order, as of now.
  [[nodiscard]] std::vector<reason> reasons() const;
  /// Those of these groups, in their order; a group that does not wait has none.
  [[nodiscard]] std::vector<reason> reasons(std::span<const group_row> groups) const;
  /// The plug-in that refused the group when this session looked at it last, whatever nodes say: of the action
  /// `volcano`, such as `overcommit`. Empty: none did, or the actions do not tell.
  [[nodiscard]] std::string_view refusing_plugin(group_row group) const;
  /// Starts that this session decided and took back, which its decisions do not tell unless the mode is `compat`.
  [[nodiscard]] std::uint64_t withdrawn_starts() const;
  /// Why here, or why nowhere: every part is asked about every node for one pod. For a pending or gated pod in the
  /// state of the session now. For a pod that this session has placed in the state in which it was placed: the snapshot
  /// with all decisions before it, evictions of its own commit first. Cost: a scan of all nodes, and the decisions
  /// before. Errors: a pod that was on its node when the session opened, which no decision put there; a failing
  /// plug-in.
  [[nodiscard]] result<candidate_table> candidates(pod_row pod) const;
  /// What would let a group that waits start now: fewer pods or sub-groups that must start together, a smaller request,
  /// a wider level of the topology, more limit or quota for queues, new nodes, nodes that are closed, tolerations,
  /// labels, or what the actions that evict would do. Of each kind the smallest change; changes of several kinds
  /// together (`remedy_limits::together`) where none alone is enough. Every one has been tried: changes of the cluster
  /// in a session over a cluster that has this session's decisions and the change, evictions on a fork. More of a
  /// change is taken to do no harm, which a first-fit search cannot promise: then a smaller change may be missed, but
  /// what is told works. Nothing changes. Errors: an open statement, a row without a group, a failing plug-in.
  [[nodiscard]] result<remedy_report> remedies(group_row group, const remedy_limits& limits = {}) const;
  /// Why the node of a pod that this session has placed was chosen: runner-up, parts that decided, and what would have
  /// turned the choice, each tried. Errors: as of `candidates`; a pod that waits.
  [[nodiscard]] result<choice_account> choice(pod_row pod) const;
  /// Why this session made a pod leave or move: for whom, by which rules, who was left alone and why, and what would
  /// have happened if its group had been protected. Errors: a pod that no decision evicted or moved; a failing plug-in.
  [[nodiscard]] result<victim_account> victim(pod_row pod) const;
  /// The commits of this session that made others leave or move for somebody, the first `most` of them, and why they
  /// left the group alone. Errors: a row without a group, a failing plug-in.
  [[nodiscard]] result<std::vector<passed_over>> passes(group_row group, std::size_t most) const;
  /// How the fair share of a queue came about: the divisions among the children of the cluster and of every queue above
  /// it, siblings included, in the order in which they happened; then what parts changed for those queues. The session
  /// is opened once more for it, with its own inputs. Errors: a row without a queue, a failing plug-in.
  [[nodiscard]] result<std::vector<share_step>> share_steps(queue_row queue) const;
  /// The same for several groups, each alone, at less cost than one by one.
  [[nodiscard]] result<std::vector<remedy_report>> remedies(std::span<const group_row> groups,
                                                            const remedy_limits& limits = {}) const;
  /// What would become of groups if the cluster had changed: would they start now, whom would they displace, when would
  /// they start? The change is applied to the cluster as this session leaves it, each group is asked about alone, and
  /// nothing changes. @param groups names; none: those that the change adds. Whom they displace is asked of
  /// consolidation, reclaim and preempt, whether or not the options list these. When: groups end `runtime_estimate`
  /// after their last start, the earliest time of which follows the reservations of backfill (D. Lifka, The ANL/IBM SP
  /// scheduling system, 1995), and the expected one from `allocate` at each of these ends. Errors: an open statement,
  /// those of `cluster::apply` for the change, a name that no group has, a failing plug-in.
  [[nodiscard]] result<what_if_report> what_if(std::span<const table_view> change,
                                               std::span<const std::string_view> groups = {},
                                               const what_if_limits& limits = {}) const;
  /// Why a group that waits cannot start, as a proof of the strongest statement that could be shown: what no scheduler
  /// can do, not what an action did not find. Of kind `none` if there is no proof, which does not mean that the group
  /// can start, and for a group that waits for nothing. Errors: an open statement, a row without a group.
  [[nodiscard]] result<certificate> certify(group_row group) const;
  /// How far what was decided is from the best that could have been, by commits and then by what waits: victims of
  /// every start that had some, domains of every start that prefers to be in one, and fragmentation for every kind of
  /// pods that waits for whole devices. Errors: an open statement.
  [[nodiscard]] result<std::vector<optimality_gap>> gaps() const;
  /// Decisions, reasons, queue shares, placements, statistics, attempts or sharing groups as a table; resource claims
  /// as the session leaves them. Error for any other input kind.
  [[nodiscard]] result<table> to_table(table_kind kind) const;
  /// Decisions of this session or of an answer to a question about it, as a table of decisions.
  [[nodiscard]] result<table> to_table(std::span<const decision> made) const;
  /// An answer of `candidates` as a table.
  [[nodiscard]] table to_table(const candidate_table& all) const;
  /// Answers of `remedies` for these groups, of `certify`, `choice`, `victim`, `share_steps`, `what_if` and `gaps` as
  /// tables.
  [[nodiscard]] table to_table(std::span<const group_row> groups, std::span<const remedy_report> reports) const;
  [[nodiscard]] table to_table(const certificate& proof) const;
  [[nodiscard]] table to_table(const choice_account& why) const;
  [[nodiscard]] table to_table(const victim_account& why) const;
  [[nodiscard]] table to_table(std::span<const share_step> steps) const;
  [[nodiscard]] table to_table(const what_if_report& of) const;
  [[nodiscard]] table to_table(std::span<const optimality_gap> all) const;
  /// SHA-256 over preset, mode and decisions (names, not rows), as 64 hexadecimal digits.
  [[nodiscard]] std::string digest() const;
  [[nodiscard]] std::span<const action_statistics> statistics() const;
  /// What the actions that evict did for the groups that they found waiting, in the order in which they ended.
  [[nodiscard]] std::span<const eviction_attempt> attempts() const;

  /// Pod and node as the session sees them now.
  [[nodiscard]] session_view view() const;
  [[nodiscard]] const snapshot& base() const;
  /// One sentence for a reason.
  [[nodiscard]] std::string text(const reason& why) const;
  /// Half a sentence for a remedy: `if queue 'q' may hold 4 GPU instead of 2; 2 pods start`.
  [[nodiscard]] std::string text(const remedy& one) const;
  /// One or two sentences for a forecast of a report of this session.
  [[nodiscard]] std::string text(const what_if_report& of, const forecast& one) const;
  /// What a certificate says, in a few sentences.
  [[nodiscard]] std::string text(const certificate& proof) const;

  /// Half a sentence for a step of a division, in the unit of its dimension: `round 1 by weight 2 gives 'q' 4 of the 6
  /// GPU that it asks for`.
  [[nodiscard]] std::string text(const share_step& one) const;

  /// A sentence for what decided a choice, and one for what would have turned it.
  [[nodiscard]] std::string text(const choice_account& why) const;
  [[nodiscard]] std::string text(const choice_account& why, const choice_flip& one) const;
  /// Half sentences for a rule that speaks for a victim, a group that was left alone, what a protected group would have
  /// changed, and how the search for victims ended for a group.
  [[nodiscard]] std::string text(const victim_account& why, victim_rule rule) const;
  [[nodiscard]] std::string text(spared_reason why) const;
  [[nodiscard]] std::string text(const victim_account& why, const protected_outcome& outcome) const;
  [[nodiscard]] std::string text(const eviction_attempt& one) const;

  /// Verifies the invariants of the session against a full recount: nothing newly over capacity, sums of queues equal
  /// the sums of their pods, counts of gangs equal their pods. Error `internal` names the first violation.
  /// Runs by itself after commits with the option invariants=full, and in builds with KAISCHED_CHECKS.
  [[nodiscard]] result<void> check() const;
  /// SHA-256 over the working state (amounts, counts, orders): equal before an operation and after its undo.
  [[nodiscard]] std::string state_digest() const;

 private:
  friend class cluster;
  friend class engine;
  friend class session_detail::trial_world;
  struct impl;
  explicit session(std::unique_ptr<impl> body);
  result<void> run_for(std::string_view given_action, group_row group);
  result<void> adopt_if_done(const std::function<result<void>(session&)>& run);
  result<void> add_evictions(group_row group, const remedy_limits& limits, remedy_report& to) const;
  static result<forecast> forecast_of(const session_detail::trial_world& world, const session& opened, group_row group,
                                      const what_if_limits& limits);
  [[nodiscard]] result<std::uint32_t> make_room(std::string_view action, group_row group, std::uint32_t steps,
                                                std::vector<decision>& made) const;
  std::unique_ptr<impl> impl_;
};

}  // namespace kaisched
