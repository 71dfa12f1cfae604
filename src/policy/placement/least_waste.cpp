// The node, and the device of it, where a pod adds least to what will be left over of the GPUs in the end. What pods
// with constraints need, and nodes that alone can run the largest pods, are left to those where others do as well.
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/parts.hpp"
#include "policy/placement/device_losses.hpp"
#include "policy/placement/expected_waste.hpp"

namespace kaisched::policy {

namespace {

constexpr std::int64_t step_of_score = 100 * micro_per_milli;  ///< what makes a difference, of GPU
constexpr std::int64_t middle_score = 50;
constexpr std::int64_t highest_score = 100;
constexpr std::int64_t hundred = 100;

class least_waste_part final : public device_losses {
 public:
  explicit least_waste_part(const policy_options& options)
      : raw_(options.raw_scores), reserve_(options.waste_reserve), scarcity_(options.waste_scarcity) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "least_waste"; }

 private:
  void open(const session_access& a) override {
    if (waste_.is_open()) return;
    waste_.open(a);
    find_reserves(a);
  }
  [[nodiscard]] double measured(node_row row, const free_gpus& state) override {
    return static_cast<double>(waste_.amount(row, state));  // far below 2^53
  }

  /// In millionths of a GPU: what is wasted, what others would need, and a node that is opened.
  [[nodiscard]] std::int64_t cost(const session_access& a, const step& one) const {
    const std::int64_t asked =
        one.of->requests(dim_gpu) + model::gpus_of_memory(*one.of, model::device_memory(*a.state, one.node));
    const std::int64_t gpus = std::min(asked, most_gpus);
    const std::size_t at = static_cast<std::size_t>(one.node) * a.state->dims();
    const std::vector<std::int64_t>& capacity = *a.state->capacity;
    const bool idle = one.now->cpu >= capacity[at + dim_cpu] && one.now->total >= capacity[at + dim_gpu];
    const auto waste = static_cast<std::int64_t>(one.after) - static_cast<std::int64_t>(one.before);
    return waste + gpus * waste_.wanted(one.node) / hundred * scarcity_ + (idle ? reserves_[one.node] : 0);
  }
  [[nodiscard]] double score_of(const session_access& a, const step& one) override {
    const std::int64_t c = cost(a, one);
    if (raw_) {
      const double score = static_cast<double>(middle_score) - static_cast<double>(c) / step_of_score;
      return std::clamp(score, 0.0, static_cast<double>(highest_score));
    }
    const std::int64_t steps = c / step_of_score - (c % step_of_score < 0 ? 1 : 0);
    return static_cast<double>(std::clamp<std::int64_t>(middle_score - steps, 0, highest_score));
  }
  [[nodiscard]] double score_of_device(const session_access&, const step& one) override {
    return one.before - one.after;
  }

  /// The more of the GPUs of the cluster are in smaller nodes, the more it costs to open this one: the fourth power, so
  /// that it matters for the few largest ones.
  void find_reserves(const session_access& a) {
    constexpr std::int64_t thousand = 1000;
    const std::vector<std::int64_t>& capacity = *a.state->capacity;
    const auto amount = [&](node_row row, dimension d) {
      return capacity[static_cast<std::size_t>(row) * a.state->dims() + d];
    };
    std::vector<std::pair<std::pair<std::int64_t, std::int64_t>, node_row>> by_size;
    base::int128 all = 0;
    for (node_row row = 0; row < a.state->node_count(); ++row) {
      by_size.push_back({{amount(row, dim_gpu), amount(row, dim_cpu)}, row});
      all += amount(row, dim_gpu);
    }
    std::sort(by_size.begin(), by_size.end());
    reserves_.assign(by_size.size(), 0);
    base::int128 smaller = 0;
    for (std::size_t first = 0; first < by_size.size() && all > 0;) {
      const auto part = static_cast<std::int64_t>(smaller * thousand / all);
      const std::int64_t reserve = part * part * part * part * reserve_ / (thousand * thousand * thousand);
      std::size_t last = first;
      for (; last < by_size.size() && by_size[last].first == by_size[first].first; ++last) {
        reserves_[by_size[last].second] = reserve;
        smaller += by_size[last].first.first;
      }
      first = last;
    }
  }

  bool raw_;
  std::int64_t reserve_;   ///< milli-GPU
  std::int64_t scarcity_;  ///< percent
  expected_waste waste_;
  std::vector<std::int64_t> reserves_;  ///< by node row: what it costs to open it
};

}  // namespace

std::unique_ptr<policy_part> make_least_waste(const policy_options& options) {
  return std::make_unique<least_waste_part>(options);
}

}  // namespace kaisched::policy
