#include "policy/ordering/exact_queue_order.hpp"

#include <algorithm>

#include "base/int128.hpp"

namespace kaisched::policy {

namespace {

using base::int128;

struct fraction {
  std::int64_t over = 0;
  std::int64_t under = 1;  ///< 0: infinite
};

int compare(const fraction& a, const fraction& b) {
  if (a.under == 0 || b.under == 0) return (a.under == 0 ? 1 : 0) - (b.under == 0 ? 1 : 0);
  const int128 x = static_cast<int128>(a.over) * b.under;
  const int128 y = static_cast<int128>(b.over) * a.under;
  return x < y ? -1 : x > y ? 1 : 0;
}

bool at_most(std::int64_t a, std::int64_t b) {
  if (a == unlimited || b == unlimited) return b == unlimited;
  return a <= b;
}

bool over_fair_share(const exact_queue& queue) {
  return std::all_of(queue.shares.begin(), queue.shares.end(),
                     [](const exact_share& s) { return s.fair_share < s.allocated; });
}

bool starved(const exact_side& side) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const exact_share& s = side.queue->shares[r];
    if (!at_most(s.allocated + side.job[r], s.deserved)) return false;
  }
  return true;
}

bool uses_without_share(const exact_side& side) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const exact_share& s = side.queue->shares[r];
    if (exact_allocatable(s) == 0 && s.allocated + side.job[r] > 0) return true;
  }
  return false;
}

fraction saturation(const exact_queue& queue, const exact_amounts& more, const exact_amounts& less,
                    const exact_amounts& total) {
  fraction most;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const exact_share& s = queue.shares[r];
    std::int64_t share = exact_allocatable(s);
    if (share == unlimited) share = total[r];
    const std::int64_t held = std::max<std::int64_t>(0, s.allocated + more[r] - less[r]);
    const fraction part = held == 0 ? fraction{} : fraction{held, share};
    if (compare(part, most) > 0) most = part;
  }
  return most;
}

std::uint32_t first_over(const exact_queue& queue, const exact_amounts& requested, std::int64_t exact_share::* bound,
                         std::int64_t exact_share::* held) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const exact_share& s = queue.shares[r];
    if (s.*bound != unlimited && requested[r] != 0 && s.*bound < s.*held + requested[r]) return r;
  }
  return no_row;
}

}  // namespace

std::int64_t exact_allocatable(const exact_share& share) {
  if (share.deserved == unlimited) return share.limit;
  const std::int64_t entitled = std::max(share.deserved, share.fair_share);
  return share.limit == unlimited ? entitled : std::min(share.limit, entitled);
}

bool exact_serves_before(const exact_side& left, const exact_side& right, const exact_amounts& total) {
  const bool left_over = over_fair_share(*left.queue);
  const bool right_over = over_fair_share(*right.queue);
  if (left_over != right_over) return right_over;
  const bool left_starved = starved(left);
  const bool right_starved = starved(right);
  if (left_starved != right_starved) return left_starved;
  if (left.queue->priority != right.queue->priority) return left.queue->priority > right.queue->priority;
  const bool left_violates = uses_without_share(left);
  const bool right_violates = uses_without_share(right);
  if (left_violates != right_violates) return right_violates;
  int order = compare(saturation(*left.queue, left.job, left.victims, total),
                      saturation(*right.queue, right.job, right.victims, total));
  if (order != 0) return order < 0;
  order = compare(saturation(*left.queue, {}, {}, total), saturation(*right.queue, {}, {}, total));
  if (order != 0) return order < 0;
  for (std::uint32_t r = quota_dimensions; r-- > 0;) {  // gpu decides first
    const std::int64_t x = exact_allocatable(left.queue->shares[r]);
    const std::int64_t y = exact_allocatable(right.queue->shares[r]);
    if (x != y) return y == unlimited || (x != unlimited && x < y);
  }
  if (left.queue->created != right.queue->created) return left.queue->created < right.queue->created;
  return left.queue->uid < right.queue->uid;
}

std::uint32_t exact_over_limit(const exact_queue& queue, const exact_amounts& requested) {
  return first_over(queue, requested, &exact_share::limit, &exact_share::allocated);
}

std::uint32_t exact_over_quota(const exact_queue& queue, const exact_amounts& requested) {
  return first_over(queue, requested, &exact_share::deserved, &exact_share::nonpreemptible);
}

}  // namespace kaisched::policy
