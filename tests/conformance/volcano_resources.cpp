// Tables of Volcano about amounts: comparing and changing lists of resources, what pods ask for, shares of queues.

#include <array>
#include <cstdint>
#include <utility>

#include "base/saturating.hpp"
#include "conformance/json_values.hpp"
#include "conformance/rules/resource_comparisons.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using policy::absent_resource;
using policy::resource_list;
using policy::resource_names;

/// The answer of a function about two lists. Every member of `expected` must be one of them, by its type.
struct list_answer {
  std::optional<bool> flag;
  std::optional<resource_names> names;
  std::optional<resource_list> list;
};

volcano_difference compare_answer(const json& expected, const list_answer& found) {
  std::size_t compared = 0;
  for (const auto& [key, value] : expected.items()) {
    volcano_difference why;
    if (value.is_boolean() && found.flag) {
      why = compare_flag(value, *found.flag);
    } else if ((value.is_array() || value.is_null()) && found.names) {
      why = compare_names(value, *found.names);
    } else if (value.is_object() && found.list) {
      why = compare_resources(value, *found.list);
    } else {
      throw unsupported("what is recorded of " + key);
    }
    if (why) return key + ": " + *why;
    ++compared;
  }
  if (compared == 0) throw unsupported("nothing is recorded");
  return std::nullopt;
}

/// The two or three lists of a row, whatever they are called there.
struct row_lists {
  resource_list left;
  resource_list right;
  resource_list asked;
  bool has_asked = false;
};

row_lists lists_of(const json& one) {
  const json& input = volcano_input(one);
  row_lists lists;
  constexpr std::array names{std::pair{"resource1", "resource2"}, std::pair{"r", "rr"}, std::pair{"r1", "r2"},
                             std::pair{"child", "parent"}, std::pair{"resource", "other"}};
  bool any = input.is_null();
  for (const auto& [left, right] : names) {
    if (!has(input, left) && !has(input, right)) continue;
    lists.left = volcano_resources(member(input, left));
    lists.right = volcano_resources(member(input, right));
    any = true;
  }
  lists.has_asked = has(input, "req");
  if (lists.has_asked) lists.asked = volcano_resources(member(input, "req"));
  if (!any && !lists.has_asked) throw unsupported("the lists of the row");
  return lists;
}

/// What a list that does not name a resource has of it: the tests say so in their names.
absent_resource absent_of(const json& one) {
  const std::string test = one.at("test").get<std::string>();
  return test.find("Infinity") != std::string::npos || value_or(volcano_input(one), "default_value", 0) == -1
             ? absent_resource::infinity
             : absent_resource::zero;
}

list_answer from_names(resource_names names, bool flag_if_none) {
  const bool none = names.empty();
  return {none == flag_if_none, std::move(names), std::nullopt};
}

template <auto Compare>
volcano_difference check_comparison(const json& one) {
  const row_lists lists = lists_of(one);
  return compare_answer(one.at("expected"), {Compare(lists.left, lists.right, absent_of(one)), {}, {}});
}

template <auto Change>
volcano_difference check_change(const json& one) {
  row_lists lists = lists_of(one);
  Change(lists.left, lists.right, absent_of(one));
  return compare_answer(one.at("expected"), {{}, {}, std::move(lists.left)});
}

void add_list(resource_list& left, const resource_list& right, absent_resource /*absent*/) { left.add(right); }
void subtract_list(resource_list& left, const resource_list& right, absent_resource /*absent*/) {
  left.subtract(right);
}
void raise_list(resource_list& left, const resource_list& right, absent_resource /*absent*/) { left.raise_to(right); }
void fit_list(resource_list& left, const resource_list& right, absent_resource /*absent*/) {
  policy::subtract_for_fit(left, right);
}
void lower_list(resource_list& left, const resource_list& right, absent_resource absent) {
  left.lower_to(right, absent);
}

bool equal_lists(const resource_list& left, const resource_list& right, absent_resource /*absent*/) {
  return policy::equal(left, right);
}

volcano_difference check_is_empty(const json& one) {
  const json& input = volcano_input(one);
  const resource_list list = volcano_resources(has(input, "resource") ? member(input, "resource") : input);
  return compare_answer(one.at("expected"), {list.is_empty(), {}, {}});
}

volcano_difference check_is_zero(const json& one) {
  const json& input = volcano_input(one);
  const resource_list list = volcano_resources(member(input, "resource"));
  return compare_answer(one.at("expected"), {list.has_none_of(text_or_empty(input, "resource_name")), {}, {}});
}

volcano_difference check_exceeding(const json& one) {
  const row_lists lists = lists_of(one);
  return compare_answer(one.at("expected"),
                        from_names(policy::exceeding(lists.left, lists.right, absent_of(one)), false));
}

volcano_difference check_within_names(const json& one) {
  const row_lists lists = lists_of(one);
  return compare_answer(one.at("expected"),
                        from_names(policy::exceeding(lists.left, lists.right, absent_of(one)), true));
}

template <auto Names, bool FlagIfNone>
volcano_difference check_asked_names(const json& one) {
  const row_lists lists = lists_of(one);
  return compare_answer(one.at("expected"), from_names(Names(lists.left, lists.right, lists.asked), FlagIfNone));
}

/// Without a list that says what is asked for all resources are compared, with slack.
volcano_difference check_within_asked(const json& one) {
  return lists_of(one).has_asked ? check_asked_names<policy::exceeding_of, true>(one) : check_within_names(one);
}

/// Quantities as amounts, whatever the row calls them.
volcano_difference check_new_list(const json& one) {
  const json& input = volcano_input(one);
  resource_list made;
  for (const auto& [key, value] : input.items()) {
    if (value.is_object()) made = volcano_quantities(value);
  }
  return compare_answer(one.at("expected"), {{}, {}, made});
}

template <bool WithPods>
volcano_difference check_common(const json& one) {
  const row_lists lists = lists_of(one);
  return compare_answer(one.at("expected"), {{}, policy::common_of(lists.left, lists.right, WithPods), {}});
}

template <auto Operation>
volcano_difference check_saturating(const json& one) {
  const json& input = volcano_input(one);
  const std::int64_t found = Operation(value_or<std::int64_t>(input, "a", 0), value_or<std::int64_t>(input, "b", 0));
  const auto wanted = member(one.at("expected"), "result").get<std::int64_t>();
  if (found == wanted) return std::nullopt;
  return "result is " + std::to_string(found) + ", recorded is " + std::to_string(wanted);
}

template <auto Request, bool AlwaysOfPod>
volcano_difference check_pod_request(const json& one) {
  const json& input = volcano_input(one);
  const bool of_pod = AlwaysOfPod || value_or(input, "pod_level_resources_enabled", false);
  return compare_answer(one.at("expected"),
                        {{}, {}, Request(volcano_pod_parts(member(input, "pod"), "requests", of_pod))});
}

volcano_difference check_pod_bounds(const json& one) {
  const json& pod = member(volcano_input(one), "pod");
  const resource_list request = policy::peak_request(volcano_pod_parts(pod, "requests", true));
  const resource_list limit = policy::peak_request(volcano_pod_parts(pod, "limits", true));
  const json& expected = one.at("expected");
  const std::array found{std::pair{"cpu_req", request.cpu}, std::pair{"cpu_lim", limit.cpu},
                         std::pair{"mem_req", request.memory}, std::pair{"mem_lim", limit.memory}};
  for (const auto& [key, amount] : found) {
    if (volcano_difference why = compare_number(expected.at(key), amount)) return std::string(key) + ": " + *why;
  }
  return std::nullopt;
}

volcano_difference check_deserved_share(const json& one) {
  const json& input = volcano_input(one);
  const double share = policy::deserved_share(volcano_resources(member(input, "allocated")),
                                              volcano_resources(member(input, "deserved")));
  return compare_number(one.at("expected").at("share"), share);
}

volcano_difference check_outstanding(const json& one) {
  const json& input = volcano_input(one);
  const json& minimum = items(input, "min_res");
  resource_names named;
  for (const auto& [name, text] : minimum.items()) {
    if (name == "cpu" || name == "memory" || name == "pods" || is_volcano_scalar(name)) named.push_back(name);
  }
  return compare_resources(
      one.at("expected").at("result"),
      policy::outstanding_minimum(volcano_quantities(minimum), named, volcano_resources(member(input, "allocated"))));
}

/// Pods that are on nodes and have not ended hold what they ask for.
volcano_difference check_elastic(const json& one) {
  const json& input = volcano_input(one);
  resource_list allocated;
  for (const json& pod : items(input, "pods")) {
    const std::string phase = text_or_empty(member(pod, "status"), "phase");
    const bool placed = has(member(pod, "spec"), "nodeName") && phase == "Pending";
    if (phase == "Running" || placed) allocated.add(policy::peak_request(volcano_pod_parts(pod, "requests", true)));
  }
  const json& minimum = items(member(member(input, "podgroup"), "spec"), "minResources");
  return compare_resources(one.at("expected").at("result"),
                           policy::beyond_minimum(allocated, volcano_quantities(minimum)));
}

constexpr std::array resource_tables{
    volcano_table{"TestNewResource", check_new_list},
    volcano_table{"TestAddResource", check_change<add_list>},
    volcano_table{"TestAdd", check_change<add_list>},
    volcano_table{"TestSub", check_change<subtract_list>},
    volcano_table{"TestSubResource", check_change<subtract_list>},
    volcano_table{"TestSetMaxResource", check_change<raise_list>},
    volcano_table{"TestFitDelta", check_change<fit_list>},
    volcano_table{"TestMinDimensionResource", check_change<lower_list>},
    volcano_table{"TestMinDimensionResourceZero", check_change<lower_list>},
    volcano_table{"TestMinDimensionResourceInfinity", check_change<lower_list>},
    volcano_table{"TestIsEmpty", check_is_empty},
    volcano_table{"TestIsZero", check_is_zero},
    volcano_table{"TestEqual", check_comparison<equal_lists>},
    volcano_table{"TestLess", check_comparison<policy::less>},
    volcano_table{"TestLessZero", check_comparison<policy::less>},
    volcano_table{"TestLessInfinity", check_comparison<policy::less>},
    volcano_table{"TestLessEqual", check_comparison<policy::less_equal>},
    volcano_table{"TestLessEqualZero", check_comparison<policy::less_equal>},
    volcano_table{"TestLessEqualInfinity", check_comparison<policy::less_equal>},
    volcano_table{"TestLessPartly", check_comparison<policy::less_partly>},
    volcano_table{"TestLessPartlyZero", check_comparison<policy::less_partly>},
    volcano_table{"TestLessPartlyInfinity", check_comparison<policy::less_partly>},
    volcano_table{"TestLessEqualPartly", check_comparison<policy::less_equal_partly>},
    volcano_table{"TestLessEqualPartlyZero", check_comparison<policy::less_equal_partly>},
    volcano_table{"TestLessEqualPartlyInfinity", check_comparison<policy::less_equal_partly>},
    volcano_table{"TestLessEqualWithResourcesName", check_within_names},
    volcano_table{"TestLessEqualWithDimensionAndResourcesName", check_within_asked},
    volcano_table{"TestLessEqualPartlyWithDimension", check_asked_names<policy::within_of, false>},
    volcano_table{"TestLessEqualPartlyWithDimensionZeroFiltered", check_asked_names<policy::within_of_present, false>},
    volcano_table{"TestResource_GreaterPartly", check_exceeding},
    volcano_table{"TestGreaterPartly", check_exceeding},
    volcano_table{"TestGreaterPartlyWithDimension", check_asked_names<policy::exceeding_of, false>},
    volcano_table{"TestGreaterPartlyWithRelevantDimensions", check_asked_names<policy::exceeding_of_relevant, false>},
    volcano_table{"TestIntersection", check_common<true>},
    volcano_table{"TestIntersectionWithIgnoredScalarResources", check_common<false>},
    volcano_table{"TestSaturatingAdd", check_saturating<base::saturating_add>},
    volcano_table{"TestSaturatingMul", check_saturating<base::saturating_multiply>},
    volcano_table{"TestGetPodResourceRequest", check_pod_request<policy::peak_request, false>},
    volcano_table{"TestGetPodResourceWithoutInitContainers", check_pod_request<policy::running_request, false>},
    volcano_table{"TestGetPodResourceWithResize", check_pod_request<policy::running_request, true>},
    volcano_table{"TestGetPodResourceRequestLimit", check_pod_bounds},
    volcano_table{"Test_updateQueueAttrShare", check_deserved_share},
    volcano_table{"TestGetInqueueResource", check_outstanding},
    volcano_table{"TestGetElasticResources", check_elastic},
};

}  // namespace

std::span<const volcano_table> volcano_resource_tables() { return resource_tables; }

}  // namespace kaisched::conformance
