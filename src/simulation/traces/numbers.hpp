#pragma once
/// @file
/// Numbers with decimals, and times made of them.

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <system_error>

#include <fmt/format.h>

#include "simulation/amounts.hpp"

namespace kaisched::simulation {

/// A number of a field; a fault, and the least, unless it is between the bounds.
template <class File>
double number_of(File& csv, std::size_t column, double least, double most) {
  const std::string_view field = csv.text(column);
  double value = 0;
  const auto [end, fault] = std::from_chars(field.data(), field.data() + field.size(), value);
  const bool read = fault == std::errc{} && end == field.data() + field.size();
  if (read && value >= least && value <= most) return value;
  csv.refuse(column, fmt::format("a number from {} to {}", least, most));
  return least;
}

/// Seconds as nanoseconds, cut to whole ones; -1 if they are none or too many.
inline std::int64_t nanoseconds_of(double seconds) {
  const double exact = seconds * static_cast<double>(nanoseconds_per_second);
  if (!(exact >= 0) || exact > static_cast<double>(max_time / 2)) return -1;
  return static_cast<std::int64_t>(exact);
}

}  // namespace kaisched::simulation
