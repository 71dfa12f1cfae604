#pragma once
/// @file
/// What the C interface costs beside the C++ one: the same calls through both, in turn.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace kaisched::bench {

/// One call through both interfaces, in seconds; medians of all runs.
struct call_cost {
  std::string name;
  std::size_t changes = 0;  ///< rows that were applied; 0 for other calls
  double c = 0;
  double cpp = 0;
};

struct c_calls_result {
  std::int64_t pods = 0;  ///< of the cluster, all of them running
  std::vector<call_cost> costs;
};

/// Over the running jobs of `few_changes`: pods become bound and running again (1, 100 and 10,000 of them, or as many
/// as there are), snapshots, a session in which nothing waits from opening to closing. Throws as `run_few_changes`
/// does.
[[nodiscard]] c_calls_result run_c_calls(std::int32_t nodes, int runs);

}  // namespace kaisched::bench
