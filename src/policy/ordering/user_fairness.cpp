// Of the groups of a queue those of users who hold less of it first. A group without a user stands for itself.
#include <algorithm>
#include <string_view>
#include <tuple>

#include "policy/access.hpp"
#include "policy/ordering/dominant_share.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class user_fairness_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "userfairness"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_orders_groups | part_order_is_shared;
  }

  result<void> session_open(const session_view& view) override {
    total_ = open_capacity(view);
    const model::cluster_state& s = *inside(view).state;
    for (group_row g = 0; g < s.group_slots; ++g) {
      if (s.groups[g].live && !s.group_extras[g].user.empty()) members_.push_back(g);
    }
    const auto account = [&](group_row g) { return std::tuple(s.groups[g].queue, s.group_extras[g].user); };
    std::sort(members_.begin(), members_.end(),
              [&](group_row a, group_row b) { return std::tuple(account(a), a) < std::tuple(account(b), b); });
    account_of_.assign(s.group_slots, no_account);
    for (std::uint32_t i = 0; i < members_.size(); ++i) {
      if (i == 0 || account(members_[i - 1]) != account(members_[i])) accounts_.push_back({i, i, never, {}});
      ++accounts_.back().end;
      account_of_[members_[i]] = static_cast<std::uint32_t>(accounts_.size() - 1);
    }
    return {};
  }

  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const std::uint32_t account = account_of_[groups[i]];
      keys[i] = account == no_account ? dominant_share(held_by_group(view, groups[i]), total_) : key_of(view, account);
    }
    return {};
  }

 private:
  static constexpr std::uint32_t no_account = 0xFFFFFFFFU;
  static constexpr std::uint64_t never = ~std::uint64_t{0};

  /// What a user holds in a queue, kept until a pod changes its status.
  struct user_account {
    std::uint32_t first;  ///< among `members_`
    std::uint32_t end;
    std::uint64_t made;
    order_key key;
  };

  order_key key_of(const session_view& view, std::uint32_t account) {
    user_account& kept = accounts_[account];
    if (kept.made == inside(view).changes) return kept.key;
    model::quota_vector held{};
    for (std::uint32_t i = kept.first; i < kept.end; ++i) {
      const model::quota_vector one = held_by_group(view, members_[i]);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) held[r] += one[r];
    }
    kept.key = dominant_share(held, total_);
    kept.made = inside(view).changes;
    return kept.key;
  }

  model::quota_vector total_{};
  std::vector<group_row> members_;  ///< groups with a user, by queue and user
  std::vector<user_account> accounts_;
  std::vector<std::uint32_t> account_of_;  ///< by group
};

}  // namespace

std::unique_ptr<policy_part> make_user_fairness(const policy_options&) {
  return std::make_unique<user_fairness_part>();
}

}  // namespace kaisched::policy
