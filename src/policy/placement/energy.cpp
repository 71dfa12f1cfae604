// Nodes where a pod adds least to the power that is drawn: the rule of Lettich et al., "Power- and Fragmentation-aware
// Online Scheduling for GPU Datacenters" (2024, arXiv:2412.17484), with a linear model of the CPU. A device draws its
// idle power until some pod uses it, then its largest.
#include <algorithm>
#include <optional>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class energy_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "energy"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_scores_nodes; }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    std::vector<std::optional<std::int64_t>> added(nodes.size());
    std::int64_t low = 0;
    std::int64_t high = 0;
    bool any = false;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const std::optional<std::int64_t> one = added_power(a, c, nodes[i]);
      added[i] = one;
      if (!one) continue;
      low = any ? std::min(low, *one) : *one;
      high = any ? std::max(high, *one) : *one;
      any = true;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!added[i]) {
        scores[i] += figures_band / 2;  // nothing is known of it: neither liked nor disliked
      } else if (low == high) {
        scores[i] += figures_band;
      } else {
        scores[i] += figures_band * static_cast<double>(high - *added[i]) / static_cast<double>(high - low);
      }
    }
    return {};
  }

 private:
  /// In milliwatts; nothing if the node does not say, or has no devices for the pod.
  static std::optional<std::int64_t> added_power(const session_access& a, const model::pod_class& c, node_row row) {
    const model::node_info& node = *(*a.state->nodes)[row];
    const std::int64_t cores = (*a.state->capacity)[static_cast<std::size_t>(row) * a.state->dims() + dim_cpu];
    std::int64_t sum = 0;
    bool known = node.power.known();
    if (known && cores > 0) {
      const std::int64_t asked = std::min(c.requests(dim_cpu), cores);
      sum = static_cast<std::int64_t>(base::int128{node.power.added()} * asked / cores);
    }
    if (!c.wants_gpu()) return known ? std::optional(sum) : std::nullopt;
    device_set chosen;
    if (!model::choose_devices(*a.state, *a.live, c, row, model::device_amount::free_now, !a.compat(), chosen))
      return std::nullopt;
    const device_row first = (*a.state->first_device)[row];
    for (std::size_t d = 0; d < node.devices.size(); ++d) {
      if ((chosen.mask >> d & 1U) == 0) continue;
      known = known || node.devices[d].power.known();
      const bool sleeps = (*a.live->device_free)[first + d] == node.device_offer(static_cast<std::uint32_t>(d));
      if (sleeps) sum += node.devices[d].power.added();
    }
    return known ? std::optional(sum) : std::nullopt;
  }
};

}  // namespace

std::unique_ptr<policy_part> make_energy(const policy_options&) { return std::make_unique<energy_part>(); }

}  // namespace kaisched::policy
