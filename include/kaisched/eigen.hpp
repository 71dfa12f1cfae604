#pragma once
/// @file
/// Columns as matrices of Eigen, for reports and analysis: shares of queues are queues x resources, amounts of nodes
/// are nodes x dimensions. A matrix is a view: it copies nothing, and is valid as long as the table or span that it
/// shows.
///
/// The only header that needs Eigen (3.3 or newer), which the program that includes it has to find; no other header
/// includes it, `kaisched.hpp` neither. Sums of Eigen follow the width of the machine's registers: those of integers
/// are the same everywhere, those of doubles need not be, so nothing that decides may come from them.

#include <cstdint>
#include <span>
#include <type_traits>

#include <Eigen/Core>

#include <kaisched/table.hpp>

namespace kaisched {

/// Rows x values per row, as they lie in memory.
template <class T>
using column_matrix = Eigen::Map<const Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>>;

/// Type of the columns that hold a `T`.
template <class T>
inline constexpr column_type column_type_of = std::is_same_v<T, std::uint8_t>    ? column_type::u8
                                              : std::is_same_v<T, std::uint32_t> ? column_type::u32
                                              : std::is_same_v<T, std::int64_t>  ? column_type::i64
                                              : std::is_same_v<T, std::uint64_t> ? column_type::u64
                                                                                 : column_type::f64;

/// Values with `width` per row, such as `session_view::node_idle` with the number of dimensions. Values beyond the last
/// whole row are left out.
template <class T>
[[nodiscard]] column_matrix<T> matrix_of(std::span<const T> values, std::uint32_t width) {
  const auto columns = static_cast<Eigen::Index>(width);
  return {values.data(), width == 0 ? 0 : static_cast<Eigen::Index>(values.size()) / columns, columns};
}

/// A column by its number, such as `col::share_fair_share` of the table `queue_share`: rows x values per row. Without
/// rows and columns where the table has no such column, or one of another type.
template <class T>
[[nodiscard]] column_matrix<T> matrix_of(const table_view& from, std::uint32_t column_id) {
  static_assert(std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::uint32_t> ||
                    std::is_same_v<T, std::int64_t> || std::is_same_v<T, std::uint64_t> || std::is_same_v<T, double>,
                "columns hold numbers of these types");
  const column_view* column = from.find(column_id);
  if (column == nullptr || column->width == 0 || column->type != column_type_of<T>) return {nullptr, 0, 0};
  return matrix_of(column->values<T>(from.rows), column->width);
}

/// Queues x cpu, memory, GPUs: a column of quotas of the tables `queue` and `queue_share`, in fixed units.
[[nodiscard]] inline column_matrix<std::int64_t> share_matrix(const table_view& from, std::uint32_t column_id) {
  return matrix_of<std::int64_t>(from, column_id);
}

}  // namespace kaisched
