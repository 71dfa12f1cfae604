#pragma once
/// @file
/// Rows of one `apply` that do not take effect.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include <kaisched/result.hpp>

namespace kaisched::model {

/// What `apply` does about a bad row.
enum class on_invalid : std::uint8_t {
  reject,      ///< nothing is applied
  quarantine,  ///< the row, and what depends on it, is left out
};

/// Place of a row in the input.
struct row_place {
  std::size_t table = 0;
  std::uint64_t row = 0;
  friend auto operator<=>(const row_place&, const row_place&) = default;
};

struct bad_row {
  error why;
  std::string because_of;  ///< the object in quarantine that it depends on, or empty
};

using bad_rows = std::map<row_place, bad_row>;

/// The first bad row of a delta that adds an object.
struct refused_add {
  row_place place;
  bool takes_name = false;  ///< its name can be one: a later row that adds it is a duplicate
};

}  // namespace kaisched::model
