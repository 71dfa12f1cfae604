#pragma once
/// @file
/// Whole files in, whole files out.

#include <cstddef>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::io {

/// Most bytes of a file that is read, and of what comes out of one that is packed. More is a mistake as a rule: a
/// device, a pipe that never ends, or an archive that was made to fill the memory.
struct input_limit {
  std::size_t most = std::size_t{1} << 32U;
  std::string_view option{};  ///< what sets it, for messages; empty: nothing does
};
/// The limit of this process.
[[nodiscard]] const input_limit& limit_of_input();
/// Sets the limit of this process. A program does so once, before it reads and before it starts a thread.
void set_limit_of_input(const input_limit& to);
/// The error `limit` of an input that has more bytes. @param what names it: a file, or a file and what is in it
[[nodiscard]] error larger_than(const input_limit& limit, std::string_view what);

/// The bytes of a file; `-` is the standard input. The error names the file and what the system said; `limit`: the
/// file has more bytes than the limit.
[[nodiscard]] result<std::string> read_file(const std::string& path, const input_limit& limit = limit_of_input());

/// Replaces a file in one step: a reader finds the bytes from before or the new ones, also after a crash or on a full
/// disk. `-` is the standard output; it, and what is no regular file, such as a device or a pipe, is written as it is,
/// and so is a file in a folder that may not be written. The error names the file and what the system said.
result<void> write_file(const std::string& path, std::string_view bytes);

}  // namespace kaisched::io
