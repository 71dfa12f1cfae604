#pragma once
/// @file
/// What a cluster says about kinds of workloads without labels of their own: KAI's optional `ConfigMap`.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "io/kubernetes/grouping/owners.hpp"

namespace kaisched::io::kubernetes {

/// Priority class and preemptibility of a kind; empty: none.
struct kind_default {
  std::string priority_class;
  std::string preemptibility;
};

/// Defaults by kind.
class kind_defaults {
 public:
  /// Reads the key `types`, a list in JSON of {typeName, group, priorityName, preemptibility}. What is no such list is
  /// a fault of the object, and there are no defaults.
  void read(object& config_map);
  /// The defaults of a kind, by kind and group, else by the kind alone; null without any.
  [[nodiscard]] const kind_default* of(std::string_view group, std::string_view kind) const;

 private:
  std::map<std::string, kind_default, std::less<>> by_kind_;  ///< `Kind` or `Kind.group`
};

}  // namespace kaisched::io::kubernetes
