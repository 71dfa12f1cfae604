// Prints what the model takes per row and how often sessions ask the heap: ./dev bench --memory.
#include <exception>
#include <iostream>
#include <string>

#include <fmt/format.h>

#include "benchmarks/memory_use.hpp"
#include "benchmarks/scenarios.hpp"

int main() {
  using namespace kaisched;
  try {
    const bench::bytes_per_row bytes = bench::measure_rows(20'000, 160'000);
    fmt::print(
        "bytes per row, names included: node of eight GPUs {:.0f}, job of one pod {:.0f}, pod of a gang {:.0f}\n",
        bytes.node, bytes.job, bytes.gang_pod);
    fmt::print("{:<20}{:>11}{:>8}{:>7}{:>10}  {}\n", "scenario", "decisions", "tried", "open", "actions",
               "for each further decision, or group tried in vain");
    constexpr std::int32_t nodes = 400;
    for (const std::string& name : bench::scenario_names()) {
      const bench::session_heap one = bench::measure_session(name, nodes);
      fmt::print("{:<20}{:>11}{:>8}{:>7}{:>10}  {:.2f}\n", name, one.decisions, one.tried, one.open, one.actions,
                 bench::allocations_per_step(name, nodes / 2));
    }
  } catch (const std::exception& failure) {
    std::cerr << "error: " << failure.what() << "\n";
    return 2;
  }
  return 0;
}
