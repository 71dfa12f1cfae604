#include "policy/ordering/kai_queue_order.hpp"

#include <algorithm>

namespace kaisched::policy {

namespace {

constexpr double no_share_penalty = 1000;  // per unit held of a resource without a share: bytes weigh most

/// a <= b, where unlimited equals itself and exceeds everything else.
bool at_most(double a, double b) {
  if (a == -1 || b == -1) return b == -1;
  return a <= b;
}

bool over_fair_share(const kai_queue& queue) {
  return std::all_of(queue.shares.begin(), queue.shares.end(),
                     [](const kai_share& s) { return s.fair_share < s.allocated; });
}

bool starved(const kai_side& side) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const kai_share& s = side.queue->shares[r];
    if (!at_most(s.allocated + side.job[r], s.deserved)) return false;
  }
  return true;
}

bool uses_without_share(const kai_side& side, const kai_amounts& allocatable) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const kai_share& s = side.queue->shares[r];
    if (allocatable[r] == 0 && s.allocated + side.job[r] > 0) return true;
  }
  return false;
}

/// Largest part of its own entitlement (not of the cluster) that the queue holds; never below zero.
double dominant_saturation(const kai_amounts& allocatable, const kai_amounts& held, const kai_amounts& total) {
  double most = 0;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    double share = allocatable[r];
    if (share == -1) share = total[r];
    const double part = share != 0 ? held[r] / share : held[r] * no_share_penalty;
    most = std::max(most, part);
  }
  return most;
}

kai_amounts held_with_job(const kai_side& side) {
  kai_amounts held{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) held[r] = side.queue->shares[r].allocated + side.job[r];
  for (const kai_amounts& victim : side.victims) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) held[r] -= victim[r];
  }
  return held;
}

kai_amounts held_alone(const kai_side& side) {
  kai_amounts held{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) held[r] = side.queue->shares[r].allocated;
  return held;
}

/// Smaller entitlement first where one is at most the other in every resource; 0 where that does not decide.
int compare_allocatable(const kai_amounts& left, const kai_amounts& right) {
  bool left_fits = true;
  bool right_fits = true;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    left_fits = left_fits && at_most(left[r], right[r]);
    right_fits = right_fits && at_most(right[r], left[r]);
  }
  return left_fits == right_fits ? 0 : left_fits ? -1 : 1;
}

std::uint32_t first_over(const kai_queue& queue, const kai_amounts& requested, double kai_share::* bound,
                         double kai_share::* held) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const kai_share& s = queue.shares[r];
    if (s.*bound != -1 && requested[r] != 0 && s.*bound < s.*held + requested[r]) return r;
  }
  return no_row;
}

}  // namespace

double kai_allocatable(const kai_share& share) {
  if (share.deserved == -1) return share.limit;
  const double entitled = std::max(share.deserved, share.fair_share);
  return share.limit == -1 ? entitled : std::min(share.limit, entitled);
}

kai_standing kai_standing_of(const kai_side& side, const kai_amounts& total) {
  kai_standing made;
  const kai_queue& queue = *side.queue;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) made.allocatable[r] = kai_allocatable(queue.shares[r]);
  made.over = over_fair_share(queue);
  made.starved = starved(side);
  made.violates = uses_without_share(side, made.allocatable);
  made.priority = queue.priority;
  made.with_job = dominant_saturation(made.allocatable, held_with_job(side), total);
  made.alone = dominant_saturation(made.allocatable, held_alone(side), total);
  made.created = queue.created;
  return made;
}

int kai_compare_standings(const kai_standing& left, const kai_standing& right) {
  if (left.over != right.over) return left.over ? 1 : -1;
  if (left.starved != right.starved) return left.starved ? -1 : 1;
  if (left.priority != right.priority) return left.priority > right.priority ? -1 : 1;
  if (left.violates != right.violates) return left.violates ? 1 : -1;
  if (left.with_job != right.with_job) return left.with_job < right.with_job ? -1 : 1;
  if (left.alone != right.alone) return left.alone < right.alone ? -1 : 1;
  const int smaller = compare_allocatable(left.allocatable, right.allocatable);
  if (smaller != 0) return smaller;
  return left.created < right.created ? -1 : 1;
}

std::uint32_t kai_over_limit(const kai_queue& queue, const kai_amounts& requested) {
  return first_over(queue, requested, &kai_share::limit, &kai_share::allocated);
}

std::uint32_t kai_over_quota(const kai_queue& queue, const kai_amounts& requested) {
  return first_over(queue, requested, &kai_share::deserved, &kai_share::nonpreemptible);
}

}  // namespace kaisched::policy
