#pragma once
/// @file
/// Whole files in, whole files out.

#include <cstddef>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::io {

/// More is no file that anybody meant: a device, or a pipe that never ends.
inline constexpr std::size_t largest_file = std::size_t{1} << 32U;

/// The bytes of a file; `-` is the standard input. The error names the file and what the system said; `limit`: the
/// file has more than `most` bytes.
[[nodiscard]] result<std::string> read_file(const std::string& path, std::size_t most = largest_file);

/// Replaces a file in one step: a reader finds the bytes from before or the new ones, also after a crash or on a full
/// disk. `-` is the standard output; it, and what is no regular file, such as a device or a pipe, is written as it is,
/// and so is a file in a folder that may not be written. The error names the file and what the system said.
result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace kaisched::io
