// Devices that are shared by the rules of their vendors: which nodes have room, and which of them is liked best.
#include "policy/access.hpp"
#include "policy/devices/allocation/ledger.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class vendor_devices_part final : public policy_part {
 public:
  explicit vendor_devices_part(const policy_options& options)
      : weight_(options.device_order == device_order_rule::in_order ? 1 : vendor_band) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "vendordevices"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes | part_scores_nodes; }

  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const session_access& a = inside(view);
    if (!decides(a, pod)) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !a.vendors->fits(*a.state, pod, nodes[i], false)) {
        verdicts[i] = constraint::vendor_device;
      }
    }
    return {};
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    if (!decides(a, pod)) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += weight_ * a.vendors->score(*a.state, pod, nodes[i]);
    return {};
  }

 private:
  static bool decides(const session_access& a, pod_row pod) {
    return a.vendors != nullptr && a.vendors->concerns(*a.state, pod);
  }

  double weight_;
};

}  // namespace

std::unique_ptr<policy_part> make_vendor_devices(const policy_options& options) {
  return std::make_unique<vendor_devices_part>(options);
}

}  // namespace kaisched::policy
