// Surplus pods go where they bring more speed: groups of one queue exchange places by their curves (Hwang et al.,
// "Elastic Resource Sharing for Distributed Deep Learning", NSDI 2021; Qiao et al., "Pollux", OSDI 2021).
#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <vector>

#include "actions/actions.hpp"
#include "actions/placement.hpp"
#include "actions/victim_judges.hpp"
#include "actions/victim_units.hpp"
#include "base/int128.hpp"
#include "framework/members.hpp"
#include "policy/ordering/speed.hpp"

namespace kaisched::actions {

namespace {

using base::int128;
using framework::session_state;

constexpr std::int64_t whole = 100;  ///< percent

/// What pods bring, and what they are worth in GPUs.
struct speed_change {
  std::int64_t speed = 0;
  std::int64_t worth = 1;
};
/// More for a GPU.
bool is_more(const speed_change& a, const speed_change& b) {
  return int128{a.speed} * b.worth > int128{b.speed} * a.worth;
}

class resizer {
 public:
  explicit resizer(session_state& c) : c_(c), judges_(c) {}

  result<void> run() {
    find_donors();
    if (donors_.empty()) return {};
    std::set<wish, later> wishes;
    for (const group_row g : groups_to_start(c_)) {
      if (donors_.contains(c_.state().groups[g].queue)) wishes.insert(wish_of(g));
    }
    for (std::int64_t moves = c_.options.resize_moves; moves > 0 && !wishes.empty();) {
      if (auto on = c_.run.go_on(); !on) return on;
      const wish first = *wishes.begin();
      wishes.erase(wishes.begin());
      result<bool> served = serve(first);
      if (!served) return served.failure();
      if (!*served) continue;
      --moves;
      if (framework::count_pods(c_, first.group, &model::sub_counts::pending) > 0) wishes.insert(wish_of(first.group));
    }
    return {};
  }

 private:
  /// A group and what its next chunk would bring.
  struct wish {
    group_row group = no_row;
    std::uint32_t rank = 0;  ///< by priority, age and name
    speed_change brings;
    std::int64_t speed = 0;      ///< with the chunk
    policy::size_change change;  ///< that the chunk means for it
  };
  struct later {
    bool operator()(const wish& a, const wish& b) const {
      if (is_more(a.brings, b.brings) || is_more(b.brings, a.brings)) return is_more(a.brings, b.brings);
      return a.rank < b.rank;
    }
  };
  /// A surplus unit of a group and what the group would lose with it.
  struct loss {
    const victim_unit* unit = nullptr;
    std::uint32_t rank = 0;
    speed_change brings;
    std::int64_t speed = 0;  ///< without the unit
    policy::size_change change;
  };
  struct sooner {
    bool operator()(const loss& a, const loss& b) const {
      if (is_more(a.brings, b.brings) || is_more(b.brings, a.brings)) return is_more(b.brings, a.brings);
      return a.rank > b.rank;
    }
  };

  /// Groups with curves that may lose pods, by queue.
  void find_donors() {
    for (const group_row g : c_.groups.in_order()) {
      if (curves_.are_told(c_.access, g) && can_lose(c_, g)) donors_[c_.state().groups[g].queue].push_back(g);
    }
  }

  [[nodiscard]] std::int64_t speed_with(group_row g, std::int64_t pods) { return curves_.of(c_.access, g, pods); }

  [[nodiscard]] wish wish_of(group_row g) {
    const framework::pod_list chunk = c_.chunks.chunk_of(g, false);
    const std::int64_t pods = policy::pods_with_places(c_.access, g);
    const std::int64_t with = pods + std::ssize(chunk);
    wish made{g, c_.groups.order().ranks[g], {}, speed_with(g, with), {}};
    made.brings = {made.speed - speed_with(g, pods), worth_of(chunk)};
    made.change = policy::change_of(c_.access, curves_, g, with);
    return made;
  }

  template <class Pods>
  [[nodiscard]] std::int64_t worth_of(const Pods& pods) const {
    std::int64_t sum = 0;
    for (const pod_row p : pods) sum += policy::worth_of(c_.access, p);
    return std::max<std::int64_t>(1, sum);
  }

  /// What the chunk brings is enough more than what these lose. Speeds last until the first of those who change ends,
  /// as far as anybody knows; in that time each of them stops once.
  [[nodiscard]] static bool is_worth_it(const session_state& c, const wish& mine, const std::vector<loss>& leave) {
    std::map<group_row, const loss*> last;  // what each donor is left with
    std::int64_t lost = 0;
    std::int64_t lasts = mine.change.lasts;
    for (const loss& one : leave) {
      lost += one.brings.speed;
      last[one.unit->group] = &one;
    }
    bool stops = mine.change.pause > 0;
    for (const auto& [g, one] : last) {
      stops = stops || one->change.pause > 0;
      if (one->change.lasts != unset) lasts = lasts == unset ? one->change.lasts : std::min(lasts, one->change.lasts);
    }
    const std::int64_t percent = whole + c.options.resize_gain;
    if (!stops || lasts == unset) return int128{mine.brings.speed} * whole > int128{lost} * percent;
    int128 gained = int128{mine.brings.speed} * lasts - int128{mine.speed} * mine.change.pause;
    int128 given = int128{lost} * lasts;
    for (const auto& [g, one] : last) given += int128{one->speed} * one->change.pause;
    return gained * whole > given * percent;
  }

  /// Units that groups of no higher priority may lose to this one, in the order in which they are offered: those first
  /// by which least is lost for a GPU, of equals the last group first. A group loses them in the order of its chain.
  [[nodiscard]] result<std::vector<loss>> losses_for(const wish& mine) {
    const model::group_core& own = c_.state().groups[mine.group];
    if (auto asked = judges_.ask(mine.group); !asked) return asked.failure();
    std::map<std::uint32_t, std::vector<loss>> by_donor;  // by rank, the last unit first
    std::set<loss, sooner> next;
    for (const group_row g : donors_[own.queue]) {
      if (g == mine.group || c_.state().groups[g].priority > own.priority || !can_lose(c_, g) || judges_.spare(g))
        continue;
      std::vector<loss> units = units_of(g);
      if (units.empty()) continue;
      next.insert(units.back());
      units.pop_back();
      by_donor.emplace(c_.groups.order().ranks[g], std::move(units));
    }
    std::vector<loss> all;
    while (!next.empty()) {
      all.push_back(*next.begin());
      next.erase(next.begin());
      std::vector<loss>& rest = by_donor[all.back().rank];
      if (rest.empty()) continue;
      next.insert(rest.back());
      rest.pop_back();
    }
    return all;
  }

  /// What the group could lose and keep its gangs, the first one last.
  [[nodiscard]] std::vector<loss> units_of(group_row g) {
    const std::vector<victim_unit>& chain = chains_->of(g);
    const bool ends_with_gang = !c_.state().groups[g].semi_preemptible && !chain.empty();
    std::int64_t pods = policy::pods_with_places(c_.access, g);
    const policy::size_change change = policy::change_of(c_.access, curves_, g, pods);
    std::vector<loss> units;
    for (std::size_t i = 0; i + (ends_with_gang ? 1 : 0) < chain.size(); ++i) {
      const std::int64_t left = pods - std::ssize(chain[i].pods);
      units.push_back({&chain[i],
                       c_.groups.order().ranks[g],
                       {speed_with(g, pods) - speed_with(g, left), worth_of(chain[i].pods)},
                       speed_with(g, left),
                       change});
      pods = left;
    }
    std::ranges::reverse(units);
    return units;
  }

  [[nodiscard]] result<bool> place_with(const wish& mine, const std::vector<loss>& leave) {
    for (const loss& one : leave) {
      for (const pod_row p : one.unit->pods) c_.statement.evict(p);
    }
    framework::failure why;
    return place_group(c_, mine.group, {}, why);
  }

  /// Gives the chunk the places of others, with as few of them as it needs in their order.
  result<bool> serve(const wish& mine) {
    if (!is_worth_it(c_, mine, {})) return false;
    chains_.emplace(c_);
    result<std::vector<loss>> offered = losses_for(mine);
    if (!offered) return offered.failure();
    if (std::ranges::none_of(*offered, [&](const loss& one) { return is_worth_it(c_, mine, {one}); })) return false;
    ++c_.results.statistics.back().groups_tried;
    const bool had_started = framework::count_pods(c_, mine.group, &model::sub_counts::holding) > 0;
    result<bool> placed = place_with(mine, {});
    if (!placed) return placed;
    c_.statement.rollback(0);
    if (*placed) return false;  // it needs nobody's place
    std::vector<loss> leave;
    std::set<group_row> refused;  // whose stop is too dear, and who therefore loses nothing
    for (const loss& one : *offered) {
      if (refused.contains(one.unit->group)) continue;
      leave.push_back(one);
      if (!is_worth_it(c_, mine, leave)) {
        if (one.change.pause == 0) return false;
        refused.insert(one.unit->group);
        std::erase_if(leave, [&](const loss& other) { return other.unit->group == one.unit->group; });
        continue;
      }
      if (auto on = c_.run.go_on(); !on) return on.failure();
      placed = place_with(mine, leave);
      if (!placed) return placed;
      if (*placed) break;
      c_.statement.rollback(0);
    }
    if (!*placed) return false;
    if (auto done = spare_what_need_not_go(mine, leave); !done) return done.failure();
    if (!c_.statement.keeps_budgets(mine.group)) return false;
    return start_or_keep(c_, mine.group, had_started);
  }

  /// Who was tried on the way and does not help stays, of each group what it would lose last first.
  result<void> spare_what_need_not_go(const wish& mine, std::vector<loss>& leave) {
    for (std::size_t i = leave.size(); i-- > 0 && leave.size() > 1;) {
      const bool is_last = std::none_of(leave.begin() + static_cast<std::ptrdiff_t>(i) + 1, leave.end(),
                                        [&](const loss& one) { return one.unit->group == leave[i].unit->group; });
      if (!is_last) continue;
      std::vector<loss> fewer = leave;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      c_.statement.rollback(0);
      result<bool> placed = place_with(mine, fewer);
      if (!placed) return placed.failure();
      if (*placed) leave = std::move(fewer);
    }
    c_.statement.rollback(0);
    result<bool> again = place_with(mine, leave);
    return again ? result<void>{} : result<void>(again.failure());
  }

  session_state& c_;
  victim_judges judges_;
  policy::speed_curves curves_;
  std::optional<victim_chains> chains_;  ///< until something is committed
  std::map<queue_row, std::vector<group_row>> donors_;
};

}  // namespace

result<void> resize(session_state& c) { return resizer(c).run(); }

}  // namespace kaisched::actions
