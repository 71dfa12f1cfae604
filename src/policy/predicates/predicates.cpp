// All tests of nodes that are not amounts (KAI plugin "predicates").
#include "policy/access.hpp"
#include "policy/constraints/constraint_list.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class predicates_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "predicates"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes; }
  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none) verdicts[i] = node_verdict(a, c, nodes[i]);
    }
    if (!ignores_other_pods(a, c)) a.constraints->judge_by_rules(a, pod, nodes, verdicts);
    return {};
  }
};

}  // namespace

std::unique_ptr<policy_part> make_predicates(const policy_options&) { return std::make_unique<predicates_part>(); }

}  // namespace kaisched::policy
