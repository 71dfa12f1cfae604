#pragma once
/// @file
/// Lists with commas and words in any case, as annotations have them.

#include <string>
#include <string_view>
#include <vector>

namespace kaisched::devices {

/// Without white space around it.
[[nodiscard]] std::string_view trimmed(std::string_view text);
/// The parts between separators, empty ones too.
[[nodiscard]] std::vector<std::string_view> split(std::string_view text, char separator);
/// In capital letters, of ASCII.
[[nodiscard]] std::string upper(std::string_view text);
/// True if `text` contains `part`, whatever the case. Allocates nothing.
[[nodiscard]] bool contains_any_case(std::string_view text, std::string_view part);
/// Reads "1", "t", "true", "True", "TRUE" as true, their counterparts as false; anything else is neither.
[[nodiscard]] bool is_true(std::string_view text);
[[nodiscard]] bool is_false(std::string_view text);

}  // namespace kaisched::devices
