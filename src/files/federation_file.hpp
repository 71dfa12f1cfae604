#pragma once
/// @file
/// The format `kaisched-federation/1`, as JSON or YAML: what is said about the members of a federation, and what groups
/// say about members; see docs/federation.md.

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/federation.hpp>
#include <kaisched/result.hpp>

namespace kaisched::io {

inline constexpr std::string_view federation_schema = "kaisched-federation/1";

struct federation_file {
  std::vector<member_info> members;
  std::vector<std::pair<std::string, group_wishes>> groups;
};

/// The ending of `source` says the form of the text; without one, JSON starts with a brace. Errors name source, line
/// and place in the text.
[[nodiscard]] result<federation_file> parse_federation(std::string_view text, std::string_view source);
/// Reads a file; `-` is the standard input.
[[nodiscard]] result<federation_file> read_federation(const std::string& path);

}  // namespace kaisched::io
