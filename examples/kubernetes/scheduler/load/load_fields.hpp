#pragma once
/// @file
/// The section `load` of the configuration: where it is measured how GPUs are used.

#include <chrono>
#include <string>
#include <vector>

#include "prometheus/prometheus_fields.hpp"

namespace shim {

struct load_settings {
  std::vector<std::string> exporters;                           ///< addresses with their paths, or
  prometheus_settings prometheus;                               ///< one that has scraped them; neither: no load
  std::chrono::milliseconds period = std::chrono::seconds(15);  ///< between two looks
  std::chrono::milliseconds window = std::chrono::minutes(1);   ///< that mean and deviation are of
  std::string node_label = "Hostname";                          ///< that has the name of the node
  [[nodiscard]] bool enabled() const { return !exporters.empty() || !prometheus.url.empty(); }
};

}  // namespace shim
