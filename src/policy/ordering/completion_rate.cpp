// Of the groups of a queue that wait, the set first that fits the idle GPUs and from which most groups end per second:
// the sum of one over the remaining time, the largest there is. A group of much remaining GPU time yields to smaller
// ones as with srsf, but several that fill the GPUs together come before one that leaves some idle.
#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>
#include <vector>

#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/ordering/service.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

/// Of the table that a choice is made with: its bytes, and steps; and its columns, one for each unit of idle GPUs.
constexpr std::size_t most_cells = std::size_t{1} << 24U;
constexpr std::size_t most_columns = std::size_t{1} << 20U;
/// One over a remaining time of a nanosecond: sums of as many as there are cells stay below 2^127.
constexpr int128 rate_of_nanosecond = int128{1} << 100U;

struct candidate {
  group_row group = no_row;
  std::int64_t gpus = 0;  ///< milli-GPU of its pods that wait
  std::int64_t time = 0;  ///< left of it
};

/// Idle milli-GPU of the nodes that take pods.
std::int64_t idle_gpus(const session_view& view) {
  const std::span<const std::int64_t> idle = view.node_idle();
  std::int64_t sum = 0;
  for (node_row n = 0; n < view.node_count(); ++n) {
    if (!view.node_ready(n) || view.node_unschedulable(n)) continue;
    sum += std::max<std::int64_t>(0, idle[static_cast<std::size_t>(n) * view.dimension_count() + dim_gpu]);
  }
  return sum;
}

/// Milli-GPU of the pods of a group that wait; 0 if one of its gangs has too few pods.
std::int64_t gpus_wanted(const session_access& a, group_row group) {
  const model::cluster_state& s = *a.state;
  const model::group_core& g = s.groups[group];
  std::int64_t sum = 0;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (s.subs[sub].is_set) continue;
    const model::sub_counts& counts = a.live->counts[sub];
    if (counts.active_allocated + counts.pending < s.subs[sub].min) return 0;
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (static_cast<pod_status>(a.live->pod_state[p]) == pod_status::pending)
        sum += model::quota_request_on(s, s.class_of(p), no_row)[dim_gpu];
    }
  }
  return sum;
}

class completion_rate_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "completion_rate"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }

  result<void> session_open(const session_view& view) override {
    const session_access& a = inside(view);
    std::map<queue_row, std::vector<candidate>> waiting;
    for (group_row g = 0; g < a.state->groups.size(); ++g) {
      const model::group_core& group = a.state->groups[g];
      if (!group.live || group.queue == no_row) continue;
      const std::int64_t gpus = gpus_wanted(a, g);
      if (gpus == 0) continue;
      if (const remaining_work left = remaining_of(a, g); left.known)
        waiting[group.queue].push_back({g, gpus, left.time});
    }
    place_.assign(a.state->groups.size(), 0);
    const std::int64_t idle = idle_gpus(view);
    for (auto& [queue, groups] : waiting) set_places(view, choose(view, groups, idle));
    return {};
  }

  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) {
      const remaining_work left = remaining_of(inside(view), groups[i]);
      const std::int64_t place = place_[groups[i]];
      keys[i] = place != 0 ? order_key{place, 0} : left.known ? key_of_amount(left.service) : key_of_unknown();
    }
    return {};
  }

 private:
  /// The shorter one, then as the engine orders what no part tells apart.
  static bool ends_before(const session_view& view, const candidate& x, const candidate& y) {
    return std::tuple(x.time, view.group_created(x.group), view.group_name(x.group)) <
           std::tuple(y.time, view.group_created(y.group), view.group_name(y.group));
  }

  /// The best set; empty where the table would be too large.
  static std::vector<candidate> choose(const session_view& view, std::vector<candidate>& groups, std::int64_t idle) {
    std::sort(groups.begin(), groups.end(), [&](const candidate& x, const candidate& y) {
      return x.gpus != y.gpus ? x.gpus < y.gpus : ends_before(view, x, y);
    });
    // Of groups of one size the shortest are the best, and no more than fit.
    std::vector<candidate> some;
    std::int64_t unit = 0;
    for (std::size_t i = 0, first = 0; i < groups.size(); ++i) {
      if (groups[i].gpus != groups[first].gpus) first = i;
      if (static_cast<std::int64_t>(i - first) >= idle / groups[i].gpus) continue;
      some.push_back(groups[i]);
      unit = std::gcd(unit, groups[i].gpus);
    }
    if (some.empty()) return {};
    const auto width = static_cast<std::size_t>(idle / unit) + 1;
    if (width > std::min(most_columns, most_cells / some.size())) return {};
    std::vector<int128> best(width, 0);  // by GPUs that may be used
    std::vector<std::uint8_t> takes(some.size() * width, 0);
    for (std::size_t i = 0; i < some.size(); ++i) {
      const int128 rate = rate_of_nanosecond / std::max<std::int64_t>(1, some[i].time);
      const auto size = static_cast<std::size_t>(some[i].gpus / unit);
      for (std::size_t room = width; room-- > size;) {
        const int128 with = best[room - size] + rate;
        if (with <= best[room]) continue;
        best[room] = with;
        takes[i * width + room] = 1;
      }
    }
    std::vector<candidate> chosen;
    std::size_t room = width - 1;
    for (std::size_t i = some.size(); i-- > 0;) {
      if (takes[i * width + room] == 0) continue;
      chosen.push_back(some[i]);
      room -= static_cast<std::size_t>(some[i].gpus / unit);
    }
    return chosen;
  }

  /// The largest first: the small ones fill what these leave of nodes.
  void set_places(const session_view& view, std::vector<candidate> chosen) {
    std::sort(chosen.begin(), chosen.end(), [&](const candidate& x, const candidate& y) {
      return x.gpus != y.gpus ? x.gpus > y.gpus : ends_before(view, x, y);
    });
    const auto count = static_cast<std::int64_t>(chosen.size());
    for (std::int64_t i = 0; i < count; ++i) place_[chosen[static_cast<std::size_t>(i)].group] = i - count;
  }

  std::vector<std::int64_t> place_;  ///< by group: before 0, in the order of the chosen; 0: not chosen
};

}  // namespace

std::unique_ptr<policy_part> make_completion_rate(const policy_options&) {
  return std::make_unique<completion_rate_part>();
}

}  // namespace kaisched::policy
