#pragma once
/// @file
/// How the values of a column are written as text. Everything is derived from the schema: a new column needs no code
/// here, only a new enumeration does.

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

/// What the numbers or strings of a column stand for.
enum class column_form : std::uint8_t {
  plain,          ///< themselves
  flag,           ///< 0 or 1: false and true
  pod_status,     ///< pod statuses, by name
  decision_kind,  ///< kinds of decisions, by name
  pairs,          ///< a list of keys and values in turn: an object
  id,             ///< entity ids: names
};
[[nodiscard]] column_form form_of(const column_info& column) noexcept;

/// Whether texts have the column: all but ids that have names beside them (`pod` where there is `pod_name`).
[[nodiscard]] bool is_written(const table_info& table, const column_info& column) noexcept;

/// Names of the values of an enumeration column, by number; empty for other forms. Numbers without a name are empty.
[[nodiscard]] std::span<const std::string_view> value_names(column_form form) noexcept;

/// Names of the quota dimensions: cpu, memory, gpu.
[[nodiscard]] std::span<const std::string_view> quota_names() noexcept;
/// Names of the dimensions that every cluster has.
[[nodiscard]] std::span<const std::string_view> built_in_dimension_names() noexcept;

/// The default of a column of numbers. That of a text is the fallback itself, that of a list is empty.
[[nodiscard]] std::int64_t fallback_integer(const column_info& column) noexcept;
[[nodiscard]] double fallback_number(const column_info& column) noexcept;

/// ` did you mean "..."?`, or ` known: a, b, c` if no candidate is near.
[[nodiscard]] std::string suggestion(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace kaisched::io
