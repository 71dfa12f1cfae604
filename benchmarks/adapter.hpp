#pragma once

#include <cstdint>
#include <vector>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

#include "benchmarks/scenarios.hpp"

namespace kaisched::bench {

/// Present time of all scenarios, in nanoseconds.
inline constexpr std::int64_t scenario_now = 1'000'000'000'000'000'000;

/// An empty table of a kind.
[[nodiscard]] inline table rows_of(table_kind kind, table_op op = table_op::add) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(op));
}

/// The tables that build a scenario, in the order in which a cluster takes them.
[[nodiscard]] std::vector<table> to_tables(const scenario_input& input);

}  // namespace kaisched::bench
