#pragma once
/// @file
/// What a cluster holds, in numbers.

#include <array>
#include <cstdint>
#include <string>

#include <kaisched/quantity.hpp>
#include <kaisched/snapshot.hpp>

#include "cli/console.hpp"

namespace kaisched::cli {

struct contents {
  std::int64_t nodes = 0;
  std::int64_t queues = 0;
  std::int64_t jobs = 0;
  std::int64_t pods = 0;
  std::int64_t pods_on_nodes = 0;
  std::int64_t pods_waiting = 0;                          ///< pending or gated
  std::array<std::int64_t, quota_dimensions> capacity{};  ///< of all nodes: cpu, memory, gpu
};
[[nodiscard]] contents contents_of(const snapshot& of);
/// `576 nodes with 4,081 GPUs, 14 queues, 1,391 jobs of 2,482 pods (1,033 on nodes, 1,449 waiting)`.
[[nodiscard]] std::string sentence_of(const contents& of);
[[nodiscard]] json json_of(const contents& of);

}  // namespace kaisched::cli
