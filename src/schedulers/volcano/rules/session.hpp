#pragma once
/// @file
/// A session: the cluster, tiers of plug-ins, and how their answers are combined.
///
/// Source: volcano-sh/volcano, pkg/scheduler/framework/session_plugins.go. Orders: the first plug-in that says
/// something. Victims: within a tier those that all allow, of the first tier that leaves any. Votes: one rejection
/// rejects, and a tier with a permission ends the vote. One thread at a time.

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "schedulers/volcano/rules/plugin.hpp"

namespace kaisched::volcano {

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
  /// Of two nodes the one that is taken: with room now rather than later, then with the higher score, else the first
  /// one. Each may be no node, and a node without room later is none.
  [[nodiscard]] row better(row first, row second) const;
  /// The best of all; no_row: none has room.
  [[nodiscard]] row best() const { return tree_.empty() ? no_row : tree_.front(); }

 private:
  friend class session;
  void build_tree();
  /// What is said of a node has changed.
  void renew(row node);
  /// The better one of the two below, which may be nodes.
  [[nodiscard]] row winner_at(std::size_t place) const;

  std::vector<one> nodes_;
  std::vector<row> tree_;  ///< tournament: places 2i+1 and 2i+2 below i, and below the last ones the nodes, in order
  std::size_t seen_ = 0;   ///< so many changes of nodes
};

class session {
 public:
  /// Opens the plug-ins, in their order. All tasks that are on nodes must have been charged to them.
  session(cluster_state cluster, std::vector<tier> tiers);

  [[nodiscard]] const cluster_state& cluster() const { return cluster_; }
  [[nodiscard]] cluster_state& cluster() { return cluster_; }
  [[nodiscard]] const std::vector<tier>& tiers() const { return tiers_; }

  // Orders: whether the left one comes first. Total, by creation and name at last.
  [[nodiscard]] bool job_before(row left, row right) const {
    if (!orders_by_keys_) return job_before_by_asking(left, right);
    const std::int64_t* l = keys_of(left);
    const std::int64_t* r = keys_of(right);
    for (std::size_t i = 0; i < keys_per_job_; ++i) {
      if (l[i] != r[i]) return l[i] < r[i];
    }
    return cluster_.jobs[left].name < cluster_.jobs[right].name;
  }
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
  /// The plug-in that does not let the job in; null: none.
  [[nodiscard]] const plugin* enqueue_refuser(row job) const;
  void enqueued(row job);

  [[nodiscard]] bool is_overused(row queue) const { return overuse_caller(queue) != nullptr; }
  /// The plug-in that calls the queue overused; null: none.
  [[nodiscard]] const plugin* overuse_caller(row queue) const;
  [[nodiscard]] bool is_allocatable(row queue, row task) const { return allocation_refuser(queue, task) == nullptr; }
  /// The plug-in that has no room for the task in the queue; null: none.
  [[nodiscard]] const plugin* allocation_refuser(row queue, row task) const;
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
                                                                const std::string& root,
                                                                policy::domain_search purpose) const;

  void task_allocated(row task);
  void task_deallocated(row task);

 private:
  template <class Ask>
  [[nodiscard]] bool all_agree(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] const plugin* first_objector(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] bool permitted(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] const plugin* first_rejecter(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] int first_order(point at, const Ask& ask) const;
  template <class Ask>
  [[nodiscard]] std::vector<row> allowed_victims(point at, const Ask& ask) const;

  cluster_state cluster_;
  std::vector<tier> tiers_;
  [[nodiscard]] const std::vector<plugin*>& asked_at(point at) const { return asked_[static_cast<std::size_t>(at)]; }

  std::vector<plugin*> plugins_;                      ///< all of them, the most important first
  std::vector<std::vector<plugin*>> asked_;           ///< by point: those that are asked there
  std::vector<std::vector<const plugin*>> orderers_;  ///< by point: those of them that say something there
  bool judges_by_kind_ = true;
  bool judges_victims_by_node_ = true;
  bool limits_queues_ = false;
  [[nodiscard]] bool job_before_by_asking(row left, row right) const;
  /// Orders are asked again and again while nothing changes: the keys of a job, asked anew after it has changed, one
  /// for each plug-in that orders jobs, and when it was created.
  [[nodiscard]] const std::int64_t* keys_of(row job) const {
    std::uint64_t& asked_at = keys_asked_at_[job];
    std::int64_t* const keys = &job_keys_[job * keys_per_job_];
    const std::uint64_t at = cluster_.changes_of_job(job) + 1;
    if (asked_at != at) ask_keys(job, keys);
    asked_at = at;
    return keys;
  }
  void ask_keys(row job, std::int64_t* keys) const;

  struct job_orderer {
    const plugin* does;
    bool has_keys;
  };
  std::vector<job_orderer> job_orderers_;
  bool orders_by_keys_ = false;  ///< all of them do
  std::size_t keys_per_job_ = 0;
  mutable std::vector<std::int64_t> job_keys_;
  mutable std::vector<std::uint64_t> keys_asked_at_;  ///< 1 + the changes of the job then; 0: never
  std::map<row, node_answers> answers_;               ///< by kind
};

}  // namespace kaisched::volcano
