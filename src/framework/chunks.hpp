#pragma once
/// @file
/// What groups try to start next: their tasks to allocate, in this code chunks.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include <boost/container/small_vector.hpp>

#include <kaisched/ids.hpp>

#include "base/sparse_rows.hpp"
#include "model/state.hpp"
#include "policy/ordering/kai_queue_order.hpp"

namespace kaisched::framework {

class session_state;

/// Pods of one group, of which most have few.
using pod_list = boost::container::small_vector<pod_row, 8>;

/// A group cut to its active pods and some of its pending ones, asking for no larger gangs than these can make: the
/// problem that victims are searched for (KAI's partial job).
struct partial_group {
  group_row group = no_row;
  std::vector<std::int64_t> min;  ///< by sub-group of the group
  std::vector<pod_row> pods;      ///< the pending ones, sorted
  pod_list chunk;                 ///< what it tries to start
  bool asked = false;             ///< the request is known
  model::quota_vector request{};  ///< of the chunk
  double gpus = 0;                ///< the same, if queues add parts up

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
  double gpus = 0;  ///< the same, if queues add parts up
};

/// What a group asks of nodes, without amounts, as numbers.
using signature = boost::container::small_vector<std::uint32_t, 6>;
/// What `strict` compares groups by that could fail like others.
struct failure_signature {
  bool is_known = false;
  std::uint32_t changes = 0;  ///< of the group when this was made
  std::uint32_t kind = 0;     ///< number of all that has to be equal
  std::int64_t priority = 0;
  std::uint32_t requests = 0;  ///< number of the list of what the pods of its next chunk ask for
};
/// What several pods ask for, sorted by GPUs, cores and memory.
using request_list = std::vector<std::vector<std::int64_t>>;
struct group_signatures {
  std::map<std::string, std::uint32_t, std::less<>> number_of_text;
  std::vector<std::uint32_t> number_of_class;  ///< no_row: not known yet
  std::vector<std::uint32_t> number_of_depth;  ///< of pod sets so deep in trees without topologies; no_row: likewise
  std::map<signature, std::uint32_t> number_of_signature;
  std::vector<std::uint32_t> number_of_group;  ///< no_row: not known yet
  std::map<signature, std::uint32_t> number_of_kind;
  std::map<request_list, std::uint32_t> number_of_requests;
  std::vector<request_list> requests;  ///< by number
  /// Numbers of lists, by the class of pods that are all of one, and how many they are.
  std::map<std::pair<class_row, std::size_t>, std::uint32_t> number_of_equal;
  base::sparse_rows<failure_signature> of_failures;
  std::uint32_t commits = 0;  ///< when the latter were made
};

class chunk_store {
 public:
  chunk_store() = default;
  /// No group of a copy is cut to a part.
  chunk_store(const chunk_store& other)
      : signatures(other.signatures), keeps_(other.keeps_), changes_(other.changes_), kept_(other.kept_) {}
  chunk_store& operator=(const chunk_store&) = delete;
  ~chunk_store() = default;
  void connect(session_state& c) { c_ = &c; }

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
    const chunk_memory* const kept = keeps_ ? kept_.find(group) : nullptr;
    return kept == nullptr ? 0 : kept->changes;
  }
  /// From now on the group is only this part of it; ends with `drop_part`.
  void take_part(group_row group, std::span<const pod_row> pods);
  void drop_part();
  /// Puts the part aside while another group is a part of itself; `resume_part` brings it back.
  [[nodiscard]] partial_group set_part_aside();
  void resume_part(partial_group part);
  /// The status of the pod changes.
  void forget(pod_row pod);
  [[nodiscard]] bool is_kept() const { return keeps_; }
  /// Grows with every change of the status of a pod of any group, while chunks are kept.
  [[nodiscard]] std::uint64_t changes() const { return changes_; }

  partial_group partial;
  /// What groups that failed ask of nodes. As in KAI they are kept for the session, also when pods are placed.
  group_signatures signatures;

 private:
  [[nodiscard]] const pod_list& kept_chunk_of(group_row group, bool simulated);
  bool fill_part(sub_group_row member, std::span<const std::int64_t> own);

  session_state* c_ = nullptr;
  bool keeps_ = false;
  std::uint64_t changes_ = 0;
  base::sparse_rows<chunk_memory> kept_;  ///< by group
};

}  // namespace kaisched::framework
