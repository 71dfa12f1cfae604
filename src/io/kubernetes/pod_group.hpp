#pragma once
/// @file
/// `PodGroup` of KAI -> rows, and groups for pods that have none, as KAI's pod grouper makes them.

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <tuple>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/queue.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/settings.hpp"

namespace kaisched::io::kubernetes {

/// The groups of a cluster by their full names.
class pod_groups {
 public:
  pod_groups(const settings& chosen, const priority_classes& classes, const level_aliases& aliases, cluster_records& to)
      : settings_(chosen), classes_(classes), aliases_(aliases), rows_(to) {}

  /// Reads a pod group. Groups of other pools, and those that wait for another pool, are only noted as not decided
  /// here.
  void read(object& of);

  /// An object that may own pods.
  void read_owner(object& of);

  /// The group of a pod, made if it has none.
  struct membership {
    std::string group;  ///< empty: the pod belongs to nobody here and only uses its node
    std::string sub_group;
    friend bool operator==(const membership&, const membership&) = default;
  };
  [[nodiscard]] membership of(object& pod, bool is_finished);

 private:
  struct owner;

  [[nodiscard]] owner top_owner(object& pod) const;
  [[nodiscard]] std::string made_group(object& pod);
  void read_sub_groups(object& of, member spec, const std::string& group);
  [[nodiscard]] constraint_levels levels_of(object& of, member constraint) const;

  const settings& settings_;
  const priority_classes& classes_;
  const level_aliases& aliases_;
  cluster_records& rows_;
  std::map<std::string, bool, std::less<>> known_;                               ///< whether the group is decided here
  std::set<std::string, std::less<>> with_sub_groups_;                           ///< groups whose pods name a sub-group
  std::map<std::string, std::size_t, std::less<>> made_;                         ///< numbers of rows
  std::map<std::tuple<std::string, std::string, std::string>, object*> owners_;  ///< kind, namespace, name
};

}  // namespace kaisched::io::kubernetes
