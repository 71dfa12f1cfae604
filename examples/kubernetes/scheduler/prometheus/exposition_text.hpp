#pragma once
/// @file
/// Prometheus' text format, as exporters write it.

#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "prometheus/prometheus.hpp"

namespace shim {

/// Hands over each sample of the metrics that are wanted; values that are no numbers are left out. @param wanted by
/// name. @param take receives the name and, where the line has one, the time in milliseconds since 1970.
/// @return how many lines cannot be read.
std::size_t read_exposition(
    std::string_view text, const std::function<bool(std::string_view name)>& wanted,
    const std::function<void(std::string_view name, const sample& what, std::optional<std::int64_t> when)>& take);

}  // namespace shim
