#include "model/cel_value.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace kaisched::model::cel {

namespace {

constexpr double two_to_63 = 9223372036854775808.0;
constexpr double two_to_64 = 18446744073709551616.0;

/// An integer against a double, without a conversion that rounds.
template <class Integer>
std::partial_ordering against_real(Integer a, double b, double least, double beyond) {
  if (std::isnan(b)) return std::partial_ordering::unordered;
  if (b >= beyond) return std::partial_ordering::less;
  if (b < least) return std::partial_ordering::greater;
  const auto whole = static_cast<Integer>(b);
  if (a != whole) return a <=> whole;
  return 0.0 <=> (b - static_cast<double>(whole));
}

std::partial_ordering reversed(std::partial_ordering order) {
  if (order == std::partial_ordering::less) return std::partial_ordering::greater;
  if (order == std::partial_ordering::greater) return std::partial_ordering::less;
  return order;
}

bool is_of_device(const value& v) { return v.is >= value_kind::device; }

bool spend(std::uint64_t& budget, std::uint64_t steps) {
  if (budget < steps) {
    budget = 0;
    return false;
  }
  budget -= steps;
  return true;
}

std::optional<bool> equal_lists(const value& a, const value& b, std::uint64_t& budget) {
  if (a.list->size() != b.list->size()) return false;
  for (std::size_t i = 0; i < a.list->size(); ++i) {
    const std::optional<bool> same = equal((*a.list)[i], (*b.list)[i], budget);
    if (!same || !*same) return same;
  }
  return true;
}

std::optional<bool> equal_maps(const value& a, const value& b, std::uint64_t& budget) {
  if (a.map->size() != b.map->size()) return false;
  for (const auto& [key, one] : *a.map) {
    std::optional<bool> found = false;
    for (const auto& [other_key, other] : *b.map) {
      const std::optional<bool> same_key = equal(key, other_key, budget);
      if (!same_key) return same_key;
      if (!*same_key) continue;
      found = equal(one, other, budget);
      break;
    }
    if (!found || !*found) return found;
  }
  return true;
}

bool is_number(const value& v) {
  return v.is == value_kind::integer || v.is == value_kind::natural || v.is == value_kind::real;
}

}  // namespace

std::string_view name_of(value_kind kind) {
  constexpr std::array<std::string_view, 17> names{"an error",
                                                   "null",
                                                   "a bool",
                                                   "an int",
                                                   "a uint",
                                                   "a double",
                                                   "a string",
                                                   "a quantity",
                                                   "a semver",
                                                   "a list",
                                                   "a map",
                                                   "an optional",
                                                   "a device",
                                                   "attributes",
                                                   "capacities",
                                                   "attributes of a domain",
                                                   "capacities of a domain"};
  return names[static_cast<std::size_t>(kind)];
}

std::partial_ordering compare_numbers(const value& a, const value& b) {
  if (a.is == value_kind::real && b.is == value_kind::real) return a.real <=> b.real;
  if (a.is == value_kind::real) return reversed(compare_numbers(b, a));
  if (b.is == value_kind::real) {
    return a.is == value_kind::integer ? against_real(a.integer, b.real, -two_to_63, two_to_63)
                                       : against_real(a.natural, b.real, 0.0, two_to_64);
  }
  if (a.is == b.is) return a.is == value_kind::integer ? a.integer <=> b.integer : a.natural <=> b.natural;
  if (a.is == value_kind::natural) return reversed(compare_numbers(b, a));
  if (a.integer < 0) return std::partial_ordering::less;
  return static_cast<std::uint64_t>(a.integer) <=> b.natural;
}

std::optional<std::partial_ordering> compare(const value& a, const value& b) {
  if (is_number(a) && is_number(b)) return compare_numbers(a, b);
  if (a.is != b.is) return std::nullopt;
  if (a.is == value_kind::text) return a.text <=> b.text;
  if (a.is == value_kind::boolean) return a.flag <=> b.flag;
  return std::nullopt;
}

std::optional<bool> equal(const value& a, const value& b, std::uint64_t& budget) {
  if (!spend(budget, 1 + std::min(a.text.size(), b.text.size()) / 16)) return std::nullopt;
  if (is_of_device(a) || is_of_device(b) || is_error(a) || is_error(b)) return std::nullopt;
  if (is_number(a) && is_number(b)) return compare_numbers(a, b) == std::partial_ordering::equivalent;
  if (a.is != b.is) return false;
  switch (a.is) {
    case value_kind::boolean:
      return a.flag == b.flag;
    case value_kind::text:
      return a.text == b.text;
    case value_kind::quantity:
      return a.quantity == b.quantity;
    case value_kind::version:
      return *a.version == *b.version;
    case value_kind::list:
      return equal_lists(a, b, budget);
    case value_kind::map:
      return equal_maps(a, b, budget);
    case value_kind::optional:
      if (a.inner == nullptr || b.inner == nullptr) return a.inner == b.inner;
      return equal(*a.inner, *b.inner, budget);
    default:
      return true;  // null
  }
}

}  // namespace kaisched::model::cel
