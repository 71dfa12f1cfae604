#pragma once
/// @file
/// Tables row by row, whatever they hold: other orders of their rows, single rows.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <kaisched/table.hpp>

namespace kaisched::determinism {

/// A table with some rows of another, in the order given. Columns with one value per dimension (more than four) get
/// their values in the order of `dimensions`; empty: as they are.
[[nodiscard]] table pick_rows(const table_view& from, std::span<const std::uint64_t> rows,
                              std::span<const std::uint32_t> dimensions = {});

/// The rows of every table in another order that follows from the seed; resource dimensions are numbered anew.
[[nodiscard]] std::vector<table> shuffled(const std::vector<table>& tables, std::uint64_t seed);

/// Every column but identifiers (slots and generations tell what came first), as bytes.
[[nodiscard]] std::string bytes_without_ids(const table_view& from);

}  // namespace kaisched::determinism
