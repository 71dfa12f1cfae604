#pragma once
/// @file
/// The devices of a node that are shared by the rules of their vendors: registered in annotations by plugins, or found
/// in what the node says about itself. Which names mean what is in the templates of the vendors (docs/vendors.md).

#include <string>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"
#include "policy/devices/allocation/catalog.hpp"

namespace kaisched::io::kubernetes {

/// Resources that ask for devices or for parts of them, that only runtimes read, or that devices are found by.
[[nodiscard]] std::vector<std::string> resource_names(const devices::vendor_template& of);
/// Takes the names of resources of a vendor off amounts.
void take_resources(const devices::vendor_template& of, amounts& from);

/// The devices of all vendors; a node that has none stays as it is. `find`: those too that nobody registers.
void read_node_devices(object& of, const device_catalog& catalog, bool find, node_record& row);

}  // namespace kaisched::io::kubernetes
