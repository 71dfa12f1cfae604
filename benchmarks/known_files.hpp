#pragma once
/// @file
/// Files of published data: read only if they have exactly the bytes that the tables were made from.

#include <span>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

namespace kaisched::bench {

struct known_file {
  std::string_view name;
  std::string_view sha256;
};

[[nodiscard]] error bad_file(std::string_view file, std::string_view why);
/// The bytes of a file in a folder. Errors name the file.
[[nodiscard]] result<std::string> read_known(const std::string& folder, std::span<const known_file> known,
                                             std::string_view name);
/// One line for each file.
[[nodiscard]] std::string list_of(std::span<const known_file> known);

}  // namespace kaisched::bench
