#pragma once
/// @file
/// `PodGroup` of KAI -> rows, and which pods are in it or in those of Volcano (volcano_groups.hpp). Pods that have none
/// get one (grouping/group_maker.hpp).

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "io/kubernetes/grouping/group_maker.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/queue.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/settings.hpp"
#include "io/kubernetes/volcano_groups.hpp"

namespace kaisched::io::kubernetes {

/// The groups of a cluster by their full names.
class pod_groups {
 public:
  /// @param queues chooses queues of groups that name none; null: there are no rules.
  pod_groups(const settings& chosen, const priority_classes& classes, const level_aliases& aliases,
             queue_chooser* queues, cluster_records& to)
      : settings_(chosen),
        classes_(classes),
        aliases_(aliases),
        queues_(queues),
        rows_(to),
        maker_(chosen, classes, aliases, queues, to),
        volcano_(chosen, classes, to) {}

  /// Reads a pod group. Groups of other pools, and those that wait for another pool, are only noted as not decided
  /// here.
  void read(object& of);

  /// The same for those of Volcano, behind all others and all pods. One whose name is taken is passed over.
  void read_volcano(object& of);
  void note_pod(object& pod) { volcano_.note_pod(pod); }

  /// An object that may own pods.
  void read_owner(object& of) { maker_.add(of); }

  /// The group of a pod, made if it has none.
  [[nodiscard]] membership of(object& pod, bool is_finished);

 private:
  /// A pod of a group of the text; `sub_group` counts where its label says none.
  [[nodiscard]] membership member_of(object& pod, std::string_view group, std::string_view sub_group);
  void put_into_sub_group(const object& pod, std::string_view sub_group, membership& in);
  void read_sub_groups(object& of, member spec, const std::string& group);
  [[nodiscard]] constraint_levels levels_of(object& of, member constraint) const;
  /// Lets rules choose the queue. @return why no pod may start there; empty: it may.
  [[nodiscard]] std::string settle_queue(const object& of, std::string& queue) const;

  const settings& settings_;
  const priority_classes& classes_;
  const level_aliases& aliases_;
  queue_chooser* queues_;
  cluster_records& rows_;
  group_maker maker_;
  volcano_groups volcano_;
  std::map<std::string, bool, std::less<>> known_;  ///< whether the group is decided here
  struct sub_group_names {
    std::set<std::string, std::less<>> names;
    bool needs_all = false;  ///< and not so many of them
    bool later = false;      ///< pods in none of them start when they come
  };
  std::map<std::string, sub_group_names, std::less<>> sub_groups_;      ///< of groups that have any
  std::map<std::string, std::string, std::less<>> refused_;             ///< why none of their pods may start
  std::map<std::string, std::vector<std::string>, std::less<>> roles_;  ///< what groups say of them
};

}  // namespace kaisched::io::kubernetes
