// Alignment with the NUMA zones of nodes (KAI plugin "numa", not on by default).
#include <algorithm>

#include "policy/access.hpp"
#include "policy/numa/ledger.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class numa_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "numa"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_filters_nodes | part_scores_nodes; }

  result<void> filter_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                            std::span<constraint> verdicts) override {
    const session_access& a = inside(view);
    if (a.zones == nullptr) return {};
    const model::pod_class& c = a.state->class_of(pod);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !zones_fit(a, c, nodes[i], free_amount::idle_or_releasing)) {
        verdicts[i] = constraint::numa_alignment;
      }
    }
    return {};
  }

  /// The fewer zones the better; a node that tells nothing is taken for the worst.
  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    if (a.zones == nullptr || a.zones->most_zones() == 0) return {};
    const model::pod_class& c = a.state->class_of(pod);
    if (c.ask.qos != model::qos_class::guaranteed && !a.zones->counts_anywhere(*a.state, c)) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += score(a, c, nodes[i]);
    return {};
  }

 private:
  static double score(const session_access& a, const model::pod_class& c, node_row row) {
    const std::size_t zones = (*a.state->nodes)[row]->zones.size();
    if (zones == 0) return numa_band / a.zones->most_zones();
    if (!a.zones->counts(*a.state, c, row)) return numa_band / static_cast<double>(zones);
    const pod_alignment found = a.zones->ask(*a.state, c, row, zone_ledger::amount::free_or_releasing);
    return found.fits ? numa_band / std::max<std::uint32_t>(1, found.span) : 0.0;
  }
};

}  // namespace

bool zones_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which) {
  if (a.zones == nullptr) return true;
  return a.zones->accepts(
      *a.state, c, row,
      which == free_amount::idle ? zone_ledger::amount::free_now : zone_ledger::amount::free_or_releasing);
}

std::unique_ptr<policy_part> make_numa(const policy_options&) { return std::make_unique<numa_part>(); }

}  // namespace kaisched::policy
