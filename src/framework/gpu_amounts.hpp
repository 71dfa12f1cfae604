#pragma once
/// @file
/// GPUs of nodes and pods, parts of shared devices and instances of divided ones included, in milli-GPU. `compat`
/// counts instances of divided GPUs as KAI does; `strict` leaves them out: they make no room for others.

#include <cstdint>
#include <span>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched::framework {

class session_state;

class gpu_amounts {
 public:
  void connect(session_state& c);

  /// What a pod holds where it is, and what it asks for, as far as that does not depend on the node.
  [[nodiscard]] std::int64_t held(pod_row pod) const;
  [[nodiscard]] std::int64_t wanted(pod_row pod) const;
  /// The pod asks for devices, parts of devices or instances of divided ones.
  [[nodiscard]] bool are_wanted(pod_row pod) const;
  /// Free or coming free on the node.
  [[nodiscard]] std::int64_t free(node_row row) const { return idle(row) + releasing(row); }
  /// Some GPU of the node is free, or some is coming free, be it in part.
  [[nodiscard]] bool any_free(node_row row) const { return idle(row) > 0 || releasing(row) > 0; }
  /// What is free of nodes is more than whole GPUs: parts of shared devices, instances of divided ones.
  [[nodiscard]] bool count_parts() const;
  /// All of the node.
  [[nodiscard]] std::int64_t capacity(node_row row) const;
  /// `compat`: these pods ask for more GPU memory than all nodes that are ready and not cordoned have free or coming
  /// free.
  [[nodiscard]] bool lack_memory(std::span<const pod_row> chunk) const;
  /// Instances of divided GPUs among some amounts of a node, as parts of whole ones.
  [[nodiscard]] std::int64_t in_instances(const std::vector<std::int64_t>& amounts, node_row row) const;

 private:
  [[nodiscard]] std::int64_t idle(node_row row) const;
  [[nodiscard]] std::int64_t releasing(node_row row) const;

  session_state* c_ = nullptr;
  bool counts_instances_ = false;  ///< `compat`: some resource is an instance of divided GPUs
};

}  // namespace kaisched::framework
