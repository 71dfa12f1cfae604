#pragma once
/// @file
/// A session: the cluster, tiers of plug-ins, and how their answers are combined.
///
/// Source: volcano-sh/volcano, pkg/scheduler/framework/session_plugins.go. Orders: the first plug-in that says
/// something. Victims: within a tier those that all allow, of the first tier that leaves any. Votes: one rejection
/// rejects, and a tier with a permission ends the vote. One thread at a time.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "policy/tiers/plugin.hpp"

namespace kaisched::policy::tiers {

/// What all plug-ins together say of the nodes for tasks of one kind.
class node_answers {
 public:
  struct one {
    std::uint64_t asked_at = 0;  ///< 1 + the changes of the node then; 0: never
    bool has_room = false;
    bool has_room_later = false;  ///< once what is being released is free
    double score = 0;
  };
  [[nodiscard]] const std::vector<one>& nodes() const { return nodes_; }
  /// The node with the highest score of those with room now, else of those with room later; the first of equals.
  /// no_row: there is none.
  [[nodiscard]] row best();

 private:
  friend class session;
  /// The best nodes of a part of all.
  struct block {
    row now = no_row;
    row later = no_row;
    bool is_known = false;
  };
  static constexpr std::size_t block_size = 64;

  std::vector<one> nodes_;
  std::vector<block> blocks_;
  std::size_t seen_ = 0;  ///< so many changes of nodes
};
/// Of two nodes the one that is taken, where each may be no node.
[[nodiscard]] row better_node(const std::vector<node_answers::one>& answers, row one, row later_one);

class session {
 public:
  /// Opens the plug-ins, in their order. All tasks that are on nodes must have been charged to them.
  session(cluster_state cluster, std::vector<tier> tiers);

  [[nodiscard]] const cluster_state& cluster() const { return cluster_; }
  [[nodiscard]] cluster_state& cluster() { return cluster_; }
  [[nodiscard]] const std::vector<tier>& tiers() const { return tiers_; }

  // Orders: whether the left one comes first. Total, by creation and name at last.
  [[nodiscard]] bool job_before(row left, row right) const;
  [[nodiscard]] int compare_jobs(row left, row right) const;
  [[nodiscard]] bool sub_job_before(const sub_job_state& left, const sub_job_state& right) const;
  [[nodiscard]] bool task_before(row left, row right) const;
  [[nodiscard]] bool queue_before(row left, row right) const;
  /// Tasks that would be taken for a task, in the order of being taken.
  [[nodiscard]] std::vector<row> in_victim_order(const std::vector<row>& tasks, row taker) const;

  [[nodiscard]] bool is_valid(row job) const;
  [[nodiscard]] bool is_ready(row job) const;
  [[nodiscard]] bool is_ready(row job, const sub_job_state& sub_job) const;
  [[nodiscard]] bool is_pipelined(row job) const;
  [[nodiscard]] bool is_pipelined(row job, const sub_job_state& sub_job) const;
  [[nodiscard]] bool is_starving(row job) const;
  [[nodiscard]] bool may_enqueue(row job) const;
  void enqueued(row job);
  /// The phase that the job has once the session is closed.
  [[nodiscard]] job_phase phase_at_end(row job) const;

  [[nodiscard]] bool is_overused(row queue) const;
  [[nodiscard]] bool is_allocatable(row queue, row task) const;
  [[nodiscard]] bool is_preemptive(row queue, const std::vector<row>& tasks) const;
  [[nodiscard]] std::vector<row> preemptable(row task, const std::vector<row>& candidates) const;
  [[nodiscard]] std::vector<row> reclaimable(row task, const std::vector<row>& candidates) const;
  /// Of whom a job may take as a whole.
  [[nodiscard]] std::vector<row> evictable(row job, taking how, const std::vector<row>& candidates) const;
  /// Which of two other queues loses tasks first to the third.
  [[nodiscard]] bool loses_before(row left, row right, row taker) const;

  /// Whether a queue has room for a task depends on what its tasks hold.
  [[nodiscard]] bool limits_queues() const { return limits_queues_; }

  /// The first refusal.
  [[nodiscard]] node_refusal refuses(row task, row node) const;
  [[nodiscard]] std::vector<double> node_scores(row task, const std::vector<row>& nodes) const;
  /// All plug-ins judge by kind.
  [[nodiscard]] bool judges_by_kind() const { return judges_by_kind_; }
  /// All plug-ins judge victims by node.
  [[nodiscard]] bool judges_victims_by_node() const { return judges_victims_by_node_; }
  /// Answers about all nodes for the kind of the task, asked again of those that have changed. A node that refuses has
  /// no room. @pre the task is of a kind, and `judges_by_kind`
  [[nodiscard]] node_answers& answers_for(row task);
  [[nodiscard]] std::map<std::string, double, std::less<>> domain_scores(const job_state& job,
                                                                         const sub_job_state& sub_job,
                                                                         const std::vector<std::string>& domains) const;
  [[nodiscard]] std::vector<std::vector<std::string>> gradients(const job_state& job, const sub_job_state* sub_job,
                                                                const std::string& root, domain_search purpose) const;

  void task_allocated(row task);
  void task_deallocated(row task);

 private:
  template <class Ask>
  [[nodiscard]] bool all_agree(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] bool permitted(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] int first_order(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] std::vector<row> allowed_victims(point at, const Ask& ask) const;

  cluster_state cluster_;
  std::vector<tier> tiers_;
  std::vector<std::vector<const plugin*>> orderers_;  ///< by point: who says something there, the most important first
  bool judges_by_kind_ = true;
  bool judges_victims_by_node_ = true;
  bool limits_queues_ = false;
  std::map<row, node_answers> answers_;  ///< by kind
};

}  // namespace kaisched::policy::tiers
