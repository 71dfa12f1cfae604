// Nodes near pods that are welcome, and away from those that are not (Kubernetes: InterPodAffinity).
#include "policy/access.hpp"
#include "policy/parts.hpp"
#include "policy/predicates/neighbours.hpp"

namespace kaisched::policy {

namespace {

/// What a term of required affinity of a pod counts for one that it selects, as in kube-scheduler.
constexpr std::int64_t weight_of_required = 1;

class inter_pod_affinity_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "interpodaffinity"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const neighbour_book* const known = inside(view).neighbours;
    if (known == nullptr) return {};
    const std::vector<std::int64_t> points = known->welcome(pod, nodes, weight_of_required);
    for (std::size_t i = 0; i < points.size(); ++i) scores[i] += figures_band * static_cast<double>(points[i]) / 100;
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_inter_pod_affinity(const policy_options&) {
  return std::make_unique<inter_pod_affinity_part>();
}

}  // namespace kaisched::policy
