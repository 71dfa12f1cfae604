// How evenly pods have to be spread over the domains of a key, and would rather be (Kubernetes: PodTopologySpread).
#include "policy/access.hpp"
#include "policy/parts.hpp"
#include "policy/predicates/neighbours.hpp"

namespace kaisched::policy {

namespace {

class topology_spread_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "topologyspread"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes | part_scores_nodes; }
  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    spread_verdicts(inside(view), pod, nodes, verdicts);
    return {};
  }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const neighbour_book* const known = inside(view).neighbours;
    if (known == nullptr) return {};
    const std::vector<std::int64_t> points = known->evenness(pod, nodes);
    for (std::size_t i = 0; i < points.size(); ++i) scores[i] += figures_band * static_cast<double>(points[i]) / 100;
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_topology_spread(const policy_options&) {
  return std::make_unique<topology_spread_part>();
}

}  // namespace kaisched::policy
