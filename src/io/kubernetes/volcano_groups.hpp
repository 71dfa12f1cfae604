#pragma once
/// @file
/// `PodGroup` of Volcano -> rows, and which pods are in it.
///
/// Source: volcano-sh/apis, pkg/apis/scheduling/v1beta1; volcano-sh/volcano, pkg/scheduler/api (job_info.go,
/// sub_job_info.go). Pods name their group in an annotation.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/grouping/group_maker.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/queue.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/settings.hpp"

namespace kaisched::io::kubernetes {

class volcano_groups {
 public:
  volcano_groups(const settings& chosen, const priority_classes& classes, cluster_records& to)
      : settings_(chosen), classes_(classes), rows_(to) {}

  /// Before any group is read: groups are read with the pods that name them.
  void note_pod(object& pod);

  /// Reads a pod group. One of another pool is only noted as not decided here.
  /// @return the number of its row, if it has one.
  std::optional<std::size_t> read(object& of);

  /// The group that a pod names; none: it names none that there is. One without a name is not decided here.
  [[nodiscard]] std::optional<membership> of(object& pod);

  /// A reason for which no pod of the group may start.
  void refuse(std::string_view group, std::string_view why) { groups_.find(group)->second.obstacle = why; }

 private:
  struct known_group {
    bool is_ours = false;
    std::string obstacle;                                        ///< of all its pods
    std::vector<std::string> roles;                              ///< what it says of them
    std::map<std::string, std::string, std::less<>> sub_groups;  ///< by full name of the pod
  };
  /// What pods of a group say, whether or not it is there.
  struct named_group {
    std::vector<object*> pods;
    std::string queue;  ///< by a label
    bool kept = false;  ///< one of them must not be taken from
  };

  void read_roles(object& of, member spec, pod_group_record& row, known_group& known);
  void read_policies(object& of, member spec, pod_group_record& row, known_group& known);

  const settings& settings_;
  const priority_classes& classes_;
  cluster_records& rows_;
  std::map<std::string, named_group, std::less<>> named_;
  std::map<std::string, known_group, std::less<>> groups_;
};

}  // namespace kaisched::io::kubernetes
