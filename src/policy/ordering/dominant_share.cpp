#include "policy/ordering/dominant_share.hpp"

#include <limits>
#include <tuple>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

/// The first 126 binary digits of held / (held + total), which grows with held / total and stays below 1. Denominators
/// are below 2^63, so two different fractions differ by more than 2^-126 and have different keys.
order_key digits_of(std::int64_t held, std::int64_t total) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (held <= 0) return {0, 0};
  if (total <= 0) return {most, most};
  const int128 whole = static_cast<int128>(held) + total;
  const int128 first = (static_cast<int128>(held) << 63) / whole;
  const int128 rest = (static_cast<int128>(held) << 63) % whole;
  return {static_cast<std::int64_t>(first), static_cast<std::int64_t>((rest << 63) / whole)};
}

}  // namespace

model::quota_vector open_capacity(const session_view& view) {
  model::quota_vector total{};
  const std::span<const std::int64_t> capacity = view.node_capacity();
  for (node_row n = 0; n < view.node_count(); ++n) {
    if (!view.node_ready(n) || view.node_unschedulable(n)) continue;
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      total[r] += capacity[static_cast<std::size_t>(n) * view.dimension_count() + r];
    }
  }
  return total;
}

model::quota_vector held_by_group(const session_view& view, group_row group) {
  const session_access& a = inside(view);
  const model::group_core& g = a.state->groups[group];
  model::quota_vector held{};
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (a.live->counts[sub].active_allocated == 0) continue;
    for (pod_row p = a.state->subs[sub].first_pod; p != no_row; p = a.state->pods[p].next) {
      if (!model::is_in(static_cast<pod_status>(a.live->pod_state[p]), model::active_allocated)) continue;
      const model::quota_vector one = model::quota_request_on(*a.state, a.state->class_of(p), view.node_of(p));
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) held[r] += one[r];
    }
  }
  return held;
}

order_key dominant_share(const model::quota_vector& held, const model::quota_vector& total) {
  order_key most;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const order_key part = digits_of(held[r], total[r]);
    if (std::tie(most.first, most.second) < std::tie(part.first, part.second)) most = part;
  }
  return most;
}

}  // namespace kaisched::policy
