#pragma once
/// @file
/// DeviceClass, ResourceSlice and the requests of a ResourceClaim -> rows.

#include <string_view>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

void read_device_class(object& of, cluster_records& to);
void read_resource_slice(object& of, cluster_records& to);
/// Requests, constraints and results of a claim, of which `row` has the rest.
void read_claim_requests(object& of, claim_record& row, cluster_records& to);

}  // namespace kaisched::io::kubernetes
