#pragma once
/// @file
/// Times and amounts of workloads: how they are written, and how large they may be.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kaisched::simulation {

inline constexpr std::int64_t nanoseconds_per_second = 1'000'000'000;
/// Longest time, 73 years: sums of a few can be stored, and the simulator takes no longer ones.
inline constexpr std::int64_t max_time = (std::int64_t{1} << 61) - 1;
/// Most pods of a job, and most GPUs of one pod: their product in milli-GPU can be stored.
inline constexpr std::int64_t max_job_pods = std::int64_t{1} << 20;
inline constexpr std::int64_t max_pod_gpus = std::int64_t{1} << 20;

/// Seconds with decimals (`12.5`, `1e6`), or parts with the units d, h, m, s, ms, us, ns (`1h30m`, `1.5h`), as
/// nanoseconds; what is finer is cut off. Empty: something else, negative, or longer than `max_time`.
[[nodiscard]] std::optional<std::int64_t> parse_duration(std::string_view text);
/// An amount of which `unit` (a power of ten) are one, as the shortest decimal number: 1500 of 1000 are `1.5`.
[[nodiscard]] std::string format_decimal(std::int64_t amount, std::int64_t unit);

}  // namespace kaisched::simulation
