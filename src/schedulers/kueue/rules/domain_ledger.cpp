#include "schedulers/kueue/rules/domain_ledger.hpp"

#include <algorithm>
#include <limits>

#include "base/saturating.hpp"

namespace kaisched::kueue {

count_in_capacity count_in(const resource_vector& requests, const resource_vector& capacity) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  count_in_capacity found;
  for (std::size_t i = 0; i < requests.size(); ++i) {
    if (requests[i] < 0) continue;  // not asked for
    const std::int64_t have = i < capacity.size() ? capacity[i] : 0;
    const std::int64_t count = requests[i] == 0 ? most : std::clamp<std::int64_t>(have / requests[i], 0, most);
    if (found.bounding >= 0 && count >= found.count) continue;
    found = {count, static_cast<std::int64_t>(i)};
  }
  return found;
}

std::string domain_id(const std::vector<std::string>& values) {
  std::string text;
  for (const std::string& one : values) text.append(text.empty() && &one == values.data() ? "" : ",").append(one);
  return text;
}

std::uint32_t domain_ledger::add_node(const std::vector<std::string>& values, const resource_vector& allocatable) {
  const std::string id = leaves_are_hosts_ ? values.back() : domain_id(values);
  const auto [known, fresh] = leaf_by_id_.emplace(id, static_cast<std::uint32_t>(leaves_.size()));
  const std::uint32_t number = known->second;
  if (fresh) {
    std::uint32_t above = none;
    for (std::size_t level = 0; level < levels_.size(); ++level) {
      const std::vector<std::string> path(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(level) + 1);
      auto at = domain_by_values_.find(path);
      // Hosts of one name below different racks are one leaf, racks of one name below different blocks are not.
      if (at == domain_by_values_.end()) {
        const std::uint32_t made = static_cast<std::uint32_t>(domains_.size());
        domains_.push_back({static_cast<std::uint32_t>(level), above, {}, path, none});
        if (above != none) domains_[above].children.push_back(made);
        by_level_[level].push_back(made);
        at = domain_by_values_.emplace(path, made).first;
      }
      above = at->second;
    }
    domains_[above].leaf = number;
    leaves_.push_back({id, above, resource_vector(resources_), resource_vector(resources_)});
  }
  for (std::size_t i = 0; i < resources_ && i < allocatable.size(); ++i) leaves_[number].free[i] += allocatable[i];
  return number;
}

std::uint32_t domain_ledger::leaf_of(const std::vector<std::string>& values) const {
  const auto found = leaf_by_id_.find(domain_id(values));
  return found == leaf_by_id_.end() ? none : found->second;
}

std::int64_t domain_ledger::level_of(const std::string& key) const {
  const auto found = std::ranges::find(levels_, key);
  return found == levels_.end() ? -1 : found - levels_.begin();
}

std::uint32_t domain_ledger::ancestor(std::uint32_t domain, std::size_t level) const {
  while (domains_[domain].level > level) domain = domains_[domain].parent;
  return domain;
}

void domain_ledger::use(const std::string& leaf, const resource_vector& amounts, bool add) {
  const auto found = leaf_by_id_.find(leaf);
  if (found == leaf_by_id_.end()) return;
  resource_vector& used = leaves_[found->second].used;
  for (std::size_t i = 0; i < resources_ && i < amounts.size(); ++i) {
    if (amounts[i] > 0) used[i] += add ? amounts[i] : -amounts[i];
  }
}

resource_vector domain_ledger::remaining(std::uint32_t leaf, bool as_if_empty) const {
  resource_vector left;
  remaining(leaf, as_if_empty, left);
  return left;
}

void domain_ledger::remaining(std::uint32_t leaf, bool as_if_empty, resource_vector& left) const {
  left = leaves_[leaf].free;
  for (std::size_t i = 0; i < resources_ && !as_if_empty; ++i) left[i] -= leaves_[leaf].used[i];
}

domain_assignment truncated(const domain_assignment& all, std::int64_t count) {
  domain_assignment made{all.levels, {}};
  for (const placed_pods& one : all.places) {
    if (count <= 0) break;
    made.places.push_back({one.values, std::min(one.count, count)});
    count -= one.count;
  }
  return made;
}

domain_assignment merged(const domain_ledger& ledger, const domain_assignment& a, const domain_assignment& b) {
  struct at_path {
    std::string path;
    placed_pods place;
  };
  std::vector<at_path> all;
  for (const domain_assignment* one : {&a, &b}) {
    for (const placed_pods& place : one->places) {
      const std::uint32_t leaf = ledger.leaf_of(place.values);
      const bool known = leaf != domain_ledger::none;
      all.push_back(
          {known ? domain_id(ledger.domains()[ledger.leaves()[leaf].domain].values) : domain_id(place.values), place});
    }
  }
  std::ranges::stable_sort(all, [](const at_path& x, const at_path& y) { return x.path < y.path; });
  domain_assignment made{a.levels, {}};
  for (const at_path& one : all) {
    if (!made.places.empty() && made.places.back().values == one.place.values) {
      made.places.back().count += one.place.count;
    } else {
      made.places.push_back(one.place);
    }
  }
  return made;
}

void assume(assumed_usage& usage, const domain_assignment& places, const resource_vector& requests,
            std::uint32_t pods_resource) {
  for (const placed_pods& one : places.places) {
    resource_vector& into = usage[domain_id(one.values)];
    into.resize(std::max<std::size_t>({into.size(), requests.size(), std::size_t{pods_resource} + 1}));
    for (std::size_t i = 0; i < requests.size(); ++i)
      into[i] += base::saturating_multiply(std::max<std::int64_t>(requests[i], 0), one.count);
    into[pods_resource] += one.count;
  }
}

}  // namespace kaisched::kueue
