// Choices among domains: their order, the level that holds the pods, few domains and even ones.

#include "schedulers/kueue/rules/domain_search.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace kaisched::kueue {

namespace {

constexpr std::int64_t countless = std::numeric_limits<std::int64_t>::max();

}  // namespace

void domain_search::fill(std::uint32_t domain, const search_shape& shape, std::size_t level, bool layered) {
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

bool domain_search::values_before(std::uint32_t a, std::uint32_t b) const {
  const std::vector<std::string>& left = *all[a].values;
  const std::vector<std::string>& right = *all[b].values;
  if (leaves_are_hosts_ && all[a].parent == all[b].parent) return left.back() < right.back();
  return left < right;
}

domain_list domain_search::sorted(domain_list domains, bool with_leader, bool unconstrained) {
  const bool ascending = least_free(unconstrained);
  std::ranges::stable_sort(domains, [&](std::uint32_t a, std::uint32_t b) {
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

std::int64_t domain_search::capacity(std::uint32_t domain, bool slices, bool leader) {
  const domain_counts& one = of(domain);
  if (slices) return leader ? one.slices_with_leader : one.slices;
  return leader ? one.pods_with_leader : one.pods;
}

std::uint32_t domain_search::best_fit(const domain_list& domains, std::size_t from, std::int64_t needed,
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

domain_list domain_search::leader_first(domain_list domains, std::int64_t count, std::int64_t leaders,
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

domain_search::level_choice domain_search::find_level(std::size_t level, const search_shape& shape) {
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

domain_list domain_search::take_fewest(domain_list domains, std::int64_t count, std::int64_t leaders,
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

domain_list domain_search::children_of(const domain_list& domains) const {
  domain_list found;
  for (const std::uint32_t one : domains) found.insert(found.end(), all[one].children.begin(), all[one].children.end());
  return found;
}

domain_search::greedy_trial domain_search::try_largest(const domain_list& domains, std::int64_t slices,
                                                       std::int64_t leaders) {
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

double domain_search::entropy(const domain_list& domains) {
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

domain_list domain_search::fewest_for(const domain_list& domains, std::int64_t slices, std::int64_t leaders,
                                      std::int64_t slice_size, bool by_entropy) {
  const greedy_trial greedy = try_largest(domains, slices, leaders);
  if (!greedy.fits) return {};
  domain_list order = domains;
  std::ranges::stable_sort(order, [&](std::uint32_t a, std::uint32_t b) {
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

bool domain_search::spread(const domain_list& domains, std::int64_t slices, std::int64_t leaders,
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

domain_search::even_choice domain_search::most_even(const search_shape& shape) {
  const std::int64_t slices = shape.count / shape.slice_size;
  std::vector<domain_list> siblings;
  if (shape.level == 0) {
    siblings.push_back(by_level[0]);
  } else {
    domain_list above = by_level[shape.level - 1];
    std::ranges::stable_sort(above, [&](std::uint32_t a, std::uint32_t b) { return *all[a].values < *all[b].values; });
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

domain_search::level_choice domain_search::take_several(domain_list order, const search_shape& shape,
                                                        std::int64_t slices, level_choice found) {
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

std::uint32_t domain_search::copy(std::uint32_t domain, std::uint32_t parent) {
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

domain_list domain_search::copies(const domain_list& domains) {
  domain_list made;
  for (const std::uint32_t one : domains) made.push_back(copy(one, domain_ledger::none));
  return made;
}

void domain_search::clear(std::uint32_t domain) {
  const std::int64_t score = of(domain).score;
  of(domain) = {};
  of(domain).score = score;
  for (const std::uint32_t child : all[domain].children) clear(child);
}

void domain_search::clear_leader(std::uint32_t domain) {
  of(domain).pods_with_leader = 0;
  of(domain).slices_with_leader = 0;
  of(domain).leaders = 0;
  for (const std::uint32_t child : all[domain].children) clear_leader(child);
}

void domain_search::prune_one(std::uint32_t domain, std::int64_t threshold, bool leading) {
  if (of(domain).slices < threshold) {
    clear(domain);
  } else if (leading && of(domain).leaders > 0 && of(domain).slices_with_leader < threshold) {
    clear_leader(domain);
  }
}

void domain_search::prune(const domain_list& domains, std::int64_t threshold, const search_shape& shape) {
  for (const std::uint32_t one : children_of(domains)) prune_one(one, threshold, shape.leaders > 0);
  for (const std::uint32_t one : domains) {
    fill(one, shape, shape.level, false);
    prune_one(one, threshold, shape.leaders > 0);
  }
}

}  // namespace kaisched::kueue
