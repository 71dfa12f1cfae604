#pragma once
/// @file
/// What happens to a container before its pod is accepted: the steps of a vendor's template, as edits. Nothing here
/// knows Kubernetes objects.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/devices/vendor/requests.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::devices {

/// A container and what of its pod matters.
struct admitted_container {
  std::string name{};
  container_resources resources{};
  std::vector<std::pair<std::string, std::string>> environment{};
  std::vector<std::pair<std::string, std::string>> pod_annotations{};
  std::string runtime_class{};  ///< of the pod; empty: none is set
};

struct admission_result {
  bool claimed = false;  ///< the container asks for devices of the vendor
  std::string error{};   ///< the pod is refused
};

/// Runs the steps in turn until one ends them. What earlier steps have changed stays changed, even on an error.
[[nodiscard]] admission_result admit(const vendor_template& vendor, admitted_container& container);

}  // namespace kaisched::devices
