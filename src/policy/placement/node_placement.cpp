// Binpack or spread by the amount that decides for the pod: GPUs, or CPU for pods without (KAI plugin "nodeplacement").
#include <algorithm>
#include <charconv>

#include "policy/access.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

/// Amounts in KAI's units, so that the floating-point results are KAI's: devices and milli-cores.
double native(dimension d, std::int64_t amount) {
  return d == dim_gpu ? static_cast<double>(amount) / static_cast<double>(whole_device) : static_cast<double>(amount);
}

class node_placement_part final : public policy_part {
 public:
  explicit node_placement_part(const policy_options& options)
      : gpu_(options.gpu_placement), cpu_(options.cpu_placement) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "nodeplacement"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    // Binpack compares with the emptiest and fullest node that are offered.
    const bool spreads = gpu_ == placement_strategy::spread && cpu_ == placement_strategy::spread;
    return part_scores_nodes | (spreads ? part_scores_by_class : 0U);
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const bool cpu = is_cpu_only_pod(view, pod);
    const dimension d = cpu ? dim_cpu : dim_gpu;
    if ((cpu ? cpu_ : gpu_) == placement_strategy::spread) {
      spread(view, d, nodes, scores);
    } else {
      binpack(view, d, nodes, scores);
    }
    return {};
  }

 private:
  struct amounts {
    double capacity;
    double free;  ///< idle and coming free
  };

  static amounts at(const session_view& view, dimension d, node_row row) {
    const std::size_t i = static_cast<std::size_t>(row) * view.dimension_count() + d;
    return {native(d, view.node_capacity()[i]), native(d, view.node_idle()[i] + view.node_releasing()[i])};
  }

  /// The less is free the better, relative to the emptiest and fullest node offered, fitting or not.
  static void binpack(const session_view& view, dimension d, std::span<const node_row> nodes,
                      std::span<double> scores) {
    double low = 0;
    double high = 0;
    bool first = true;
    for (const node_row row : nodes) {
      const amounts x = at(view, d, row);
      if (x.capacity == 0) continue;
      low = first ? x.free : std::min(low, x.free);
      high = std::max(high, x.free);
      first = false;
    }
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const amounts x = at(view, d, nodes[i]);
      if (x.capacity == 0 || high == 0) continue;
      scores[i] += low == high ? density_band : density_band * (1 - (x.free - low) / (high - low));
    }
  }

  static void spread(const session_view& view, dimension d, std::span<const node_row> nodes, std::span<double> scores) {
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += spread_score(view, d, nodes[i]);
  }

  placement_strategy gpu_;
  placement_strategy cpu_;
};

}  // namespace

double gpu_count(const model::cluster_state& s, node_row node) {
  const std::string* const label = model::find_label((*s.nodes)[node]->labels, "nvidia.com/gpu.count");
  std::int64_t count = 0;
  if (label != nullptr && !label->empty()) {
    const auto [end, failure] = std::from_chars(label->data(), label->data() + label->size(), count);
    if (failure == std::errc{} && end == label->data() + label->size()) return static_cast<double>(count);
  }
  const std::int64_t whole = (*s.capacity)[static_cast<std::size_t>(node) * s.dims() + dim_gpu] / whole_device;
  return static_cast<double>(whole);
}

double gpu_count(const session_view& view, node_row node) { return gpu_count(*inside(view).state, node); }

double spread_score(const session_view& view, dimension d, node_row node) {
  const std::size_t i = static_cast<std::size_t>(node) * view.dimension_count() + d;
  const std::int64_t free = view.node_idle()[i] + view.node_releasing()[i];
  const double count = d == dim_gpu ? gpu_count(view, node) : static_cast<double>(view.node_capacity()[i]);
  if (count == 0) return 0;
  if (inside(view).compat() || d != dim_gpu) return native(d, free) / count;
  return static_cast<double>(free) / (count * static_cast<double>(whole_device));
}

std::unique_ptr<policy_part> make_node_placement(const policy_options& options) {
  return std::make_unique<node_placement_part>(options);
}

}  // namespace kaisched::policy
