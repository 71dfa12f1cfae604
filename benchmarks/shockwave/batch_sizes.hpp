#pragma once
/// @file
/// How the batch size of a job changes while it runs, as the benchmark models it: with it change the steps that are
/// left and their speed.

#include <cstdint>
#include <optional>
#include <string_view>

#include "benchmarks/shockwave/trace.hpp"

namespace kaisched::bench::shockwave {

/// A model that the benchmark knows.
struct model_facts {
  std::string_view name;
  std::int64_t samples = 0;  ///< of its data set: an epoch
  std::int64_t smallest_batch = 0;
  std::int64_t largest_batch = 0;
};
/// Null for a name that is none.
[[nodiscard]] const model_facts* find_model(std::string_view name) noexcept;

/// Epochs of so many steps, a part counts as one.
[[nodiscard]] std::int64_t epochs_of(std::int64_t steps, std::int64_t samples, std::int64_t batch) noexcept;

/// Seconds that a job takes alone, epoch by epoch with the batch size that is planned for it. Empty where a speed is
/// missing.
[[nodiscard]] std::optional<double> planned_time(const trace_job& job, const speed_table& speeds);

/// The state of a job that its batch size depends on.
struct batch_state {
  std::int64_t batch = 0;
  std::int64_t steps = 0;  ///< in all, with this batch size
  std::int64_t done = 0;   ///< of these
  double speed = 0;        ///< steps in a second
};
enum class batch_change : std::uint8_t { none, larger, smaller };
/// What the job would do now. Takes effect at the end of the next round in which it runs (`changed`).
[[nodiscard]] batch_change wanted_change(const trace_job& job, const batch_state& now);
/// The state with another batch size: whole epochs stay what they were. Unchanged where the size is not to be had.
[[nodiscard]] batch_state changed(const trace_job& job, const batch_state& now, batch_change how,
                                  const speed_table& speeds);

}  // namespace kaisched::bench::shockwave
