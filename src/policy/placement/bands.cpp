// Scores that are one band or nothing: availability, resource type, nominated node (KAI plugins of these names).
#include "policy/access.hpp"
#include "policy/constraints/constraint_list.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class availability_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "nodeavailability"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class;
  }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (a.ruled_out != nullptr && (*a.ruled_out)[nodes[i]] != 0) continue;
      if (fits(a, c, nodes[i], free_amount::idle, gpus_paid(a, pod, nodes[i], free_amount::idle)) &&
          a.constraints->is_available(a, pod, nodes[i]))
        scores[i] += availability_band;
    }
    return {};
  }
};

class resource_type_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "resourcetype"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class;
  }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    if (!is_cpu_only_pod(view, pod)) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (is_cpu_only_node(view, nodes[i])) scores[i] += resource_type_band;
    }
    return {};
  }
};

class nominated_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "nominatednode"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const std::uint32_t slot = a.state->pod_extras[pod].nominated;
    if (slot == no_row || slot >= a.state->node_row_of_slot->size()) return {};
    const node_row row = (*a.state->node_row_of_slot)[slot];
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (nodes[i] == row) scores[i] += nominated_band;
    }
    return {};
  }
};

}  // namespace

bool is_cpu_only_pod(const session_view& view, pod_row pod) {
  const model::pod_class& c = inside(view).state->class_of(pod);
  return !c.wants_gpu() && c.mig_slices == 0 && !c.asks_vendors();
}

bool is_cpu_only_node(const session_view& view, node_row node) {
  const session_access& a = inside(view);
  const std::size_t at = static_cast<std::size_t>(node) * a.state->dims() + dim_gpu;
  return (*a.state->capacity)[at] <= 0 && !has_divided_gpus(a, node);
}

std::unique_ptr<policy_part> make_node_availability(const policy_options&) {
  return std::make_unique<availability_part>();
}
std::unique_ptr<policy_part> make_resource_type(const policy_options&) {
  return std::make_unique<resource_type_part>();
}
std::unique_ptr<policy_part> make_nominated_node(const policy_options&) { return std::make_unique<nominated_part>(); }

}  // namespace kaisched::policy
