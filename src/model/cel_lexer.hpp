#pragma once
/// @file
/// Words of a CEL expression.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

namespace kaisched::model::cel {

enum class token_kind : std::uint8_t { end, name, integer, natural, real, text, sign };

/// A word. Of a number the text is its digits, of a string what it says.
struct token {
  token_kind kind = token_kind::end;
  std::uint32_t position = 0;  ///< byte of the expression, from 1
  std::string text{};
};

/// `at 17: ...`.
[[nodiscard]] error fault_at(std::uint32_t position, std::string_view message, status code = status::argument);

/// The words and an `end`.
[[nodiscard]] result<std::vector<token>> split(std::string_view text);

}  // namespace kaisched::model::cel
