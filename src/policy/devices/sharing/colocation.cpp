// Pods that share a device by what they put on it besides memory: none gets more than it can take, and those go
// together that disturb each other least (Usher, OSDI 2024; Orion, EuroSys 2024; Muri, SIGCOMM 2022).
#include <algorithm>
#include <bit>
#include <functional>
#include <utility>
#include <vector>

#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/devices/sharing/load_book.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

/// Millionths: whoever is there whenever the pod wants the device makes it wait all the time.
constexpr std::int64_t always = 1'000'000;

class colocation_part final : public policy_part {
 public:
  explicit colocation_part(const policy_options& options)
      : spreads_(options.gpu_placement == placement_strategy::spread) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "colocation"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class | part_chooses_devices;
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const model::pod_class& c = a.state->class_of(pod);
    if (a.compat() || !c.is_shared()) return {};
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += score(a, c, nodes[i]);
    return {};
  }

  std::uint32_t choose_device(const session_view& view, pod_row pod, node_row node, std::uint64_t fitting) override {
    const session_access& a = inside(view);
    std::uint32_t best = max_devices_per_node;
    std::pair<std::int64_t, std::int64_t> best_worth;
    for (std::uint64_t left = fitting; left != 0; left &= left - 1) {
      const auto d = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::int64_t room = free_of(a, node, d);
      const std::pair worth{worth_of(a, a.state->class_of(pod), node, d), spreads_ ? room : -room};
      if (best != max_devices_per_node && worth <= best_worth) continue;
      best = d;
      best_worth = worth;
    }
    return best;
  }

 private:
  static std::int64_t free_of(const session_access& a, node_row row, std::uint32_t d) {
    const device_row device = (*a.state->first_device)[row] + d;
    return (*a.live->device_free)[device] + (*a.live->device_releasing)[device];
  }

  /// What a pod of the class finds on a device, in millionths: most where it is never disturbed. One that nobody uses
  /// is left alone, unless pods are spread.
  [[nodiscard]] std::int64_t worth_of(const session_access& a, const model::pod_class& c, node_row row,
                                      std::uint32_t d) const {
    const bool idle = free_of(a, row, d) >= (*a.state->device_units)[(*a.state->first_device)[row] + d];
    if (idle && !spreads_) return 0;
    const std::int64_t disturbed = a.loads == nullptr ? 0 : a.loads->contention(*a.state, c, row, d);
    return always - std::min(always, disturbed) / 2;
  }

  /// The mean over the devices that it would get.
  [[nodiscard]] double score(const session_access& a, const model::pod_class& c, node_row row) {
    const device_row first = (*a.state->first_device)[row];
    const device_row last = (*a.state->first_device)[row + 1];
    const std::uint64_t allowed =
        a.loads == nullptr ? ~std::uint64_t{0} : a.loads->devices_for(*a.state, c, row, load_book::amount::later);
    worths_.clear();
    for (std::uint32_t d = 0; d < last - first; ++d) {
      const std::int64_t part = model::part_of_device(c, (*a.state->device_units)[first + d]);
      const bool fits = part >= 0 && free_of(a, row, d) >= part && model::gives_parts_to(*a.state, row, d, c);
      if (fits && (allowed >> d & 1U) != 0) worths_.push_back(worth_of(a, c, row, d));
    }
    const auto wanted = static_cast<std::size_t>(c.shared_count());
    if (worths_.size() < wanted) return 0;
    std::sort(worths_.begin(), worths_.end(), std::greater<>());
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < wanted; ++i) sum += worths_[i];
    return figures_band * static_cast<double>(sum) / static_cast<double>(always * c.shared_count());
  }

  bool spreads_;
  std::vector<std::int64_t> worths_;
};

}  // namespace

bool loads_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which) {
  if (a.loads == nullptr || !a.loads->concerns(c)) return true;
  const bool now = which == free_amount::idle;
  const std::uint64_t allowed =
      a.loads->devices_for(*a.state, c, row, now ? load_book::amount::now : load_book::amount::later);
  device_set chosen;
  return model::choose_devices(*a.state, *a.live, c, row,
                               now ? model::device_amount::free_now : model::device_amount::free_or_releasing,
                               !a.compat(), chosen, model::device_order::pack, nullptr, allowed);
}

std::unique_ptr<policy_part> make_colocation(const policy_options& options) {
  return std::make_unique<colocation_part>(options);
}

}  // namespace kaisched::policy
