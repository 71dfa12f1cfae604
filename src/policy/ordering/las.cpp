// Least attained service first: the group that has had the least GPU time (Tiresias, NSDI 2019).
#include <limits>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

constexpr std::int64_t second = 1'000'000'000;

/// GPU time in milli-GPU nanoseconds: what the input says of earlier runs, and what the pods that were on nodes when
/// the session opened have had since the last start. Pods that the session itself starts have had nothing yet.
int128 service_of(const session_access& a, group_row group) {
  const model::cluster_state& s = *a.state;
  const model::group_extra& extra = s.group_extras[group];
  int128 service = static_cast<int128>(extra.attained_service) * second;
  if (extra.last_start == unset || extra.last_start >= a.now) return service;
  std::int64_t held = 0;
  const model::group_core& g = s.groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      const auto status = static_cast<pod_status>(s.live.pod_state[p]);
      if (!model::is_in(status, model::holding)) continue;
      const std::uint32_t slot = s.live.pod_node[p];
      held += model::quota_request_on(s, s.class_of(p), slot == no_row ? no_row : (*s.node_row_of_slot)[slot])[dim_gpu];
    }
  }
  service += static_cast<int128>(held) * (static_cast<int128>(a.now) - extra.last_start);
  return service;
}

order_key least_service(const session_view& view, group_row group) {
  const int128 service = service_of(inside(view), group);
  constexpr std::int64_t digits = std::numeric_limits<std::int64_t>::max();  // 63 binary ones
  return {static_cast<std::int64_t>(service >> 63), static_cast<std::int64_t>(service & digits)};
}

}  // namespace

std::unique_ptr<policy_part> make_las(const policy_options&) {
  return std::make_unique<key_part<least_service>>("las");
}

}  // namespace kaisched::policy
