#pragma once
/// @file
/// Tables in memory of the library, which a caller fills.

#include <cstdint>
#include <memory>
#include <vector>

#include <kaisched/kaisched.h>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>

namespace kaisched::capi {

struct staged_column {
  const column_info* info = nullptr;
  column_type type = column_type::u8;  ///< of the values: columns that name entities may have identifiers
  std::uint32_t width = 0;             ///< of numbers; 0 for texts and lists
  std::vector<std::uint64_t> words;    ///< the values, aligned for all types
  std::size_t bytes = 0;               ///< of texts and lists, so many are used
  std::vector<std::uint32_t> offsets;
};

/// Where the values of a column go.
struct staged_place {
  const column_info* info = nullptr;
  column_type type = column_type::u8;
  staged_column* present = nullptr;  ///< null: nothing has come up yet
};

}  // namespace kaisched::capi

struct kaisched_staging {
  const kaisched::table_info* kind = nullptr;
  std::uint32_t op = 0;
  std::uint64_t rows = 0;
  std::vector<std::unique_ptr<kaisched::capi::staged_column>> columns;  ///< in the order in which they came up
  std::vector<kaisched_col> views;
  kaisched_table view{};

  /// Changes nothing. Errors: the kind has no column of this number, or one of the other sort.
  [[nodiscard]] kaisched::result<kaisched::capi::staged_place> find(std::uint32_t id, bool ragged);
  /// Takes a column in that has all it needs; one that was there is replaced.
  void put(kaisched::capi::staged_column&& filled);
};
