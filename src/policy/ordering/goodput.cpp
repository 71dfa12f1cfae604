// Groups first where the next pod adds most speed for each GPU: marginal gains, as in Peng et al., "Optimus" (EuroSys
// 2018) and Hwang et al., "Elastic Resource Sharing for Distributed Deep Learning" (AFS, NSDI 2021). Curves rise ever
// less steeply, so that giving one pod at a time to the largest gain makes the sum of speeds largest.
#include <algorithm>
#include <limits>

#include "base/int128.hpp"
#include "policy/ordering/service.hpp"
#include "policy/ordering/speed.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

using base::int128;

namespace {

constexpr std::int64_t parts_of_rest = 1'000'000'000;

class goodput_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "goodput"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups | part_permits; }
  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = key_of(view, groups[i]);
    return {};
  }
  /// Who runs gets more pods if it is faster by it than it is slower by stopping for them.
  result<bool> permit(const session_view& view, group_row group, std::span<const pod_row> pods) override {
    const session_access& a = inside(view);
    const std::int64_t with = pods_with_places(a, group);
    const std::int64_t before = with - std::ssize(pods);
    if (before <= 0 || a.state->group_extras[group].restart_cost == 0) return true;
    const size_change change = change_of(a, curves_, group, with, std::ssize(pods));
    if (change.pause == 0 || change.lasts == unset) return true;
    const std::int64_t faster = curves_.of(a, group, with) - curves_.of(a, group, before);
    return int128{faster} * change.lasts > int128{curves_.of(a, group, with)} * change.pause;
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

namespace {

/// Those that hold a place or have a claim.
std::int64_t pods_that_hold(const model::cluster_state& s, const model::live_state& live, group_row group) {
  const model::group_core& g = s.groups[group];
  std::int64_t pods = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub)
    pods += live.counts[sub].active_allocated;
  return pods;
}

}  // namespace

std::int64_t pods_with_places(const session_access& a, group_row group) {
  return pods_that_hold(*a.state, *a.live, group);
}

size_change change_of(const session_access& a, speed_curves& curves, group_row group, std::int64_t pods,
                      std::int64_t just_placed) {
  constexpr int128 longest = int128{30} * 24 * 3600 * 1'000'000'000;  // products with speeds stay small
  const auto within = [&](int128 time) { return static_cast<std::int64_t>(std::clamp<int128>(time, 0, longest)); };
  const model::group_core& g = a.state->groups[group];
  const model::group_extra& extra = a.state->group_extras[group];
  const std::int64_t at_first = pods_that_hold(*a.state, a.state->live, group);
  size_change made;
  if (at_first > 0 && pods_with_places(a, group) - just_placed == at_first) made.pause = within(extra.restart_cost);
  const remaining_work left = remaining_of(a, group);
  if (left.known && left.time > 0) {
    std::int64_t all = 0;
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub)
      all += a.live->counts[sub].active_allocated + a.live->counts[sub].pending;
    const std::int64_t speed = std::max<std::int64_t>(1, curves.of(a, group, pods));
    made.lasts = within(int128{left.time} * curves.of(a, group, std::max(pods, all)) / speed);
  } else if (extra.last_start != unset && at_first > 0) {
    made.lasts = within(int128{a.now} - extra.last_start);
  }
  return made;
}

std::int64_t worth_of(const session_access& a, pod_row pod) {
  const model::pod_class& c = a.state->class_of(pod);
  const std::int64_t gpus = c.requests(dim_gpu) + c.mig_share;
  return gpus > 0 ? gpus : whole_device;
}

std::unique_ptr<policy_part> make_goodput(const policy_options&) { return std::make_unique<goodput_part>(); }

}  // namespace kaisched::policy
