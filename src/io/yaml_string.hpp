#pragma once
/// @file
/// Strings in YAML that is written; files/yaml_document.hpp reads it.

#include <string>
#include <string_view>

namespace kaisched::io {

/// Appends a string as a YAML scalar that means this string in block and flow context and to YAML 1.1 readers as well:
/// plain if it is a simple word, else in double quotes.
void append_yaml_string(std::string& out, std::string_view text);

}  // namespace kaisched::io
