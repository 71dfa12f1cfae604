// The cheapest set of nodes with which what waits starts. Many nodes of each type show what can start at all; from sets
// that are enough, nodes are taken away and exchanged for cheaper ones as long as the engine still starts as much.
#include <algorithm>
#include <optional>
#include <utility>

#include "base/int128.hpp"
#include "engine/scaling_parts.hpp"
#include "model/snapshot_access.hpp"

namespace kaisched::engine_detail {

namespace {

using model::cluster_state;

constexpr std::size_t most_steps = 1'000'000;  ///< of the count through all cheaper sets
constexpr std::size_t most_listed = 20'000;    ///< of these, that sums do not rule out
constexpr int most_growth = 12;                ///< times that the number of nodes is doubled to see what can start

class set_search {
 public:
  set_search(scale_subject& of, scale_trials& trials) : of_(of), trials_(trials) {}

  result<void> run() {
    if (auto done = find_goal(); !done) return done;
    bound_.emplace(of_, sure_goal());
    take(generous_);
    const std::uint32_t all = of_.question.verifications;
    trials_.reserve(std::min<std::uint32_t>(all / 4, 4 + 2 * static_cast<std::uint32_t>(of_.types.size())));
    if (auto done = until_limit([&] { return search(); }); !done) return done;
    if (auto done = until_limit([&] { return try_all_cheaper(trials_.left()); }); !done) return done;
    if (!cheapest()) {
      if (auto done = until_limit([&] { return start_elsewhere(by_price_of_work()); }); !done) return done;
      if (auto done = until_limit([&] { return try_all_cheaper(most_listed); }); !done) return done;
    }
    trials_.reserve(0);
    return until_limit([&] { return polish(); });
  }

  [[nodiscard]] const node_counts& best() const { return best_; }
  [[nodiscard]] const node_counts& generous() const { return generous_; }
  [[nodiscard]] std::int64_t lower_bound() const { return std::min(bound_->cost(), cost_of(of_, best_)); }
  [[nodiscard]] bool cheapest() const { return cheapest_ || cost_of(of_, best_) == lower_bound(); }
  [[nodiscard]] bool minimal() const { return minimal_; }

 private:
  template <class Do>
  static result<void> until_limit(const Do& act) {
    result<void> done = act();
    if (!done && done.failure().code == status::limit) return {};
    return done;
  }

  // ---- what can start

  /// So many nodes of each type as would hold all that wait if each class of pods had nodes of its own.
  [[nodiscard]] node_counts first_guess() const {
    const cluster_state& s = model::state_of(of_.waits);
    std::map<class_row, std::int64_t> pods;
    std::vector<std::map<class_row, std::int64_t>> together;  ///< of groups that have to be in one domain
    for (const wanted_group& one : of_.all) {
      std::map<class_row, std::int64_t> mine;
      for (const pod_row p : one.waiting) ++mine[s.pods[p].pod_class];
      const model::group_core& g = s.groups[one.group];
      bool asks = false;
      for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub)
        asks = asks || s.subs[sub].together != nullptr;
      if (asks) together.push_back(mine);
      for (const auto& [which, count] : mine) pods[which] += asks ? 0 : count;
    }
    node_counts counts(of_.types.size(), 0);
    for (std::size_t t = 0; t < counts.size(); ++t) {
      const auto nodes_for = [&](const std::map<class_row, std::int64_t>& some) {
        std::int64_t nodes = 0;
        for (const auto& [which, count] : some) {
          const model::pod_class& ask = *s.classes[which];
          if (!could_hold(ask, *of_.types[t].like, s.dims())) continue;
          const std::int64_t each = pods_on(ask, *of_.types[t].like, s.dims());
          nodes += (count + each - 1) / each;
        }
        return nodes;
      };
      counts[t] = nodes_for(pods);
      std::int64_t domain = 1;
      for (const new_domain& one : of_.types[t].offer->domains)
        domain = std::max(domain, std::min(one.nodes, most_of(of_, t)));
      for (const auto& one : together) counts[t] += (nodes_for(one) + domain - 1) / domain * domain;
      counts[t] = std::min(counts[t], most_of(of_, t));
    }
    return counts;
  }

  result<void> find_goal() {
    generous_ = first_guess();
    result<scale_trial> most = trials_.attempt(generous_);
    if (!most) return most.failure();
    goal_ = std::move(*most);
    for (int round = 0; round < most_growth && !all_start(); ++round) {
      node_counts more = generous_;
      for (std::size_t t = 0; t < more.size(); ++t) more[t] = std::min(2 * more[t], most_of(of_, t));
      if (more == generous_) break;
      result<scale_trial> then = trials_.attempt(more);
      if (!then && then.failure().code == status::limit) break;
      if (!then) return then.failure();
      if (!then->is_as_good_as(goal_) || goal_.is_as_good_as(*then)) break;
      generous_ = std::move(more);
      goal_ = std::move(*then);
    }
    return {};
  }

  [[nodiscard]] bool all_start() const {
    for (std::size_t i = 0; i < of_.wanted.size(); ++i) {
      if (goal_.placed[i] < of_.wanted[i].waiting.size()) return false;
    }
    return true;
  }

  /// What sums may count on: where pods have to leave, others take their place.
  [[nodiscard]] std::vector<std::uint32_t> sure_goal() const {
    return goal_.leave == 0 ? goal_.placed : std::vector<std::uint32_t>(of_.wanted.size(), 0);
  }

  // ---- trials

  result<bool> enough(const node_counts& counts) {
    if (auto on = of_.go_on(); !on) return on.failure();
    if (bound_->refutes(counts)) return false;
    result<scale_trial> made = trials_.attempt(counts);
    if (!made) return made.failure();
    if (!made->is_as_good_as(goal_)) return false;
    take(counts);
    return true;
  }

  void take(const node_counts& counts) {
    if (best_.empty() || is_better(of_, counts, best_)) best_ = counts;
  }

  // ---- the search

  /// Types by what they cost for all that waits if they had to hold it alone, dearest first; those that hold little are
  /// counted by what they hold.
  [[nodiscard]] std::vector<std::size_t> by_price_of_work() const {
    const cluster_state& s = model::state_of(of_.waits);
    std::vector<base::int128> price(of_.types.size(), 0);
    for (std::size_t t = 0; t < price.size(); ++t) {
      std::int64_t pods = 0;
      base::int128 nodes = 0;  // in parts of 2^20
      for (const wanted_group& one : of_.wanted) {
        for (const pod_row p : one.waiting) {
          if (!could_hold(s.class_of(p), *of_.types[t].like, s.dims())) continue;
          ++pods;
          nodes += (std::int64_t{1} << 20) / pods_on(s.class_of(p), *of_.types[t].like, s.dims());
        }
      }
      if (pods > 0) price[t] = nodes * of_.types[t].offer->price / pods;
    }
    std::vector<std::size_t> order(price.size());
    for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return price[a] != price[b] ? price[a] > price[b] : a < b; });
    return order;
  }

  [[nodiscard]] std::vector<std::size_t> by_price() const {
    std::vector<std::size_t> order(of_.types.size());
    for (std::size_t t = 0; t < order.size(); ++t) order[t] = t;
    std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
      const std::int64_t left = of_.types[a].offer->price;
      const std::int64_t right = of_.types[b].offer->price;
      return left != right ? left > right : a < b;
    });
    return order;
  }

  /// Each class of pods on the type that is cheapest for it.
  [[nodiscard]] node_counts class_by_class() const {
    const cluster_state& s = model::state_of(of_.waits);
    std::map<class_row, std::int64_t> pods;
    for (const wanted_group& one : of_.wanted) {
      for (const pod_row p : one.waiting) ++pods[s.pods[p].pod_class];
    }
    std::vector<std::int64_t> parts(of_.types.size(), 0);  // of nodes, in 2^-20
    for (const auto& [which, count] : pods) {
      const model::pod_class& ask = *s.classes[which];
      std::optional<std::size_t> best;
      const auto price = [&](std::size_t t) { return static_cast<base::int128>(of_.types[t].offer->price); };
      const auto each = [&](std::size_t t) { return pods_on(ask, *of_.types[t].like, s.dims()); };
      for (std::size_t t = 0; t < parts.size(); ++t) {
        if (most_of(of_, t) == 0 || !could_hold(ask, *of_.types[t].like, s.dims())) continue;
        if (!best || price(t) * each(*best) < price(*best) * each(t)) best = t;
      }
      if (best) parts[*best] += count * (std::int64_t{1} << 20) / each(*best) + 1;
    }
    node_counts counts(parts.size());
    for (std::size_t t = 0; t < parts.size(); ++t)
      counts[t] = std::min((parts[t] + (std::int64_t{1} << 20) - 1) >> 20, most_of(of_, t));
    return counts;
  }

  result<void> search() {
    const std::vector<std::vector<std::size_t>> orders{by_price_of_work(), by_price()};
    for (const node_counts& seed : {class_by_class(), first_fit_set(of_)}) {
      result<node_counts> grown = grow(seed);
      if (!grown) return grown.failure();
      if (auto done = reduce(*grown, orders.front()); !done) return done.failure();
    }
    for (const std::vector<std::size_t>& order : orders) {
      if (auto done = reduce(generous_, order); !done) return done.failure();
    }
    return improve(orders.front());
  }

  /// From many nodes of all types again, the types in other orders or a part of one of them held back, and on from what
  /// is better.
  result<void> start_elsewhere(const std::vector<std::size_t>& order) {
    std::vector<std::size_t> useful;
    for (const std::size_t t : order) {
      if (generous_[t] > 0) useful.push_back(t);
    }
    constexpr std::int64_t parts = 4;
    for (const std::size_t held : useful) {
      const std::int64_t most = std::max(best_[held], generous_[held] / 2);
      for (std::int64_t part = 0; part <= parts; ++part) {
        node_counts from = generous_;
        from[held] = most * part / parts;
        const std::vector<std::size_t> first = turned(useful, held);
        if (auto done = try_from(from, first, order); !done) return done;
      }
    }
    std::vector<std::size_t> places(useful.size());
    for (std::size_t i = 0; i < places.size(); ++i) places[i] = i;
    while (std::next_permutation(places.begin(), places.end())) {
      std::vector<std::size_t> other;
      for (const std::size_t i : places) other.push_back(useful[i]);
      if (auto done = try_from(generous_, other, order); !done) return done;
    }
    return {};
  }

  result<void> try_from(const node_counts& from, const std::vector<std::size_t>& other,
                        const std::vector<std::size_t>& order) {
    const node_counts before = best_;
    const result<bool> good = enough(from);
    if (!good) return good.failure();
    if (!*good) return {};
    if (auto done = reduce(from, other); !done) return done.failure();
    return best_ == before ? result<void>{} : improve(order);
  }

  /// All others first.
  static std::vector<std::size_t> turned(std::vector<std::size_t> order, std::size_t last) {
    std::erase(order, last);
    order.push_back(last);
    return order;
  }

  /// More of all types in proportion, until the set is enough.
  result<node_counts> grow(node_counts counts) {
    while (true) {
      const result<bool> good = enough(counts);
      if (!good) return good.failure();
      if (*good || counts == generous_) return counts;
      bool grows = false;
      for (std::size_t t = 0; t < counts.size(); ++t) {
        const std::int64_t more = std::min(counts[t] + (counts[t] + 3) / 4, generous_[t]);
        grows = grows || more > counts[t];
        counts[t] = std::max(counts[t], more);
      }
      if (!grows) counts = generous_;
    }
  }

  /// As few of each type as is enough with the others as they are, one type after the other.
  result<node_counts> reduce(node_counts counts, const std::vector<std::size_t>& order) {
    for (const std::size_t t : order) {
      std::int64_t least = 0;
      for (std::int64_t step = 0; least < counts[t]; ++step) {
        node_counts fewer = counts;
        // None at all is worth a try; then halves.
        fewer[t] = step == 0 ? 0 : least + (counts[t] - least) / 2;
        const result<bool> good = enough(fewer);
        if (!good) return good.failure();
        if (*good) {
          counts = std::move(fewer);
        } else {
          least = fewer[t] + 1;
        }
      }
    }
    return counts;
  }

  /// Some nodes of a type for so many of another as cost less.
  result<void> improve(const std::vector<std::size_t>& order) {
    for (bool better = true; better;) {
      better = false;
      const node_counts from = best_;
      for (std::size_t out = 0; out < from.size() && !better; ++out) {
        for (std::size_t in = 0; in < from.size() && !better; ++in) {
          if (in == out || from[out] == 0) continue;
          for (const std::int64_t count : pieces(from[out], out, in)) {
            node_counts then = from;
            then[out] -= count;
            then[in] += more_for(count, out, in, from[in]);
            if (then[in] == from[in]) continue;
            const result<bool> good = enough(then);
            if (!good) return good.failure();
            if (!*good) continue;
            const result<node_counts> less = reduce(std::move(then), order);
            if (!less) return less.failure();
            better = true;
            break;
          }
        }
      }
      better = better && best_ != from;
    }
    return {};
  }

  /// How many nodes of a type may go at once: powers of two, all, and as many as one of the other costs.
  [[nodiscard]] std::vector<std::int64_t> pieces(std::int64_t most, std::size_t out, std::size_t in) const {
    std::vector<std::int64_t> counts{most};
    for (std::int64_t count = 1; count < most; count *= 2) counts.push_back(count);
    if (const std::int64_t price = of_.types[out].offer->price; price > 0) {
      const std::int64_t worth = of_.types[in].offer->price / price + 1;
      if (worth < most) counts.push_back(worth);
    }
    std::sort(counts.begin(), counts.end());
    counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
    return counts;
  }

  /// Nodes that together cost less than those that go.
  [[nodiscard]] std::int64_t more_for(std::int64_t count, std::size_t out, std::size_t in, std::int64_t has) const {
    const std::int64_t room = most_of(of_, in) - has;
    const std::int64_t price = of_.types[in].offer->price;
    const base::int128 worth = static_cast<base::int128>(of_.types[out].offer->price) * count;
    if (worth == 0) return 0;
    if (price == 0) return room;
    const base::int128 fit = (worth - 1) / price;
    return fit < room ? static_cast<std::int64_t>(fit) : room;
  }

  // ---- proofs

  /// Every cheaper set that sums do not rule out, cheapest first. The first one that is enough is the cheapest of all.
  /// @param most sets; if there are more, none is tried
  result<void> try_all_cheaper(std::size_t most) {
    if (cost_of(of_, best_) == lower_bound()) return {};
    std::vector<node_counts> all;
    node_counts counts(of_.types.size(), 0);
    std::size_t steps = 0;
    if (!list_cheaper(counts, 0, 0, steps, all) || all.size() > most) return {};
    std::sort(all.begin(), all.end(), [&](const auto& a, const auto& b) { return is_better(of_, a, b); });
    for (const node_counts& one : all) {
      const result<bool> good = enough(one);
      if (!good) return good.failure();
      if (*good) break;
    }
    cheapest_ = true;
    return {};
  }

  /// False if there are too many.
  bool list_cheaper(node_counts& counts, std::size_t type, std::int64_t cost, std::size_t& steps,
                    std::vector<node_counts>& all) {
    if (++steps > most_steps) return false;
    if (type == counts.size()) {
      if (cost < lower_bound() || !is_better(of_, counts, best_) || bound_->refutes(counts)) return true;
      all.push_back(counts);
      return all.size() <= most_listed;
    }
    const std::int64_t price = of_.types[type].offer->price;
    for (std::int64_t n = 0; n <= most_of(of_, type); ++n) {
      if (cost + price * n > cost_of(of_, best_)) break;
      counts[type] = n;
      if (!list_cheaper(counts, type + 1, cost + price * n, steps, all)) return false;
    }
    counts[type] = 0;
    return true;
  }

  /// One node less of each type, as long as that is enough.
  result<void> polish() {
    for (bool less = true; less;) {
      less = false;
      const node_counts from = best_;
      for (std::size_t t = 0; t < from.size() && !less; ++t) {
        if (from[t] == 0) continue;
        node_counts fewer = from;
        --fewer[t];
        const result<bool> good = enough(fewer);
        if (!good) return good.failure();
        less = *good;
      }
    }
    minimal_ = true;
    return {};
  }

  scale_subject& of_;
  scale_trials& trials_;
  node_counts generous_;
  scale_trial goal_;
  node_counts best_;
  std::optional<amount_bound> bound_;
  bool cheapest_ = false;
  bool minimal_ = false;
};

/// Groups as they stand in the cluster with the nodes, and why the rest waits with as many as could be of use.
void add_groups(const scale_subject& of, const scale_trials::whole& made, const scale_trials::whole& most,
                scale_up_answer& to) {
  const std::vector<reason> reasons = most.decided.reasons();
  const auto told = [&](group_row group, scaled_group& one) {
    for (const reason& why : reasons) {
      if (why.group != group) continue;
      one.reasons.push_back(why);
      one.texts.push_back(most.decided.text(why));
    }
  };
  std::map<group_row, std::size_t> index;
  for (std::size_t i = 0; i < of.wanted.size(); ++i) {
    scaled_group one;
    one.group = of.wanted[i].group;
    one.waited = static_cast<std::uint32_t>(of.wanted[i].waiting.size());
    one.placed = made.came_to.placed[i];
    one.helped = most.came_to.placed[i] > 0;
    if (most.came_to.placed[i] < one.waited) told(one.group, one);
    index.emplace(one.group, to.groups.size());
    to.groups.push_back(std::move(one));
  }
  for (const decision& d : made.decided.decisions()) {
    const auto found = index.find(d.group);
    const bool place = d.kind == decision_kind::bind || d.kind == decision_kind::pipeline;
    if (place && found != index.end()) to.groups[found->second].decisions.push_back(d);
  }
  to.others = made.came_to.others;
}

}  // namespace

result<scale_up_answer> scale_up(scale_subject& of) {
  scale_trials trials(of, of.question.verifications);
  scale_up_answer answer;
  set_search search(of, trials);
  node_counts found(of.types.size(), 0);
  std::optional<scale_trials::whole> most;
  if (of.question.strategy == scale_strategy::first_fit) {
    found = first_fit_set(of);
  } else {
    if (auto done = search.run(); !done) return done.failure();
    found = search.best();
    answer.lower_bound = search.lower_bound();
    answer.cheapest = search.cheapest();
    answer.minimal = search.minimal();
    result<scale_trials::whole> then = trials.decide(search.generous());
    if (!then) return then.failure();
    most.emplace(std::move(*then));
  }
  result<scale_trials::whole> made = trials.decide(found);
  if (!made) return made.failure();
  if (!most && made->came_to.leave == 0)
    answer.lower_bound = std::min(amount_bound(of, made->came_to.placed).cost(), cost_of(of, found));
  answer.over = made->over;
  answer.cost = cost_of(of, found);
  answer.verifications = trials.made();
  for (std::size_t t = 0; t < found.size(); ++t) {
    if (found[t] == 0) continue;
    node_addition one{of.types[t].offer->name, of.types[t].offer->price, {}};
    for (std::int64_t n = 0; n < found[t]; ++n) one.nodes.push_back(trials.maker().name(t, n));
    answer.added.push_back(std::move(one));
  }
  add_groups(of, *made, most ? *most : *made, answer);
  // The nodes are there from now on, and what starts there has its place.
  if (auto done = of.world.apply(trials.maker().tables(found)); !done) return done.failure();
  const result<session> then = decide_places(of.with, of.world.take_snapshot(), of.now);
  if (!then) return then.failure();
  if (auto done = of.world.assume(*then); !done) return done.failure();
  of.waits = of.world.take_snapshot();
  return answer;
}

}  // namespace kaisched::engine_detail
