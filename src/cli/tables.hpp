#pragma once
/// @file
/// Small questions that several commands ask of tables and pods.

#include <cstdint>
#include <string_view>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::cli {

/// A text, or a list in the form that split_list() reads. Empty if there is no such column, or it holds no texts.
[[nodiscard]] inline std::string_view text_at(const table_view& rows, std::uint32_t column, std::uint64_t row) {
  const column_view* values = rows.find(column);
  if (values == nullptr) return {};
  const bool texts = values->type == column_type::string || values->type == column_type::string_list;
  return texts ? values->string(row) : std::string_view{};
}

[[nodiscard]] inline bool waits(pod_status status) {
  return status == pod_status::pending || status == pod_status::gated;
}

}  // namespace kaisched::cli
