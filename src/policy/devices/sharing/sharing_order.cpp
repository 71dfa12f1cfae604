// Pods that share devices: nodes with a device that has room first (KAI plugin "gpusharingorder"), and which device of
// a node (KAI plugins "gpupack", "gpuspread").
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/devices/sharing/kai_shares.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class sharing_order_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "gpusharingorder"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class;
  }
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (has_shared_room(a, c, nodes[i])) scores[i] += sharing_band;
    }
    return {};
  }
};

/// What they switch on is built into the choice of devices.
class device_order_part final : public policy_part {
 public:
  explicit device_order_part(std::string_view name) : name_(name) {}
  [[nodiscard]] std::string_view name() const noexcept override { return name_; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return 0; }

 private:
  std::string_view name_;
};

/// Somebody has a part of the device, and what is left of it is enough.
bool has_room(const session_access& a, const model::pod_class& c, node_row row, device_row d) {
  if (!model::gives_parts_to(*a.state, row, d - (*a.state->first_device)[row], c)) return false;
  const std::int64_t units = (*a.state->device_units)[d];
  const std::int64_t part = model::part_of_device(c, units);
  const std::int64_t free = (*a.live->device_free)[d] + (*a.live->device_releasing)[d];
  return part >= 0 && free < units && free >= part;
}

}  // namespace

bool has_shared_room(const session_access& a, const model::pod_class& c, node_row row) {
  if (a.compat()) {
    // As in KAI a pod that asks for no device memory may join every group, so it is drawn to nodes that have one.
    if (!a.groups->is_open()) return false;
    const std::int64_t gpu_mib = a.groups->gpu_memory(row);
    return a.groups->any_joinable(row, c.whole_devices > 0 ? gpu_mib : kai_memory(c, gpu_mib));
  }
  // Who spreads does not draw pods together.
  if (!c.is_shared() || a.options->gpu_placement == placement_strategy::spread) return false;
  for (device_row d = (*a.state->first_device)[row]; d < (*a.state->first_device)[row + 1]; ++d) {
    if (has_room(a, c, row, d)) return true;
  }
  return false;
}

std::unique_ptr<policy_part> make_gpu_sharing_order(const policy_options&) {
  return std::make_unique<sharing_order_part>();
}
std::unique_ptr<policy_part> make_gpu_pack(const policy_options&) {
  return std::make_unique<device_order_part>("gpupack");
}
std::unique_ptr<policy_part> make_gpu_spread(const policy_options&) {
  return std::make_unique<device_order_part>("gpuspread");
}

}  // namespace kaisched::policy
