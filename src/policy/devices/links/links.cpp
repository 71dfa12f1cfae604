#include "policy/devices/links/links.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

namespace kaisched::devices {

namespace {

/// Searches sets in the order of HAMi's enumeration, without those that cannot be better.
class set_search {
 public:
  set_search(const container_grants& among, std::size_t count, const link_scores& links, std::size_t limit)
      : among_(among), links_(links), count_(count), limit_(limit) {}

  std::vector<std::size_t> run() {
    best_ = greedy();
    best_sum_ = sum_of(best_);
    chosen_.reserve(count_);
    go_on(0, 0);
    return best_;
  }

 private:
  [[nodiscard]] std::int64_t score(std::size_t a, std::size_t b) const {
    return links_(among_[a].position, among_[b].position);
  }

  [[nodiscard]] std::int64_t sum_of(std::span<const std::size_t> set) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < set.size(); ++i) {
      for (std::size_t j = i + 1; j < set.size(); ++j) sum += score(set[i], set[j]);
    }
    return sum;
  }

  /// From every start the device that adds most, again and again; the best of these sets.
  [[nodiscard]] std::vector<std::size_t> greedy() const {
    std::vector<std::size_t> best;
    for (std::size_t start = 0; start < among_.size(); ++start) {
      std::vector<std::size_t> set{start};
      while (set.size() < count_) set.push_back(most_linked(set));
      std::sort(set.begin(), set.end());
      if (best.empty() || sum_of(set) > sum_of(best)) best = std::move(set);
    }
    return best;
  }

  [[nodiscard]] std::size_t most_linked(std::span<const std::size_t> to) const {
    std::size_t best = among_.size();
    std::int64_t most = 0;
    for (std::size_t i = 0; i < among_.size(); ++i) {
      if (std::find(to.begin(), to.end(), i) != to.end()) continue;
      std::int64_t sum = 0;
      for (const std::size_t other : to) sum += score(std::min(i, other), std::max(i, other));
      if (best == among_.size() || sum > most) {
        best = i;
        most = sum;
      }
    }
    return best;
  }

  void go_on(std::size_t from, std::int64_t sum) {
    if (chosen_.size() == count_) {
      if (found_ ? sum > best_sum_ : sum >= best_sum_) {
        best_ = chosen_;
        best_sum_ = sum;
        found_ = true;
      }
      return;
    }
    if (++visited_ > limit_) return;
    const std::int64_t bound = sum + most_to_gain(from);
    if (found_ ? bound <= best_sum_ : bound < best_sum_) return;
    const std::size_t missing = count_ - chosen_.size();
    for (std::size_t i = from; i + missing <= among_.size(); ++i) {
      std::int64_t gain = 0;
      for (const std::size_t earlier : chosen_) gain += score(earlier, i);
      chosen_.push_back(i);
      go_on(i + 1, sum + gain);
      chosen_.pop_back();
    }
  }

  /// Never less than what devices from `from` on can add: each with its links to the set, and half of its best links to
  /// as many others as there would be.
  [[nodiscard]] std::int64_t most_to_gain(std::size_t from) const {
    const std::size_t missing = count_ - chosen_.size();
    if (among_.size() - from < missing) return 0;
    std::vector<std::int64_t> doubled;
    std::vector<std::int64_t> others;
    for (std::size_t i = from; i < among_.size(); ++i) {
      std::int64_t gain = 0;
      for (const std::size_t earlier : chosen_) gain += score(earlier, i);
      others.clear();
      for (std::size_t j = from; j < among_.size(); ++j) {
        if (j != i) others.push_back(score(std::min(i, j), std::max(i, j)));
      }
      doubled.push_back(2 * gain + largest(others, missing - 1));
    }
    const std::int64_t twice = largest(doubled, missing);
    return twice >= 0 ? twice / 2 : -(-twice / 2);
  }

  static std::int64_t largest(std::vector<std::int64_t>& values, std::size_t count) {
    const auto end = values.begin() + static_cast<std::ptrdiff_t>(std::min(count, values.size()));
    std::partial_sort(values.begin(), end, values.end(), std::greater<>{});
    return std::accumulate(values.begin(), end, std::int64_t{0});
  }

  const container_grants& among_;
  const link_scores& links_;
  std::size_t count_;
  std::size_t limit_;
  std::size_t visited_ = 0;
  std::vector<std::size_t> chosen_{};
  std::vector<std::size_t> best_{};
  std::int64_t best_sum_ = 0;
  bool found_ = false;  ///< the best is one that the search came to, and not the greedy one
};

std::size_t least_linked(const container_grants& among, const link_scores& links) {
  std::size_t least = 0;
  std::int64_t least_sum = 0;
  for (std::size_t i = 0; i < among.size(); ++i) {
    std::int64_t sum = 0;
    for (const grant& other : among) {
      if (other.id != among[i].id) sum += links(among[i].position, other.position);
    }
    if (i == 0 || sum < least_sum) {
      least = i;
      least_sum = sum;
    }
  }
  return least;
}

}  // namespace

container_grants best_linked(const container_grants& among, std::size_t count, const link_scores& links,
                             std::size_t limit) {
  if (count == 0 || among.size() <= count) return among;
  if (count == 1) return {among[least_linked(among, links)]};
  container_grants chosen;
  for (const std::size_t i : set_search(among, count, links, limit).run()) chosen.push_back(among[i]);
  return chosen;
}

}  // namespace kaisched::devices
