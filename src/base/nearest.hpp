#pragma once

#include <span>
#include <string_view>

namespace kaisched::base {

/// The candidate with the smallest edit distance to `word`, first one wins; empty if none is close enough to be a
/// plausible slip (more than half of the letters differ).
[[nodiscard]] std::string_view nearest_name(std::string_view word, std::span<const std::string_view> candidates);

}  // namespace kaisched::base
