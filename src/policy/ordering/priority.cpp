// Groups of higher priority first (KAI plugin "priority").
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class priority_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "priority"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = {-view.group_priority(groups[i]), 0};
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_priority(const policy_options&) { return std::make_unique<priority_part>(); }

}  // namespace kaisched::policy
