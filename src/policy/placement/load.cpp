// Nodes by what has been measured, as the plug-ins TargetLoadPacking and LoadVariationRiskBalancing of
// kubernetes-sigs/scheduler-plugins (Trimaran) do for CPU and memory; for pods with GPUs the devices count instead.
#include <algorithm>
#include <vector>

#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

constexpr std::int64_t all = 1000;  ///< per mille

/// What a resource of a node is used, and would be with the pod.
struct predicted_load {
  bool known = false;
  std::int64_t mean = 0;  ///< per mille, with the pod
  std::int64_t deviation = 0;
};

class load_part final : public policy_part {
 public:
  explicit load_part(const policy_options& options) : strategy_(options.load), target_(options.load_target) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "load"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class;
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += score(a, c, nodes[i]);
    return {};
  }

 private:
  static predicted_load of_dimension(const session_access& a, const model::pod_class& c, node_row row, dimension d,
                                     const model::load_figures& measured) {
    const std::int64_t capacity = (*a.state->capacity)[static_cast<std::size_t>(row) * a.state->dims() + d];
    if (measured.mean == model::unknown_figure || capacity <= 0) return {};
    // Of a ratio of amounts up to 2^52 the per mille fit 64 bits.
    return {true, measured.mean + std::min(c.requests(d), capacity) * all / capacity, measured.deviation};
  }

  static predicted_load of_devices(const session_access& a, const model::pod_class& c, node_row row) {
    const model::node_info& node = *(*a.state->nodes)[row];
    model::load_figures sum{0, 0};
    for (const model::device_info& device : node.devices) {
      if (device.load.mean == model::unknown_figure) return {};
      sum.mean += device.load.mean;
      sum.deviation += device.load.deviation;
    }
    if (node.devices.empty()) return {};
    const auto count = static_cast<std::int64_t>(node.devices.size());
    return of_dimension(a, c, row, dim_gpu, {sum.mean / count, sum.deviation / count});
  }

  [[nodiscard]] double score(const session_access& a, const model::pod_class& c, node_row row) const {
    const model::node_info& node = *(*a.state->nodes)[row];
    std::vector<predicted_load> loads;
    if (c.wants_gpu()) {
      loads.push_back(of_devices(a, c, row));
    } else {
      loads.push_back(of_dimension(a, c, row, dim_cpu, node.cpu_load));
      if (strategy_ == load_strategy::risk) {
        loads.push_back(of_dimension(a, c, row, dim_memory, node.memory_load));
      }
    }
    std::erase_if(loads, [](const predicted_load& one) { return !one.known; });
    if (loads.empty()) return figures_band / 2;  // nothing is known of it: neither liked nor disliked
    double least = figures_band;
    for (const predicted_load& one : loads) {
      const std::int64_t millis = strategy_ == load_strategy::risk ? calm(one) : packed(one.mean);
      least = std::min(least, figures_band * static_cast<double>(millis) / static_cast<double>(all));
    }
    return least;
  }

  /// Per mille: rises from the target to 1 at the target, falls to 0 at full use, and is 0 beyond.
  [[nodiscard]] std::int64_t packed(std::int64_t mean) const {
    if (mean > all) return 0;
    if (mean <= target_) return (all - target_) * mean / target_ + target_;
    return target_ * (all - mean) / (all - target_);
  }

  /// Per mille: 1 without the mean of utilisation and its deviation, each at most 1.
  static std::int64_t calm(const predicted_load& one) {
    return all - (std::min(one.mean, all) + std::min(one.deviation, all)) / 2;
  }

  load_strategy strategy_;
  std::int64_t target_;
};

}  // namespace

std::unique_ptr<policy_part> make_load(const policy_options& options) { return std::make_unique<load_part>(options); }

}  // namespace kaisched::policy
