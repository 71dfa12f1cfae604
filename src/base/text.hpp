#pragma once
/// @file
/// What texts of the input may hold, and how they are shown.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::base {

/// Position of the first control character (U+0000 to U+001F, U+007F to U+009F) of a UTF-8 text, or npos.
[[nodiscard]] std::size_t find_control(std::string_view text) noexcept;
/// "U+000A" for the character at a position of a UTF-8 text.
[[nodiscard]] std::string character_name(std::string_view text, std::size_t at);

/// A text for a message, as `printable`; what is cut after 64 bytes tells its size: `nnn... (2000 bytes)`.
[[nodiscard]] std::string shown(std::string_view text);
/// A UTF-8 text without control characters: what cannot stay becomes U+FFFD.
[[nodiscard]] std::string cleaned(std::string_view text);
/// Names between commas, without the blanks around them and without empty ones.
[[nodiscard]] std::vector<std::string> split_names(std::string_view text);

}  // namespace kaisched::base
