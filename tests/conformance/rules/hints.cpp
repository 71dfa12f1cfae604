#include "conformance/rules/hints.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>

namespace kaisched::policy {

namespace {

using hint_lists = std::vector<std::vector<zone_hint>>;

hint_lists usable_hints(hint_policy policy, std::span<const resource_hints> resources) {
  hint_lists lists;
  for (const resource_hints& one : resources) {
    std::vector<zone_hint> hints = one.hints;
    if (one.any || hints.empty()) hints = {{std::nullopt, one.any}};
    if (policy == hint_policy::single_numa_node) {
      std::erase_if(hints, [](const zone_hint& hint) {
        return !hint.preferred || (hint.zones && std::popcount(*hint.zones) != 1);
      });
    }
    lists.push_back(std::move(hints));
  }
  return lists;
}

/// As the kubelet's bit masks compare: fewer zones, and of as many the smaller number.
bool narrower(zone_mask a, zone_mask b) {
  if (std::popcount(a) != std::popcount(b)) return std::popcount(a) < std::popcount(b);
  return a < b;
}

void consider(zone_hint& best, const zone_hint& merged) {
  if (*merged.zones == 0) return;
  const bool better = merged.preferred != best.preferred ? merged.preferred : narrower(*merged.zones, *best.zones);
  if (better) best = merged;
}

zone_hint narrowest(zone_mask all_zones, const hint_lists& lists) {
  zone_hint best{all_zones, false};
  for (const std::vector<zone_hint>& list : lists) {
    if (list.empty()) return best;
  }
  std::vector<std::size_t> chosen(lists.size(), 0);
  for (bool more = true; more;) {
    zone_hint merged{all_zones, true};
    for (std::size_t i = 0; i < lists.size(); ++i) {
      const zone_hint& hint = lists[i][chosen[i]];
      *merged.zones &= hint.zones.value_or(all_zones);
      merged.preferred = merged.preferred && hint.preferred;
    }
    consider(best, merged);
    more = false;
    for (std::size_t i = lists.size(); i-- > 0 && !more;) {
      more = ++chosen[i] < lists[i].size();
      if (!more) chosen[i] = 0;
    }
  }
  return best;
}

}  // namespace

merged_hint merge_hints(hint_policy policy, zone_mask all_zones, std::span<const resource_hints> resources) {
  if (policy == hint_policy::none) return {{}, true};
  const zone_hint best = narrowest(all_zones, usable_hints(policy, resources));
  return {best, policy == hint_policy::best_effort || best.preferred};
}

}  // namespace kaisched::policy
