#pragma once
/// @file
/// Names of enumerations, as a list by value.

#include <array>
#include <cstddef>
#include <string_view>

namespace kaisched::base {

/// The name of a value; `otherwise` for one that the list does not have.
template <class Enum, std::size_t count>
[[nodiscard]] constexpr std::string_view name_of_value(const std::array<std::string_view, count>& names, Enum value,
                                                       std::string_view otherwise = {}) noexcept {
  const auto number = static_cast<std::size_t>(value);
  return number < count ? names[number] : otherwise;
}

}  // namespace kaisched::base
