#pragma once
/// @file
/// What statements change, booked a second time: the cheap invariants of a session.

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include <kaisched/result.hpp>

#include "base/row_marks.hpp"
#include "model/state.hpp"

namespace kaisched::framework {

class session_state;
struct operation;

/// An invariant does not hold: this is a defect of the library.
[[nodiscard]] error violated(const std::string& what);

/// The sums of a session as they were when they were last verified. Pods of a statement that has ended are taken off as
/// they were and put in as they are; what they touch must then hold the same in both books. That costs what has
/// changed; opening it, the first write copies the amounts of nodes and queues. A closed one does nothing.
class change_ledger {
 public:
  void open(const model::live_state& live);
  /// The session has replaced its decisions by their net outcome: the sums are those of its pods as they are now.
  void open_again(const session_state& c);
  [[nodiscard]] bool is_open() const { return is_open_; }
  /// These operations are going to stay.
  void note(std::span<const operation> log);
  /// Nodes, devices, pod sets and queues that were touched hold what their pods hold, and nothing is newly over
  /// capacity, promised twice or over a bound; groups that got something have their gangs.
  [[nodiscard]] result<void> verify(const session_state& c);

 private:
  void rebook(const session_state& c, pod_row p);
  void rebook_others(const session_state& c);
  [[nodiscard]] result<void> verify_nodes(const session_state& c) const;
  [[nodiscard]] result<void> verify_counts(const session_state& c) const;
  [[nodiscard]] result<void> verify_queues(const session_state& c);
  [[nodiscard]] result<void> verify_gangs(const session_state& c);
  void find_queues(const session_state& c);
  void mark_promised_twice(const session_state& c, pod_row p, std::uint32_t slot);

  bool is_open_ = false;
  model::live_state was_;
  std::vector<pod_row> pods_;    ///< of statements since
  std::vector<node_row> nodes_;  ///< that these touch, and so on
  std::vector<group_row> groups_;
  std::vector<queue_row> queues_;
  /// Of these queues, what they held.
  std::vector<model::quota_vector> allocated_before_;
  std::vector<model::quota_vector> nonpreemptible_before_;
  // How much of the lists of the session is booked.
  std::size_t leaving_ = 0;
  std::size_t divisions_ = 0;
  std::size_t evicted_twice_ = 0;
  std::size_t decisions_ = 0;
  base::row_marks promised_twice_;  ///< nodes that may be
  base::row_marks lost_;            ///< groups that lost pods in this session
};

/// The node has not more taken or promised than it has, unless it had when the session began; its devices likewise.
[[nodiscard]] result<void> check_capacity_of(const session_state& c, node_row row);
/// A pod that counts as leaving this node, a slot, although it was not there when the session began: it is charged to
/// what is idle.
[[nodiscard]] bool leaves_without_having_been_there(const session_state& c, pod_row p, std::uint32_t slot);
/// A group that got something and lost nothing has no whole gang. Exceptions of `compat`: groups with `min_sub_group`,
/// which KAI starts partly, and gangs that were broken before, which it completes as far as their pods go when they are
/// victims.
[[nodiscard]] bool has_broken_gang(const session_state& c, group_row group);
/// By how often queues count a pod of this status.
[[nodiscard]] std::int64_t times_counted(const session_state& c, pod_row p, pod_status now);
/// As messages name them.
[[nodiscard]] std::string text_of_node(const session_state& c, node_row row);
[[nodiscard]] std::string text_of_device(const session_state& c, device_row device);

}  // namespace kaisched::framework
