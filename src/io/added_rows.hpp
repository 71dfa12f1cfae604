#pragma once
/// @file
/// What sources of clusters write into tables.

#include <cstdint>

#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

inline constexpr std::int64_t nanoseconds = 1'000'000'000;  ///< in a second

[[nodiscard]] inline table added(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::add));
}

/// The four built-in dimensions of capacities and requests.
inline void push_amounts(table::column& to, std::int64_t cpu, std::int64_t memory, std::int64_t gpu,
                         std::int64_t pods) {
  to.push(cpu);
  to.push(memory);
  to.push(gpu);
  to.push(pods);
}

}  // namespace kaisched::io
