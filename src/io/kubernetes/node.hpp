#pragma once
/// @file
/// `Node` and `NodeResourceTopology` -> rows of nodes, their devices and their NUMA zones.

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// Reads a node. A node with devices that HAMi has registered gets them as devices.
void read_node(object& of, cluster_records& to);

/// Reads the NUMA zones of a node, whose row is changed: policy and scope.
void read_node_topology(object& of, node_record& node, cluster_records& to);

}  // namespace kaisched::io::kubernetes
