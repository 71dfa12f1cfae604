#include "simulation/share_meter.hpp"

#include <algorithm>
#include <map>
#include <numeric>

#include "base/int128.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"

namespace kaisched::simulation {

using base::int128;

std::vector<queue_share> shares_of(cluster& of) {
  std::vector<queue_share> all;
  for (const model::queue_info& q : *model::state_of(of.take_snapshot()).queues) {
    if (q.live) all.push_back({q.name, q.quota[dim_gpu]});
  }
  return all;
}

share_meter::share_meter(const std::vector<queue_share>& shares, const std::vector<std::string_view>& queues)
    : held_(queues.size()),
      wanted_(queues.size()),
      fair_(queues.size()),
      weight_(queues.size(), 1),
      order_(queues.size()),
      noted_(queues.size()) {
  std::map<std::string_view, std::int64_t> quotas;
  for (const queue_share& one : shares) quotas[one.queue] = one.quota;
  std::vector<std::int64_t> weights;
  for (const std::string_view name : queues) weights.push_back(quotas[name]);
  if (std::all_of(weights.begin(), weights.end(), [](std::int64_t w) { return w > 0; })) weight_ = std::move(weights);
  std::iota(order_.begin(), order_.end(), 0U);
}

std::vector<queue_share> share_meter::queues_with(const std::vector<queue_share>& shares,
                                                  const std::vector<std::string_view>& queues) {
  std::vector<queue_share> made;
  for (const std::string_view name : queues) {
    const auto is_it = [&](const queue_share& one) { return one.queue == name; };
    const auto found = std::find_if(shares.begin(), shares.end(), is_it);
    made.push_back({std::string(name), found == shares.end() ? unlimited : found->quota});
  }
  return made;
}

std::int64_t share_meter::misplaced() {
  if (!changed_) return known_;
  changed_ = false;
  const auto asks = [&](std::uint32_t q) { return held_[q] + wanted_[q]; };
  // Who asks for least by weight is served first: whatever remains goes to the others.
  std::sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    const int128 x = static_cast<int128>(asks(a)) * weight_[b];
    const int128 y = static_cast<int128>(asks(b)) * weight_[a];
    return x != y ? x < y : a < b;
  });
  int128 weights = 0;
  int128 left = 0;
  for (std::uint32_t q = 0; q < held_.size(); ++q) {
    if (asks(q) > 0) weights += weight_[q];
    left += held_[q];
  }
  int128 sum = 0;
  std::fill(fair_.begin(), fair_.end(), 0);
  for (const std::uint32_t q : order_) {
    if (asks(q) <= 0) continue;
    const int128 fair = std::min<int128>(asks(q), left * weight_[q] / weights);
    left -= fair;
    weights -= weight_[q];
    fair_[q] = static_cast<std::int64_t>(fair);
    if (held_[q] > fair) sum += held_[q] - fair;
  }
  known_ = static_cast<std::int64_t>(sum);
  return known_;
}

void share_meter::note(std::int64_t now, std::vector<queue_sample>& to) {
  static_cast<void>(misplaced());
  for (std::uint32_t q = 0; q < held_.size(); ++q) {
    const queue_sample made{now, q, held_[q], wanted_[q], fair_[q]};
    queue_sample same = noted_[q];
    same.time = now;
    same.queue = q;
    if (same == made) continue;
    noted_[q] = made;
    to.push_back(made);
  }
}

}  // namespace kaisched::simulation
