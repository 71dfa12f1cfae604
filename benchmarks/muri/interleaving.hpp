#pragma once
/// @file
/// How fast jobs are that share GPUs and take turns with what else an iteration needs: the model of the authors'
/// program.

#include <array>
#include <cstddef>
#include <span>

namespace kaisched::bench::muri {

/// Seconds of an iteration that need one thing after the other: storage and CPU together, the GPU, the network.
using stage_times = std::array<double, 3>;

/// Jobs that one group of GPUs takes.
inline constexpr std::size_t most_sharers = 4;

/// Seconds in which every one of two to four jobs on the same GPUs does one iteration. Infinite where no stage takes
/// any time.
///
/// Jobs go round in step: a round has four slots, one each for storage, CPU, GPU and network, and every job is one slot
/// behind the job before it. A slot ends when all that is in it has ended. Of the first two only the sum is known, so
/// it has to fit into both slots together; that the next job needs the same storage or CPU in one of them is not
/// counted. The best order of the jobs is taken, for two jobs also the one in which they are two slots apart. The
/// result is longer by what the authors measured: 1.33 for two jobs, 1.5 for three, 1.37 for four, each over 1.015.
[[nodiscard]] double shared_iteration(std::span<const stage_times> jobs);

}  // namespace kaisched::bench::muri
