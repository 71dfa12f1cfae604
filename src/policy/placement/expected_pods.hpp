#pragma once
/// @file
/// The pods that usually come: what parts that pack look at before they fill a node.

#include <cstdint>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include <kaisched/result.hpp>

#include "policy/access.hpp"

namespace kaisched::policy {

/// A class of pods that are expected, as the option `fgd.pods` names it.
struct typical_pod {
  std::int64_t cpu = 0;    ///< milli-cores
  std::int64_t gpus = 0;   ///< devices
  std::int64_t share = 0;  ///< milli-GPU of each
  double weight = 1;       ///< against that of other classes
  std::string label;       ///< of nodes that it may use; empty: all
  std::vector<std::string> values;
};

/// `cpu=3152:gpus=1:share=810:where=gpu.model=A|B:weight=1099`; what is left out is 0 for cpu and gpus, 1000 for the
/// share, 1 for the weight.
[[nodiscard]] result<typical_pod> parse_typical_pod(std::string_view text);

/// A class and the part of all pods that it stands for.
struct expected_class {
  std::int64_t cpu = 0;
  std::int64_t share = 0;  ///< milli-GPU of each device; 0 without GPUs
  std::int64_t gpus = 0;
  double weight = 0;

  std::string label;                       ///< of the option; empty: all nodes, if there is no `like`
  std::vector<std::string> values;         ///< of that label
  const model::pod_class* like = nullptr;  ///< else a class of the snapshot with its constraints

  [[nodiscard]] bool may_use(const session_access& a, node_row row) const;
  /// Equal where the same nodes may be used.
  [[nodiscard]] std::tuple<std::string_view, std::string_view, std::string_view, std::vector<std::string>> constraints()
      const;
};

/// The classes of the option, or else those of the pods of the snapshot: the most frequent ones that come to 95 % of
/// all pods together. Weights come to 1.
[[nodiscard]] std::vector<expected_class> expected_classes(const session_access& a);

/// Nodes that the same classes may use are of one type.
struct node_types {
  std::vector<std::vector<bool>> may_use;  ///< by type and class
  std::vector<std::uint32_t> of_node;      ///< by row
};
[[nodiscard]] node_types types_of_nodes(const session_access& a, const std::vector<expected_class>& classes);

}  // namespace kaisched::policy
