#include "policy/constraints/constraint_list.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace kaisched::policy {

bool constraint_setup::has_part(std::string_view name) const { return policy::has_part(access, name); }

bool node_constraint::is_available(const session_access& a, pod_row pod, node_row row) const {
  constraint verdict = constraint::none;
  if (!is_rule()) judge(a, pod, free_amount::idle, std::span(&row, 1), std::span(&verdict, 1));
  return verdict == constraint::none;
}

constraint_list::constraint_list(const constraint_list& other)
    : traits_(other.traits_),
      has_rules_(other.has_rules_),
      has_resources_(other.has_resources_),
      savers_(other.savers_),
      saved_(other.saved_),
      kept_(other.kept_),
      kinds_(other.kinds_) {
  used_.reserve(other.used_.size());
  for (const entry& one : other.used_) used_.push_back({one->clone(), one.traits});
}

result<void> constraint_list::open(std::span<const constraint_factory> known, const constraint_setup& with,
                                   bool first) {
  for (const constraint_factory make : known) {
    std::unique_ptr<node_constraint> made = make();
    if (made->opens_first() != first) continue;
    const result<bool> is_used = made->open(with);
    if (!is_used) return is_used.failure();
    if (!*is_used) continue;
    const std::uint32_t traits = made->traits(with.access);
    traits_ |= traits;
    savers_ += made->saves() ? 1U : 0U;
    if ((traits & trait_refuses_no_node) == 0) {
      has_rules_ = has_rules_ || made->is_rule();
      has_resources_ = has_resources_ || (!made->is_rule() && (traits & trait_by_devices) == 0);
    }
    used_.push_back({std::move(made), traits});
  }
  if (!first) number_kinds(with.access.state->group_slots);
  return {};
}

void constraint_list::show(session_access& to) const {
  for (const entry& one : used_) one->show(to);
}

// ---- may the pod be there ----------------------------------------------------------------------------------------

namespace {

bool closes_by_group(const node_constraint& one, const session_access& a, pod_row pod) {
  return one.closed_to(a.state->pods[pod].group) != nullptr;
}

constraint verdict_of(const node_constraint& one, const session_access& a, pod_row pod, node_row row,
                      free_amount which) {
  constraint verdict = constraint::none;
  one.judge(a, pod, which, std::span(&row, 1), std::span(&verdict, 1));
  return verdict;
}

}  // namespace

bool constraint_list::look_for_others_than_amounts(const session_access& a, pod_row pod) const {
  return std::ranges::any_of(
      used_, [&](const entry& one) { return (one->traits(a) & trait_not_by_amount) != 0 && one->concerns(a, pod); });
}

bool constraint_list::look_for_rules(const session_access& a, pod_row pod) const {
  return std::ranges::any_of(used_, [&](const entry& one) {
    return one->is_rule() && one->concerns(a, pod) && !closes_by_group(*one, a, pod);
  });
}

void constraint_list::judge_by_rules(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                                     std::span<constraint> verdicts) const {
  for (const entry& one : used_) {
    if (one->is_rule()) one->judge(a, pod, free_amount::idle_or_releasing, nodes, verdicts);
  }
}

void constraint_list::judge_by_other_rules(const session_access& a, pod_row pod, std::span<const node_row> nodes,
                                           std::span<constraint> verdicts) const {
  for (const entry& one : used_) {
    if (one->is_rule() && one->part().empty()) one->judge(a, pod, free_amount::idle_or_releasing, nodes, verdicts);
  }
}

void constraint_list::judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) const {
  for (const entry& one : used_) {
    if (!closes_by_group(*one, a, pod)) one->judge(a, pod, which, nodes, verdicts);
  }
}

bool constraint_list::others_allow(const session_access& a, pod_row pod, node_row row) const {
  return std::ranges::all_of(used_, [&](const entry& one) {
    return !one->is_rule() || closes_by_group(*one, a, pod) ||
           verdict_of(*one, a, pod, row, free_amount::idle_or_releasing) == constraint::none;
  });
}

bool constraint_list::rules_allow(const session_access& a, pod_row pod, node_row row) const {
  return std::ranges::all_of(used_, [&](const entry& one) {
    return !one->is_rule() || verdict_of(*one, a, pod, row, free_amount::idle_or_releasing) == constraint::none;
  });
}

bool constraint_list::ask_resources(const session_access& a, pod_row pod, node_row row, free_amount which,
                                    bool asked_by_parts) const {
  return std::ranges::all_of(used_, [&](const entry& one) {
    if (one->is_rule() || (one.traits & (trait_by_devices | trait_refuses_no_node)) != 0) return true;
    if (asked_by_parts && !one->part().empty()) return true;
    return verdict_of(*one, a, pod, row, which) == constraint::none;
  });
}

bool constraint_list::all_resources_allow(const session_access& a, pod_row pod, node_row row, free_amount which) const {
  return std::ranges::all_of(used_, [&](const entry& one) {
    return one->is_rule() || verdict_of(*one, a, pod, row, which) == constraint::none;
  });
}

// ---- groups ------------------------------------------------------------------------------------------------------

closed_sets constraint_list::look_for_closed(group_row group) const {
  closed_sets all;
  for (const entry& one : used_) {
    if (const node_flags* const closed = one->closed_to(group); closed != nullptr) all.push_back(closed);
  }
  return all;
}

bool constraint_list::closes(group_row group, node_row row) const {
  return has(trait_closes_nodes) && std::ranges::any_of(used_, [&](const entry& one) {
           const node_flags* const closed = one->closed_to(group);
           return closed != nullptr && (*closed)[row] != 0;
         });
}

/// Numbers for what all constraints that close nodes say of groups.
void constraint_list::number_kinds(group_row groups) {
  if (std::ranges::count_if(used_, [](const entry& one) { return (one.traits & trait_closes_nodes) != 0; }) < 2) return;
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers{{std::vector<std::uint32_t>(used_.size(), 0), 0}};
  auto made = std::make_shared<std::vector<std::uint32_t>>();
  for (group_row g = 0; g < groups; ++g) {
    std::vector<std::uint32_t> kinds;
    for (const entry& one : used_) kinds.push_back(one->kind_of(g));
    made->push_back(numbers.try_emplace(std::move(kinds), static_cast<std::uint32_t>(numbers.size())).first->second);
  }
  kinds_ = std::move(made);
}

std::uint32_t constraint_list::kind_of(group_row group) const {
  if (!has(trait_closes_nodes) || group == no_row) return 0;
  if (kinds_ != nullptr) return (*kinds_)[group];
  for (const entry& one : used_) {
    if ((one.traits & trait_closes_nodes) != 0) return one->kind_of(group);
  }
  return 0;
}

// ---- at another time ---------------------------------------------------------------------------------------------

void constraint_list::look_at(group_row group, std::int64_t time) {
  for (const entry& one : used_) one->look_at(group, time);
}

void constraint_list::look_at_now() {
  for (const entry& one : used_) one->look_at_now();
}

std::int64_t constraint_list::next_change(std::int64_t after) const {
  std::int64_t first = unset;
  for (const entry& one : used_) {
    const std::int64_t next = one->next_change(after);
    if (next != unset && (first == unset || next < first)) first = next;
  }
  return first;
}

// ---- charge and undo ---------------------------------------------------------------------------------------------

std::uint32_t constraint_list::save_all(pod_row pod) {
  const auto at = static_cast<std::uint32_t>(saved_.size());
  for (const entry& one : used_) {
    if (one->saves()) saved_.push_back(one->save(pod));
  }
  return at;
}

void constraint_list::end_statement(bool keeps) {
  if (keeps)
    kept_ = saved_.size();
  else
    saved_.resize(kept_);
  for (const entry& one : used_) one->end_statement(keeps);
}

void constraint_list::reopen_statements() {
  kept_ = 0;
  for (const entry& one : used_) one->reopen_statements();
}

void constraint_list::before_amounts(const session_access& a, model::live_state& live, place_change change,
                                     std::uint32_t saved) {
  each_with_saved(saved, [&](node_constraint& one, std::uint32_t own) {
    change.saved = own;
    one.before_amounts(a, live, change);
    return true;
  });
}

void constraint_list::after_amounts(const session_access& a, model::live_state& live, place_change change,
                                    std::uint32_t saved) {
  each_with_saved(saved, [&](node_constraint& one, std::uint32_t own) {
    change.saved = own;
    one.after_amounts(a, live, change);
    return true;
  });
}

bool constraint_list::counts_gpus_of(pod_row pod) const {
  return std::ranges::any_of(used_, [&](const entry& one) { return one->counts_gpus_of(pod); });
}

// ---- evictions ---------------------------------------------------------------------------------------------------

bool constraint_list::gives_back(const session_access& a, pod_row pod, node_row row, std::uint32_t saved) {
  bool good = true;
  each_with_saved(saved, [&](node_constraint& one, std::uint32_t own) {
    good = one.gets_back(a, pod, row, own);
    return good;
  });
  return good;
}

// ---- results and checks ------------------------------------------------------------------------------------------

void constraint_list::describe(const session_access& a, pod_row pod, node_row row, decision& to) const {
  for (const entry& one : used_) one->describe(a, pod, row, to);
}

void constraint_list::describe_left(std::uint32_t saved, decision& to) const {
  each_with_saved(saved, [&](const node_constraint& one, std::uint32_t own) {
    one.describe_left(own, to);
    return true;
  });
}

void constraint_list::digest(base::sha256& to) const {
  for (const entry& one : used_) one->digest(to);
}

std::string constraint_list::fault(const session_access& a, const recount_facts& facts) const {
  for (const entry& one : used_) {
    if (std::string found = one->fault(a, facts); !found.empty()) return found;
  }
  return {};
}

}  // namespace kaisched::policy
