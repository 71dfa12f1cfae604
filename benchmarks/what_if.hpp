#pragma once
/// @file
/// Questions to forks of a session: would this group start now, alone or if others made room?

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <kaisched/engine.hpp>

namespace kaisched::bench {

/// What is asked, and of which cluster.
struct what_if_question {
  std::string name;
  std::string scenario;
  std::string action;
};
/// A pod on free GPUs, a gang of 64 whole nodes in an empty cluster, a pod that others have to make room for.
[[nodiscard]] std::vector<what_if_question> what_if_questions();

struct what_if_result {
  std::vector<double> seconds;  ///< of each question: fork, action, answer, and the end of the fork
  std::size_t yes = 0;
};

/// Asks `count` questions about the groups that wait, in turn.
[[nodiscard]] what_if_result run_what_if(const engine& with, const what_if_question& what, std::int32_t nodes,
                                         std::size_t count);

}  // namespace kaisched::bench
