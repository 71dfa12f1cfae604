#pragma once
/// @file
/// The order in which bundles of victims are taken, and how many of them. Volcano's actions of the library walk queues
/// and jobs themselves.
///
/// Source: Volcano's actions gangpreempt and gangreclaim (pkg/scheduler/actions/utils/bundle.go).

#include <compare>
#include <functional>
#include <span>
#include <vector>

#include "policy/reclaim/gang_bundles.hpp"

namespace kaisched::policy {

/// The first bundles that free what is needed; all of them if that is not enough.
[[nodiscard]] std::vector<victim_bundle> select_bundles(std::span<const victim_bundle> bundles,
                                                        const resource_list& need, bool allow_whole);

/// Orders of what bundles belong to: which of two jobs or queues loses first.
using bundle_order = std::function<std::weak_ordering(const victim_bundle&, const victim_bundle&)>;
/// As `taken_before` orders bundles; without `owners` no job or queue loses first.
void sort_bundles(std::vector<victim_bundle>& bundles, const resource_list& need, const bundle_order& owners);

}  // namespace kaisched::policy
