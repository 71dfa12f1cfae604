#pragma once
/// @file
/// How pods of a kind of owners are grouped. One table says which grouper a kind has; each family of kinds has a file.
/// The rules are those of KAI's pod grouper; kinds that it leaves to its default grouper and whose gangs are known here
/// are marked at their declaration.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/kubernetes/grouping/owners.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/settings.hpp"

namespace kaisched::io::kubernetes {

/// A pod and what is above it.
struct workload {
  object& pod;
  const owner_index& objects;
  const settings& chosen;
  std::vector<workload_owner> owners;     ///< nearest first; the last one is who counts
  std::vector<group_kind> skipped_kinds;  ///< of owners above that do not count
  object* cluster = nullptr;              ///< of Ray: the object with the sizes

  [[nodiscard]] const workload_owner& top() const { return owners.back(); }
  /// The object that counts. Only groupers of kinds with sizes may ask: theirs is there.
  [[nodiscard]] object& top_object() const { return *owners.back().found; }
};

/// Where a pod belongs.
struct placement {
  std::string group;      ///< without the namespace
  std::string sub_group;  ///< empty: in none
  bool strict = false;    ///< a sub-group that is not there is an obstacle, and not none
};

/// The shape of a group.
struct group_shape {
  std::int64_t min_member = 1;
  std::int64_t min_sub_group = unset;
  std::string queue;           ///< where no label says one
  std::string priority_class;  ///< where no label says one
  bool class_counts = false;   ///< it counts even where a label says another
  constraint_levels levels;    ///< where they name a topology, instead of annotations
  std::vector<sub_group_record> sub_groups;
  std::map<std::string_view, std::string> members{};  ///< sub-groups of pods that the object lists by name
};

/// Who counts among the owners of a pod.
enum class owner_rule : std::uint8_t {
  counted,  ///< the owner, even if only a reference to it is there
  sized,    ///< the owner, whose object has the size of the gang. Without it the next one below counts
  skipped,  ///< the next one below
};

/// Functions return what is wrong, as the obstacle of the pod; empty: nothing. What is wrong with an object itself they
/// note there as a fault.
struct grouper {
  group_kind of;
  owner_rule rule = owner_rule::counted;
  std::string_view priority_class = "train";
  std::string (*choose)(workload&) = nullptr;                     ///< lets another owner count
  std::string (*place)(const workload&, placement&) = nullptr;    ///< the group and sub-group of a pod
  std::string (*shape)(const workload&, group_shape&) = nullptr;  ///< once for each group
};

/// The grouper of a kind. One without a kind of its own makes one group for each owner, with one pod at least, and
/// reads labels of all owners, not of the one that counts alone.
[[nodiscard]] grouper grouper_of(const workload_owner& owner);

/// `pg-<name>-<uid>`
[[nodiscard]] std::string group_name(std::string_view name, std::string_view uid);

/// Most sub-groups of one group; KAI's limit for segments.
inline constexpr std::int64_t max_sub_groups = 10000;
inline constexpr std::int64_t max_group_size = 2147483647;

/// A fault at a member, or of the whole object if it is missing.
void fail_at(object& of, member at, std::string_view what);
/// An integer with bounds; a fault outside of them.
[[nodiscard]] std::optional<std::int64_t> bounded_integer(object& of, member holder, std::string_view key,
                                                          std::int64_t least, std::int64_t most = max_group_size);
/// A whole number in an annotation of metadata anywhere in the object; a fault if it is none, or below `least`.
[[nodiscard]] std::optional<std::int64_t> number_in_annotation(object& of, member annotations, std::string_view key,
                                                               std::int64_t least);
/// Levels that annotations ask for; none if they name no topology or no level.
struct topology_keys {
  std::string_view required = "kai.scheduler/topology-required-placement";
  std::string_view preferred = "kai.scheduler/topology-preferred-placement";
};
inline constexpr std::string_view topology_key = "kai.scheduler/topology";
inline constexpr topology_keys segment_keys{"kai.scheduler/segment-topology-required-placement",
                                            "kai.scheduler/segment-topology-preferred-placement"};
inline constexpr std::string_view segment_size_key = "kai.scheduler/segment-size";
/// Volcano's: the task that a pod is of, as label and annotation.
inline constexpr std::string_view volcano_task_key = "volcano.sh/task-spec";
inline constexpr std::string_view least_pods_key = "kai.scheduler/batch-min-member";

/// Levels that annotations of a template ask for; none if they name no level.
[[nodiscard]] constraint_levels template_levels(object& of, member annotations);
/// Levels of segments: of the pod, else of the template of workers; the topology may also be that of the owner.
[[nodiscard]] constraint_levels segment_levels(const workload& of, member template_annotations);

/// Adds a sub-group that needs so many pods.
sub_group_record& add_part(std::string_view name, std::string_view parent, std::int64_t pods, group_shape& to);
/// The object that a label of the pod names; null: there is none of this name.
[[nodiscard]] object* labelled_object(const workload& of, group_kind kind, std::string_view label);
/// Why it is not there. Without any object of the kind in the text each pod stands alone: empty.
[[nodiscard]] std::string missing_object(const workload& of, group_kind kind, std::string_view label);
/// What it counts for, over the present owner, which hands down what it says.
[[nodiscard]] workload_owner above_owner(const workload& of, object& found);

/// Lets the `Workload` or `PodGroup` of Kubernetes that a pod names say its group.
std::string choose_scheduling_group(workload& of, grouper& by);
/// Not KAI's: pods that start one by one and name an application of YuniKorn are one group.
void choose_application(const workload& of, grouper& by);

// ---- the families ------------------------------------------------------------------------------------------------

std::string place_alone(const workload& of, placement& to);  ///< a group for each pod

std::string choose_spawned_job(workload& of);
std::string shape_job(const workload& of, group_shape& to);
std::string place_runai_job(const workload& of, placement& to);
std::string shape_aml_job(const workload& of, group_shape& to);
std::string place_bare_pod(const workload& of, placement& to);

std::string shape_tf_job(const workload& of, group_shape& to);
std::string shape_xgboost_job(const workload& of, group_shape& to);
std::string shape_jax_job(const workload& of, group_shape& to);
std::string shape_mpi_job(const workload& of, group_shape& to);
std::string place_pytorch_job(const workload& of, placement& to);
std::string shape_pytorch_job(const workload& of, group_shape& to);
/// Pods that a Kubeflow job needs at least, by its policy or the sum of its replicas.
[[nodiscard]] std::int64_t kubeflow_size(const workload& of, std::string_view specs,
                                         std::span<const std::string_view> mandatory);

std::string choose_ray_cluster(workload& of);
std::string place_ray(const workload& of, placement& to);
std::string shape_ray(const workload& of, group_shape& to);

std::string place_job_set(const workload& of, placement& to);
std::string shape_job_set(const workload& of, group_shape& to);

std::string place_leader_worker_set(const workload& of, placement& to);
std::string shape_leader_worker_set(const workload& of, group_shape& to);

std::string choose_revision(workload& of);
std::string place_revision(const workload& of, placement& to);
std::string shape_revision(const workload& of, group_shape& to);

std::string choose_pod_gang(workload& of);
std::string place_pod_gang(const workload& of, placement& to);
std::string shape_pod_gang(const workload& of, group_shape& to);

/// Not KAI's: gangs of Volcano's own job, tasks as sub-groups.
std::string place_volcano_job(const workload& of, placement& to);
std::string shape_volcano_job(const workload& of, group_shape& to);

}  // namespace kaisched::io::kubernetes
