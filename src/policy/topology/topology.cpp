// Switches topology constraints on; the scores of preferred levels (KAI plugin "topology"). Domains are chosen where
// groups are placed.
#include <algorithm>

#include "policy/access.hpp"
#include "policy/parts.hpp"
#include "policy/topology/kai_domains.hpp"

namespace kaisched::policy {

namespace {

class topology_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "topology"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }
  result<void> score_nodes(const session_view& view, pod_row, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const topology::preferred_domains* preferred = inside(view).preferred;
    if (preferred == nullptr) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += std::max(0.0, preferred->score_of(nodes[i]));
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_topology(const policy_options&) { return std::make_unique<topology_part>(); }

}  // namespace kaisched::policy
