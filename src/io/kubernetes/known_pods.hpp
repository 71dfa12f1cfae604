#pragma once
/// @file
/// Pods that would make the row that they made before, so that they need not be read again.

#include <string>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/pod.hpp"
#include "io/kubernetes/pod_group.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/volumes.hpp"

namespace kaisched::io::kubernetes {

/// What the row of a pod followed from, beside the pod itself. Not for pods whose row depends on other pods (shared
/// devices, claims), on vendors, NUMA zones or the time: these are always read.
struct pod_memory {
  bool is_plain = false;  ///< what follows is known
  bool is_kept = false;   ///< out: the pod was not read, because its row is that of the last time
  bool has_row = false;
  bool finished = false;
  bool asks_node_names = false;
  bool has_place = false;      ///< its node is there
  bool has_nominated = false;  ///< the node that it is promised is there
  std::string full_name;
  std::string node;
  std::string nominated;
  membership group;
  volume_needs volumes;  ///< with a row; nobody looks at volumes of other pods
  std::string budget;    ///< likewise
};

/// Reads a pod unless it makes the row of the last time. @param memory null: it is read.
/// @param remembers else it is read too, and nothing that was known of it counts from then on.
void read_known_pod(object& of, pod_memory* memory, bool remembers, pod_context& context, cluster_records& to);

}  // namespace kaisched::io::kubernetes
