// Groups first where the next pod adds most speed for each GPU: marginal gains, as in Peng et al., "Optimus" (EuroSys
// 2018) and Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning" (AFS, NSDI 2021). Curves rise ever
// less steeply, so that giving one pod at a time to the largest gain makes the sum of speeds largest.
#include <limits>

#include "base/int128.hpp"
#include "policy/ordering/speed.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

using base::int128;

namespace {

constexpr std::int64_t parts_of_rest = 1'000'000'000;

class goodput_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "goodput"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = key_of(view, groups[i]);
    return {};
  }

 private:
  /// The larger the gain for a GPU the earlier; gangs that are short of pods before all others.
  order_key key_of(const session_view& view, group_row group) {
    if (fullness(view, group) == 0) return {std::numeric_limits<std::int64_t>::min(), 0};
    const session_access& a = inside(view);
    const pod_row next = next_pod(a, group);
    if (next == no_row) return {std::numeric_limits<std::int64_t>::max(), 0};
    const std::int64_t pods = pods_with_places(a, group);
    const std::int64_t gain = curves_.of(a, group, pods + 1) - curves_.of(a, group, pods);
    const std::int64_t worth = worth_of(a, next);
    return {-(gain / worth), -static_cast<std::int64_t>(int128{gain % worth} * parts_of_rest / worth)};
  }

  static pod_row next_pod(const session_access& a, group_row group) {
    const model::group_core& g = a.state->groups[group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      if (a.live->counts[sub].pending == 0) continue;
      for (pod_row p = a.state->subs[sub].first_pod; p != no_row; p = a.state->pods[p].next) {
        if (static_cast<pod_status>(a.live->pod_state[p]) == pod_status::pending) return p;
      }
    }
    return no_row;
  }

  speed_curves curves_;
};

}  // namespace

const std::vector<model::speed_point>& speed_curves::curve_of(const session_access& a, group_row group) {
  const auto [at, is_new] = known_.try_emplace(group);
  if (is_new) at->second = model::parse_speedup(a.state->group_extras[group].speedup).value();  // was checked
  return at->second;
}

std::int64_t speed_curves::of(const session_access& a, group_row group, std::int64_t pods) {
  constexpr std::int64_t of_one_pod = 1000;
  const std::vector<model::speed_point>& curve = curve_of(a, group);
  return curve.empty() ? of_one_pod * pods : model::throughput_of(curve, pods);
}

std::int64_t pods_with_places(const session_access& a, group_row group) {
  const model::group_core& g = a.state->groups[group];
  std::int64_t pods = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub)
    pods += a.live->counts[sub].active_allocated;
  return pods;
}

std::int64_t worth_of(const session_access& a, pod_row pod) {
  const model::pod_class& c = a.state->class_of(pod);
  const std::int64_t gpus = c.requests(dim_gpu) + c.mig_share;
  return gpus > 0 ? gpus : whole_device;
}

std::unique_ptr<policy_part> make_goodput(const policy_options&) { return std::make_unique<goodput_part>(); }

}  // namespace kaisched::policy
