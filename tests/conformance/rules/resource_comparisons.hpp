#pragma once
/// @file
/// Comparisons of amounts that no plug-in of the library makes.
///
/// Source: Volcano (pkg/scheduler/api/resource_info.go); see policy/resources/resource_list.hpp.

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

/// All resources of `left` less than in `right`; no slack.
[[nodiscard]] bool less(const resource_list& left, const resource_list& right, absent_resource absent);
/// Any resource of `left` not more than in `right`.
[[nodiscard]] bool less_equal_partly(const resource_list& left, const resource_list& right, absent_resource absent);
/// All resources of `left` as in `right`. What only the right names is not looked at.
[[nodiscard]] bool equal(const resource_list& left, const resource_list& right);

/// Resources of `left` that are more than in `right`.
[[nodiscard]] resource_names exceeding(const resource_list& left, const resource_list& right, absent_resource absent);
/// Of what is asked for (but pods), what is not more in `left` than in `right`.
[[nodiscard]] resource_names within_of(const resource_list& left, const resource_list& right,
                                       const resource_list& asked);

/// Takes off what is asked for and the slack: what is negative then does not fit.
void subtract_for_fit(resource_list& left, const resource_list& asked);

}  // namespace kaisched::policy
