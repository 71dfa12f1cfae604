#pragma once
/// @file
/// Columns of tables that were asked for, as vectors.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include <kaisched/table.hpp>

namespace kaisched::test::column {

/// A column of texts or of lists of texts, which are joined by blanks.
inline std::vector<std::string> texts(const table& of, std::uint32_t column) {
  const table_view view = of.view();
  const column_view* const found = view.find(column);
  REQUIRE(found != nullptr);
  std::vector<std::string> all;
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    std::string text;
    if (found->type == column_type::string) {
      text = found->string(row);
    } else {
      for (const std::string_view one : split_list(found->string(row)))
        text += (text.empty() ? "" : " ") + std::string(one);
    }
    all.push_back(text);
  }
  return all;
}

template <class T>
std::vector<T> numbers(const table& of, std::uint32_t column) {
  const table_view view = of.view();
  REQUIRE(view.find(column) != nullptr);
  const std::span<const T> values = view.find(column)->values<T>(view.rows);
  return {values.begin(), values.end()};
}

}  // namespace kaisched::test::column
