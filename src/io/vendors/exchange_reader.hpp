#pragma once
/// @file
/// The parts of a vendor's template that are about nodes and pods of a cluster: `found` and `tells`.

#include "io/vendors/field_reader.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::io {

/// How devices follow from what a node says.
void read_found(field_reader& vendor, devices::vendor_template& made);
/// Annotations that follow from grants; behind `read_found`, whose attributes they may name.
void read_tells(field_reader& vendor, devices::vendor_template& made);

}  // namespace kaisched::io
