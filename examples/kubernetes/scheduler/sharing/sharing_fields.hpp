#pragma once
/// @file
/// The sections `sharing` and `scaling` of the configuration: how pods get parts of GPUs, and how autoscalers see them.

#include <chrono>
#include <string>

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

/// The section `scaling`: pods that show an autoscaler what pods that ask for parts of GPUs need. Without an image
/// there are none.
struct scaling_settings {
  std::string image;                            ///< that they name; it is never run
  std::string name_space = "kai-scale-adjust";  ///< of them
  unsigned memory_percent = 10;                 ///< of a device that a pod counts as that asks for an amount of memory
  std::chrono::milliseconds cool_down = std::chrono::minutes(1);  ///< from the last removal to the next that is made
  [[nodiscard]] bool enabled() const { return !image.empty(); }
};

}  // namespace shim
