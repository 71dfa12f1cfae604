#pragma once
/// @file
/// Texts for logs and terminals that quote what users have written.

#include <string>
#include <string_view>

namespace shim {

/// At most so many bytes of a message; what is longer ends with its size.
[[nodiscard]] std::string bounded(std::string_view words);

/// The same as one line: control characters and those that turn text round are written as `\x1b`, so that nothing that
/// a message quotes looks like a line of its own or changes the terminal.
[[nodiscard]] std::string printable(std::string_view words);

}  // namespace shim
