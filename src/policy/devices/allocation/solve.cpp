#include "policy/devices/allocation/solve.hpp"

#include <algorithm>
#include <optional>
#include <set>
#include <tuple>
#include <utility>
#include <variant>

#include "policy/devices/fit/sets.hpp"
#include "policy/devices/fit/usage.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::devices {

namespace {

constexpr std::int64_t million = 1'000'000;

std::int64_t millionths(std::int64_t used, std::int64_t all) {
  if (all <= 0) return 0;
  // A million times the bytes of a node would be too much for 64 bits.
  return all >= mebibyte ? used / mebibyte * million / (all / mebibyte) : used * million / all;
}

/// Use of one device in millionths: slots, cores and memory, by weight.
std::int64_t device_use_millionths(const device& of, const score_weights& weights) {
  return weights.slot * millionths(of.used_slots, of.slots) + weights.core * millionths(of.used_cores, of.cores) +
         weights.memory * millionths(of.used_memory, of.memory);
}

/// In millionths, so that sums over a node stay far from the end of 64 bits.
std::int64_t square(std::int64_t use) { return use / 1000 * (use / 1000); }

/// One request of one container, and what does not change while assignments are searched.
struct demand {
  std::size_t container = 0;
  const vendor_template* vendor = nullptr;
  wishes wanted{};
  std::vector<std::size_t> candidates{};
  request asked{};  ///< with the amounts of its profile, where the vendor has profiles
  std::optional<slice_choice> slices{};
};

/// For every demand its grants.
using assignment = std::vector<container_grants>;

/// What all demands of a pod share.
struct surroundings {
  const vendor_catalog& vendors;
  const pod& asking;
  const place_policies& policies;
  const space_quotas& quotas;
  std::size_t limit;
  std::size_t visited = 0;
};

fit_question question_of(const surroundings& all, const node& where, const demand& of, const pod_grants& earlier) {
  return {*of.vendor,
          where,
          of.candidates,
          of.asked,
          of.wanted,
          earlier,
          all.asking.init_containers,
          find_quota(all.quotas, all.asking.space, of.vendor->key)};
}

bool are_interchangeable(const device& a, const device& b) {
  const auto fields = [](const device& of) {
    return std::tie(of.type, of.mode, of.numa, of.healthy, of.cordoned, of.slots, of.memory, of.cores, of.used_slots,
                    of.used_memory, of.used_cores, of.profiles, of.instances, of.slices, of.attributes, of.tenants);
  };
  return fields(a) == fields(b);
}

bool has_rule(const vendor_template& vendor, std::initializer_list<set_kind> kinds) {
  return std::any_of(vendor.sets.begin(), vendor.sets.end(), [&](const set_rule& rule) {
    return std::find(kinds.begin(), kinds.end(), rule.kind) != kinds.end();
  });
}

/// Number of the island in which a device is by its place among the candidates; -1: in none.
std::int64_t island_of(const set_rule& rule, const std::vector<std::size_t>& candidates, std::size_t position) {
  const std::int64_t place = std::find(candidates.begin(), candidates.end(), position) - candidates.begin();
  for (std::size_t i = 0; i < rule.islands.size(); ++i) {
    const std::vector<std::int64_t>& island = rule.islands[i];
    if (std::find(island.begin(), island.end(), place) != island.end()) return static_cast<std::int64_t>(i);
  }
  return -1;
}

/// Depth first over devices of one demand after another. Sets are tried in the order of the devices.
class assignment_search {
 public:
  assignment_search(surroundings& all, const std::vector<demand>& demands, const pod_grants& fixed, node_trial& devices)
      : all_(all), demands_(demands), fixed_(fixed), devices_(devices), chosen_(demands.size()) {
    packs_ = policy_names(all.policies.devices, "binpack");
    by_numa_ = policy_names(all.policies.devices, "numa");
    by_links_ = std::any_of(demands.begin(), demands.end(), [](const demand& of) { return of.wanted.best_links; });
  }

  /// Nothing if there is no assignment, or none was found in time.
  [[nodiscard]] const std::optional<assignment>& run() {
    place_demand(0, {});
    return best_;
  }
  [[nodiscard]] const assignment_cost& cost() const { return best_cost_; }

 private:
  void place_demand(std::size_t at, const assignment_cost& cost) {
    if (at < demands_.size()) {
      add_device(at, 0, cost);
    } else if (!best_ || cost < best_cost_) {
      best_ = chosen_;
      best_cost_ = cost;
    }
  }

  void add_device(std::size_t at, std::size_t from, const assignment_cost& cost) {
    const demand& of = demands_[at];
    if (static_cast<std::int64_t>(chosen_[at].size()) >= of.asked.count) {
      if (is_complete(at)) place_demand(at + 1, with_set(at, cost));
      return;
    }
    std::vector<std::size_t> tried;
    for (std::size_t i = from; i < of.candidates.size() && all_.visited < all_.limit; ++i) {
      // A device that is exactly like one before leads to the same.
      if (is_repeated(of, of.candidates[i], tried)) continue;
      tried.push_back(of.candidates[i]);
      ++all_.visited;
      try_device(at, i, cost);
    }
  }

  void try_device(std::size_t at, std::size_t i, assignment_cost cost) {
    const demand& of = demands_[at];
    const std::size_t position = of.candidates[i];
    const device before = devices_.where().devices[position];
    const pod_grants earlier = earlier_grants(at);
    const fit_question question = question_of(all_, devices_.where(), of, earlier);
    if (refusal(question, before, chosen_[at])) return;
    const set_rule* rule = applicable_rule(question);
    const bool whole = rule != nullptr && rule->take_whole;
    grant taken =
        grant_of(question, position,
                 whole ? taken_amounts{before.memory, before.cores} : amounts_on(*of.vendor, of.asked, before));
    if (of.slices) {
      taken.slots = std::max<std::int64_t>(of.slices->profile.slices, 1);
      taken.instance = slice_instance{of.slices->profile.name, {}};
    }
    device& changed = devices_.change(position);
    if (add_usage(*of.vendor, of.wanted, changed, taken)) {
      const std::int64_t grown = square(device_use_millionths(changed, all_.policies.weights)) -
                                 square(device_use_millionths(before, all_.policies.weights));
      cost.growth += packs_ ? -grown : grown;
      const bool again = before.mode == "mig" && of.vendor->repeat_divided;
      chosen_[at].push_back(std::move(taken));
      if (!is_hopeless(cost)) add_device(at, again ? i : i + 1, cost);
      chosen_[at].pop_back();
    }
    devices_.change(position) = before;
  }

  /// Without packing and links every part of the cost only grows from here on.
  [[nodiscard]] bool is_hopeless(const assignment_cost& cost) const {
    return best_ && !packs_ && !by_links_ && cost >= best_cost_;
  }

  [[nodiscard]] bool is_repeated(const demand& of, std::size_t position, const std::vector<std::size_t>& tried) const {
    // Positions tell devices apart for rules of positions, and for links.
    if (by_links_ || has_rule(*of.vendor, {set_kind::islands, set_kind::runs, set_kind::full_groups})) return false;
    const std::vector<device>& all = devices_.where().devices;
    return std::any_of(tried.begin(), tried.end(), [&](std::size_t other) {
      return are_interchangeable(all[position], all[other]) && is_taken(position) == is_taken(other) &&
             of.wanted.allows_id(all[position].id) == of.wanted.allows_id(all[other].id);
    });
  }

  [[nodiscard]] bool is_taken(std::size_t position) const {
    const auto has = [&](const container_grants& grants) {
      return std::any_of(grants.begin(), grants.end(), [&](const grant& one) { return one.position == position; });
    };
    return std::any_of(chosen_.begin(), chosen_.end(), has) ||
           std::any_of(fixed_.begin(), fixed_.end(),
                       [&](const auto& of) { return std::any_of(of.second.begin(), of.second.end(), has); });
  }

  [[nodiscard]] bool is_complete(std::size_t at) const {
    std::vector<std::size_t> set;
    for (const grant& one : chosen_[at]) set.push_back(one.position);
    const demand& of = demands_[at];
    return is_legal_set(*of.vendor, of.wanted, devices_.where(), of.candidates, set);
  }

  [[nodiscard]] assignment_cost with_set(std::size_t at, assignment_cost cost) const {
    const demand& of = demands_[at];
    const link_scores& links = devices_.where().links;
    cost.parts += parts_of(at);
    if (!of.wanted.best_links) return cost;
    const container_grants& set = chosen_[at];
    const auto linked = [&](std::size_t a, std::size_t b) { return std::max(links(a, b), links(b, a)); };
    if (set.size() == 1) {  // one alone leaves those that are well linked to others
      for (const std::size_t other : of.candidates) {
        if (other != set.front().position) cost.unlinked += linked(set.front().position, other);
      }
    }
    for (std::size_t a = 0; a < set.size(); ++a) {
      for (std::size_t b = a + 1; b < set.size(); ++b) cost.unlinked -= linked(set[a].position, set[b].position);
    }
    return cost;
  }

  /// Into how many more groups than one a set falls.
  [[nodiscard]] std::int64_t parts_of(std::size_t at) const {
    const vendor_template& vendor = *demands_[at].vendor;
    const bool grouped = has_rule(vendor, {set_kind::largest_groups, set_kind::zones, set_kind::islands});
    if (!by_numa_ && !grouped) return 0;
    std::set<std::variant<std::int64_t, std::string>> parts;
    for (const grant& one : chosen_[at]) {
      const device& of = devices_.where().devices[one.position];
      if (by_numa_) {
        parts.insert(of.numa);
        continue;
      }
      for (const set_rule& rule : vendor.sets) {
        const attribute* group = rule.attribute.empty() ? nullptr : find_attribute(of.attributes, rule.attribute);
        if (group != nullptr) parts.insert(group->value);
        if (rule.kind == set_kind::islands) parts.insert(island_of(rule, demands_[at].candidates, one.position));
      }
    }
    return std::max<std::int64_t>(static_cast<std::int64_t>(parts.size()) - 1, 0);
  }

  /// What containers before that of a demand have, one list per container.
  [[nodiscard]] pod_grants earlier_grants(std::size_t at) const {
    pod_grants earlier = fixed_;
    for (std::size_t d = 0; d < at; ++d) {
      if (demands_[d].container == demands_[at].container) continue;
      vendor_grants& lists = grants_of(earlier, demands_[d].vendor->key);
      if (lists.size() <= demands_[d].container) lists.resize(demands_[d].container + 1);
      lists[demands_[d].container] = chosen_[d];
    }
    for (auto& [key, lists] : earlier) lists.resize(std::max(lists.size(), demands_[at].container));
    return earlier;
  }

  surroundings& all_;
  const std::vector<demand>& demands_;
  const pod_grants& fixed_;
  node_trial& devices_;
  bool packs_ = false;
  bool by_numa_ = false;
  bool by_links_ = false;
  assignment chosen_;
  std::optional<assignment> best_{};
  assignment_cost best_cost_{};
};

/// The demands of one container, or why it cannot have any devices.
std::optional<std::string> add_demands(const surroundings& all, const node& where, std::size_t container,
                                       std::vector<demand>& demands) {
  for (const request& asked : all.asking.containers[container]) {
    if (asked.count <= 0) continue;
    demand made;
    made.container = container;
    made.vendor = find_vendor(all.vendors, asked.vendor);
    if (made.vendor == nullptr) return std::string(reason_name(reason::unknown_vendor));
    made.wanted = wishes_of(*made.vendor, all.asking, all.policies.devices);
    made.asked = asked;
    for (std::size_t i = 0; i < where.devices.size(); ++i) {
      if (contains_any_case(where.devices[i].type, asked.vendor)) made.candidates.push_back(i);
    }
    if (asked.count > static_cast<std::int64_t>(made.candidates.size()) &&
        !may_repeat(*made.vendor, all.asking, where.devices, made.candidates)) {
      return std::string(reason_name(reason::node_insufficient_device));
    }
    reason_counts unfit;
    unfit.add(reason::mode_not_fit);
    std::string mode = unfit.text(static_cast<std::int64_t>(made.candidates.size()));
    if (made.wanted.soft && made.vendor->soft && !where.soft_division.value_or(made.vendor->soft->allowed)) return mode;
    if (made.vendor->memory == memory_rule::profile) {
      const pod_grants none;
      made.slices = choose_slices(question_of(all, where, made, none));
      if (!made.slices) return mode;
      made.asked.memory = made.slices->profile.memory;
      made.asked.cores = made.slices->percent;
    }
    demands.push_back(std::move(made));
  }
  return std::nullopt;
}

/// Demand by demand with no way back, as HAMi does.
bool place_greedily(const surroundings& all, const std::vector<demand>& demands, const pod_grants& fixed,
                    node_trial& devices, assignment& made) {
  pod_grants earlier = fixed;
  for (const demand& of : demands) {
    fit_answer answer = fit(question_of(all, devices.where(), of, earlier));
    if (!answer.fits) return false;
    for (grant& one : answer.grants) {
      if (!add_usage(*of.vendor, of.wanted, devices.change(one.position), one)) return false;
    }
    vendor_grants& lists = grants_of(earlier, of.vendor->key);
    lists.resize(std::max(lists.size(), of.container + 1));
    lists[of.container] = answer.grants;
    made.push_back(std::move(answer.grants));
  }
  return true;
}

std::vector<device_use> uses_of(const surroundings& all, const std::vector<demand>& demands, const assignment& chosen,
                                node& where) {
  static_cast<void>(all);
  node_trial devices(where);
  for (std::size_t d = 0; d < demands.size(); ++d) {
    for (grant one : chosen[d]) {
      const std::optional<slice_instance> instance = one.instance;
      static_cast<void>(add_usage(*demands[d].vendor, demands[d].wanted, devices.change(one.position), one));
    }
  }
  return devices.uses();
}

/// Places some containers on the node as it is, and adds what they get to the outcome.
bool place_together(surroundings& all, node& where, std::size_t first, std::size_t last, solved_placement& made) {
  std::vector<demand> demands;
  for (std::size_t c = first; c < last; ++c) {
    if (std::optional<std::string> reason = add_demands(all, where, c, demands)) {
      made.placed.reason = std::move(*reason);
      return false;
    }
  }
  assignment chosen;
  {
    node_trial devices(where);
    assignment_search search(all, demands, made.placed.grants, devices);
    const std::optional<assignment>& found = search.run();
    made.exact = made.exact && all.visited < all.limit;
    if (found) {
      chosen = *found;
      made.cost.parts += search.cost().parts;
      made.cost.unlinked += search.cost().unlinked;
      made.cost.growth += search.cost().growth;
    } else {
      devices.take_back();
      if (made.exact || !place_greedily(all, demands, made.placed.grants, devices, chosen)) return false;
    }
  }
  raise_uses(made.placed.uses, uses_of(all, demands, chosen, where));
  for (std::size_t d = 0; d < demands.size(); ++d) {
    vendor_grants& lists = grants_of(made.placed.grants, demands[d].vendor->key);
    lists.resize(std::max(lists.size(), demands[d].container + 1));
    lists[demands[d].container] = std::move(chosen[d]);
  }
  return true;
}

/// Why nothing was found: the first container that does not fit alone, or that they do not fit together.
std::string reason_of(const surroundings& all, node& where) {
  for (const std::vector<request>& requests : all.asking.containers) {
    if (requests.empty()) continue;
    node_trial devices(where);
    container_trial trial{all.vendors, all.asking, all.policies, all.quotas};
    pod_grants grants;
    if (std::optional<std::string> reason = place_container(trial, devices, requests, grants)) return *reason;
  }
  return std::string(reason_name(reason::no_assignment));
}

std::int64_t node_use_after(const node& where, const std::vector<device_use>& uses, const score_weights& weights) {
  device sum;
  std::size_t next = 0;
  for (std::size_t i = 0; i < where.devices.size(); ++i) {
    const device& of = where.devices[i];
    const bool changed = next < uses.size() && uses[next].position == i;
    sum.slots += of.slots;
    sum.cores += of.cores;
    sum.memory += of.memory;
    sum.used_slots += changed ? uses[next].slots : of.used_slots;
    sum.used_cores += changed ? uses[next].cores : of.used_cores;
    sum.used_memory += changed ? uses[next].memory : of.used_memory;
    if (changed) ++next;
  }
  return device_use_millionths(sum, weights);
}

}  // namespace

solved_placement solve(const vendor_catalog& vendors, node& where, const pod& asking, const place_policies& policies,
                       const space_quotas& quotas, std::size_t limit) {
  solved_placement made;
  surroundings all{vendors, asking, policies, quotas, limit};
  const std::size_t containers = asking.containers.size();
  const std::size_t first = std::min(asking.init_containers, containers);
  bool fits = true;
  for (std::size_t c = 0; fits && c < first; ++c) fits = place_together(all, where, c, c + 1, made);
  fits = fits && place_together(all, where, first, containers, made);
  if (!fits) {
    if (made.placed.reason.empty()) made.placed.reason = reason_of(all, where);
    made.placed.grants.clear();
    made.placed.uses.clear();
    return made;
  }
  for (auto& [key, lists] : made.placed.grants) lists.resize(containers);
  made.placed.fits = true;
  made.use_after = node_use_after(where, made.placed.uses, policies.weights);
  return made;
}

}  // namespace kaisched::devices
