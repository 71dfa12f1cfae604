#pragma once
/// @file
/// What grants add to the use of devices.

#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/vendor.hpp"
#include "policy/devices/vendor/wishes.hpp"

namespace kaisched::devices {

/// Adds a grant to its device. On a divided device the grant becomes the instance that serves it, with the memory and
/// cores of its profile. False, with nothing changed, if there is no room for one.
[[nodiscard]] bool add_usage(const vendor_template& vendor, const wishes& wanted, device& of, grant& taken);

/// A device is of the class of the pod that came last; one that a pod has as a whole is of none.
void take_over_class(const vendor_template& vendor, const wishes& wanted, device& of, const grant& taken);

}  // namespace kaisched::devices
