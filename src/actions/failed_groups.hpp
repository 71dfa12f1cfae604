#pragma once
/// @file
/// Groups like one that has just failed are not searched victims for (KAI's scheduling signatures).

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// The smallest failed group of each signature. A signature is what the pods that are not running ask of nodes: labels,
/// affinity, tolerations, ports, claims and topology, but no amounts.
///
/// `compat` decides as KAI does, which compares lists of requests place by place, passes over requests that cannot be
/// compared, and remembers across commits. `strict` leaves a group out only where its failure follows from the other
/// one: in the same leaf queue, as preemptible, of no higher priority, nothing having been committed since, and with a
/// chunk that has a pod at least as large, of the same constraints, for each pod of the chunk that failed; in reclaim,
/// where those who gain more may take more, with the same requests.
class failed_groups {
 public:
  /// `per_queue`: what fails in one leaf queue says nothing about another.
  failed_groups(framework::session_state& c, bool per_queue) : c_(c), per_queue_(per_queue) {}

  /// A group that is in nothing easier than one that failed.
  [[nodiscard]] bool tell_that_hopeless(group_row group);
  void add(group_row group);
  /// `strict`: the search for the group ended for want of steps.
  void note_cut(group_row group);
  /// `strict`: how many steps a search for the group may take at most, or `unlimited`: half as many after each search
  /// that was cut for a group of the same queue and constraints, and at least a sixteenth of `search_steps`.
  [[nodiscard]] std::int64_t most_steps(group_row group);
  /// Groups that have been added.
  [[nodiscard]] std::uint64_t added() const { return added_; }

 private:
  using key = std::pair<queue_row, std::uint32_t>;  ///< with the number of a signature
  [[nodiscard]] key key_of(group_row group);
  [[nodiscard]] framework::signature strict_key_of(group_row group);
  [[nodiscard]] framework::signature strict_key_of_pod(pod_row p, sub_group_row first_sub);
  [[nodiscard]] std::uint32_t number_of_domains(sub_group_row pod_set);
  [[nodiscard]] std::uint32_t number_of_requests(framework::request_list requests);
  [[nodiscard]] std::uint32_t number_of_requests(group_row group);
  [[nodiscard]] std::string text_of_ask(pod_row p) const;
  [[nodiscard]] const framework::failure_signature& strict_signature_of(group_row group);
  /// If the smaller chunk has failed, the larger one cannot succeed.
  [[nodiscard]] bool is_at_least(const framework::failure_signature& larger,
                                 const framework::failure_signature& smaller) const;
  void forget_if_changed();
  [[nodiscard]] framework::signature signature_of(group_row group);
  [[nodiscard]] std::uint32_t number_of_class(class_row kind);
  [[nodiscard]] std::uint32_t number_of_topologies(sub_group_row pod_set);
  [[nodiscard]] std::uint32_t number_of(std::string_view text);
  [[nodiscard]] static std::string constraints_of(const model::pod_class& of);

  framework::session_state& c_;
  bool per_queue_;
  std::uint64_t added_ = 0;
  std::map<key, group_row> smallest_;                                          ///< compat
  std::map<std::uint32_t, std::vector<framework::failure_signature>> failed_;  ///< strict, by kind
  std::map<std::uint32_t, unsigned> cuts_;                                     ///< strict, by kind
  std::uint32_t commits_ = 0;                                                  ///< when those were noted
};

}  // namespace kaisched::actions
