#include "schedulers/kueue/rules/flavor_assignment.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

#include "base/saturating.hpp"

namespace kaisched::kueue {

namespace {

constexpr int farthest = std::numeric_limits<int>::max();

const flavor_group* group_with(std::span<const flavor_group> groups, std::uint32_t resource) {
  const auto found = std::ranges::find_if(groups, [&](const flavor_group& one) {
    return std::ranges::find(one.resources, resource) != one.resources.end();
  });
  return found == groups.end() ? nullptr : &*found;
}

std::optional<std::uint32_t> flavor_in(std::span<const flavor_of_resource> list, std::uint32_t resource) {
  for (const flavor_of_resource& one : list) {
    if (one.resource == resource) return one.flavor;
  }
  return std::nullopt;
}

const resource_amount* request_of(std::span<const resource_amount> requests, std::uint32_t resource) {
  const auto found =
      std::ranges::find_if(requests, [&](const resource_amount& one) { return one.resource == resource; });
  return found == requests.end() ? nullptr : &*found;
}

std::int64_t value_of(std::span<const resource_amount> requests, std::uint32_t resource) {
  const resource_amount* found = request_of(requests, resource);
  return found == nullptr ? 0 : found->value;
}

void add_request(std::vector<resource_amount>& requests, const resource_amount& more) {
  for (resource_amount& one : requests) {
    if (one.resource != more.resource) continue;
    one.value = (amount(one.value) + amount(more.value)).value();
    return;
  }
  requests.push_back(more);
}

/// Takes the flavors of a list into another, the last word on a resource wins.
void put_flavor(std::vector<chosen_flavor>& list, const chosen_flavor& one) {
  const auto at = std::lower_bound(list.begin(), list.end(), one.resource,
                                   [](const chosen_flavor& a, std::uint32_t b) { return a.resource < b; });
  if (at != list.end() && at->resource == one.resource) {
    *at = one;
  } else {
    list.insert(at, one);
  }
}

const chosen_flavor* flavor_for(const std::vector<chosen_flavor>& list, std::uint32_t resource) {
  const auto found = std::ranges::find_if(list, [&](const auto& one) { return one.resource == resource; });
  return found == list.end() ? nullptr : &*found;
}

assignment_mode assignment_mode_of(fit_mode mode) {
  if (mode == fit_mode::no_fit) return assignment_mode::no_fit;
  return mode == fit_mode::fit ? assignment_mode::fit : assignment_mode::preempt;
}

/// Whether the search goes on after a flavor of this grade.
bool tries_next_flavor(const flavor_grade& grade, const fungibility& rules) {
  if (grade.mode == fit_mode::no_fit || grade.mode == fit_mode::no_candidates) return true;
  const bool preempts = grade.mode == fit_mode::preempt || grade.mode == fit_mode::reclaim;
  if (preempts && rules.on_preemption == fungibility::search::next) return true;
  return grade.borrowing != 0 && rules.on_borrowing == fungibility::search::next;
}

void add_unique(std::vector<obstacle>& list, const obstacle& one) {
  if (std::ranges::find(list, one) == list.end()) list.push_back(one);
}

using attempts_by_flavor = std::map<std::uint32_t, flavor_attempt>;

/// What was found for one resource joins what was found for others: the worst counts.
void merge_attempts(attempts_by_flavor& all, const std::vector<flavor_attempt>& more, const flavor_group& group,
                    std::uint32_t resource) {
  for (const flavor_attempt& one : more) {
    const auto [at, made] = all.emplace(one.flavor, one);
    if (made) continue;
    flavor_attempt& into = at->second;
    into.mode = std::min(into.mode, one.mode);
    into.borrowing = std::max(into.borrowing, one.borrowing);
    if (one.victims && (!into.victims || *one.victims < *into.victims)) into.victims = one.victims;
    for (const obstacle& why : one.obstacles) add_unique(into.obstacles, why);
    into.why = std::max(into.why, one.why);
  }
  if (more.empty()) return;
  for (auto& [flavor, one] : all) {
    if (std::ranges::find(group.flavors, flavor) == group.flavors.end()) continue;
    if (std::ranges::any_of(more, [&](const flavor_attempt& two) { return two.flavor == flavor; })) continue;
    one.mode = assignment_mode::no_fit;
    add_unique(one.obstacles, {obstacle_kind::resource_not_provided, flavor, resource, 0, 0, {}, 0, {}});
    one.why = no_fit_class::no_matching_flavor;
  }
}

/// One run over the pod sets of a workload.
class flavor_walk {
 public:
  flavor_walk(const flavor_search& search, std::span<const pod_set_demand> demands)
      : search_(search), demands_(demands) {}

  flavor_assignment run() {
    std::vector<std::vector<std::size_t>> groups;
    for (std::size_t i = 0; i < demands_.size(); ++i) {
      auto same = groups.end();
      if (!demands_[i].group.empty()) {
        same = std::ranges::find_if(groups, [&](const std::vector<std::size_t>& one) {
          return demands_[one.front()].group == demands_[i].group;
        });
      }
      (same == groups.end() ? groups.emplace_back() : *same).push_back(i);
    }
    for (const std::vector<std::size_t>& group : groups) {
      if (!assign_group(group)) break;
    }
    explain_no_fit(made_, search_.groups);
    return std::move(made_);
  }

 private:
  struct found_flavors {
    std::vector<chosen_flavor> flavors;
    std::vector<obstacle> obstacles;
    std::vector<flavor_attempt> attempts;
  };

  std::size_t place_in_order(std::uint32_t resource) const {
    const auto at = std::ranges::find(search_.resource_order, resource);
    const std::size_t listed = search_.resource_order.size();
    return at == search_.resource_order.end() ? listed + resource
                                              : static_cast<std::size_t>(at - search_.resource_order.begin());
  }

  void order(std::vector<resource_amount>& requests) const {
    std::ranges::sort(requests, [&](const resource_amount& a, const resource_amount& b) {
      return place_in_order(a.resource) < place_in_order(b.resource);
    });
  }

  std::vector<resource_amount> requests_of(const pod_set_demand& demand) const {
    std::vector<resource_amount> requests = demand.requests;
    if (search_.pods_resource && group_with(search_.groups, *search_.pods_resource) != nullptr) {
      std::erase_if(requests, [&](const resource_amount& one) { return one.resource == *search_.pods_resource; });
      requests.push_back({*search_.pods_resource, demand.count});
    }
    order(requests);
    return requests;
  }

  /// False if nothing could be assigned: later pod sets are not looked at then.
  bool assign_group(const std::vector<std::size_t>& sets) {
    std::vector<resource_amount> together;
    std::vector<chosen_flavor> flavors;
    for (const std::size_t set : sets) {
      for (const resource_amount& one : requests_of(demands_[set])) add_request(together, one);
      for (const flavor_of_resource& one : demands_[set].held)
        put_flavor(flavors, {one.resource, one.flavor, assignment_mode::fit, 0, 0});
    }
    order(together);

    attempts_by_flavor attempts;
    std::vector<obstacle> obstacles;
    for (const resource_amount& asked : together) {
      const flavor_group* group = group_with(search_.groups, asked.resource);
      if (group == nullptr && (asked.value == 0 || search_.ignores_missing_resources)) continue;
      if (flavor_for(flavors, asked.resource) != nullptr) continue;
      found_flavors found;
      if (group == nullptr) {
        found.obstacles.push_back({obstacle_kind::resource_missing, 0, asked.resource, 0, 0, {}, 0, {}});
      } else {
        found = find_flavor(sets, together, asked.resource, *group);
        merge_attempts(attempts, found.attempts, *group, asked.resource);
      }
      if (found.flavors.empty()) {
        flavors.clear();
        obstacles = std::move(found.obstacles);
        break;
      }
      for (const chosen_flavor& one : found.flavors) put_flavor(flavors, one);
      obstacles.insert(obstacles.end(), found.obstacles.begin(), found.obstacles.end());
    }

    bool all = true;
    for (const std::size_t set : sets) {
      pod_set_assignment made;
      made.count = demands_[set].count;
      made.requests = requests_of(demands_[set]);
      for (const chosen_flavor& one : flavors) {
        if (request_of(made.requests, one.resource) != nullptr) made.flavors.push_back(one);
      }
      made.obstacles = obstacles;
      for (const auto& [flavor, one] : attempts) made.attempts.push_back(one);
      // A pod set that asks for nothing is placed beside its group.
      if (made.requests.empty() && !demands_[set].group.empty()) {
        for (const chosen_flavor& one : flavors) {
          if (one.flavor < search_.has_topology.size() && search_.has_topology[one.flavor] != 0)
            made.flavors.push_back(one);
        }
      }
      if (!made.requests.empty() && made.flavors.empty()) all = false;
      count_usage(demands_[set], made);
      made_.pod_sets.push_back(std::move(made));
    }
    return all;
  }

  void count_usage(const pod_set_demand& demand, const pod_set_assignment& made) {
    auto& progress = made_.progress.emplace_back();
    for (const chosen_flavor& one : made.flavors) {
      made_.borrowing = std::max(made_.borrowing, one.borrowing);
      amount value(value_of(made.requests, one.resource));
      if (search_.replaces) value -= amount(value_of(demand.replaced, one.resource));
      add_to(made_.usage, search_.tree->cells().at(one.flavor, one.resource), value);
      progress.emplace_back(one.resource, one.tried);
    }
  }

  std::size_t first_to_try(std::size_t set, std::uint32_t resource) const {
    if (!search_.fungible || search_.progress == nullptr || set >= search_.progress->size()) return 0;
    for (const auto& [of, position] : (*search_.progress)[set]) {
      if (of == resource) return static_cast<std::size_t>(position + 1);
    }
    return 0;
  }

  bool skips(std::uint32_t flavor, const std::vector<std::size_t>& sets, std::uint32_t resource) const {
    if (search_.nominated.empty()) return false;
    return std::ranges::none_of(sets, [&](std::size_t set) {
      return set < search_.nominated.size() && flavor_in(search_.nominated[set], resource) == flavor;
    });
  }

  std::optional<std::uint32_t> mismatch(std::uint32_t flavor, const std::vector<std::size_t>& sets) const {
    for (const std::size_t set : sets) {
      const auto& of = demands_[set].mismatches;
      if (flavor < of.size() && of[flavor]) return of[flavor];
    }
    return std::nullopt;
  }

  bool is_allowed(std::uint32_t flavor, const std::vector<std::size_t>& sets) const {
    return std::ranges::all_of(sets, [&](std::size_t set) {
      const std::vector<std::uint8_t>& allowed = demands_[set].allowed;
      return allowed.empty() || allowed[flavor] != 0;
    });
  }

  found_flavors find_flavor(const std::vector<std::size_t>& sets, const std::vector<resource_amount>& together,
                            std::uint32_t resource, const flavor_group& group) {
    found_flavors found;
    flavor_grade best{fit_mode::no_fit, farthest};
    std::optional<std::size_t> last;
    for (std::size_t at = first_to_try(sets.front(), resource); at < group.flavors.size(); ++at) {
      last = at;
      const std::uint32_t flavor = group.flavors[at];
      if (skips(flavor, sets, resource)) {
        found.obstacles.push_back({obstacle_kind::not_nominated, flavor, resource, 0, 0, {}, 0, {}});
        continue;
      }
      if (!is_allowed(flavor, sets)) {
        found.obstacles.push_back({obstacle_kind::not_allowed, flavor, resource, 0, 0, {}, 0, {}});
        continue;
      }
      if (const std::optional<std::uint32_t> why = mismatch(flavor, sets)) {
        const obstacle one{obstacle_kind::mismatch, flavor, 0, *why, 0, {}, 0, {}};
        found.obstacles.push_back(one);
        found.attempts.push_back(
            {flavor, assignment_mode::no_fit, std::nullopt, 0, {one}, no_fit_class::no_matching_flavor});
        continue;
      }
      std::vector<chosen_flavor> flavors;
      const flavor_grade grade = grade_flavor(sets, together, group, flavor, flavors, found);
      if (search_.fungible) {
        const bool goes_on = tries_next_flavor(grade, search_.rules);
        if (!goes_on || is_preferred(grade, best, search_.rules.prefers)) {
          found.flavors = std::move(flavors);
          best = grade;
        }
        if (!goes_on) break;
      } else if (grade.mode > best.mode) {
        found.flavors = std::move(flavors);
        best = grade;
        if (best.mode == fit_mode::fit) break;
      }
    }
    if (search_.fungible) {
      const bool exhausted = !last || *last + 1 == group.flavors.size();
      for (chosen_flavor& one : found.flavors) one.tried = exhausted ? -1 : static_cast<int>(*last);
    }
    if (best.mode == fit_mode::fit) found.obstacles.clear();
    return found;
  }

  /// The worst grade among the resources of the group.
  flavor_grade grade_flavor(const std::vector<std::size_t>& sets, const std::vector<resource_amount>& together,
                            const flavor_group& group, std::uint32_t flavor, std::vector<chosen_flavor>& flavors,
                            found_flavors& found) {
    flavor_grade worst;
    flavor_attempt attempt{flavor, assignment_mode::fit, std::nullopt, 0, {}, no_fit_class::none};
    for (const resource_amount& one : together) {
      if (std::ranges::find(group.resources, one.resource) == group.resources.end()) continue;
      std::int64_t asked = one.value;
      if (search_.replaces) {
        for (const std::size_t set : sets) {
          const std::optional<std::uint32_t> before = flavor_in(demands_[set].replaced_flavors, one.resource);
          if (before != flavor) {
            worst = {fit_mode::no_fit, farthest};
            const obstacle why{obstacle_kind::replaced_flavor, flavor, 0, 0, before.value_or(no_flavor), {}, 0, {}};
            found.obstacles.push_back(why);
            attempt.obstacles.push_back(why);
            attempt.why = std::max(attempt.why, no_fit_class::no_matching_flavor);
            break;
          }
          asked -= value_of(demands_[set].replaced, one.resource);
        }
      }
      std::optional<obstacle> why;
      no_fit_class severity = no_fit_class::none;
      const flavor_grade grade = grade_cell(search_.tree->cells().at(flavor, one.resource), asked, why, severity);
      if (why) {
        attempt.obstacles.push_back(*why);
        found.obstacles.push_back(*why);
        attempt.why = std::max(attempt.why, severity);
      }
      attempt.borrowing = std::max(attempt.borrowing, grade.borrowing);
      if (is_preferred(worst, grade, search_.rules.prefers)) worst = grade;
      if (worst.mode == fit_mode::no_fit) continue;
      put_flavor(flavors, {one.resource, flavor, assignment_mode_of(grade.mode), grade.borrowing, 0});
    }
    attempt.mode = assignment_mode_of(worst.mode);
    if (worst.mode != fit_mode::no_fit && worst.mode != fit_mode::fit) attempt.victims = worst.mode;
    found.attempts.push_back(std::move(attempt));
    return worst;
  }

  flavor_grade grade_cell(cell_id cell, std::int64_t asked, std::optional<obstacle>& why, no_fit_class& severity) {
    const quota_tree& tree = *search_.tree;
    const std::uint32_t flavor = tree.cells().flavor_of(cell);
    const std::uint32_t resource = tree.cells().resource_of(cell);
    const amount before = amount_of(made_.usage, cell);
    const amount value = before + amount(asked);
    const amount available = std::max(amount(), tree.available(search_.queue, cell));
    const amount most = tree.potentially_available(search_.queue, cell);
    if (value > most) {
      why = obstacle{obstacle_kind::exceeds_maximum, flavor, resource, 0, 0, before, asked, most};
      severity = no_fit_class::exceeds_maximum;
      return {fit_mode::no_fit, 0};
    }
    const quota_tree::lowest_fit lowest = tree.lowest_subtree_that_fits(search_.queue, cell, value);
    if (value <= available) return {fit_mode::fit, lowest.height};
    why = obstacle{obstacle_kind::no_unused_quota, flavor, resource, 0, 0, {}, 0, value - available};
    if (tree.quota(search_.queue, cell).nominal >= value || lowest.below_root || search_.preempts_while_borrowing) {
      const victim_forecast forecast = search_.oracle(cell, value);
      return {forecast.mode, forecast.borrowing};
    }
    severity = no_fit_class::waiting_for_quota;
    return {fit_mode::no_fit, lowest.height};
  }

  const flavor_search& search_;
  std::span<const pod_set_demand> demands_;
  flavor_assignment made_;
};

}  // namespace

bool is_preferred(const flavor_grade& a, const flavor_grade& b, fungibility::preference prefers) {
  if (a.mode == fit_mode::no_fit) return false;
  if (b.mode == fit_mode::no_fit) return true;
  const bool a_hopeless = a.mode == fit_mode::no_candidates;
  const bool b_hopeless = b.mode == fit_mode::no_candidates;
  if (a_hopeless != b_hopeless) return b_hopeless;
  if (prefers == fungibility::preference::preemption_over_borrowing) {
    return a.borrowing != b.borrowing ? a.borrowing < b.borrowing : a.mode > b.mode;
  }
  return a.mode != b.mode ? a.mode > b.mode : a.borrowing < b.borrowing;
}

assignment_mode pod_set_assignment::mode() const {
  if (failed) return assignment_mode::no_fit;
  if (obstacles.empty() && !topology_failed) return assignment_mode::fit;
  if (flavors.empty()) return assignment_mode::no_fit;
  assignment_mode worst = assignment_mode::fit;
  for (const chosen_flavor& one : flavors) worst = std::min(worst, one.mode);
  return worst;
}

const chosen_flavor* pod_set_assignment::flavor_of(std::uint32_t resource) const {
  return flavor_for(flavors, resource);
}

assignment_mode flavor_assignment::mode() const {
  if (pod_sets.empty()) return assignment_mode::no_fit;
  if (overall) return *overall;
  assignment_mode worst = assignment_mode::fit;
  for (const pod_set_assignment& one : pod_sets) worst = std::min(worst, one.mode());
  return worst;
}

void flavor_assignment::set_mode(std::size_t pod_set, assignment_mode mode) {
  for (chosen_flavor& one : pod_sets[pod_set].flavors) one.mode = mode;
  overall = mode;
}

std::vector<cell_id> flavor_assignment::cells_to_preempt(const cell_space& cells) const {
  std::vector<cell_id> found;
  for (const pod_set_assignment& set : pod_sets) {
    for (const chosen_flavor& one : set.flavors) {
      if (one.mode == assignment_mode::preempt) found.push_back(cells.at(one.flavor, one.resource));
    }
  }
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

flavor_assignment assign_flavors(const flavor_search& search, std::span<const pod_set_demand> demands) {
  return flavor_walk(search, demands).run();
}

void explain_no_fit(flavor_assignment& assignment, std::span<const flavor_group> groups) {
  if (assignment.mode() != assignment_mode::no_fit) return;
  no_fit_class overall = no_fit_class::none;
  for (const pod_set_assignment& set : assignment.pod_sets) {
    if (set.mode() != assignment_mode::no_fit) continue;
    if (set.attempts.empty()) {
      overall = std::max(overall, no_fit_class::no_matching_flavor);
      continue;
    }
    std::vector<std::optional<no_fit_class>> mildest(groups.size());
    for (const flavor_attempt& one : set.attempts) {
      if (one.mode != assignment_mode::no_fit) continue;
      bool known = false;
      for (std::size_t i = 0; i < groups.size(); ++i) {
        const auto& flavors = groups[i].flavors;
        if (std::ranges::find(flavors, one.flavor) == flavors.end()) continue;
        known = true;
        mildest[i] = std::min(mildest[i].value_or(one.why), one.why);
      }
      if (!known) overall = std::max(overall, one.why);
    }
    for (const std::optional<no_fit_class>& one : mildest)
      overall = std::max(overall, one.value_or(no_fit_class::none));
  }
  assignment.why = overall;
}

std::vector<resource_amount> scaled(std::span<const resource_amount> requests, std::int64_t from, std::int64_t to) {
  std::vector<resource_amount> made(requests.begin(), requests.end());
  if (from == 0 || from == to) return made;
  for (resource_amount& one : made) one.value = base::saturating_multiply(one.value / from, to);
  return made;
}

cell_amounts total_requests(const flavor_assignment& assignment, std::span<const pod_set_demand> demands,
                            const cell_space& cells, bool replaces) {
  cell_amounts totals;
  for (std::size_t i = 0; i < demands.size() && i < assignment.pod_sets.size(); ++i) {
    const pod_set_assignment& set = assignment.pod_sets[i];
    for (const resource_amount& one : scaled(demands[i].requests, demands[i].count, set.count)) {
      const chosen_flavor* flavor = set.flavor_of(one.resource);
      if (one.value == 0 || flavor == nullptr) continue;
      amount value(one.value);
      if (replaces) value -= amount(value_of(demands[i].replaced, one.resource));
      add_to(totals, cells.at(flavor->flavor, one.resource), value);
    }
  }
  return totals;
}

std::vector<std::int64_t> reduced_counts(std::span<const std::int64_t> full, std::span<const std::int64_t> fewest,
                                         std::int64_t step, std::int64_t steps) {
  std::vector<std::int64_t> counts(full.begin(), full.end());
  for (std::size_t i = 0; i < counts.size() && steps > 0; ++i) counts[i] -= (full[i] - fewest[i]) * step / steps;
  return counts;
}

cell_amounts amounts_to_reserve(const quota_tree& tree, node_id queue, const cell_amounts& usage, assignment_mode mode,
                                bool borrows) {
  if (mode != assignment_mode::preempt) return usage;
  cell_amounts reserved;
  for (const cell_amount& one : usage) {
    const cell_quota& quota = tree.quota(queue, one.cell);
    const amount used = tree.usage(queue, one.cell);
    amount value = one.value;
    if (!borrows) {
      value = std::max(amount(), std::min(value, quota.nominal - used));
    } else if (quota.borrowing_limit) {
      value = std::min(value, quota.nominal + *quota.borrowing_limit - used);
    }
    reserved.push_back({one.cell, value});
  }
  return reserved;
}

}  // namespace kaisched::kueue
