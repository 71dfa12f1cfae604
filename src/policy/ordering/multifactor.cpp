// The group with the most points first: points for waiting, for a queue that has used little of its share, for the size
// of the group, for its priority and for that of its queue, added up.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"
#include "policy/ordering/dominant_share.hpp"
#include "policy/ordering/fair_tree.hpp"
#include "policy/ordering/whole_sum.hpp"
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

constexpr std::int64_t least_points = 1;
constexpr std::int64_t most_points = 0xFFFFFFFF;

/// `points` for the whole, in proportion for a part of it.
summand part_of(std::int64_t points, int128 part, int128 whole) {
  if (whole <= 0 || part <= 0) return {};
  return {std::min(part, whole) * points, whole};
}

class multifactor_part final : public policy_part {
 public:
  explicit multifactor_part(const policy_options& options) : o_(options) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "multifactor"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_orders_groups; }

  result<void> session_open(const session_view& view) override {
    total_ = open_capacity(view);
    nodes_ = 0;
    for (node_row n = 0; n < view.node_count(); ++n) {
      nodes_ += view.node_ready(n) && !view.node_unschedulable(n) ? 1 : 0;
    }
    rank_queues(*inside(view).state);
    return {};
  }

  result<void> order_groups(const session_view& view, std::span<const group_row> groups,
                            std::span<order_key> keys) override {
    for (std::size_t i = 0; i < groups.size(); ++i) keys[i] = {-points_of(inside(view), groups[i]), 0};
    return {};
  }

 private:
  void rank_queues(const model::cluster_state& s) {
    const std::vector<model::queue_info>& all = *s.queues;
    most_priority_ = 0;
    std::vector<std::uint32_t> position(all.size(), fair_tree_node::none);
    std::vector<fair_tree_node> tree;
    std::vector<queue_row> rows;
    for (queue_row q = 0; q < all.size(); ++q) {
      if (!all[q].live) continue;
      if (all[q].children == 0) most_priority_ = std::max(most_priority_, all[q].priority);
      position[q] = static_cast<std::uint32_t>(tree.size());
      rows.push_back(q);
      // As in `strict` divisions: weights count in thousandths, usage in millionths.
      const double weight = std::clamp(all[q].weight[o_.factor_usage], 0.0, 1e9);
      const double usage = std::min(all[q].usage[o_.factor_usage], 1e6);
      tree.push_back({fair_tree_node::none, std::llround(weight * 1000), std::llround(usage * 1e6)});
    }
    for (std::size_t i = 0; i < tree.size(); ++i) {
      if (all[rows[i]].parent != no_row) tree[i].parent = position[all[rows[i]].parent];
    }
    const std::vector<std::uint32_t> ranks = fair_tree_ranks(tree);
    rank_.assign(all.size(), 0);
    leaves_ = 0;
    for (std::size_t i = 0; i < tree.size(); ++i) {
      rank_[rows[i]] = ranks[i];
      leaves_ += all[rows[i]].children == 0 ? 1 : 0;
    }
  }

  /// What pods of the group hold or would hold, and how many there are.
  struct demand {
    std::int64_t pods = 0;
    std::array<int128, quota_dimensions> amount{};
  };
  static demand demand_of(const session_access& a, group_row group) {
    const model::cluster_state& s = *a.state;
    const model::group_core& g = s.groups[group];
    demand sum;
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
        if (!model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::alive)) continue;
        const model::quota_vector one = model::quota_request_on(s, s.class_of(p), no_row);
        ++sum.pods;
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum.amount[r] += one[r];
      }
    }
    return sum;
  }

  [[nodiscard]] std::int64_t points_of(const session_access& a, group_row group) const {
    const model::group_core& g = a.state->groups[group];
    const model::queue_info& queue = (*a.state->queues)[g.queue];
    // `unset` is smaller than every time.
    const std::int64_t since = std::max(g.created, a.state->group_extras[group].last_eviction);
    std::array<summand, most_summands> parts{
        part_of(o_.factor_age, static_cast<int128>(a.now) - since, o_.factor_max_age),
        part_of(o_.factor_fair_share, rank_[g.queue], leaves_),
        part_of(o_.factor_queue, queue.priority, most_priority_)};
    if (o_.factor_size != 0 || o_.factor_cpu != 0 || o_.factor_memory != 0 || o_.factor_gpu != 0) {
      const demand asks = demand_of(a, group);
      parts[3] = part_of(o_.factor_cpu, asks.amount[dim_cpu], total_[dim_cpu]);
      parts[4] = part_of(o_.factor_memory, asks.amount[dim_memory], total_[dim_memory]);
      parts[5] = part_of(o_.factor_gpu, asks.amount[dim_gpu], total_[dim_gpu]);
      parts[6] = size_part(asks.pods, nodes_);
      parts[7] = size_part(asks.amount[dim_cpu], total_[dim_cpu]);
    }
    const int128 sum = static_cast<int128>(o_.factor_priority) * g.priority + whole_sum(parts);
    return static_cast<std::int64_t>(std::clamp<int128>(sum, least_points, most_points));
  }

  /// Half of the points for size are for nodes, half for cpu.
  [[nodiscard]] summand size_part(int128 part, int128 whole) const {
    if (whole <= 0) return {};
    const int128 counted = o_.factor_small_first ? whole - std::min(part, whole) : part;
    summand made = part_of(o_.factor_size, counted, whole);
    made.under *= 2;
    return made;
  }

  policy_options o_;
  model::quota_vector total_{};
  std::int64_t nodes_ = 0;
  std::int64_t most_priority_ = 0;   ///< of queues without children
  std::int64_t leaves_ = 0;          ///< queues without children
  std::vector<std::uint32_t> rank_;  ///< by queue
};

}  // namespace

std::unique_ptr<policy_part> make_multifactor(const policy_options& options) {
  return std::make_unique<multifactor_part>(options);
}

}  // namespace kaisched::policy
