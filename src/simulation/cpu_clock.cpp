#include "simulation/cpu_clock.hpp"

#include <time.h>

namespace kaisched::simulation {

std::int64_t thread_cpu_time() {
  constexpr std::int64_t nanoseconds_of_second = 1'000'000'000;
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<std::int64_t>(now.tv_sec) * nanoseconds_of_second + static_cast<std::int64_t>(now.tv_nsec);
}

}  // namespace kaisched::simulation
