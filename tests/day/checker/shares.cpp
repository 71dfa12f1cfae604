#include "checker/shares.hpp"

#include <algorithm>
#include <cmath>

namespace day_check {

namespace {

__extension__ using wide = __int128;

/// How many whole units each gets for certain, by a price that is found with floating point: two fewer than it says.
std::vector<std::int64_t> most_units(const std::vector<wish>& all, std::int64_t units, std::int64_t unit) {
  const auto bought = [&](const wish& one, double price) {
    if (one.weight <= 0) return 0.0;
    const double most = std::floor(static_cast<double>(one.wanted) / static_cast<double>(unit));
    return std::clamp((static_cast<double>(one.weight) / price - 1) / 2, 0.0, most);
  };
  double low = 0;
  double high = 1;
  for (const wish& one : all) high = std::max(high, static_cast<double>(one.weight) * 2);
  for (int i = 0; i < 200; ++i) {
    const double price = (low + high) / 2;
    double sum = 0;
    for (const wish& one : all) sum += bought(one, price);
    (sum > static_cast<double>(units) ? low : high) = price;
  }
  std::vector<std::int64_t> sure;
  for (const wish& one : all)
    sure.push_back(std::max<std::int64_t>(0, static_cast<std::int64_t>(bought(one, high)) - 2));
  return sure;
}

}  // namespace

std::vector<std::int64_t> by_units(const std::vector<wish>& all, std::int64_t total, std::int64_t unit) {
  std::vector<std::int64_t> units = most_units(all, total / unit, unit);
  std::vector<std::int64_t> given;
  for (const std::int64_t count : units) given.push_back(count * unit);
  for (const std::int64_t amount : given) total -= amount;
  while (total > 0) {
    std::size_t best = none;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (all[i].weight <= 0 || given[i] >= all[i].wanted) continue;
      const auto claim = [&](std::size_t of, std::size_t against) {
        return static_cast<wide>(all[of].weight) * (2 * static_cast<wide>(units[against]) + 1);
      };
      if (best == none || claim(i, best) > claim(best, i)) best = i;
    }
    if (best == none) break;
    const std::int64_t amount = std::min({unit, total, all[best].wanted - given[best]});
    given[best] += amount;
    ++units[best];
    total -= amount;
  }
  return given;
}

namespace {

/// One division: the children of a queue, or the roots, and one resource.
class division {
 public:
  division(const day_plan& plan, const std::vector<amounts>& wants, std::vector<amounts>& shares, std::size_t d)
      : plan_(plan), wants_(wants), shares_(shares), d_(d), unit_(d == gpu ? whole : 1) {}

  void run(std::vector<std::size_t> queues, std::int64_t total) {
    std::sort(queues.begin(), queues.end(),
              [&](std::size_t a, std::size_t b) { return plan_.queues[a].name < plan_.queues[b].name; });
    const std::int64_t left = total - give_quotas(queues, total);
    give_rest(queues, left);
    for (const std::size_t q : queues) {
      if (!plan_.queues[q].children.empty()) run(plan_.queues[q].children, shares_[q][d_]);
    }
  }

 private:
  std::int64_t give_quotas(const std::vector<std::size_t>& queues, std::int64_t total) {
    std::vector<wish> wishes;
    std::int64_t sum = 0;
    for (const std::size_t q : queues) {
      const std::int64_t quota = plan_.queues[q].quota[d_] == unlimited ? total : plan_.queues[q].quota[d_];
      wishes.push_back({quota, std::min(quota, wants_[q][d_])});
      sum += wishes.back().wanted;
    }
    if (sum > total) {
      const std::vector<std::int64_t> given = by_units(wishes, total, unit_);
      for (std::size_t i = 0; i < queues.size(); ++i) wishes[i].wanted = given[i];
      sum = total;
    }
    for (std::size_t i = 0; i < queues.size(); ++i) shares_[queues[i]][d_] = wishes[i].wanted;
    return sum;
  }

  void give_rest(const std::vector<std::size_t>& queues, std::int64_t left) {
    std::set<std::int64_t, std::greater<>> priorities;
    for (const std::size_t q : queues) priorities.insert(plan_.queues[q].priority);
    for (const std::int64_t priority : priorities) {
      std::vector<wish> wishes;
      for (const std::size_t q : queues) {
        const bool asked = plan_.queues[q].priority == priority;
        wishes.push_back({asked ? plan_.queues[q].weight : 0, wants_[q][d_] - shares_[q][d_]});
      }
      const std::vector<std::int64_t> given = by_units(wishes, std::max<std::int64_t>(left, 0), unit_);
      for (std::size_t i = 0; i < queues.size(); ++i) {
        shares_[queues[i]][d_] += given[i];
        left -= given[i];
      }
    }
  }

  const day_plan& plan_;
  const std::vector<amounts>& wants_;
  std::vector<amounts>& shares_;
  std::size_t d_;
  std::int64_t unit_;
};

/// What a queue may want: of its own jobs, or what its children may want, within its limit.
amounts wants(const day_plan& plan, const std::vector<queue_now>& held, std::size_t q, std::vector<amounts>& all) {
  amounts sum{};
  for (const std::size_t child : plan.queues[q].children) add(sum, wants(plan, held, child, all));
  if (plan.queues[q].children.empty()) sum = held[q].request;
  for (std::size_t d = 0; d < sum.size(); ++d) {
    if (plan.queues[q].limit[d] != unlimited) sum[d] = std::min(sum[d], plan.queues[q].limit[d]);
  }
  all[q] = sum;
  return sum;
}

}  // namespace

std::vector<amounts> divide(const state& of, const std::vector<queue_now>& held) {
  const day_plan& plan = of.plan();
  amounts total{};
  for (std::size_t n = 0; n < plan.nodes.size(); ++n) {
    if (of.ready(n)) add(total, plan.nodes[n].capacity);
  }
  std::vector<std::size_t> roots;
  std::vector<amounts> wanted(plan.queues.size());
  for (std::size_t q = 0; q < plan.queues.size(); ++q) {
    if (plan.queues[q].parent != none) continue;
    roots.push_back(q);
    wants(plan, held, q, wanted);
  }
  std::vector<amounts> shares(plan.queues.size());
  for (std::size_t d = 0; d < total.size(); ++d) division(plan, wanted, shares, d).run(roots, total[d]);
  return shares;
}

}  // namespace day_check
