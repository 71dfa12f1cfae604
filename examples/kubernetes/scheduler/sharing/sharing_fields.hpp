#pragma once
/// @file
/// The section `sharing` of the configuration: how pods get parts of GPUs.

#include <chrono>
#include <string>

namespace YAML {
class Node;
}

namespace shim {

enum class orphan_form { remove, keep };  ///< pods that run without a reservation

/// Without an image of the pods that reserve devices, nobody gets parts of GPUs.
struct sharing_settings {
  std::string image;
  std::string command = "kaisched-reservation";         ///< of the image; empty: its own
  std::string name_space = "kai-resource-reservation";  ///< of those pods
  std::string account = "kai-resource-reservation";     ///< service account of those pods
  std::string runtime_class = "nvidia";                 ///< of those pods, and of those that share; empty: none
  std::chrono::milliseconds allocation_timeout = std::chrono::seconds(40);  ///< until a device has to be reported
  bool cdi = false;  ///< devices are named as the Container Device Interface does
  orphan_form orphans = orphan_form::remove;
  [[nodiscard]] bool enabled() const { return !image.empty(); }
};

/// Errors: bad_input, bad_field.
void read_sharing(const YAML::Node& value, sharing_settings& to);

}  // namespace shim
