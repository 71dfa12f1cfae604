#include "conformance/rules/bundle_choice.hpp"

#include <algorithm>

namespace kaisched::policy {

std::vector<victim_bundle> select_bundles(std::span<const victim_bundle> bundles, const resource_list& need,
                                          bool allow_whole) {
  std::vector<victim_bundle> selected;
  resource_list freed;
  for (const victim_bundle& one : bundles) {
    if (one.kind == bundle_kind::whole && !allow_whole) continue;
    selected.push_back(one);
    freed.add(one.local);
    if (less_equal(need, freed, absent_resource::zero)) break;
  }
  return selected;
}

void sort_bundles(std::vector<victim_bundle>& bundles, const resource_list& need, const bundle_order& owners) {
  std::stable_sort(bundles.begin(), bundles.end(), [&](const victim_bundle& a, const victim_bundle& b) {
    return taken_before(a, b, need, owners && a.kind == b.kind ? owners(a, b) : std::weak_ordering::equivalent);
  });
}

}  // namespace kaisched::policy
