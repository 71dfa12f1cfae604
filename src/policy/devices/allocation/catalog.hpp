#pragma once
/// @file
/// All vendors and divided models that a session knows.

#include <vector>

#include <kaisched/vendors.hpp>

#include "policy/devices/partition/mig.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched {

class device_catalog {
 public:
  devices::vendor_catalog vendors;              ///< by key
  std::vector<devices::divided_model> divided;  ///< the first that matches counts
};

}  // namespace kaisched
