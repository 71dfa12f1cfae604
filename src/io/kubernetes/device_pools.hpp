#pragma once
/// @file
/// DeviceClass, ResourceSlice and the requests of a ResourceClaim -> rows.

#include <string_view>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

void read_device_class(object& of, cluster_records& to);
void read_resource_slice(object& of, cluster_records& to);

/// Requests and constraints of a claim (`spec.devices`), of which `row` has the name. `checks`: texts that tables would
/// refuse are faults of the object.
[[nodiscard]] std::vector<claim_request_record> read_claim_requests(object& of, member devices, bool checks,
                                                                    claim_record& row);
/// What a claim has been given (`status.allocation`).
void read_claim_results(object& of, member allocation, claim_record& row);

}  // namespace kaisched::io::kubernetes
