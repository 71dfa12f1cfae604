#pragma once
/// @file
/// Groups like one that has just failed are not searched victims for (KAI's scheduling signatures).

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "session/core.hpp"

namespace kaisched::actions {

/// The smallest failed group of each signature. A signature is what the pods that are not running ask of nodes: labels,
/// affinity, tolerations, ports, claims and topology, but no amounts.
class failed_groups {
 public:
  /// `per_queue`: what fails in one leaf queue says nothing about another.
  failed_groups(work::core& c, bool per_queue) : c_(c), per_queue_(per_queue) {}

  /// A group that is in nothing easier than one that failed.
  [[nodiscard]] bool tell_that_hopeless(group_row group);
  void add(group_row group);

 private:
  using key = std::pair<queue_row, std::string>;
  [[nodiscard]] key key_of(group_row group);
  [[nodiscard]] const std::string& signature_of(group_row group);
  [[nodiscard]] std::string constraints_of(pod_row pod) const;

  work::core& c_;
  bool per_queue_;
  std::map<key, group_row> smallest_;
};

}  // namespace kaisched::actions
