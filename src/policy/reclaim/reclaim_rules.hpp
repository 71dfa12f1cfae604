#pragma once
/// @file
/// What a queue may take from others: the gate of a reclaimer, the filter of victims' queues, and the verdict on a set
/// of victims. Rules of KAI Scheduler 0.17 (`plugins/proportion/reclaimable`).
///
/// The same rules serve both arithmetics: `kai_queue` in the doubles of `compat`, `exact_queue` in integers. What
/// `strict` repairs is said at each rule.

#include <algorithm>
#include <array>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <boost/container/small_vector.hpp>

#include "base/int128.hpp"
#include "policy/ordering/exact_queue_order.hpp"
#include "policy/ordering/kai_queue_order.hpp"

namespace kaisched::policy {

/// A pending group that wants to take.
template <class Amounts>
struct reclaimer {
  queue_row queue = no_row;  ///< leaf
  Amounts required{};        ///< what it would start next
  Amounts kept{};            ///< what of that would not be preemptible; read unless all of it is
  bool preemptible = true;
};

/// Victims of one leaf queue, by what is judged at once.
template <class Amounts>
struct reclaim_victims {
  queue_row queue = no_row;
  boost::container::small_vector<Amounts, 4> units;
  bool go_together = false;  ///< all units may go if the first one may
};

namespace reclaim {

using kai_claim = reclaimer<kai_amounts>;
using exact_claim = reclaimer<exact_amounts>;

/// a <= b, where unlimited equals itself and exceeds everything else.
template <class T>
[[nodiscard]] bool at_most(T a, T b) {
  if (a == T{unlimited} || b == T{unlimited}) return b == T{unlimited};
  return a <= b;
}

template <class Amounts>
[[nodiscard]] Amounts plus(const Amounts& a, const Amounts& b) {
  Amounts sum{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] = a[r] + b[r];
  return sum;
}
template <class Amounts>
[[nodiscard]] Amounts minus(const Amounts& a, const Amounts& b) {
  Amounts rest{};
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) rest[r] = a[r] - b[r];
  return rest;
}

[[nodiscard]] inline double allocatable(const kai_share& s) { return kai_allocatable(s); }
[[nodiscard]] inline std::int64_t allocatable(const exact_share& s) { return exact_allocatable(s); }

[[nodiscard]] inline kai_amounts allocated(const kai_queue& q) {
  return {q.shares[0].allocated, q.shares[1].allocated, q.shares[2].allocated};
}
[[nodiscard]] inline exact_amounts allocated(const exact_queue& q) {
  return {q.shares[0].allocated, q.shares[1].allocated, q.shares[2].allocated};
}

/// Resources that a rule looks at.
using involved = std::array<bool, quota_dimensions>;
inline constexpr involved all_resources{true, true, true};

/// Resources of which there is something. `only` (a repair): else all are looked at.
template <class Amounts>
[[nodiscard]] involved in_amounts(const Amounts& amounts, bool only) {
  involved which = all_resources;
  for (std::uint32_t r = 0; only && r < quota_dimensions; ++r) which[r] = amounts[r] > 0;
  return which;
}

/// Strategy "maintain fair share": a queue that holds this holds more than it may keep, in some resource.
template <class Queue, class Amounts>
[[nodiscard]] bool over_allocatable(const Queue& q, const Amounts& held, const involved& which) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (which[r] && !at_most(held[r], allocatable(q.shares[r]))) return true;
  }
  return false;
}

template <class Queue, class Amounts>
[[nodiscard]] bool over_share(const Queue& q, const Amounts& held, const involved& which) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (which[r] && !at_most(held[r], q.shares[r].fair_share)) return true;
  }
  return false;
}

template <class Queue, class Amounts>
[[nodiscard]] bool over_quota(const Queue& q, const Amounts& held, const involved& which) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (which[r] && !at_most(held[r], q.shares[r].deserved)) return true;
  }
  return false;
}

template <class Queue, class Amounts>
[[nodiscard]] bool fits_quota_with(const Queue& q, const Amounts& required, const involved& which) {
  return !over_quota(q, plus(allocated(q), required), which);
}

template <class Queue, class Amounts>
[[nodiscard]] bool nonpreemptible_fits_quota(const Queue& q, const Amounts& required, const involved& which) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (which[r] && !at_most(q.shares[r].nonpreemptible + required[r], q.shares[r].deserved)) return false;
  }
  return true;
}

/// Strategy "guarantee deserved quota": the reclaimer stays within its quota of resources that are asked for, the
/// victim is over its own of those that it gives.
template <class Queue, class Amounts>
[[nodiscard]] bool guarantees_quota(const Queue& mine, const Amounts& required, const involved& asked,
                                    const Queue& victim, const Amounts& held, const involved& given) {
  return fits_quota_with(mine, required, asked) && over_quota(victim, held, given);
}

/// Trees of queues are rarely deeper.
using queue_path = boost::container::small_vector<queue_row, 8>;

/// From a leaf to its root.
template <class Queue>
[[nodiscard]] queue_path path_of(std::span<const Queue> queues, queue_row leaf) {
  queue_path path;
  for (queue_row q = leaf; q != no_row; q = queues[q].parent) path.push_back(q);
  return path;
}

/// The two queues at the first level from the root where the paths part. Where one path is the beginning of the other
/// both are the last queue that they share.
template <class Queue>
[[nodiscard]] std::pair<queue_row, queue_row> diverging(std::span<const Queue> queues, queue_row a, queue_row b) {
  const queue_path mine = path_of(queues, a);
  const queue_path theirs = path_of(queues, b);
  std::pair<queue_row, queue_row> found{no_row, no_row};
  for (std::size_t i = 1; i <= std::min(mine.size(), theirs.size()); ++i) {
    found = {mine[mine.size() - i], theirs[theirs.size() - i]};
    if (found.first != found.second) break;
  }
  return found;
}

/// With what is asked for a queue that holds so much stays within its fair share of it.
template <class Queue, class Amounts>
[[nodiscard]] bool stays_within_share(const Queue& q, const Amounts& held, const Amounts& asked) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (asked[r] > 0 && !at_most(held[r] + asked[r], q.shares[r].fair_share)) return false;
  }
  return true;
}

/// The gate: with its next chunk the leaf queue stays within its fair share, and a non-preemptible group within the
/// quota. `asked_only` (a repair): only of resources that are asked for.
template <class Queue, class Amounts>
[[nodiscard]] bool may_reclaim(std::span<const Queue> queues, const reclaimer<Amounts>& claim, bool asked_only) {
  const Queue& leaf = queues[claim.queue];
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (asked_only && claim.required[r] == 0) continue;
    const auto& s = leaf.shares[r];
    if (!at_most(s.allocated + claim.required[r], s.fair_share)) return false;
    if (!claim.preemptible && !at_most(s.nonpreemptible + claim.kept[r], s.deserved)) return false;
  }
  return true;
}

/// Over its quota in a resource asked for, or under it in none of them.
template <class Queue, class Amounts>
[[nodiscard]] bool quota_candidate(const Queue& victim, const Amounts& required) {
  bool under = false;
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    const auto& s = victim.shares[r];
    if (!(required[r] > 0) || s.deserved == unlimited) continue;
    if (s.allocated > s.deserved) return true;
    under = under || s.allocated < s.deserved;
  }
  return !under;
}

/// Groups of this leaf are worth looking at for this reclaimer. `as_judged` (a repair): whatever the verdict on some
/// victim of it could accept.
template <class Queue, class Amounts>
[[nodiscard]] bool may_give(std::span<const Queue> queues, const reclaimer<Amounts>& claim, queue_row victim_leaf,
                            bool as_judged) {
  const auto [mine, theirs] = diverging(queues, claim.queue, victim_leaf);
  if (mine == no_row) return true;
  const Queue& victim = queues[theirs];
  if (as_judged) {
    const involved asked = in_amounts(claim.required, true);
    return over_allocatable(victim, allocated(victim), asked) ||
           guarantees_quota(queues[mine], claim.required, asked, victim, allocated(victim), asked);
  }
  if (!fits_quota_with(queues[mine], claim.required, all_resources))
    return over_allocatable(victim, allocated(victim), all_resources);
  return quota_candidate(victim, claim.required);
}

/// False: the verdict refuses every set of victims of which this leaf loses some, whatever part of a group is reclaimed
/// for. The first loss is judged with all that the queue holds, later ones with less.
template <class Queue>
[[nodiscard]] bool may_end_with_less(std::span<const Queue> queues, queue_row mine, queue_row victim_leaf) {
  const queue_row theirs = diverging(queues, mine, victim_leaf).second;
  if (theirs == no_row) return true;
  const Queue& victim = queues[theirs];
  return over_allocatable(victim, allocated(victim), all_resources) ||
         over_quota(victim, allocated(victim), all_resources);
}

/// a / b < c / d for positive b and d, without products.
[[nodiscard]] inline bool fraction_below(base::int128 a, base::int128 b, base::int128 c, base::int128 d) {
  bool swapped = false;
  while (true) {
    const base::int128 x = a / b;
    const base::int128 y = c / d;
    if (x != y) return (x < y) != swapped;
    a -= x * b;
    c -= y * d;
    if (a == 0 || c == 0) return swapped ? c == 0 && a != 0 : a == 0 && c != 0;
    std::swap(a, b);
    std::swap(c, d);
    swapped = !swapped;
  }
}

/// A queue over its fair share stays strictly below a sibling that loses something: (held / share) * multiplier is less
/// than what the sibling is left with. A sibling without a fair share, or with an unlimited one, never blocks.
[[nodiscard]] bool less_saturated(double share, double held, double sibling_share, double left, double multiplier);
/// `multiplier` in thousandths.
[[nodiscard]] bool less_saturated(std::int64_t share, std::int64_t held, std::int64_t sibling_share, std::int64_t left,
                                  std::int64_t multiplier);

/// What queues lose of what they hold within their fair shares. A unit that is larger than the fair share was never
/// within it: such units go first, whatever their order.
template <class Queue, class Amounts>
class losses_within_shares {
 public:
  explicit losses_within_shares(std::span<const Queue> queues) : queues_(queues) {}

  /// `which`: resources that count.
  void add(queue_row q, const Amounts& unit, const involved& which) {
    const auto known = std::find_if(lost_.begin(), lost_.end(), [q](const lost& one) { return one.queue == q; });
    lost& to = known != lost_.end() ? *known : lost_.emplace_back(q);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      const bool counts = which[r] && at_most(unit[r], queues_[q].shares[r].fair_share);
      (counts ? to.counted : to.first)[r] += unit[r];
    }
  }
  /// In the first resource, by worth, in which they lose more or less than is gained they lose less.
  [[nodiscard]] bool are_made_up_by(const Amounts& gained) const {
    for (const std::uint32_t r : {dim_gpu, dim_cpu, dim_memory}) {
      typename Amounts::value_type sum{};
      for (const lost& one : lost_) {
        const auto& share = queues_[one.queue].shares[r];
        const auto within = [&](auto amount) { return at_most(amount, share.fair_share) ? amount : share.fair_share; };
        const auto held = share.allocated - one.first[r];
        sum += within(held) - within(held - one.counted[r]);
      }
      if (sum != gained[r]) return sum < gained[r];
    }
    return true;
  }

 private:
  struct lost {
    explicit lost(queue_row q) : queue(q) {}
    queue_row queue;
    Amounts first{};
    Amounts counted{};
  };
  std::span<const Queue> queues_;
  boost::container::small_vector<lost, 4> lost_;
};

/// The resource by which a group is measured: the most valuable one that it asks for.
template <class Amounts>
[[nodiscard]] std::uint32_t measure_of(const Amounts& required) {
  if (required[dim_gpu] > 0) return dim_gpu;
  return required[dim_cpu] > 0 ? dim_cpu : dim_memory;
}

/// What of an amount lies within the quota, or where quotas are oversold within the fair share. Nothing, where the
/// quota is unlimited: it protects nothing from others.
template <class Share, class Amount>
[[nodiscard]] Amount within_quota(const Share& s, Amount amount) {
  if (s.deserved == unlimited) return Amount{};
  const Amount most = at_most(s.deserved, s.fair_share) ? s.deserved : s.fair_share;
  return at_most(amount, most) ? amount : most;
}

/// What queues lose of what they hold within their quotas, against what the reclaimer gains. One that does not stay
/// within its own quota takes nothing of that: they would be entitled to take it back.
template <class Queue, class Amounts>
class losses_within_quotas {
 public:
  losses_within_quotas(std::span<const Queue> queues, const reclaimer<Amounts>& claim)
      : queues_(queues), required_(claim.required), resource_(measure_of(claim.required)) {}

  /// `mine`, `theirs`: the queues that are compared. A unit that is larger than the quota was never within it: such
  /// units go first, whatever their order.
  void add(queue_row mine, queue_row theirs, const Amounts& unit) {
    if (mine == theirs) return;
    const auto known = std::find_if(lost_.begin(), lost_.end(), [&](const lost& one) { return one.queue == theirs; });
    lost& to = known != lost_.end() ? *known : lost_.emplace_back(mine, theirs);
    const auto lost_here = unit[resource_];
    (within_quota(queues_[theirs].shares[resource_], lost_here) == lost_here ? to.counted : to.first) += lost_here;
  }
  [[nodiscard]] bool are_made_up() const {
    return std::all_of(lost_.begin(), lost_.end(), [this](const lost& one) {
      const auto& share = queues_[one.mine].shares[resource_];
      const auto wanted = required_[resource_];
      const auto sum = lost_to(one.mine);
      const auto after = share.allocated + wanted;
      const bool stays_within = share.deserved == unlimited || within_quota(share, after) == after;
      return sum == 0 || (stays_within && sum <= wanted);
    });
  }

 private:
  using amount = typename Amounts::value_type;
  struct lost {
    lost(queue_row compared, queue_row losing) : mine(compared), queue(losing) {}
    queue_row mine;
    queue_row queue;
    amount first{};
    amount counted{};
  };
  /// By the queues that are compared with this one.
  [[nodiscard]] amount lost_to(queue_row mine) const {
    amount sum{};
    for (const lost& one : lost_) {
      if (one.mine != mine) continue;
      const auto& share = queues_[one.queue].shares[resource_];
      const auto held = share.allocated - one.first;
      sum += within_quota(share, held) - within_quota(share, held - one.counted);
    }
    return sum;
  }

  std::span<const Queue> queues_;
  Amounts required_;
  std::uint32_t resource_;
  boost::container::small_vector<lost, 4> lost_;
};

/// Whether the reclaimer may take all these victims. Units are judged one by one, each before it is taken, in the order
/// given. Then at every level of the reclaimer's path its queue is compared with siblings that lose something.
/// `repaired`: a queue that holds too much of a resource gives of it to those that ask for it, and losses are
/// made up by gains, within fair shares and within quotas.
template <class Queue, class Amounts, class Multiplier>
[[nodiscard]] bool may_take(std::span<const Queue> queues, const reclaimer<Amounts>& claim,
                            std::span<const reclaim_victims<Amounts>> victims, Multiplier multiplier, bool repaired) {
  const involved asked = in_amounts(claim.required, repaired);
  losses_within_shares<Queue, Amounts> within(queues);
  losses_within_quotas<Queue, Amounts> guaranteed(queues, claim);
  struct losing_queue {
    queue_row queue;
    Amounts left;
    involved touched{};
  };
  boost::container::small_vector<losing_queue, 8> losing;  // by queue
  const auto place_of = [&](queue_row q) {
    return std::lower_bound(losing.begin(), losing.end(), q,
                            [](const losing_queue& one, queue_row row) { return one.queue < row; });
  };
  const auto entry_of = [&](queue_row q) {
    const auto at = place_of(q);
    return at != losing.end() && at->queue == q ? at : losing.insert(at, losing_queue{q, allocated(queues[q]), {}});
  };
  for (const reclaim_victims<Amounts>& of : victims) {
    const auto [mine, theirs] = diverging(queues, claim.queue, of.queue);
    (void)entry_of(theirs);
    involved lost{};
    for (const Amounts& unit : of.units) {
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) lost[r] = lost[r] || unit[r] > 0;
    }
    for (const Amounts& unit : of.units) {
      const Amounts held = entry_of(theirs)->left;
      involved given = in_amounts(unit, repaired);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) given[r] = given[r] && asked[r];
      const bool is_judged = !of.go_together || &unit == &of.units.front();
      if (is_judged && !over_allocatable(queues[theirs], held, given) &&
          !guarantees_quota(queues[mine], claim.required, asked, queues[theirs], held, given)) {
        return false;
      }
      // A queue that is over its share of what is asked for cannot take the unit back, whatever else the unit held.
      if (repaired) {
        within.add(theirs, unit, over_share(queues[theirs], held, given) ? given : in_amounts(unit, true));
        guaranteed.add(mine, theirs, unit);
      }
      for (const queue_row q : path_of(queues, of.queue)) {
        const auto at = entry_of(q);
        at->left = minus(at->left, unit);
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) at->touched[r] = at->touched[r] || lost[r];
      }
    }
  }
  if (repaired && !(within.are_made_up_by(claim.required) && guaranteed.are_made_up())) return false;
  for (const queue_row q : path_of(queues, claim.queue)) {
    const auto own = place_of(q);
    const bool loses = own != losing.end() && own->queue == q;
    const Amounts mine = plus(loses ? own->left : allocated(queues[q]), claim.required);
    for (const losing_queue& other : losing) {
      if (queues[other.queue].parent != queues[q].parent || other.queue == q) continue;
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
        const bool counts = claim.required[r] > 0 || other.touched[r];
        if (counts && !less_saturated(queues[q].shares[r].fair_share, mine[r], queues[other.queue].shares[r].fair_share,
                                      other.left[r], multiplier)) {
          return false;
        }
      }
    }
    if (!claim.preemptible && !nonpreemptible_fits_quota(queues[q], claim.kept, asked)) return false;
  }
  return true;
}

}  // namespace reclaim
}  // namespace kaisched::policy
