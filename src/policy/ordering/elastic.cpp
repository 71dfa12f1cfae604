// Groups below the size of their gang first, then those exactly at it, then those with surplus (KAI plugin "elastic").
#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class elastic_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "elastic"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = {fullness(view, groups[i]), 0};
    return {};
  }
};

}  // namespace

int fullness(const session_view& view, group_row group) {
  const session_access& a = inside(view);
  const model::group_core& g = a.state->groups[group];
  bool exact = true;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = a.state->subs[sub];
    if (info.is_set) continue;
    const std::int64_t active = a.live->counts[sub].active_allocated;
    const std::int64_t needed = a.min_of(sub);
    if (active < needed) return 0;
    exact = exact && active == needed;
  }
  return exact ? 1 : 2;
}

std::unique_ptr<policy_part> make_elastic(const policy_options&) { return std::make_unique<elastic_part>(); }

}  // namespace kaisched::policy
