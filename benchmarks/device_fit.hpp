#pragma once
/// @file
/// Devices for one pod after another on a hundred nodes that are half full: HAMi's Filter without the rest of it.

#include <cstddef>
#include <vector>

namespace kaisched::bench {

struct device_fit_result {
  std::vector<double> seconds;  ///< of each pod: choosing and charging
  std::size_t placed = 0;
  std::size_t nodes_used = 0;  ///< on which a pod was placed
};

/// 100 nodes of 16 devices, 5,000 pods that run, 1,000 that are placed. `in_order`: as HAMi decides.
[[nodiscard]] device_fit_result run_device_fit(bool in_order);

}  // namespace kaisched::bench
