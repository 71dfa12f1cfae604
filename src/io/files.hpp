#pragma once
/// @file
/// Whole files in, whole files out.

#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::io {

/// The bytes of a file; `-` is the standard input. The error names the file and what the system said.
[[nodiscard]] result<std::string> read_file(const std::string& path);

/// Replaces a file; `-` is the standard output. The error names the file and what the system said.
result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace kaisched::io
