// Where pods go among domains: counts up the tree, the level that holds them, and down again.

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "policy/admission/domain_ledger.hpp"

namespace kaisched::admission {

namespace {

constexpr std::int64_t countless = std::numeric_limits<std::int64_t>::max();
constexpr std::size_t no_level_known = static_cast<std::size_t>(-1);

using domain_list = std::vector<std::uint32_t>;

/// A domain of one search. The even spreading works on copies of subtrees, which are added at the end.
struct searched_domain {
  std::uint32_t parent = domain_ledger::none;
  domain_list children;
  const std::vector<std::string>* values = nullptr;
  domain_counts counts{};
};

struct search_shape {
  std::int64_t count = 0;
  std::int64_t leaders = 0;
  std::int64_t slice_size = 1;
  std::map<std::size_t, std::int64_t> size_at_level{};  ///< of inner layers, by level
  std::size_t level = 0;
  std::size_t slice_level = 0;
  bool required = false;
  bool unconstrained = false;
  const std::vector<slice_layer>* layers = nullptr;  ///< if there is more than one
};

/// Domains with counts, and what is chosen among them.
class domain_search {
 public:
  domain_search(const place_rules& rules, bool leaves_are_hosts) : rules_(rules), leaves_are_hosts_(leaves_are_hosts) {}

  std::vector<searched_domain> all;
  std::vector<domain_list> by_level;

  [[nodiscard]] domain_counts& of(std::uint32_t domain) { return all[domain].counts; }
  [[nodiscard]] bool least_free(bool unconstrained) const {
    return unconstrained && rules_.least_free_if_unconstrained;
  }

  /// Sums up counts from the children.
  void fill(std::uint32_t domain, const search_shape& shape, std::size_t level, bool layered) {
    domain_counts& mine = of(domain);
    if (all[domain].children.empty()) {
      if (level == shape.slice_level) {
        mine.slices = mine.pods / shape.slice_size;
        mine.slices_with_leader = mine.pods_with_leader / shape.slice_size;
      }
      return;
    }
    domain_counts sum;
    bool can_lead = false;
    std::int64_t least_pods_lost = countless;
    std::int64_t least_slices_lost = countless;
    const auto inner = shape.size_at_level.find(level + 1);
    const std::int64_t unit = layered && inner != shape.size_at_level.end() ? inner->second : 1;
    for (const std::uint32_t child : all[domain].children) {
      fill(child, shape, level + 1, layered);
      const domain_counts& one = of(child);
      const std::int64_t pods = one.pods / unit * unit;
      const std::int64_t with_leader = one.pods_with_leader / unit * unit;
      sum.pods += pods;
      sum.slices += one.slices;
      if (shape.leaders == 0 || one.leaders > 0) {
        can_lead = true;
        least_pods_lost = std::min(least_pods_lost, pods - with_leader);
        least_slices_lost = std::min(least_slices_lost, one.slices - one.slices_with_leader);
      }
      sum.leaders = std::max(sum.leaders, one.leaders);
      sum.score += one.score;
    }
    if (can_lead) {
      sum.pods_with_leader = sum.pods - least_pods_lost;
      sum.slices_with_leader = sum.slices - least_slices_lost;
    }
    if (level == shape.slice_level) {
      sum.slices = sum.pods / shape.slice_size;
      sum.slices_with_leader = sum.pods_with_leader / shape.slice_size;
    }
    of(domain) = sum;
  }

  [[nodiscard]] bool values_before(std::uint32_t a, std::uint32_t b) const {
    const std::vector<std::string>& left = *all[a].values;
    const std::vector<std::string>& right = *all[b].values;
    if (leaves_are_hosts_ && all[a].parent == all[b].parent) return left.back() < right.back();
    return left < right;
  }

  /// Domains in the order in which they are tried.
  [[nodiscard]] domain_list sorted(domain_list domains, bool with_leader, bool unconstrained) {
    const bool ascending = least_free(unconstrained);
    std::stable_sort(domains.begin(), domains.end(), [&](std::uint32_t a, std::uint32_t b) {
      const domain_counts& x = of(a);
      const domain_counts& y = of(b);
      if (with_leader && x.leaders != y.leaders) return x.leaders > y.leaders;
      if (rules_.by_affinity && x.score != y.score) return x.score > y.score;
      const std::int64_t x_slices = with_leader ? x.slices_with_leader : x.slices;
      const std::int64_t y_slices = with_leader ? y.slices_with_leader : y.slices;
      if (x_slices != y_slices) return ascending ? x_slices < y_slices : x_slices > y_slices;
      const std::int64_t x_pods = with_leader ? x.pods_with_leader : x.pods;
      const std::int64_t y_pods = with_leader ? y.pods_with_leader : y.pods;
      if (x_pods != y_pods) return x_pods < y_pods;
      return values_before(a, b);
    });
    return domains;
  }

  [[nodiscard]] std::int64_t capacity(std::uint32_t domain, bool slices, bool leader) {
    const domain_counts& one = of(domain);
    if (slices) return leader ? one.slices_with_leader : one.slices;
    return leader ? one.pods_with_leader : one.pods;
  }

  /// Among the domains of the largest score the one that holds what is needed and least more; else the first.
  [[nodiscard]] std::uint32_t best_fit(const domain_list& domains, std::size_t from, std::int64_t needed,
                                       std::int64_t leaders, bool slices) {
    std::uint32_t best = domains[from];
    std::int64_t least = countless;
    for (std::size_t i = from; i < domains.size(); ++i) {
      if (rules_.by_affinity && of(domains[i]).score != of(domains[from]).score) break;
      if (of(domains[i]).leaders < leaders) continue;
      const std::int64_t holds = capacity(domains[i], slices, leaders > 0);
      if (holds < needed || holds >= least) continue;
      best = domains[i];
      least = holds;
    }
    return best;
  }

  /// The first domain that can take the leader without making the rest too small goes to the front.
  [[nodiscard]] domain_list leader_first(domain_list domains, std::int64_t count, std::int64_t leaders,
                                         std::int64_t slice_size, bool slices) {
    if (leaders == 0 || domains.size() < 2) return domains;
    const std::int64_t needed = slices ? count / slice_size : count;
    std::int64_t available = 0;
    for (const std::uint32_t one : domains) available += capacity(one, slices, false);
    for (std::size_t i = 0; i < domains.size(); ++i) {
      if (of(domains[i]).leaders < leaders) continue;
      const std::int64_t lost = capacity(domains[i], slices, false) - capacity(domains[i], slices, true);
      if (available - lost < needed) continue;
      std::rotate(domains.begin(), domains.begin() + static_cast<std::ptrdiff_t>(i),
                  domains.begin() + static_cast<std::ptrdiff_t>(i) + 1);
      break;
    }
    return domains;
  }

  struct level_choice {
    std::size_t level = 0;
    domain_list domains;
    std::int64_t fits = 0;  ///< where nothing was found
    std::size_t failed_level = no_level_known;
    bool empty_level = false;
  };

  /// The level on which the pods find domains, from the asked one upwards.
  [[nodiscard]] level_choice find_level(std::size_t level, const search_shape& shape) {
    level_choice found;
    found.level = level;
    if (by_level[level].empty()) {
      found.failed_level = level;
      found.empty_level = true;
      return found;
    }
    domain_list order = sorted(by_level[level], true, shape.unconstrained);
    std::uint32_t top = order.front();
    const std::int64_t slices = shape.count / shape.slice_size;
    const bool ascending = least_free(shape.unconstrained);
    const auto holds_all = [&](std::uint32_t domain) {
      return of(domain).slices_with_leader >= slices && of(domain).leaders >= shape.leaders;
    };
    if (!ascending && holds_all(top)) top = best_fit(order, 0, slices, shape.leaders, true);
    const auto fail = [&](std::int64_t fits) {
      found.fits = fits;
      found.failed_level = level;
      return found;
    };
    if (ascending) {
      for (const std::uint32_t one : order) {
        if (of(one).leaders < shape.leaders) continue;
        if (capacity(one, true, shape.leaders > 0) < slices) continue;
        found.domains = {one};
        return found;
      }
      if (shape.required) return fail(of(order.back()).pods);
    }
    if (holds_all(top)) {
      found.domains = {top};
      return found;
    }
    if (shape.required) {
      for (std::size_t i = 1; rules_.by_affinity && i < order.size(); ++i) {
        if (!holds_all(order[i])) continue;
        found.domains = {best_fit(order, i, slices, shape.leaders, true)};
        return found;
      }
      return fail(of(top).slices);
    }
    if (level > 0 && !shape.unconstrained) return find_level(level - 1, shape);
    return take_several(std::move(order), shape, slices, std::move(found));
  }

  /// Fills domains in order with as few as possible; the last one is the tightest. Counts become what each takes.
  [[nodiscard]] domain_list take_fewest(domain_list domains, std::int64_t count, std::int64_t leaders,
                                        std::int64_t slice_size, bool unconstrained, bool slices) {
    domains = leader_first(std::move(domains), count, leaders, slice_size, slices);
    const std::int64_t unit = slices ? slice_size : 1;
    const bool tightest = !least_free(unconstrained);
    domain_list taken;
    std::int64_t rest = slices ? count / slice_size : count;
    std::int64_t rest_leaders = leaders;
    for (std::size_t i = 0; i < domains.size(); ++i) {
      std::uint32_t domain = domains[i];
      const bool leading = rest_leaders > 0;
      const bool enough = capacity(domain, slices, leading) >= rest && (!leading || of(domain).leaders >= rest_leaders);
      if (tightest && enough) domain = best_fit(domains, i, rest, leading ? rest_leaders : 0, slices);
      domain_counts& mine = of(domain);
      taken.push_back(domain);
      if (leading) {
        std::int64_t& with_leader = slices ? mine.slices_with_leader : mine.pods_with_leader;
        std::int64_t& primary = slices ? mine.slices : mine.pods;
        if (with_leader >= rest && mine.leaders >= rest_leaders) {
          primary = rest;
          mine.leaders = rest_leaders;
          mine.pods = rest * unit;
          return taken;
        }
        with_leader = std::min(with_leader, rest);
        mine.leaders = std::min(mine.leaders, rest_leaders);
        primary = with_leader;
        mine.pods = with_leader * unit;
        rest_leaders -= mine.leaders;
        rest -= with_leader;
        continue;
      }
      mine.leaders = 0;
      std::int64_t& holds = slices ? mine.slices : mine.pods;
      const bool last = holds >= rest;
      if (last) holds = rest;
      mine.pods = holds * unit;
      if (last) return taken;
      rest -= holds;
    }
    return {};
  }

  [[nodiscard]] domain_list children_of(const domain_list& domains) const {
    domain_list found;
    for (const std::uint32_t one : domains)
      found.insert(found.end(), all[one].children.begin(), all[one].children.end());
    return found;
  }

  struct greedy_trial {
    bool fits = false;
    std::int64_t domains = 0;
    std::uint32_t last = domain_ledger::none;
    std::uint32_t last_with_leader = domain_ledger::none;
  };

  /// How many of the largest domains are needed, and which is the last.
  [[nodiscard]] greedy_trial try_largest(const domain_list& domains, std::int64_t slices, std::int64_t leaders) {
    greedy_trial found;
    domain_list rest = domains;
    if (leaders > 0) {
      const domain_list order = sorted(domains, true, false);
      std::size_t i = 0;
      for (; leaders > 0 && i < order.size() && of(order[i]).leaders > 0; ++i) {
        ++found.domains;
        found.last_with_leader = order[i];
        leaders -= of(order[i]).leaders;
        slices -= of(order[i]).slices_with_leader;
      }
      rest.assign(order.begin() + static_cast<std::ptrdiff_t>(i), order.end());
    }
    if (leaders > 0) return {};
    rest = sorted(std::move(rest), false, false);
    for (std::size_t i = 0; slices > 0 && i < rest.size() && of(rest[i]).slices > 0; ++i) {
      ++found.domains;
      found.last = rest[i];
      slices -= of(rest[i]).slices;
    }
    if (slices > 0) return {};
    found.fits = true;
    return found;
  }

  [[nodiscard]] double entropy(const domain_list& domains) {
    std::int64_t total = 0;
    for (const std::uint32_t one : domains) total += of(one).pods;
    double sum = 0;
    for (const std::uint32_t one : domains) {
      if (total == 0 || of(one).pods <= 0) continue;
      const double part = static_cast<double>(of(one).pods) / static_cast<double>(total);
      sum += -part * std::log2(part);
    }
    return sum;
  }

  /// The fewest domains, of those the least left over: by number of domains, leaders and pods that are left, the first
  /// set of domains that leads there.
  [[nodiscard]] domain_list fewest_for(const domain_list& domains, std::int64_t slices, std::int64_t leaders,
                                       std::int64_t slice_size, bool by_entropy) {
    const greedy_trial greedy = try_largest(domains, slices, leaders);
    if (!greedy.fits) return {};
    domain_list order = domains;
    std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
      if (by_entropy) {
        if (of(a).leaders != of(b).leaders) return of(a).leaders > of(b).leaders;
        if (of(a).slices_with_leader != of(b).slices_with_leader)
          return of(a).slices_with_leader > of(b).slices_with_leader;
        const double x = entropy(all[a].children);
        const double y = entropy(all[b].children);
        if (x != y) return x > y;
      }
      return *all[a].values < *all[b].values;
    });
    using by_pods = std::map<std::int64_t, domain_list>;
    std::vector<std::map<std::int64_t, by_pods>> reached(static_cast<std::size_t>(greedy.domains) + 1);
    reached[0][leaders][slices * slice_size] = {};
    for (const std::uint32_t domain : order) {
      const domain_counts& counts = of(domain);
      for (std::size_t i = reached.size() - 1; i > 0; --i) {
        for (const auto& [leaders_left, sets] : reached[i - 1]) {
          for (const auto& [pods_left, set] : sets) {
            if (leaders_left <= 0 && pods_left <= 0) continue;
            domain_list more = set;
            more.push_back(domain);
            if (leaders_left > 0 && counts.leaders > 0)
              reached[i][leaders_left - counts.leaders].emplace(pods_left - counts.pods_with_leader, more);
            if (counts.slices > 0) reached[i][leaders_left].emplace(pods_left - counts.pods, std::move(more));
          }
        }
      }
    }
    const by_pods& sets = reached.back()[0];
    auto best = sets.upper_bound(0);
    return best == sets.begin() ? domain_list{} : std::prev(best)->second;
  }

  /// Slices spread so that every domain has at least the threshold; false if that cannot be.
  [[nodiscard]] bool spread(const domain_list& domains, std::int64_t slices, std::int64_t leaders,
                            std::int64_t slice_size, std::int64_t threshold, domain_list& chosen) {
    chosen = fewest_for(domains, slices, leaders, slice_size, false);
    if (chosen.empty()) return false;
    std::int64_t extra = slices - static_cast<std::int64_t>(chosen.size()) * threshold;
    if (extra < 0) return false;
    chosen = sorted(std::move(chosen), true, false);
    std::int64_t more = 0;
    for (const std::uint32_t domain : chosen) {
      domain_counts& mine = of(domain);
      if (leaders > 0) {
        more = std::min(mine.slices_with_leader - threshold, extra);
        mine.leaders = 1;
        --leaders;
      } else {
        more = extra > 0 ? std::min(mine.slices - threshold, extra) : 0;
        mine.leaders = 0;
      }
      mine.slices = threshold + more;
      mine.pods = mine.slices * slice_size;
      mine.slices_with_leader = mine.slices;
      mine.pods_with_leader = mine.pods - mine.leaders;
      extra -= more;
    }
    return extra <= 0 && leaders <= 0;
  }

  struct even_choice {
    std::int64_t threshold = 0;
    domain_list domains;
  };

  /// The siblings that can be filled most evenly: copies of their subtrees, without what is below the threshold.
  [[nodiscard]] even_choice most_even(const search_shape& shape) {
    const std::int64_t slices = shape.count / shape.slice_size;
    std::vector<domain_list> siblings;
    if (shape.level == 0) {
      siblings.push_back(by_level[0]);
    } else {
      domain_list above = by_level[shape.level - 1];
      std::stable_sort(above.begin(), above.end(),
                       [&](std::uint32_t a, std::uint32_t b) { return *all[a].values < *all[b].values; });
      for (const std::uint32_t one : above) siblings.push_back(all[one].children);
    }
    even_choice best;
    std::int64_t fewest = 0;
    for (const domain_list& group : siblings) {
      domain_list candidates = copies(group);
      const domain_list lower = shape.level < shape.slice_level ? children_of(candidates) : candidates;
      const greedy_trial trial = try_largest(lower, slices, shape.leaders);
      if (!trial.fits || trial.domains == 0) continue;
      std::int64_t threshold = slices / trial.domains;
      if (trial.last_with_leader != domain_ledger::none)
        threshold = std::min(threshold, of(trial.last_with_leader).slices_with_leader);
      if (trial.last != domain_ledger::none) threshold = std::min(threshold, of(trial.last).slices);
      std::int64_t reserved = threshold;
      if (shape.leaders > 0 && trial.last != domain_ledger::none)
        reserved = std::min(threshold, of(trial.last).slices_with_leader);
      if (threshold < best.threshold) continue;
      prune(candidates, threshold, shape);
      greedy_trial after = try_largest(candidates, slices, shape.leaders);
      if (!after.fits && reserved < threshold) {
        if (reserved <= 0 || reserved < best.threshold) continue;
        threshold = reserved;
        candidates = copies(group);
        prune(candidates, threshold, shape);
        after = try_largest(candidates, slices, shape.leaders);
      }
      if (!after.fits) continue;
      if (threshold > best.threshold || (threshold == best.threshold && after.domains < fewest)) {
        best = {threshold, candidates};
        fewest = after.domains;
      }
    }
    return best;
  }

 private:
  level_choice take_several(domain_list order, const search_shape& shape, std::int64_t slices, level_choice found) {
    const bool tightest = !least_free(shape.unconstrained);
    std::int64_t rest = slices;
    std::int64_t leaders = shape.leaders;
    order = leader_first(std::move(order), shape.count, shape.leaders, shape.slice_size, true);
    std::size_t i = 0;
    for (; leaders > 0 && i < order.size() && of(order[i]).leaders > 0; ++i) {
      std::uint32_t domain = order[i];
      if (tightest && of(domain).slices_with_leader >= rest) domain = best_fit(order, i, rest, leaders, true);
      found.domains.push_back(domain);
      leaders -= of(domain).leaders;
      rest -= of(domain).slices_with_leader;
    }
    if (leaders > 0) {
      found.fits = shape.leaders - leaders;
      found.failed_level = found.level;
      return found;
    }
    order.erase(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(i));
    order = sorted(std::move(order), false, shape.unconstrained);
    for (i = 0; rest > 0 && i < order.size(); ++i) {
      std::uint32_t domain = order[i];
      if (tightest && of(domain).slices >= rest) domain = best_fit(order, i, rest, 0, true);
      found.domains.push_back(domain);
      rest -= of(domain).slices;
    }
    if (rest > 0) {
      found.fits = slices - rest;
      found.failed_level = found.level;
    }
    return found;
  }

  std::uint32_t copy(std::uint32_t domain, std::uint32_t parent) {
    const std::uint32_t made = static_cast<std::uint32_t>(all.size());
    searched_domain one = all[domain];
    one.parent = parent;
    const domain_list children = std::move(one.children);
    one.children.clear();
    all.push_back(std::move(one));
    for (const std::uint32_t child : children) {
      const std::uint32_t of_child = copy(child, made);
      all[made].children.push_back(of_child);
    }
    return made;
  }

  domain_list copies(const domain_list& domains) {
    domain_list made;
    for (const std::uint32_t one : domains) made.push_back(copy(one, domain_ledger::none));
    return made;
  }

  void clear(std::uint32_t domain) {
    const std::int64_t score = of(domain).score;
    of(domain) = {};
    of(domain).score = score;
    for (const std::uint32_t child : all[domain].children) clear(child);
  }

  void clear_leader(std::uint32_t domain) {
    of(domain).pods_with_leader = 0;
    of(domain).slices_with_leader = 0;
    of(domain).leaders = 0;
    for (const std::uint32_t child : all[domain].children) clear_leader(child);
  }

  void prune_one(std::uint32_t domain, std::int64_t threshold, bool leading) {
    if (of(domain).slices < threshold) {
      clear(domain);
    } else if (leading && of(domain).leaders > 0 && of(domain).slices_with_leader < threshold) {
      clear_leader(domain);
    }
  }

  void prune(const domain_list& domains, std::int64_t threshold, const search_shape& shape) {
    for (const std::uint32_t one : children_of(domains)) prune_one(one, threshold, shape.leaders > 0);
    for (const std::uint32_t one : domains) {
      fill(one, shape, shape.level, false);
      prune_one(one, threshold, shape.leaders > 0);
    }
  }

  const place_rules& rules_;
  bool leaves_are_hosts_;
};

/// One question about places in a ledger.
class place_finder {
 public:
  place_finder(const domain_ledger& ledger, const place_request& workers, const place_request* leader,
               const place_rules& rules)
      : ledger_(ledger), workers_(workers), leader_(leader), rules_(rules), search_(rules, ledger.leaves_are_hosts()) {}

  found_places run(const assumed_usage& assumed, bool as_if_empty, const std::string& only_below) {
    found_places found;
    if (!read_shape(found.failure)) return found;
    count_leaves(assumed, as_if_empty, only_below);
    for (const std::uint32_t root : search_.by_level.front()) search_.fill(root, shape_, 0, true);

    domain_list domains;
    std::size_t level = 0;
    bool even = false;
    if (rules_.balanced && !shape_.required && !shape_.unconstrained) even = place_evenly(domains, level);
    if (!even) {
      domain_search::level_choice choice = search_.find_level(shape_.level, shape_);
      if (choice.failed_level != no_level_known) {
        fail(choice, found.failure);
        return found;
      }
      domains = std::move(choice.domains);
      level = choice.level;
    }
    domains = search_.take_fewest(std::move(domains), shape_.count, shape_.leaders, shape_.slice_size,
                                  shape_.unconstrained, true);
    descend(domains, level, even);
    if (leader_ != nullptr) {
      domain_list leading;
      for (const std::uint32_t one : domains) {
        if (search_.of(one).leaders > 0) leading.push_back(one);
      }
      found.leader = assignment(std::move(leading), true);
      std::erase_if(domains, [&](std::uint32_t one) { return search_.of(one).pods <= 0; });
    }
    found.workers = assignment(std::move(domains), false);
    return found;
  }

 private:
  bool read_shape(place_failure& failure) {
    shape_.count = workers_.count;
    shape_.leaders = leader_ != nullptr ? 1 : 0;
    if (!workers_.slices.empty()) {
      shape_.slice_size = workers_.slices.front().size;
      if (shape_.slice_size <= 0) return refuse(failure, place_failure_kind::no_slice_size, {}, {});
    }
    const bool slices_only = !workers_.slices.empty() && workers_.required.empty() && workers_.preferred.empty();
    shape_.required = !workers_.required.empty();
    shape_.unconstrained = workers_.unconstrained || workers_.implied || slices_only;
    std::string key = shape_.required ? workers_.required : workers_.preferred;
    if (key.empty() && slices_only) key = ledger_.levels().front();
    if (key.empty() && (workers_.unconstrained || workers_.implied)) key = ledger_.levels().back();
    if (key.empty()) return refuse(failure, place_failure_kind::no_level_asked, {}, {});
    const std::int64_t level = ledger_.level_of(key);
    if (level < 0) return refuse(failure, place_failure_kind::no_level, key, {});
    const std::string slice_key = workers_.slices.empty() ? ledger_.levels().back() : workers_.slices.front().level;
    const std::int64_t slice_level = ledger_.level_of(slice_key);
    if (slice_level < 0) return refuse(failure, place_failure_kind::no_slice_level, slice_key, {});
    shape_.level = static_cast<std::size_t>(level);
    shape_.slice_level = static_cast<std::size_t>(slice_level);
    if (level > slice_level) return refuse(failure, place_failure_kind::slice_above_level, slice_key, key);
    return read_layers(failure);
  }

  bool read_layers(place_failure& failure) {
    std::int64_t size = shape_.slice_size;
    std::size_t above = shape_.slice_level;
    for (std::size_t i = 1; i < workers_.slices.size(); ++i) {
      const slice_layer& layer = workers_.slices[i];
      const std::int64_t level = ledger_.level_of(layer.level);
      if (level < 0) return refuse(failure, place_failure_kind::no_layer_level, layer.level, {});
      if (level <= static_cast<std::int64_t>(above))
        return refuse(failure, place_failure_kind::layer_not_lower, layer.level, ledger_.levels()[above]);
      if (layer.size <= 0 || size % layer.size != 0) {
        failure.fits = layer.size;
        failure.asked = size;
        return refuse(failure, place_failure_kind::layer_not_divisor, layer.level, {});
      }
      for (std::size_t at = above + 1; at <= static_cast<std::size_t>(level); ++at)
        shape_.size_at_level[at] = layer.size;
      size = layer.size;
      above = static_cast<std::size_t>(level);
    }
    if (!shape_.size_at_level.empty()) shape_.layers = &workers_.slices;
    return true;
  }

  static bool refuse(place_failure& failure, place_failure_kind kind, std::string level, std::string other) {
    failure.kind = kind;
    failure.level = std::move(level);
    failure.other = std::move(other);
    return false;
  }

  void count_leaves(const assumed_usage& assumed, bool as_if_empty, const std::string& only_below) {
    for (const domain_ledger::one_domain& one : ledger_.domains())
      search_.all.push_back({one.parent, one.children, &one.values, {}});
    for (std::size_t level = 0; level < ledger_.levels().size(); ++level)
      search_.by_level.push_back(ledger_.at_level(level));
    const resource_vector requests = with_pod(workers_.requests);
    const resource_vector of_leader = leader_ != nullptr ? with_pod(leader_->requests) : resource_vector{};
    for (std::size_t i = 0; i < ledger_.leaves().size(); ++i) {
      const domain_ledger::one_leaf& leaf = ledger_.leaves()[i];
      ++stats_.leaves;
      domain_counts& mine = search_.of(leaf.domain);
      if (i < workers_.excluded.size() && workers_.excluded[i] >= 0) {
        ++stats_.excluded[workers_.excluded[i]];
        continue;
      }
      if (i < workers_.scores.size()) mine.score = workers_.scores[i];
      const std::string path = domain_id(ledger_.domains()[leaf.domain].values);
      if (!only_below.empty() && path != only_below && !path.starts_with(only_below + ",")) {
        ++stats_.outside;
        continue;
      }
      resource_vector left = ledger_.remaining(static_cast<std::uint32_t>(i), as_if_empty);
      if (const auto more = assumed.find(leaf.id); more != assumed.end()) take(left, more->second);
      const count_in_capacity counted = count_in(requests, left);
      mine.pods = counted.count;
      if (counted.count == 0 && counted.bounding >= 0) ++stats_.bounding_resources[counted.bounding];
      if (leader_ != nullptr && count_in(of_leader, left).count > 0) {
        mine.leaders = 1;
        take(left, of_leader);
      }
      mine.pods_with_leader = count_in(requests, left).count;
    }
  }

  resource_vector with_pod(const resource_vector& requests) const {
    resource_vector made = requests;
    made.resize(std::max<std::size_t>(made.size(), std::size_t{rules_.pods_resource} + 1), -1);
    std::int64_t& pods = made[rules_.pods_resource];
    pods = std::max<std::int64_t>(pods, 0) + 1;
    return made;
  }

  static void take(resource_vector& from, const resource_vector& amounts) {
    for (std::size_t i = 0; i < from.size() && i < amounts.size(); ++i)
      from[i] -= std::max<std::int64_t>(amounts[i], 0);
  }

  bool place_evenly(domain_list& domains, std::size_t& level) {
    domain_search::even_choice choice = search_.most_even(shape_);
    if (choice.threshold <= 0) return false;
    const std::int64_t slices = shape_.count / shape_.slice_size;
    domain_list chosen = std::move(choice.domains);
    level = shape_.level;
    if (shape_.level < shape_.slice_level) {
      chosen = search_.fewest_for(chosen, slices, shape_.leaders, shape_.slice_size, true);
      if (chosen.empty()) return false;
      chosen = search_.children_of(chosen);
      level = shape_.level + 1;
    }
    return search_.spread(chosen, slices, shape_.leaders, shape_.slice_size, choice.threshold, domains);
  }

  void descend(domain_list& domains, std::size_t level, bool even) {
    const std::size_t lowest = ledger_.levels().size() - 1;
    for (; !even && level < std::min(lowest, shape_.slice_level); ++level) {
      domain_list lower = search_.sorted(search_.children_of(domains), false, shape_.unconstrained);
      domains = search_.take_fewest(std::move(lower), shape_.count, shape_.leaders, shape_.slice_size,
                                    shape_.unconstrained, true);
    }
    for (; level < lowest; ++level) {
      std::int64_t size = shape_.slice_size;
      if (level >= shape_.slice_level) {
        const auto inner = shape_.size_at_level.find(level + 1);
        size = inner == shape_.size_at_level.end() ? 1 : inner->second;
      }
      domain_list below;
      for (const std::uint32_t domain : domains) {
        domain_list lower = search_.sorted(search_.all[domain].children, false, shape_.unconstrained);
        for (const std::uint32_t one : lower) {
          if (size <= 1) break;
          search_.of(one).slices = search_.of(one).pods / size;
          search_.of(one).slices_with_leader = search_.of(one).pods_with_leader / size;
        }
        const domain_counts mine = search_.of(domain);
        const domain_list taken =
            search_.take_fewest(std::move(lower), mine.pods, mine.leaders, size, shape_.unconstrained, size > 1);
        below.insert(below.end(), taken.begin(), taken.end());
      }
      domains = std::move(below);
    }
  }

  domain_assignment assignment(domain_list domains, bool of_leader) {
    std::stable_sort(domains.begin(), domains.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return search_.values_before(a, b); });
    const std::size_t from = ledger_.leaves_are_hosts() ? ledger_.levels().size() - 1 : 0;
    domain_assignment made;
    made.levels.assign(ledger_.levels().begin() + static_cast<std::ptrdiff_t>(from), ledger_.levels().end());
    for (const std::uint32_t one : domains) {
      const std::int64_t count = of_leader ? search_.of(one).leaders : search_.of(one).pods;
      if (count == 0) continue;
      const std::vector<std::string>& values = *search_.all[one].values;
      made.places.push_back({{values.begin() + static_cast<std::ptrdiff_t>(from), values.end()}, count});
    }
    return made;
  }

  void fail(const domain_search::level_choice& choice, place_failure& failure) {
    if (choice.empty_level) {
      refuse(failure, place_failure_kind::no_domains, ledger_.levels()[choice.failed_level], {});
      return;
    }
    failure = stats_;
    failure.kind = place_failure_kind::too_few;
    failure.fits = choice.fits;
    failure.asked = shape_.count / shape_.slice_size;
    failure.slice_size = shape_.slice_size;
    if (shape_.layers == nullptr) return;
    failure.kind = place_failure_kind::too_few_layers;
    std::uint32_t best = domain_ledger::none;
    for (const std::uint32_t one : search_.by_level[choice.failed_level]) {
      if (best == domain_ledger::none || search_.of(one).slices > search_.of(best).slices ||
          (search_.of(one).slices == search_.of(best).slices &&
           domain_id(*search_.all[one].values) < domain_id(*search_.all[best].values)))
        best = one;
    }
    for (const slice_layer& layer : *shape_.layers) {
      const std::int64_t level = ledger_.level_of(layer.level);
      if (level < 0 || best == domain_ledger::none) continue;
      failure.layers.push_back({layer.level,
                                slices_below(best, choice.failed_level, static_cast<std::size_t>(level), layer.size),
                                shape_.count / layer.size});
    }
  }

  std::int64_t slices_below(std::uint32_t domain, std::size_t level, std::size_t target, std::int64_t size) {
    if (level == target) return search_.of(domain).pods / size;
    std::int64_t sum = 0;
    for (const std::uint32_t child : search_.all[domain].children) sum += slices_below(child, level + 1, target, size);
    return sum;
  }

  const domain_ledger& ledger_;
  const place_request& workers_;
  const place_request* leader_;
  const place_rules& rules_;
  domain_search search_;
  search_shape shape_;
  place_failure stats_;
};

/// The domain whose slice of this size is not whole.
std::string broken_slice(const domain_ledger& ledger, const domain_assignment& existing, std::int64_t missing,
                         std::int64_t size, const std::string& key) {
  const std::int64_t level = ledger.level_of(key);
  if (level < 0) return {};
  std::map<std::string, std::int64_t> held;
  for (const placed_pods& one : existing.places) {
    const std::uint32_t leaf = ledger.leaf_of(one.values);
    if (leaf == domain_ledger::none) continue;
    const std::uint32_t domain = ledger.ancestor(ledger.leaves()[leaf].domain, static_cast<std::size_t>(level));
    held[domain_id(ledger.domains()[domain].values)] += one.count;
  }
  for (const auto& [id, count] : held) {
    if ((count + missing) % size == 0) return id;
  }
  return {};
}

/// The domain that replacements have to be in; empty for any.
std::string replacement_domain(const domain_ledger& ledger, const place_request& request,
                               const domain_assignment& existing) {
  std::string key = !request.required.empty() ? request.required : request.preferred;
  if (key.empty() && !request.slices.empty()) key = ledger.levels().front();
  if (key.empty() && (request.unconstrained || request.implied)) key = ledger.levels().back();
  const std::int64_t level = key.empty() ? -1 : ledger.level_of(key);
  if (level < 0 || existing.places.empty()) return {};
  if (!request.slices.empty()) {
    const slice_layer& outer = request.slices.front();
    if (outer.size <= 0) return {};
    if (request.count % outer.size != 0) {
      for (std::size_t i = request.slices.size(); request.slices.size() > 1 && i-- > 0;) {
        const slice_layer& layer = request.slices[i];
        if (request.count % layer.size != 0)
          return broken_slice(ledger, existing, request.count, layer.size, layer.level);
      }
      return broken_slice(ledger, existing, request.count, outer.size, outer.level);
    }
  }
  if (request.required.empty()) return {};
  const std::uint32_t leaf = ledger.leaf_of(existing.places.front().values);
  if (leaf == domain_ledger::none) return {};
  const std::uint32_t domain = ledger.ancestor(ledger.leaves()[leaf].domain, static_cast<std::size_t>(level));
  return domain_id(ledger.domains()[domain].values);
}

/// A list of domains as one search; their children follow from the parents.
void read_domains(const std::vector<counted_domain>& domains, domain_search& search) {
  for (const counted_domain& one : domains) {
    const std::uint32_t number = static_cast<std::uint32_t>(search.all.size());
    search.all.push_back({one.parent, {}, &one.values, one.counts});
    if (one.parent != domain_ledger::none) search.all[one.parent].children.push_back(number);
    const std::size_t level = one.values.empty() ? 0 : one.values.size() - 1;
    if (search.by_level.size() <= level) search.by_level.resize(level + 1);
    search.by_level[level].push_back(number);
  }
}

domain_list numbers_up_to(std::size_t size) {
  domain_list made;
  for (std::uint32_t i = 0; i < size; ++i) made.push_back(i);
  return made;
}

}  // namespace

found_places find_places(const domain_ledger& ledger, const place_request& workers, const place_request* leader,
                         const assumed_usage& assumed, bool as_if_empty, const place_rules& rules,
                         const std::string& only_below) {
  return place_finder(ledger, workers, leader, rules).run(assumed, as_if_empty, only_below);
}

found_replacement find_replacement(const domain_ledger& ledger, place_request request, domain_assignment existing,
                                   const std::string& lost, const assumed_usage& assumed, const place_rules& rules) {
  found_replacement found;
  request.count = 0;
  std::erase_if(existing.places, [&](const placed_pods& one) {
    if (one.values.back() != lost) return false;
    request.count = one.count;
    return true;
  });
  for (const placed_pods& one : existing.places) {
    if (ledger.leaf_of(one.values) != domain_ledger::none) continue;
    found.failure.kind = place_failure_kind::stale;
    found.failure.level = one.values.front();
    return found;
  }
  const std::string below = replacement_domain(ledger, request, existing);
  if (!request.slices.empty() && request.slices.front().size <= 0) {
    found.failure.kind = place_failure_kind::no_slice_size;
    return found;
  }
  if (!request.slices.empty() && !below.empty() && request.count % request.slices.front().size != 0) {
    // Only the innermost slices that are still whole bind the replacement.
    std::vector<slice_layer> whole;
    for (std::size_t i = request.slices.size(); i-- > 0 && whole.empty();) {
      if (request.count % request.slices[i].size == 0) whole.push_back(request.slices[i]);
    }
    request.slices = std::move(whole);
  }
  found_places places = find_places(ledger, request, nullptr, assumed, false, rules, below);
  if (places.failure) {
    found.failure = std::move(places.failure);
    return found;
  }
  if (places.workers.places.empty()) {
    found.failure.kind = place_failure_kind::no_replacement;
    found.failure.level = lost;
    return found;
  }
  found.replaced = std::move(places.workers);
  found.all = merged(ledger, found.replaced, existing);
  return found;
}

std::vector<std::size_t> domain_order(const std::vector<counted_domain>& domains, bool with_leader, bool unconstrained,
                                      const place_rules& rules) {
  domain_search search(rules, false);
  read_domains(domains, search);
  const domain_list order = search.sorted(numbers_up_to(domains.size()), with_leader, unconstrained);
  return {order.begin(), order.end()};
}

std::vector<std::size_t> fewest_domains(const std::vector<counted_domain>& domains, std::int64_t slices,
                                        std::int64_t leaders, std::int64_t slice_size, bool by_entropy) {
  const place_rules rules;
  domain_search search(rules, false);
  read_domains(domains, search);
  const domain_list chosen = search.fewest_for(numbers_up_to(domains.size()), slices, leaders, slice_size, by_entropy);
  return {chosen.begin(), chosen.end()};
}

bool spread_slices(std::vector<counted_domain>& domains, std::int64_t slices, std::int64_t leaders,
                   std::int64_t slice_size, std::int64_t threshold, std::vector<std::size_t>& chosen) {
  const place_rules rules;
  domain_search search(rules, false);
  read_domains(domains, search);
  domain_list taken;
  if (!search.spread(numbers_up_to(domains.size()), slices, leaders, slice_size, threshold, taken)) return false;
  chosen.assign(taken.begin(), taken.end());
  for (const std::uint32_t one : taken) domains[one].counts = search.of(one);
  return true;
}

even_placement best_threshold(const std::vector<counted_domain>& domains, std::int64_t count, std::int64_t leaders,
                              std::int64_t slice_size, std::size_t level, std::size_t slice_level) {
  const place_rules rules;
  domain_search search(rules, false);
  read_domains(domains, search);
  search_shape shape;
  shape.count = count;
  shape.leaders = leaders;
  shape.slice_size = slice_size;
  shape.level = level;
  shape.slice_level = slice_level;
  const domain_search::even_choice best = search.most_even(shape);
  return {best.threshold, best.domains.size()};
}

}  // namespace kaisched::admission
