// Fragmentation gradient descent: the node, and the device of it, where a pod makes least of the free GPUs useless for
// the pods that usually come (Weng et al., USENIX ATC 2023).
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>
#include <tuple>
#include <vector>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/parts.hpp"
#include "policy/placement/fragmentation.hpp"

namespace kaisched::policy {

namespace {

constexpr double scale_of_loss = 1000;  ///< milli-GPU

/// The exponential function from operations that round alike everywhere; those of C libraries differ in the last bit.
/// With Remez' quotient for the reduced argument, off by less than one bit.
double exponential(double x) {
  constexpr double most = 709;
  constexpr double per_power = 1.44269504088896338700;
  constexpr double power_high = 6.93147180369123816490e-01;  // of ln 2: the first bits, so that products are exact
  constexpr double power_low = 1.90821492927058770002e-10;
  constexpr std::array<double, 5> quotient{1.66666666666666657415e-01, -2.77777777770155933842e-03,
                                           6.61375632143793436117e-05, -1.65339022054652515390e-06,
                                           4.13813679705723846039e-08};
  if (x > most) return std::numeric_limits<double>::infinity();
  if (x < -most) return 0;
  constexpr double smallest = 1.0 / (1 << 28);
  if (std::abs(x) < smallest) return 1 + x;
  const auto powers = static_cast<std::int64_t>(x * per_power + (x < 0 ? -0.5 : 0.5));
  const double high = x - static_cast<double>(powers) * power_high;
  const double low = static_cast<double>(powers) * power_low;
  const double rest = high - low;
  const double square = rest * rest;
  const double corrected =
      rest - square * (quotient[0] +
                       square * (quotient[1] + square * (quotient[2] + square * (quotient[3] + square * quotient[4]))));
  const double value = 1 - ((low - (rest * corrected) / (2 - corrected)) - high);
  return value * std::bit_cast<double>(static_cast<std::uint64_t>(powers + 1023) << 52U);
}

class fgd_part final : public policy_part {
 public:
  explicit fgd_part(const policy_options& options) : raw_(options.raw_scores) {}

  [[nodiscard]] std::string_view name() const noexcept override { return "fgd"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override {
    return part_scores_nodes | part_scores_by_class | part_chooses_devices;
  }

  result<void> score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                           std::span<double> scores) override {
    const session_access& a = inside(view);
    const class_row kind = a.state->pods[pod].pod_class;
    const model::pod_class& c = *a.state->classes[kind];
    if (!measure_.is_open()) measure_.open(a);
    const std::vector<std::uint64_t>* const changed_at = a.node_changed_at;
    if (changed_at == nullptr) {
      for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += score(a, c, nodes[i], state_of(a, nodes[i]));
      return {};
    }
    std::vector<known_score>& known = scores_like(a, kind);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      known_score& one = known[nodes[i]];
      const std::uint64_t now = (*changed_at)[nodes[i]] + 1;
      if (one.at != now) one = {now, score(a, c, nodes[i], kept_state(a, nodes[i], now))};
      scores[i] += one.score;
    }
    return {};
  }

  std::uint32_t choose_device(const session_view& view, pod_row pod, node_row node, std::uint64_t fitting) override {
    const session_access& a = inside(view);
    if (!measure_.is_open()) measure_.open(a);
    const model::pod_class& c = a.state->class_of(pod);
    return best_device(a, c, node, state_of(a, node), fitting).device;
  }

 private:
  /// What is free on a node, and what of it is lost.
  struct node_state {
    free_gpus free;
    double lost = 0;
  };
  /// Where the engine says when nodes change, what was found out is kept.
  struct known_state {
    std::uint64_t at = 0;
    node_state state;
  };
  struct known_score {
    std::uint64_t at = 0;
    double score = 0;
  };
  struct device_choice_of_pod {
    std::uint32_t device = max_devices_per_node;
    double score = -1;
    std::int64_t from = 0;
    std::int64_t to = 0;
  };

  static std::int64_t free_of_device(const session_access& a, device_row d) {
    return std::max<std::int64_t>(0, (*a.live->device_free)[d] + (*a.live->device_releasing)[d]);
  }
  static std::int64_t in_milli(std::int64_t amount, std::int64_t units) {
    if (units == whole_device) return amount;
    return static_cast<std::int64_t>(base::int128{amount} * whole_device / units);
  }

  void read_state(const session_access& a, node_row row, node_state& to) {
    const std::size_t at = static_cast<std::size_t>(row) * a.state->dims();
    const device_row first = (*a.state->first_device)[row];
    const device_row last = (*a.state->first_device)[row + 1];
    to.free.cpu = (*a.live->idle)[at + dim_cpu] + (*a.live->releasing)[at + dim_cpu];
    to.free.total = 0;
    to.free.devices.clear();
    for (device_row d = first; d < last; ++d) {
      const std::int64_t free = in_milli(free_of_device(a, d), (*a.state->device_units)[d]);
      to.free.devices.push_back(free);
      to.free.total += free;
    }
    if (first == last) {
      to.free.total = std::max<std::int64_t>(0, (*a.live->idle)[at + dim_gpu] + (*a.live->releasing)[at + dim_gpu]);
    }
    std::sort(to.free.devices.begin(), to.free.devices.end());
    to.lost = measure_.amount(row, to.free);
  }
  const node_state& state_of(const session_access& a, node_row row) {
    read_state(a, row, asked_);
    return asked_;
  }
  const node_state& kept_state(const session_access& a, node_row row, std::uint64_t now) {
    if (states_.empty()) states_.resize(a.state->node_count());
    known_state& known = states_[row];
    if (known.at != now) {
      known.at = now;
      read_state(a, row, known.state);
    }
    return known.state;
  }

  /// Classes that differ in what the score does not look at have their scores together.
  std::vector<known_score>& scores_like(const session_access& a, class_row kind) {
    if (like_.size() < a.state->class_slots) like_.resize(a.state->class_slots, no_row);
    if (like_[kind] == no_row) {
      const model::pod_class& c = *a.state->classes[kind];
      const auto [at, fresh] =
          shapes_.try_emplace({c.requests(dim_cpu), c.requests(dim_gpu), c.whole_devices, c.shared_devices,
                               c.device_share, c.memory_devices, c.ask.gpu_memory},
                              static_cast<std::uint32_t>(scores_.size()));
      if (fresh) scores_.emplace_back(a.state->node_count());
      like_[kind] = at->second;
    }
    return scores_[like_[kind]];
  }

  /// Of losing so much more than before, or less.
  [[nodiscard]] double score_of(double before, double after) const {
    const double score = 100 / (1 + exponential((after - before) / scale_of_loss));
    return raw_ ? score : std::trunc(score);
  }

  /// The device of those with a bit where a part of the pod is worth most; the lowest of equal ones.
  device_choice_of_pod best_device(const session_access& a, const model::pod_class& c, node_row row,
                                   const node_state& now, std::uint64_t fitting) {
    device_choice_of_pod best;
    const device_row first = (*a.state->first_device)[row];
    seen_.clear();
    for (std::uint64_t left = fitting; left != 0; left &= left - 1) {
      const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
      const std::int64_t units = (*a.state->device_units)[first + i];
      const std::int64_t free = free_of_device(a, first + i);
      const std::pair alike{free, units};
      if (std::find(seen_.begin(), seen_.end(), alike) != seen_.end()) continue;
      seen_.push_back(alike);
      const std::int64_t part = model::part_of_device(c, units);
      if (part < 0 || part > free) continue;
      trial_ = now.free;
      trial_.cpu -= c.requests(dim_cpu);
      const std::int64_t from = in_milli(free, units);
      const std::int64_t to = in_milli(free - part, units);
      trial_.lower(from, to);
      const double score = score_of(now.lost, measure_.amount(row, trial_));
      if (score > best.score) best = {i, score, from, to};
    }
    return best;
  }

  double score(const session_access& a, const model::pod_class& c, node_row row, const node_state& now) {
    const device_row first = (*a.state->first_device)[row];
    const device_row last = (*a.state->first_device)[row + 1];
    if (c.is_shared() && first != last) return score_of_parts(a, c, row, now);
    trial_ = now.free;
    trial_.cpu -= c.requests(dim_cpu);
    if (first == last) {
      trial_.total = std::max<std::int64_t>(0, trial_.total - c.requests(dim_gpu));
    } else {
      for (std::int64_t i = 0; i < c.whole_devices; ++i) {
        if (trial_.devices.back() < whole_device) return 0;
        trial_.lower(whole_device, 0);
      }
    }
    return score_of(now.lost, measure_.amount(row, trial_));
  }

  /// With parts of several devices these are chosen one after the other, each as if it were alone.
  double score_of_parts(const session_access& a, const model::pod_class& c, node_row row, const node_state& now) {
    const device_row first = (*a.state->first_device)[row];
    const device_row last = (*a.state->first_device)[row + 1];
    std::uint64_t fitting = 0;
    for (device_row d = first; d < last; ++d) {
      if (model::gives_parts_to(*a.state, row, d - first, c)) fitting |= std::uint64_t{1} << (d - first);
    }
    if (c.shared_count() == 1) return std::max(0.0, best_device(a, c, row, now, fitting).score);
    free_gpus after = now.free;
    after.cpu -= c.requests(dim_cpu);
    for (std::int64_t i = 0; i < c.shared_count(); ++i) {
      const device_choice_of_pod best = best_device(a, c, row, now, fitting);
      if (best.device == max_devices_per_node) return 0;
      fitting &= ~(std::uint64_t{1} << best.device);
      after.lower(best.from, best.to);
    }
    return score_of(now.lost, measure_.amount(row, after));
  }

  using shape =
      std::tuple<std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t, std::int64_t>;

  bool raw_;
  fragmentation measure_;
  std::vector<known_state> states_;               ///< by node row
  std::map<shape, std::uint32_t> shapes_;         ///< of pods
  std::vector<std::uint32_t> like_;               ///< by class row: number of its shape
  std::vector<std::vector<known_score>> scores_;  ///< by shape and node row
  node_state asked_;
  free_gpus trial_;
  std::vector<std::pair<std::int64_t, std::int64_t>> seen_;  ///< devices that have been tried, by what they have
};

}  // namespace

std::unique_ptr<policy_part> make_fgd(const policy_options& options) { return std::make_unique<fgd_part>(options); }

}  // namespace kaisched::policy
