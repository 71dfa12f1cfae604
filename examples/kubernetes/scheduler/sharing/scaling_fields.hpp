#pragma once
/// @file
/// The section `scaling` of the configuration: pods that show an autoscaler what pods that ask for parts of GPUs need.

#include <chrono>
#include <string>

namespace YAML {
class Node;
}

namespace shim {

/// Without an image there are no such pods.
struct scaling_settings {
  std::string image;                            ///< that they name; it is never run
  std::string name_space = "kai-scale-adjust";  ///< of them
  unsigned memory_percent = 10;                 ///< of a device that a pod counts as that asks for an amount of memory
  std::chrono::milliseconds cool_down = std::chrono::minutes(1);  ///< from the last removal to the next that is made
  [[nodiscard]] bool enabled() const { return !image.empty(); }
};

/// Errors: bad_input, bad_field.
void read_scaling(const YAML::Node& value, scaling_settings& to);

}  // namespace shim
