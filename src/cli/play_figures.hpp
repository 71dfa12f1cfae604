#pragma once
/// @file
/// Figures of plays, for people and as JSON.

#include <string>

#include <nlohmann/json.hpp>

#include "simulation/metrics.hpp"

namespace kaisched::cli {

/// Seconds in the unit that suits: `90.0 s`, `4.2 h`.
[[nodiscard]] std::string span_words(double seconds);
/// A part of 1 in percent.
[[nodiscard]] std::string share_words(double part);

[[nodiscard]] nlohmann::ordered_json figures_of(const simulation::metrics& m);

}  // namespace kaisched::cli
