// Devices that are claimed instead of counted (KAI plugin "dynamicresources").
#include "policy/access.hpp"
#include "policy/claims/ledger.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class dynamic_resources_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "dynamicresources"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes; }

  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const session_access& a = inside(view);
    if (a.claims == nullptr || !a.claims->has_claims(pod)) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !claims_fit(a, pod, nodes[i], free_amount::idle_or_releasing)) {
        verdicts[i] = constraint::resource_claim;
      }
    }
    return {};
  }
};

}  // namespace

bool claims_have_requests(const session_access& a) { return a.claims != nullptr && a.claims->has_requests(); }

bool claims_fit(const session_access& a, pod_row pod, node_row row, free_amount which) {
  if (a.claims == nullptr || !a.claims->decides() || !a.claims->has_claims(pod)) return true;
  return a.claims->usable(*a.state, pod) && a.claims->fits(pod, row, which == free_amount::idle);
}

std::unique_ptr<policy_part> make_dynamic_resources(const policy_options&) {
  return std::make_unique<dynamic_resources_part>();
}

}  // namespace kaisched::policy
