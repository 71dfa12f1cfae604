// `LeaderWorkerSet`: a group for each replica; leader and workers are sub-groups, or segments of them.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view size_annotation = "leaderworkerset.sigs.k8s.io/size";
constexpr std::string_view group_index_label = "leaderworkerset.sigs.k8s.io/group-index";
constexpr std::string_view worker_index_label = "leaderworkerset.sigs.k8s.io/worker-index";
constexpr std::string_view leader_group = "leader";
constexpr std::string_view workers_group = "workers";

/// How the pods of one replica are divided. Pod 0 is the leader.
struct replica_layout {
  std::int64_t size = 1;           ///< pods that are there together, the leader with them
  std::int64_t segment = 0;        ///< pods of a segment; 0: there are none
  bool leader_excluded = false;    ///< the leader stands beside the segments, and not in the first
  member worker_annotations = {};  ///< of the template

  /// Without the leader the workers fill the segments; else the leader is one of the pods that do.
  [[nodiscard]] bool leader_is_extra() const { return (size - 1) % segment == 0; }
  [[nodiscard]] std::int64_t segment_of(std::int64_t pod) const {
    return pod == 0 ? 0 : (leader_is_extra() ? (pod - 1) / segment : pod / segment);
  }
  [[nodiscard]] std::int64_t segments() const { return segment_of(size - 1) + 1; }
  /// Workers of a segment, the leader not counted.
  [[nodiscard]] std::int64_t workers_in(std::int64_t number) const {
    const std::int64_t shift = leader_is_extra() ? 1 : 0;
    const std::int64_t first = std::max<std::int64_t>(1, number * segment + shift);
    return std::min(size, (number + 1) * segment + shift) - first;
  }
};

bool is_leader_pod(const object& pod) { return pod.label(worker_index_label).value_or("") == "0"; }

/// Pods of a replica that the gang needs. Where workers come once the leader is ready, it has to start alone.
std::int64_t replica_size(const workload& of, member spec, member pods) {
  object& set = of.top_object();
  const std::optional<std::int64_t> size = bounded_integer(set, pods, "size", 1);
  if (!size) set.fail(set.root(), "spec.leaderWorkerTemplate.size", "the size is missing");
  const std::string_view policy = set.text(spec, "startupPolicy");
  if (policy.empty() || policy == "LeaderCreated") return size.value_or(1);
  if (policy != "LeaderReady") {
    fail_at(set, find(spec, "startupPolicy"), fmt::format("expected LeaderCreated or LeaderReady, found '{}'", policy));
  }
  if (is_leader_pod(of.pod) && of.pod.text(of.pod.section(of.pod.root(), "spec"), "nodeName").empty()) return 1;
  const std::optional<std::int64_t> own = whole_number(of.pod.annotation(size_annotation).value_or(""));
  return own && *own >= 1 && *own <= max_group_size ? *own : size.value_or(1);
}

std::int64_t segment_size(object& set, member pods, member annotations) {
  const member policy = set.section(pods, "subGroupPolicy");
  if (const auto size = bounded_integer(set, policy, "subGroupSize", 2)) return *size;
  if (const auto size = number_in_annotation(set, set.annotations(), segment_size_key, 2)) return *size;
  return number_in_annotation(set, annotations, segment_size_key, 2).value_or(0);
}

replica_layout read_layout(const workload& of) {
  object& set = of.top_object();
  const member spec = set.section(set.root(), "spec");
  const member pods = set.section(spec, "leaderWorkerTemplate");
  replica_layout layout;
  layout.worker_annotations = set.section(set.section(set.section(pods, "workerTemplate"), "metadata"), "annotations");
  layout.size = replica_size(of, spec, pods);
  layout.segment = segment_size(set, pods, layout.worker_annotations);
  const member policy = set.section(pods, "subGroupPolicy");
  const std::string_view type = set.text(policy, "subGroupPolicyType");
  layout.leader_excluded = type == "LeaderExcluded";
  if (!type.empty() && type != "LeaderWorker" && !layout.leader_excluded) {
    fail_at(set, find(policy, "subGroupPolicyType"),
            fmt::format("expected LeaderWorker or LeaderExcluded, found '{}'", type));
  }
  if (layout.size == 1) layout.segment = 0;  // a leader that starts alone has nobody to be divided from
  if (layout.segment > layout.size) {
    fail_at(set, pods,
            fmt::format("a segment of {} pods is larger than the replica of {}", layout.segment, layout.size));
  }
  if (layout.leader_excluded && layout.segment > 0 && !layout.leader_is_extra()) {
    fail_at(set, pods, fmt::format("LeaderExcluded needs segments that divide the {} workers", layout.size - 1));
  }
  if (layout.segment > 0 && !set.failed() && layout.segments() > max_sub_groups) {
    fail_at(set, pods, fmt::format("{} segments are more than {}", layout.segments(), max_sub_groups));
  }
  return layout;
}

std::string segment_name(std::int64_t number) { return fmt::format("segment-{}", number); }

}  // namespace

std::string place_leader_worker_set(const workload& of, placement& to) {
  to.group = group_name(of.top().name, of.top().uid);
  if (const auto group = whole_number(of.pod.label(group_index_label).value_or(""))) {
    to.group += fmt::format("-group-{}", *group);
  }
  const std::optional<std::string_view> label = of.pod.label(worker_index_label);
  const std::optional<std::int64_t> index = whole_number(label.value_or(""));
  if (label && (!index || *index < 0)) {
    return fmt::format("label {}: expected a number, found \"{}\"", worker_index_label, *label);
  }
  const replica_layout layout = read_layout(of);
  if (of.top_object().failed()) return {};
  to.sub_group = index == 0 ? leader_group : workers_group;
  if (layout.segment == 0 || index == 0) return {};
  if (!index) return fmt::format("label {} is missing", worker_index_label);
  const std::int64_t number = layout.segment_of(*index);
  if (number > 0 || layout.leader_excluded) to.sub_group = segment_name(number);
  return {};
}

std::string shape_leader_worker_set(const workload& of, group_shape& to) {
  const replica_layout layout = read_layout(of);
  to.min_member = layout.size;
  if (of.top_object().failed()) return {};
  if (layout.segment == 0) {
    add_part(leader_group, {}, 1, to);
    if (layout.size > 1) add_part(workers_group, {}, layout.size - 1, to);
    return {};
  }
  const constraint_levels levels = segment_levels(of, layout.worker_annotations);
  for (std::int64_t i = 0; i < layout.segments(); ++i) {
    add_part(segment_name(i), {}, layout.workers_in(i), to).levels = levels;
  }
  if (layout.leader_excluded) {
    add_part(leader_group, {}, 1, to);
    return {};
  }
  sub_group_record& first = to.sub_groups.front();
  const std::int64_t beside_leader = std::exchange(first.min_member, 0);
  first.min_sub_group = 2;
  add_part(leader_group, segment_name(0), 1, to);
  add_part(workers_group, segment_name(0), beside_leader, to);
  return {};
}

}  // namespace kaisched::io::kubernetes
