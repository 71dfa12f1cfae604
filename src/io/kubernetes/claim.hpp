#pragma once
/// @file
/// `ResourceClaim` -> rows.

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// `has_pools`: slices tell which devices there are, so that requests can be served.
void read_claim(object& of, bool has_pools, cluster_records& to);

/// Full names of the claims of a pod. A claim that a template has not made yet gets a name that no claim has.
[[nodiscard]] std::vector<std::string> claims_of(object& pod);

}  // namespace kaisched::io::kubernetes
