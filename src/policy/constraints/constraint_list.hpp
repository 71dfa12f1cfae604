#pragma once
/// @file
/// The node constraints that a session uses, asked and told together.

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "policy/constraints/node_constraint.hpp"

namespace kaisched::policy {

/// Sets of nodes that are closed to one group.
using closed_sets = boost::container::small_vector<const node_flags*, 2>;

/// Copying a list copies its constraints. Constraints that a session does not use are not in it.
class constraint_list {
 public:
  constraint_list() = default;
  constraint_list(const constraint_list& other);
  constraint_list& operator=(const constraint_list&) = delete;
  ~constraint_list() = default;

  /// Opens those that come first, or all others, and keeps the ones that are used.
  [[nodiscard]] result<void> open(std::span<const constraint_factory> known, const constraint_setup& with, bool first);
  void show(session_access& to) const;
  [[nodiscard]] bool empty() const { return used_.empty(); }
  /// Of all of them.
  [[nodiscard]] bool has(constraint_trait trait) const { return (traits_ & trait) != 0; }

  // ---- may the pod be there
  [[nodiscard]] bool concerns(const session_access& a, pod_row pod) const {
    for (const entry& one : used_) {
      if (one->concerns(a, pod)) return true;
    }
    return false;
  }
  /// Other pods of the class may be treated differently.
  [[nodiscard]] bool tells_apart(const session_access& a, pod_row pod) const {
    return has(trait_depends_on_pod) && concerns(a, pod);
  }
  /// Amounts do not tell where the pod has room, nor which victims make some.
  [[nodiscard]] bool is_not_by_amount(const session_access& a, pod_row pod) const {
    return has(trait_not_by_amount) && look_for_others_than_amounts(a, pod);
  }
  [[nodiscard]] bool follows_other_pods(const session_access& a, const model::pod_class& c) const {
    for (const entry& one : used_) {
      if (one->follows_other_pods(a, c)) return true;
    }
    return false;
  }
  [[nodiscard]] bool needs_scores(const session_access& a, pod_row pod) const {
    for (const entry& one : used_) {
      if (one->needs_scores(a, pod)) return true;
    }
    return false;
  }
  /// Some rule may refuse a node to the pod, and does not say so by closing nodes to its group.
  [[nodiscard]] bool has_rules_for(const session_access& a, pod_row pod) const {
    return has_rules_ && look_for_rules(a, pod);
  }
  /// One verdict per node that has none, of rules.
  void judge_by_rules(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                      std::span<constraint> verdicts) const;
  /// The same of rules that no part of the policy asks.
  void judge_by_other_rules(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) const;
  /// One verdict per node that has none, of all constraints that do not close nodes to groups.
  void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const;
  /// No rule refuses the node, nodes that are closed to the group of the pod aside.
  [[nodiscard]] bool others_allow(const session_access& a, pod_row pod, node_row row) const;
  /// No rule refuses the node.
  [[nodiscard]] bool rules_allow(const session_access& a, pod_row pod, node_row row) const;
  /// No resource refuses the node, as far as it does not depend on which devices the pod gets.
  /// `asked_by_parts`: parts of the policy have asked the resources that they know.
  [[nodiscard]] bool resources_allow(const session_access& a, pod_row pod, node_row row, free_amount which,
                                     bool asked_by_parts = false) const {
    return !has_resources_ || ask_resources(a, pod, row, which, asked_by_parts);
  }
  /// No resource refuses the node whichever devices the pod gets.
  [[nodiscard]] bool all_resources_allow(const session_access& a, pod_row pod, node_row row, free_amount which) const;
  [[nodiscard]] bool is_available(const session_access& a, pod_row pod, node_row row) const {
    for (const entry& one : used_) {
      if (!one->is_available(a, pod, row)) return false;
    }
    return true;
  }
  [[nodiscard]] std::int64_t gpus_paid(pod_row pod, node_row row, free_amount which) const {
    std::int64_t paid = 0;
    for (const entry& one : used_) paid += one->gpus_paid(pod, row, which);
    return paid;
  }
  [[nodiscard]] std::uint64_t devices_for(const session_access& a, const model::pod_class& c, node_row row,
                                          free_amount which) const {
    std::uint64_t mask = ~std::uint64_t{0};
    for (const entry& one : used_) mask &= one->devices_for(a, c, row, which);
    return mask;
  }
  [[nodiscard]] bool fits_with(const session_access& a, pod_row pod, node_row row, const device_set& devices,
                               bool starts) const {
    for (const entry& one : used_) {
      if (!one->fits_with(a, pod, row, devices, starts)) return false;
    }
    return true;
  }

  // ---- groups
  [[nodiscard]] closed_sets closed_to(group_row group) const {
    return has(trait_closes_nodes) ? look_for_closed(group) : closed_sets();
  }
  [[nodiscard]] bool closes(group_row group, node_row row) const;
  /// Groups of the same number are refused by the same nodes; 0: by none.
  [[nodiscard]] std::uint32_t kind_of(group_row group) const;

  // ---- at another time
  void look_at(group_row group, std::int64_t time);
  void look_at_now();
  [[nodiscard]] std::int64_t next_change(std::int64_t after) const;

  // ---- charge and undo
  /// What all of them know of the pod: a number for `place_change`, to be given to the functions below.
  [[nodiscard]] std::uint32_t save(pod_row pod) { return savers_ == 0 ? place_change::nothing_saved : save_all(pod); }
  void end_statement(bool keeps);
  void reopen_statements();
  /// `saved`: what `save` has returned.
  void before_amounts(const session_access& a, model::live_state& live, place_change change, std::uint32_t saved);
  void after_amounts(const session_access& a, model::live_state& live, place_change change, std::uint32_t saved);
  void charge(const session_access& a, model::live_state& live, pod_row pod, node_row row, pod_status status,
              std::int64_t sign) {
    for (const entry& one : used_) one->charge(a, live, pod, row, status, sign);
  }
  void recharge(const session_access& a, model::live_state& live, pod_row pod, node_row row, pod_status from,
                pod_status to) {
    for (const entry& one : used_) one->recharge(a, live, pod, row, from, to);
  }
  [[nodiscard]] bool counts_gpus_of(pod_row pod) const;
  void changed(const session_access& a, pod_row pod) {
    for (const entry& one : used_) one->changed(a, pod);
  }
  void node_changed(const session_access& a, node_row row) {
    for (const entry& one : used_) one->node_changed(a, row);
  }

  // ---- evictions
  [[nodiscard]] bool gives_back(const session_access& a, pod_row pod, node_row row, std::uint32_t saved);

  // ---- results and checks
  void describe(const session_access& a, pod_row pod, node_row row, decision& to) const;
  void describe_left(std::uint32_t saved, decision& to) const;
  void digest(base::sha256& to) const;
  [[nodiscard]] std::string fault(const session_access& a, const recount_facts& facts) const;

 private:
  struct entry {
    std::unique_ptr<node_constraint> rule;
    std::uint32_t traits = 0;
    node_constraint* operator->() const { return rule.get(); }
    node_constraint& operator*() const { return *rule; }
  };
  [[nodiscard]] bool ask_resources(const session_access& a, pod_row pod, node_row row, free_amount which,
                                   bool asked_by_parts) const;
  void number_kinds(group_row groups);
  [[nodiscard]] bool look_for_others_than_amounts(const session_access& a, pod_row pod) const;
  [[nodiscard]] bool look_for_rules(const session_access& a, pod_row pod) const;
  [[nodiscard]] closed_sets look_for_closed(group_row group) const;
  [[nodiscard]] std::uint32_t save_all(pod_row pod);
  /// Calls `visit(constraint, what it has saved)`.
  template <class Visit>
  void each_with_saved(std::uint32_t saved, Visit visit) const {
    std::uint32_t at = saved;
    for (const entry& one : used_) {
      const bool has = saved != place_change::nothing_saved && one->saves();
      if (!visit(*one, has ? saved_[at++] : place_change::nothing_saved)) return;
    }
  }

  std::vector<entry> used_;  ///< in the order of the registry
  std::uint32_t traits_ = 0;
  bool has_rules_ = false;      ///< that refuse nodes
  bool has_resources_ = false;  ///< likewise, whichever devices a pod gets
  std::uint32_t savers_ = 0;
  std::vector<std::uint32_t> saved_;  ///< numbers of each saver, for every operation that has saved something
  std::size_t kept_ = 0;              ///< of these, of statements that are over
  /// By group, where several constraints close nodes; null: one says it, or none.
  std::shared_ptr<const std::vector<std::uint32_t>> kinds_;
};

}  // namespace kaisched::policy
