#include "policy/constraints/disruption_ledger.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

namespace kaisched::policy {

void disruption_ledger::open(const model::cluster_state& s) {
  const std::vector<model::disruption_budget_info>& budgets = *s.disruption_budgets;
  if (budgets.empty()) return;
  auto budget_of = std::make_shared<std::vector<std::uint32_t>>(s.pod_slots, no_row);
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    const std::string_view name = s.pods[p].live ? s.told_of(p).budget : std::string_view{};
    if (name.empty() || !model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::holding)) continue;
    const auto at = std::ranges::lower_bound(budgets, name, {}, &model::disruption_budget_info::name);
    if (at != budgets.end() && at->name == name) (*budget_of)[p] = static_cast<std::uint32_t>(at - budgets.begin());
  }
  budget_of_ = std::move(budget_of);
  for (const model::disruption_budget_info& one : budgets) left_.push_back(one.allowed);
}

void disruption_ledger::count(pod_row pod, bool goes) {
  std::uint32_t& times = times_.at(pod);
  std::int64_t& left = left_[(*budget_of_)[pod]];
  if (goes) {
    if (times++ == 0 && left-- == 0) ++overdrawn_;
  } else {
    if (--times == 0 && ++left == 0) --overdrawn_;
  }
}

budget_refusal disruption_ledger::overdraft() const {
  const auto at = std::ranges::find_if(left_, [](std::int64_t left) { return left < 0; });
  return {static_cast<std::uint32_t>(at - left_.begin()), -*at, 0};
}

std::uint32_t disruption_ledger::open_budget(pod_row pod) const {
  if (!used() || (*budget_of_)[pod] == no_row) return no_row;
  const std::uint32_t* const times = times_.find(pod);
  return times != nullptr && *times > 0 ? no_row : (*budget_of_)[pod];
}

std::optional<budget_refusal> disruption_ledger::refusal_of(std::span<const pod_row> pods) const {
  disruption_draft draft(*this);
  if (draft.take(pods)) return std::nullopt;
  return draft.refusal();
}

bool disruption_draft::take(std::span<const pod_row> pods) {
  boost::container::flat_map<std::uint32_t, std::int64_t> more;
  boost::container::flat_set<pod_row> fresh;
  for (const pod_row p : pods) {
    const std::uint32_t budget = from_.open_budget(p);
    if (budget != no_row && !taken_.contains(p) && fresh.insert(p).second) ++more[budget];
  }
  for (const auto& [budget, count] : more) {
    const auto before = gone_.find(budget);
    const std::int64_t left = from_.left_[budget] - (before == gone_.end() ? 0 : before->second);
    if (count <= left) continue;
    refusal_ = {budget, count, std::max<std::int64_t>(0, left)};
    return false;
  }
  for (const auto& [budget, count] : more) gone_[budget] += count;
  taken_.insert(fresh.begin(), fresh.end());
  return true;
}

}  // namespace kaisched::policy
