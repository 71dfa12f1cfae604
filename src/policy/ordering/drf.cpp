// The group with the smallest dominant share first (dominant resource fairness).
#include "policy/ordering/dominant_share.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class drf_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "drf"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> session_open(const session_view& view) override {
    total_ = open_capacity(view);
    return {};
  }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = dominant_share(held_by_group(view, groups[i]), total_);
    return {};
  }

 private:
  model::quota_vector total_{};
};

}  // namespace

std::unique_ptr<policy_part> make_drf(const policy_options&) { return std::make_unique<drf_part>(); }

}  // namespace kaisched::policy
