#pragma once
/// @file
/// Versions as https://semver.org 2.0.0 writes them.

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kaisched::model {

/// A version. Build metadata is checked and dropped: it has no part in the order.
struct semantic_version {
  std::uint64_t major = 0;
  std::uint64_t minor = 0;
  std::uint64_t patch = 0;
  std::vector<std::string> pre_release;

  /// Precedence of versions: numbers in numeric order and below words, a version above its pre-releases.
  friend std::strong_ordering operator<=>(const semantic_version& a, const semantic_version& b);
  friend bool operator==(const semantic_version&, const semantic_version&) = default;
};

/// `major.minor.patch[-pre.release][+build]` without leading zeros; empty if it is none or a number exceeds 64 bits.
[[nodiscard]] std::optional<semantic_version> parse_semantic_version(std::string_view text);

}  // namespace kaisched::model
