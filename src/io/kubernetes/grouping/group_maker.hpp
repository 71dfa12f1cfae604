#pragma once
/// @file
/// Groups for pods that have none, as KAI's pod grouper makes them: who counts among the owners, the common rules of
/// queue, priority, preemptibility, delays and topology, and the shape that the grouper of the kind gives.

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/grouping/kind_defaults.hpp"
#include "io/kubernetes/queue.hpp"
#include "io/kubernetes/queue_rules.hpp"

namespace kaisched::io::kubernetes {

/// The group of a pod.
struct membership {
  std::string group;  ///< empty: the pod belongs to nobody here and only uses its node
  std::string sub_group;
  std::string obstacle;              ///< why nobody knows how to group it; it has a group of its own then
  std::vector<std::string> roles{};  ///< what its group says of roles, as annotations of the pod: `key=value`
  std::int64_t priority = unset;     ///< among the pods of the group
  friend bool operator==(const membership&, const membership&) = default;
};

/// Groups that one comes after, or its workload.
inline constexpr std::string_view after_annotation = "kaisched.io/after";
/// What it says as entries of the column `after`: names without a namespace are of its own one.
[[nodiscard]] std::vector<std::string> after_entries(std::string_view annotation, std::string_view name_space);
/// What annotations of a group, or of what it is made of, say of roles that should be together or apart. Source:
/// volcano-sh/volcano, pkg/scheduler/plugins/task-topology.
using annotation_lookup = std::function<std::optional<std::string_view>(std::string_view key)>;
[[nodiscard]] std::vector<std::string> role_annotations(const annotation_lookup& annotation);
/// Adds them to a pod, with its own role where no sub-group tells it.
void add_roles(const object& pod, const std::vector<std::string>& of_group, membership& to);
/// Sub-group without a minimum, of pods that nobody waits for.
inline constexpr std::string_view later_sub_group = "later-members";
/// An annotation of a pod, its owner or its group: `true` if pods in no sub-group start when they come.
inline constexpr std::string_view later_key = "kaisched.io/later-members";

/// Of pods whose group no rule takes.
inline constexpr std::string_view refused_by_rules = "no rule gives the group a queue";

/// Makes rows of groups, each when its first pod comes: the order of pods is that of the text.
class group_maker {
 public:
  /// @param queues chooses them; null: groups say themselves.
  group_maker(const settings& chosen, const priority_classes& classes, const level_aliases& aliases,
              queue_chooser* queues, cluster_records& to)
      : settings_(chosen), classes_(classes), aliases_(aliases), queues_(queues), rows_(to) {}

  /// An object that may own pods, or says something about groups.
  void add(object& of);

  /// The group of a pod. `named` is what its annotation says, and counts as the name if it is not empty. `is_known`
  /// tells whether there is a pod group of a full name, which then has the pod.
  [[nodiscard]] membership of(object& pod, std::string_view named,
                              const std::function<std::optional<bool>(std::string_view)>& is_known);

  /// The queue that rules give a group of the text; empty: none does. Only where there are rules.
  [[nodiscard]] std::string chosen_queue(const object& group, std::string_view named) const;

 private:
  struct made_group {
    std::size_t row = 0;
    std::set<std::string, std::less<>> sub_groups;
    std::map<std::string_view, std::string> members;  ///< sub-groups by name of the pod
    std::string obstacle;                             ///< of all its pods
    std::vector<std::string> roles;                   ///< what its owner says of them
    bool is_refused = false;                          ///< no rule takes it into a queue
  };

  /// Texts of a group, by key; empty: it has none.
  using texts_of_group = std::function<std::string_view(std::string_view key)>;

  /// What labels say, else what the kind says.
  [[nodiscard]] std::optional<std::string> named_queue(const workload& of, const group_shape& shape) const;
  [[nodiscard]] std::string chosen_queue(std::string_view named, std::string_view name_space,
                                         const texts_of_group& label, const texts_of_group& annotation) const;
  [[nodiscard]] std::int64_t priority_of(const workload& of, const grouper& by, const group_shape& shape) const;
  [[nodiscard]] std::string_view preemptibility_of(const workload& of) const;
  [[nodiscard]] std::vector<const kind_default*> defaults_of(const workload& of) const;
  /// Finds out who counts; what is wrong, if that cannot be found.
  [[nodiscard]] std::string choose(workload& of, grouper& by) const;
  [[nodiscard]] membership join(const workload& of, const grouper& by, const placement& at,
                                const std::string& obstacle);
  [[nodiscard]] bool starts_later(const workload& of) const;
  [[nodiscard]] made_group make(const workload& of, const grouper& by, const std::string& name, bool shaped);
  /// @return whether a queue takes it.
  bool fill(const workload& of, const grouper& by, const group_shape& shape, pod_group_record& row) const;
  void add_sub_groups(group_shape& shape, made_group& made);

  const settings& settings_;
  const priority_classes& classes_;
  const level_aliases& aliases_;
  queue_chooser* queues_;
  cluster_records& rows_;
  owner_index objects_;
  kind_defaults defaults_;
  std::map<std::string, made_group, std::less<>> made_;
};

}  // namespace kaisched::io::kubernetes
