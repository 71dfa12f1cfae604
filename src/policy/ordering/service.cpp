#include "policy/ordering/service.hpp"

#include <algorithm>
#include <limits>

#include "model/account.hpp"
#include "policy/access.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;

struct pods_of_group {
  std::int64_t pods = 0;
  std::int64_t gpus = 0;  ///< milli-GPU
};
/// Those that have one of some statuses when the session opens.
pods_of_group pods_in(const session_access& a, group_row group, std::uint32_t statuses) {
  const model::cluster_state& s = *a.state;
  const model::group_core& g = s.groups[group];
  pods_of_group sum;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (!model::is_in(static_cast<pod_status>(s.live.pod_state[p]), statuses)) continue;
      const std::uint32_t slot = s.live.pod_node[p];
      const node_row row = slot == no_row ? no_row : (*s.node_row_of_slot)[slot];
      ++sum.pods;
      sum.gpus += model::quota_request_on(s, s.class_of(p), row)[dim_gpu];
    }
  }
  return sum;
}

/// Since the last start, in nanoseconds.
int128 present_run(const session_access& a, const model::group_extra& extra) {
  if (extra.last_start == unset || extra.last_start >= a.now) return 0;
  return static_cast<int128>(a.now) - extra.last_start;
}

}  // namespace

int128 service_of(const session_access& a, group_row group) {
  const model::group_extra& extra = a.state->group_extras[group];
  const int128 before = static_cast<int128>(extra.attained_service) * nanoseconds_per_second;
  const int128 run = present_run(a, extra);
  return run == 0 ? before : before + pods_in(a, group, model::holding).gpus * run;
}

int128 lost_if_evicted(const session_access& a, group_row group) {
  const model::group_extra& extra = a.state->group_extras[group];
  const std::int64_t since = std::max(extra.last_checkpoint, extra.last_start);  // `unset` is before every time
  int128 lost = extra.restart_cost;
  if (since != unset && since < a.now) lost += static_cast<int128>(a.now) - since;
  return lost == 0 ? 0 : pods_in(a, group, model::holding).gpus * lost;
}

remaining_work remaining_of(const session_access& a, group_row group) {
  const model::group_extra& extra = a.state->group_extras[group];
  remaining_work left;
  if (extra.runtime_estimate < 0) return left;
  left.known = true;
  left.gpus = pods_in(a, group, model::holding | model::bit(pod_status::pending)).gpus;
  if (left.gpus == 0) {
    // Earlier runs without GPUs are counted nowhere.
    const int128 run = pods_in(a, group, model::holding).pods > 0 ? present_run(a, extra) : 0;
    left.time = static_cast<std::int64_t>(std::max<int128>(0, extra.runtime_estimate - run));
    return left;
  }
  const int128 all = static_cast<int128>(extra.runtime_estimate) * left.gpus;
  left.service = std::max<int128>(0, all - service_of(a, group));
  left.time = static_cast<std::int64_t>(left.service / left.gpus);
  return left;
}

order_key key_of_amount(int128 amount) {
  constexpr std::int64_t digits = std::numeric_limits<std::int64_t>::max();  // 63 binary ones
  return {static_cast<std::int64_t>(amount >> 63), static_cast<std::int64_t>(amount & digits)};
}

order_key key_of_unknown() {
  constexpr std::int64_t last = std::numeric_limits<std::int64_t>::max();
  return {last, last};
}

}  // namespace kaisched::policy
