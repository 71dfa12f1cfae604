#pragma once
/// @file
/// `Node` and `NodeResourceTopology` -> rows of nodes and of their NUMA zones.

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"
#include "policy/devices/allocation/catalog.hpp"

namespace kaisched::io::kubernetes {

/// Reads a node, with the devices that plugins of vendors have registered. `find`: those too that nobody registers.
void read_node(object& of, const device_catalog& catalog, bool find, cluster_records& to);

/// Reads the NUMA zones of a node, whose row is changed: policy and scope.
void read_node_topology(object& of, node_record& node, cluster_records& to);

/// In place of the one that the node has.
void set_label(node_record& node, std::string_view key, std::string_view value);

}  // namespace kaisched::io::kubernetes
