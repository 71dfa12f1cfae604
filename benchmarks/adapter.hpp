#pragma once

#include <cstdint>
#include <vector>

#include <kaisched/table.hpp>

#include "benchmarks/scenarios.hpp"

namespace kaisched::bench {

/// Present time of all scenarios, in nanoseconds.
inline constexpr std::int64_t scenario_now = 1'000'000'000'000'000'000;

/// The tables that build a scenario, in the order in which a cluster takes them.
[[nodiscard]] std::vector<table> to_tables(const scenario_input& input);

}  // namespace kaisched::bench
