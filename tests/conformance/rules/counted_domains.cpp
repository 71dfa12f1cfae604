#include "conformance/rules/counted_domains.hpp"

#include <algorithm>
#include <map>

#include "schedulers/kueue/rules/domain_search.hpp"

namespace kaisched::kueue {

namespace {

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

domain_assignment beyond(const domain_assignment& now, const domain_assignment& before) {
  std::map<std::vector<std::string>, std::int64_t> held;
  for (const placed_pods& one : before.places) held[one.values] += one.count;
  domain_assignment made{now.levels, {}};
  for (const placed_pods& one : now.places) {
    const auto found = held.find(one.values);
    const std::int64_t more = one.count - (found == held.end() ? 0 : found->second);
    if (more > 0) made.places.push_back({one.values, more});
  }
  return made;
}

bool has_levels(const domain_ledger& ledger, const place_request& request) {
  const bool named = !request.required.empty() || !request.preferred.empty();
  if (!named && request.slices.empty() && !request.unconstrained) return false;
  const std::string& main = !request.required.empty() ? request.required : request.preferred;
  if (named && ledger.level_of(main) < 0) return false;
  return std::all_of(request.slices.begin(), request.slices.end(),
                     [&](const slice_layer& one) { return ledger.level_of(one.level) >= 0; });
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

}  // namespace kaisched::kueue
