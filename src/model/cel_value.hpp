#pragma once
/// @file
/// Values of CEL while an expression is evaluated. They point into the program, the device and the store of the
/// evaluation, and live as long as these.

#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "model/device_facts.hpp"
#include "model/exact_quantity.hpp"
#include "model/semantic_version.hpp"

namespace kaisched::model::cel {

enum class value_kind : std::uint8_t {
  error,
  null,
  boolean,
  integer,
  natural,
  real,
  text,
  quantity,
  version,
  list,
  map,
  optional,
  device,
  attributes,     ///< of all domains
  capacities,     ///< of all domains
  attributes_of,  ///< of one domain, which is the text
  capacities_of,
};

struct value {
  value_kind is = value_kind::null;
  bool flag = false;
  std::uint32_t position = 0;  ///< of an error
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
  exact_quantity quantity{};
  std::string_view text{};  ///< of an error its message
  const semantic_version* version = nullptr;
  const std::vector<value>* list = nullptr;
  const std::vector<std::pair<value, value>>* map = nullptr;
  const value* inner = nullptr;  ///< of an optional; nullptr: none
};

[[nodiscard]] inline bool is_error(const value& v) { return v.is == value_kind::error; }
[[nodiscard]] inline value of_boolean(bool flag) {
  value v;
  v.is = value_kind::boolean;
  v.flag = flag;
  return v;
}
[[nodiscard]] inline value of_integer(std::int64_t integer) {
  value v;
  v.is = value_kind::integer;
  v.integer = integer;
  return v;
}
[[nodiscard]] inline value of_natural(std::uint64_t natural) {
  value v;
  v.is = value_kind::natural;
  v.natural = natural;
  return v;
}
[[nodiscard]] inline value of_real(double real) {
  value v;
  v.is = value_kind::real;
  v.real = real;
  return v;
}
[[nodiscard]] inline value of_text(std::string_view text) {
  value v;
  v.is = value_kind::text;
  v.text = text;
  return v;
}
[[nodiscard]] inline value of_quantity(exact_quantity quantity) {
  value v;
  v.is = value_kind::quantity;
  v.quantity = quantity;
  return v;
}

/// How the kind is named in messages.
[[nodiscard]] std::string_view name_of(value_kind kind);
/// The order of two numbers of any type, exact; unordered if one is not a number of arithmetic.
[[nodiscard]] std::partial_ordering compare_numbers(const value& a, const value& b);
/// The order of two values, if they have one: numbers, texts, booleans.
[[nodiscard]] std::optional<std::partial_ordering> compare(const value& a, const value& b);
/// Equality; empty if the values have none or `budget` steps are not enough, which counts down by what it took.
[[nodiscard]] std::optional<bool> equal(const value& a, const value& b, std::uint64_t& budget);

}  // namespace kaisched::model::cel
