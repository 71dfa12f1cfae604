#pragma once
/// @file
/// Parts that only order groups, by a key that each group has for itself.

#include <string_view>

#include "policy/parts.hpp"

namespace kaisched::policy {

/// The part of a name that gives each group the key of a function.
template <order_key (*Key)(const session_view&, group_row)>
class key_part final : public policy_part {
 public:
  explicit key_part(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = Key(view, groups[i]);
    return {};
  }

 private:
  std::string_view name_;
};

}  // namespace kaisched::policy
