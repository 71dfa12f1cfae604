#pragma once
/// @file
/// What threads of the host save: the same work without an executor and with one.

#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

struct threads_result {
  std::string work;
  std::vector<double> alone;  ///< seconds of each run
  std::vector<double> with;
  bool equal = false;  ///< the digests are
};

/// Runs in turn: `ask` about the groups that wait in `reclaim_many`, `allocate` for pods of many classes that ask for
/// labels of nodes, and `topology`.
[[nodiscard]] std::vector<threads_result> run_threads(const std::string& mode, std::int32_t nodes, std::size_t threads,
                                                      int runs);

}  // namespace kaisched::bench
