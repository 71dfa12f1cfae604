#pragma once
/// @file
/// The kinds of objects that the program reads, and where the API server has them.

#include <span>
#include <string>
#include <string_view>

namespace shim {

struct resource {
  std::string_view kind;
  std::string_view version;  ///< `v1` or `group/version`
  std::string_view plural;
  bool required;  ///< false: a cluster may not have it
};

/// In a fixed order, which is also that of the text that the engine reads.
[[nodiscard]] std::span<const resource> watched_resources();

/// Where all objects of a resource are: `/api/v1/pods`, `/apis/batch/v1/jobs`.
[[nodiscard]] std::string collection(const resource& of);

/// Where one object is, or the collection of its namespace if `name` is empty.
[[nodiscard]] std::string place(const resource& of, std::string_view name_space, std::string_view name);

[[nodiscard]] const resource& resource_of(std::string_view kind);

}  // namespace shim
