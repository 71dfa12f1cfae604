#pragma once
/// @file
/// Columns of tables of invented clusters.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/added_rows.hpp"

namespace kaisched::io::invented {

inline table::column& text(table& to, std::uint32_t id) { return to.add(id, column_type::string); }
inline table::column& numbers(table& to, std::uint32_t id, std::uint32_t width = 1) {
  return to.add(id, column_type::i64, width);
}
inline table::column& flags(table& to, std::uint32_t id) { return to.add(id, column_type::u8); }
inline table::column& lists(table& to, std::uint32_t id) { return to.add(id, column_type::string_list); }

inline void push_flag(table::column& to, bool value) { to.push(static_cast<std::uint8_t>(value ? 1 : 0)); }
inline void push_texts(table::column& to, const std::vector<std::string_view>& elements) {
  to.push_list(std::span<const std::string_view>(elements));
}
inline void push_texts(table::column& to, const std::vector<std::string>& elements) {
  push_texts(to, std::vector<std::string_view>(elements.begin(), elements.end()));
}

}  // namespace kaisched::io::invented
