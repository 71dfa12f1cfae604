#pragma once
/// @file
/// Values of a row, from one table to another.

#include <cstdint>

#include <kaisched/table.hpp>

namespace kaisched::base {

/// Appends the values of a row of a column to one of the same type and width.
void copy_row(table::column& to, const column_view& from, std::uint64_t row);

}  // namespace kaisched::base
