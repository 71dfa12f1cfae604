#pragma once
/// @file
/// A CEL expression as a tree, between its parser and its evaluation.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::model::cel {

/// What a node does with the nodes below it.
enum class op : std::uint8_t {
  null,
  boolean,
  integer,
  natural,
  real,
  text,
  device,
  local,  ///< variable of a macro
  list,
  map,       ///< key, value, key, value ...
  select,    ///< .name
  maybe,     ///< .?name
  has,       ///< has(x.name)
  at,        ///< [key]
  maybe_at,  ///< [?key]
  call,
  choose,  ///< ? :
  both,    ///< &&, of two or more
  either,  ///< ||, of two or more
  invert,
  negate,
  equal,
  not_equal,
  less,
  less_or_equal,
  greater,
  greater_or_equal,
  in,
  add,
  subtract,
  multiply,
  divide,
  modulo,
  bind,  ///< cel.bind: initial value, expression
  all,   ///< the macros: range, condition and, of `map`, the new element
  exists,
  exists_one,
  filter,
  each,
};

/// Functions; those of a value come with it as their first argument.
enum class function : std::uint8_t {
  none,
  size,
  to_int,
  to_uint,
  to_double,
  to_text,
  dyn,
  quantity,
  is_quantity,
  semver,
  is_semver,
  optional_of,
  optional_none,
  starts_with,
  ends_with,
  contains,
  lower,
  upper,
  compare_to,
  is_greater_than,
  is_less_than,
  is_integer,
  as_integer,
  as_approximate_float,
  sign,
  plus,
  minus,
  major,
  minor,
  patch,
  or_value,
  or_other,
  has_value,
  value,
  includes,
};

/// A node. Those below it have smaller numbers.
struct node {
  op what = op::null;
  function called = function::none;
  std::uint32_t position = 0;  ///< byte of the text, from 1
  std::uint32_t depth = 1;     ///< levels from here down
  std::uint32_t slot = 0;      ///< of a variable
  std::vector<std::uint32_t> of{};
  std::string text{};  ///< of a text, a field
  std::int64_t integer = 0;
  std::uint64_t natural = 0;
  double real = 0;
};

/// A tree whose root is the last node.
struct program {
  std::vector<node> nodes;
  std::uint32_t slots = 0;  ///< variables that can be visible at once
};

[[nodiscard]] result<program> parse(std::string_view text);

}  // namespace kaisched::model::cel
