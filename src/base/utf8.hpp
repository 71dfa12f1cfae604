#pragma once
/// @file
/// UTF-8, character by character.

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaisched::base {

/// One character of a text: its code point and its length in bytes. Length 0: the bytes are no UTF-8 (overlong forms,
/// surrogates and what lies above U+10FFFF included).
struct utf8_character {
  char32_t code = 0;
  std::size_t length = 0;
};

/// The character at the front of a text that is not empty.
[[nodiscard]] utf8_character first_utf8_character(std::string_view text) noexcept;

/// The largest length up to `most` at which a text can be cut between two characters.
[[nodiscard]] std::size_t utf8_length_below(std::string_view text, std::size_t most) noexcept;

/// A text for a message: bytes that are no UTF-8 and control characters as `\x1B`, what is longer than `longest` bytes
/// cut between two characters and ended with `...`.
[[nodiscard]] std::string printable(std::string_view text, std::size_t longest);

/// Offset of the first byte that is no UTF-8, or npos.
[[nodiscard]] std::size_t find_invalid_utf8(std::string_view text) noexcept;

}  // namespace kaisched::base
