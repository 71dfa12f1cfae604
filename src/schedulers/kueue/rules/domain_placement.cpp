// Where pods go among domains: counts up the tree, the level that holds them, and down again; other places for lost
// ones.

#include <algorithm>
#include <map>
#include <utility>

#include "schedulers/kueue/rules/domain_ledger.hpp"
#include "schedulers/kueue/rules/domain_search.hpp"

namespace kaisched::kueue {

namespace {

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
    resource_vector left;
    for (std::size_t i = 0; i < ledger_.leaves().size(); ++i) {
      const domain_ledger::one_leaf& leaf = ledger_.leaves()[i];
      ++stats_.leaves;
      domain_counts& mine = search_.of(leaf.domain);
      if (i < workers_.excluded.size() && workers_.excluded[i] >= 0) {
        ++stats_.excluded[workers_.excluded[i]];
        continue;
      }
      if (i < workers_.scores.size()) mine.score = workers_.scores[i];
      if (!only_below.empty() && !is_below(leaf, only_below)) {
        ++stats_.outside;
        continue;
      }
      ledger_.remaining(static_cast<std::uint32_t>(i), as_if_empty, left);
      if (!assumed.empty()) {
        if (const auto more = assumed.find(leaf.id); more != assumed.end()) take(left, more->second);
      }
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

  [[nodiscard]] bool is_below(const domain_ledger::one_leaf& leaf, const std::string& domain) const {
    const std::string path = domain_id(ledger_.domains()[leaf.domain].values);
    return path == domain || path.starts_with(domain + ",");
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
    std::ranges::stable_sort(domains, [&](std::uint32_t a, std::uint32_t b) { return search_.values_before(a, b); });
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

}  // namespace kaisched::kueue
