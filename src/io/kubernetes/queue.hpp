#pragma once
/// @file
/// `Queue` and `Topology` of KAI, and `PriorityClass` -> rows, and what other objects look up by name.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

void read_queue(object& of, cluster_records& to);

/// Names of levels that stand for a label, by topology and name.
using level_aliases = std::map<std::string, std::map<std::string, std::string, std::less<>>, std::less<>>;
void read_topology(object& of, cluster_records& to, level_aliases& aliases);
/// Replaces the names of levels by their labels.
void resolve_aliases(constraint_levels& of, const level_aliases& aliases);

/// Values of priority classes by name.
class priority_classes {
 public:
  void read(object& of);
  /// Without any object of the kind, the four classes that KAI ships are there.
  void finish();
  [[nodiscard]] bool has(std::string_view name) const { return values_.find(name) != values_.end(); }
  /// The value of a class; that of an unknown one is the default of the cluster, 50 if it has none.
  [[nodiscard]] std::int64_t value(std::string_view name) const;

 private:
  std::map<std::string, std::int64_t, std::less<>> values_;
  std::int64_t fallback_ = 50;
};

}  // namespace kaisched::io::kubernetes
