#include "oracle/shares.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

namespace kaisched::oracle {

namespace {

__extension__ using wide = __int128;

constexpr quota_amounts unit_of{1, 1, whole_device};  ///< what is handed out at a time

std::vector<std::size_t> children_of(const world& w, std::size_t parent) {
  if (parent != nobody) return w.queues[parent].children;
  std::vector<std::size_t> roots;
  for (std::size_t q = 0; q < w.queues.size(); ++q) {
    if (w.queues[q].parent == nobody) roots.push_back(q);
  }
  return roots;
}

std::vector<std::vector<std::size_t>> bands_of(const world& w, const std::vector<std::size_t>& siblings) {
  std::map<std::int64_t, std::vector<std::size_t>, std::greater<>> bands;
  for (const std::size_t q : siblings) bands[w.queues[q].priority].push_back(q);
  std::vector<std::vector<std::size_t>> sorted;
  for (auto& [priority, band] : bands) sorted.push_back(std::move(band));
  return sorted;
}

// ---- strict: division --------------------------------------------------------------------------------------------

std::int64_t requestable(const queue& q, const figures& f, std::size_t r) {
  return q.limit[r] == unlimited ? f.request[r] : std::min(q.limit[r], f.request[r]);
}

using pulls = std::map<std::size_t, wide>;

/// One unit after another goes to the largest pull / (2 x units had + 1); of equals to the oldest, then by name.
class hand_out {
 public:
  hand_out(const world& w, std::vector<figures>& queues, std::size_t r, std::int64_t& total)
      : w_(w), queues_(queues), r_(r), total_(total) {}

  void run(const std::map<std::size_t, std::int64_t>& wanted,
           const std::function<pulls(const std::vector<std::size_t>&)>& pull) {
    std::map<std::size_t, std::int64_t> given;
    std::map<std::size_t, std::int64_t> units;
    while (total_ > 0) {
      std::vector<std::size_t> hungry;
      for (const auto& [q, amount] : wanted) {
        if (given[q] < amount) hungry.push_back(q);
      }
      const pulls now = pull(hungry);
      std::size_t best = nobody;
      for (const std::size_t q : hungry) {
        if (now.at(q) > 0 && (best == nobody || first(q, best, now, units))) best = q;
      }
      if (best == nobody) return;
      const std::int64_t amount = std::min({unit_of[r_], total_, wanted.at(best) - given[best]});
      given[best] += amount;
      ++units[best];
      total_ -= amount;
      queues_[best].fair_share[r_] += amount;
    }
  }

 private:
  bool first(std::size_t a, std::size_t b, const pulls& now, std::map<std::size_t, std::int64_t>& units) const {
    const wide x = now.at(a) * (2 * units[b] + 1);
    const wide y = now.at(b) * (2 * units[a] + 1);
    if (x != y) return x > y;
    return std::tie(w_.queues[a].created, w_.queues[a].name) < std::tie(w_.queues[b].created, w_.queues[b].name);
  }

  const world& w_;
  std::vector<figures>& queues_;
  std::size_t r_;
  std::int64_t& total_;
};

/// w + k (w - usage), w a part of all hungry weights; plain weights where that leaves nobody anything. Weights count in
/// thousandths, usage in millionths; the common denominator is left out.
pulls pull_by_weight(const world& w, const std::vector<std::size_t>& hungry, std::size_t r, std::int64_t k) {
  const auto weight = [&](std::size_t q) { return wide{std::llround(w.queues[q].weight[r] * 1000)}; };
  const auto usage = [&](std::size_t q) { return wide{std::llround(w.queues[q].usage[r] * 1e6)}; };
  wide weights = 0;
  for (const std::size_t q : hungry) weights += weight(q);
  pulls moved;
  bool any = false;
  for (const std::size_t q : hungry) {
    moved[q] = std::max<wide>(0, weight(q) * (1000 + k) * 1'000'000 - weights * k * usage(q));
    any = any || moved[q] > 0;
  }
  if (!any) {
    for (const std::size_t q : hungry) moved[q] = weight(q);
  }
  return moved;
}

void divide_level(const world& w, std::vector<figures>& queues, const std::vector<std::size_t>& siblings, std::size_t r,
                  std::int64_t total, std::int64_t k) {
  const std::int64_t whole = total;
  const auto quota = [&](std::size_t q) { return w.queues[q].quota[r] == unlimited ? whole : w.queues[q].quota[r]; };
  std::map<std::size_t, std::int64_t> claims;
  std::int64_t sum = 0;
  for (const std::size_t q : siblings) {
    claims[q] = std::min(quota(q), requestable(w.queues[q], queues[q], r));
    sum += claims[q];
  }
  if (sum <= total) {
    for (const auto& [q, amount] : claims) queues[q].fair_share[r] = amount;
    total -= sum;
  } else {  // quotas that are oversold share what there is as weights do
    hand_out(w, queues, r, total).run(claims, [&](const std::vector<std::size_t>& hungry) {
      pulls by_quota;
      for (const std::size_t q : hungry) by_quota[q] = quota(q);
      return by_quota;
    });
  }
  for (const std::vector<std::size_t>& band : bands_of(w, siblings)) {
    std::map<std::size_t, std::int64_t> wanted;
    for (const std::size_t q : band) wanted[q] = requestable(w.queues[q], queues[q], r) - queues[q].fair_share[r];
    hand_out(w, queues, r, total).run(wanted, [&](const std::vector<std::size_t>& hungry) {
      return pull_by_weight(w, hungry, r, k);
    });
  }
}

/// A queue with children asks for what they may hold.
void cap_requests(const world& w, std::vector<figures>& queues, std::size_t q) {
  if (w.queues[q].children.empty()) return;
  queues[q].request = {};
  for (const std::size_t child : w.queues[q].children) {
    cap_requests(w, queues, child);
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      queues[q].request[r] += requestable(w.queues[child], queues[child], r);
    }
  }
}

void divide_below(const world& w, std::vector<figures>& queues, std::size_t parent, const quota_amounts& total,
                  std::int64_t k) {
  const std::vector<std::size_t> siblings = children_of(w, parent);
  for (std::size_t r = 0; r < quota_dimensions; ++r) divide_level(w, queues, siblings, r, total[r], k);
  for (const std::size_t q : siblings) divide_below(w, queues, q, queues[q].fair_share, k);
}

// ---- strict: order -----------------------------------------------------------------------------------------------

bool at_most(std::int64_t a, std::int64_t b) { return b == unlimited || (a != unlimited && a <= b); }

/// What a queue may hold without owing it back.
std::int64_t entitled(const side& s, std::size_t r) {
  if (s.rules.quota[r] == unlimited) return s.rules.limit[r];
  const std::int64_t amount = std::max(s.rules.quota[r], s.now.fair_share[r]);
  return s.rules.limit[r] == unlimited ? amount : std::min(amount, s.rules.limit[r]);
}

bool for_all(const std::function<bool(std::size_t)>& test) { return test(0) && test(1) && test(2); }

bool over_fair_share(const side& s) {
  return for_all([&](std::size_t r) { return s.now.fair_share[r] < s.now.allocated[r]; });
}
bool stays_in_quota(const side& s) {
  return for_all([&](std::size_t r) { return at_most(s.now.allocated[r] + s.next[r], s.rules.quota[r]); });
}
bool holds_without_share(const side& s) {
  return !for_all([&](std::size_t r) { return entitled(s, r) != 0 || s.now.allocated[r] + s.next[r] <= 0; });
}

/// A fraction; `under` 0 is infinite.
struct fraction {
  std::int64_t over = 0;
  std::int64_t under = 1;
};
bool less(const fraction& a, const fraction& b) {
  if (a.under == 0 || b.under == 0) return a.under != 0 && b.under == 0;
  return wide{a.over} * b.under < wide{b.over} * a.under;
}

/// The largest part of its entitlement that a queue holds, if it held that much more.
fraction saturation(const side& s, const quota_amounts& more, const quota_amounts& total) {
  fraction most;
  for (std::size_t r = 0; r < quota_dimensions; ++r) {
    const std::int64_t held = s.now.allocated[r] + more[r];
    const std::int64_t share = entitled(s, r) == unlimited ? total[r] : entitled(s, r);
    if (held > 0 && less(most, {held, share})) most = {held, share};
  }
  return most;
}

// ---- compat: division, expression by expression ------------------------------------------------------------------

using amounts = std::array<double, quota_dimensions>;

double native(std::size_t r, std::int64_t amount) {
  return r == dim_gpu ? static_cast<double>(amount) / 1000 : static_cast<double>(amount);
}
double bound(std::size_t r, std::int64_t amount) { return amount == unlimited ? -1 : native(r, amount); }

/// One resource among siblings.
class kai_level {
 public:
  kai_level(const world& w, std::vector<figures>& queues, std::size_t r, double k)
      : w_(w), queues_(queues), r_(r), k_(k) {}

  void divide(const std::vector<std::size_t>& siblings, double total) {
    double remaining = total;
    for (const std::size_t q : siblings) {
      const double quota = bound(r_, w_.queues[q].quota[r_]);
      const double amount = std::min(quota == -1 ? total : quota, wish(q));
      share(q) += amount;
      remaining -= amount;
    }
    if (remaining <= 0) return;
    std::vector<std::map<std::size_t, double>> parked;  // whole units for remainders come after all bands
    for (const std::vector<std::size_t>& band : bands_of(w_, siblings)) parked.push_back(rounds(band, remaining));
    for (const std::map<std::size_t, double>& remainders : parked) hand_out_units(remainders, remaining);
  }

 private:
  double& share(std::size_t q) { return queues_[q].kai_fair_share[r_]; }
  double wish(std::size_t q) const {
    const double limit = bound(r_, w_.queues[q].limit[r_]);
    const double request = native(r_, queues_[q].request[r_]);
    return limit == -1 ? request : std::min(limit, request);
  }
  double need(std::size_t q) { return std::max(0.0, wish(q) - share(q)); }

  /// Part of a round's amount by queue; empty: nobody may get any.
  std::map<std::size_t, double> proportions(const std::vector<std::size_t>& band) {
    std::vector<std::size_t> hungry;
    for (const std::size_t q : band) {
      if (need(q) > 0) hungry.push_back(q);
    }
    double weights = 0;
    for (const std::size_t q : hungry) weights += w_.queues[q].weight[r_];
    if (weights == 0) return {};
    std::map<std::size_t, double> parts;
    double sum = 0;
    for (const std::size_t q : hungry) {
      const double weight = w_.queues[q].weight[r_] / weights;
      parts[q] = std::max(0.0, weight + k_ * (weight - w_.queues[q].usage[r_]));
      sum += parts[q];
    }
    if (sum == 0) return {};
    for (auto& [q, part] : parts) part /= sum;
    return parts;
  }

  std::map<std::size_t, double> rounds(const std::vector<std::size_t>& band, double& total) {
    std::map<std::size_t, double> remainders;  // a whole share does not clear what an earlier round has parked
    bool again = true;
    while (again && total != 0) {
      again = false;
      const double amount = total;
      const std::map<std::size_t, double> parts = proportions(band);
      if (parts.empty()) break;
      for (const std::size_t q : band) {
        const double wanted = need(q);
        if (total == 0 || wanted == 0) continue;
        const double cut = amount * parts.at(q);
        const double give = wanted <= cut ? wanted : std::max(0.0, std::floor(cut));
        if (wanted <= cut) {
          remainders.erase(q);
        } else if (cut > give) {
          remainders[q] = cut - give;
        }
        share(q) += give;
        total -= give;
        again = again || wanted < cut;
      }
    }
    return remainders;
  }

  /// One unit each: largest remainder, then oldest, then name. Limits are not looked at again.
  void hand_out_units(const std::map<std::size_t, double>& remainders, double& total) {
    std::vector<std::tuple<double, std::int64_t, std::string, std::size_t>> order;
    for (const auto& [q, remainder] : remainders) {
      order.emplace_back(-remainder, w_.queues[q].created, w_.queues[q].name, q);
    }
    std::sort(order.begin(), order.end());
    for (const auto& [remainder, created, name, q] : order) {
      if (total <= 0) return;
      const double unit = std::min(1.0, total);
      share(q) += unit;
      total -= unit;
    }
  }

  const world& w_;
  std::vector<figures>& queues_;
  std::size_t r_;
  double k_;
};

void kai_divide_below(const world& w, std::vector<figures>& queues, std::size_t parent, const amounts& total,
                      double k) {
  const std::vector<std::size_t> siblings = children_of(w, parent);
  for (std::size_t r = 0; r < quota_dimensions; ++r) kai_level(w, queues, r, k).divide(siblings, total[r]);
  for (const std::size_t q : siblings) kai_divide_below(w, queues, q, queues[q].kai_fair_share, k);
}

// ---- compat: order -----------------------------------------------------------------------------------------------

bool kai_at_most(double a, double b) { return a == -1 || b == -1 ? b == -1 : a <= b; }

double kai_entitled(const side& s, std::size_t r) {
  const double limit = bound(r, s.rules.limit[r]);
  if (s.rules.quota[r] == unlimited) return limit;
  const double amount = std::max(native(r, s.rules.quota[r]), s.now.kai_fair_share[r]);
  return limit == -1 ? amount : std::min(limit, amount);
}
double kai_held(const side& s, std::size_t r) { return native(r, s.now.allocated[r]); }
double kai_next(const side& s, std::size_t r) { return native(r, s.next[r]); }

bool kai_over_fair_share(const side& s) {
  return for_all([&](std::size_t r) { return s.now.kai_fair_share[r] < kai_held(s, r); });
}
bool kai_stays_in_quota(const side& s) {
  return for_all(
      [&](std::size_t r) { return kai_at_most(kai_held(s, r) + kai_next(s, r), bound(r, s.rules.quota[r])); });
}
bool kai_holds_without_share(const side& s) {
  return !for_all([&](std::size_t r) { return kai_entitled(s, r) != 0 || kai_held(s, r) + kai_next(s, r) <= 0; });
}
double kai_saturation(const side& s, bool with_next, const quota_amounts& total) {
  double most = 0;
  for (std::size_t r = 0; r < quota_dimensions; ++r) {
    const double held = with_next ? kai_held(s, r) + kai_next(s, r) : kai_held(s, r);
    const double share = kai_entitled(s, r) == -1 ? native(r, total[r]) : kai_entitled(s, r);
    most = std::max(most, share != 0 ? held / share : held * 1000);  // without a share the raw amount counts
  }
  return most;
}
bool kai_entitlement_fits(const side& a, const side& b) {
  return for_all([&](std::size_t r) { return kai_at_most(kai_entitled(a, r), kai_entitled(b, r)); });
}

}  // namespace

void divide_exactly(const world& w, std::vector<figures>& queues, const quota_amounts& total, double k) {
  std::vector<figures> capped = queues;
  for (const std::size_t root : children_of(w, nobody)) cap_requests(w, capped, root);
  divide_below(w, capped, nobody, total, std::llround(k * 1000));
  for (std::size_t q = 0; q < queues.size(); ++q) queues[q].fair_share = capped[q].fair_share;
}

void divide_as_kai(const world& w, std::vector<figures>& queues, const quota_amounts& total, double k) {
  kai_divide_below(w, queues, nobody, {native(0, total[0]), native(1, total[1]), native(2, total[2])}, k);
  for (figures& f : queues) {
    for (std::size_t r = 0; r < quota_dimensions; ++r) {
      f.fair_share[r] = std::llround(r == dim_gpu ? f.kai_fair_share[r] * 1000 : f.kai_fair_share[r]);
    }
  }
}

bool exactly_before(const side& left, const side& right, const quota_amounts& total) {
  if (over_fair_share(left) != over_fair_share(right)) return over_fair_share(right);
  if (stays_in_quota(left) != stays_in_quota(right)) return stays_in_quota(left);
  if (left.rules.priority != right.rules.priority) return left.rules.priority > right.rules.priority;
  if (holds_without_share(left) != holds_without_share(right)) return holds_without_share(right);
  for (const bool with_next : {true, false}) {
    const fraction x = saturation(left, with_next ? left.next : quota_amounts{}, total);
    const fraction y = saturation(right, with_next ? right.next : quota_amounts{}, total);
    if (less(x, y) || less(y, x)) return less(x, y);
  }
  for (const std::size_t r : {dim_gpu, dim_memory, dim_cpu}) {  // the smaller entitlement, resource by resource
    if (entitled(left, r) != entitled(right, r)) return at_most(entitled(left, r), entitled(right, r));
  }
  return std::tie(left.rules.created, left.rules.name) < std::tie(right.rules.created, right.rules.name);
}

bool before_as_kai(const side& left, const side& right, const quota_amounts& total) {
  if (kai_over_fair_share(left) != kai_over_fair_share(right)) return kai_over_fair_share(right);
  if (kai_stays_in_quota(left) != kai_stays_in_quota(right)) return kai_stays_in_quota(left);
  if (left.rules.priority != right.rules.priority) return left.rules.priority > right.rules.priority;
  if (kai_holds_without_share(left) != kai_holds_without_share(right)) return kai_holds_without_share(right);
  for (const bool with_next : {true, false}) {
    const double x = kai_saturation(left, with_next, total);
    const double y = kai_saturation(right, with_next, total);
    if (x != y) return x < y;
  }
  const bool left_fits = kai_entitlement_fits(left, right);
  const bool right_fits = kai_entitlement_fits(right, left);
  if (left_fits != right_fits) return left_fits;
  return left.rules.created < right.rules.created;  // of twins the right one is first
}

}  // namespace kaisched::oracle
