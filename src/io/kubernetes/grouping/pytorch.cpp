// `PyTorchJob`: a master and workers as sub-groups, workers in segments where an annotation asks for them.
#include <algorithm>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"
#include "io/kubernetes/quantity.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view pytorch_specs = "pytorchReplicaSpecs";
constexpr std::string_view role_label = "training.kubeflow.org/replica-type";
constexpr std::string_view index_label = "training.kubeflow.org/replica-index";
constexpr std::string_view master = "master";
constexpr std::string_view worker = "worker";

struct pytorch_job {
  member spec;
  member master;
  member worker;
  member worker_annotations;  ///< of the template
  std::int64_t masters = 0;
  std::int64_t workers = 0;
};

pytorch_job read_pytorch_job(object& job) {
  pytorch_job read;
  read.spec = job.section(job.root(), "spec");
  const member roles = job.section(read.spec, pytorch_specs);
  read.master = job.section(roles, "Master");
  read.worker = job.section(roles, "Worker");
  read.worker_annotations = job.section(job.section(job.section(read.worker, "template"), "metadata"), "annotations");
  read.masters = bounded_integer(job, read.master, "replicas", 0).value_or(0);
  read.workers = bounded_integer(job, read.worker, "replicas", 0).value_or(1);
  return read;
}

/// Workers of a segment; 0: there are no segments.
std::int64_t pytorch_segment(const workload& of, const pytorch_job& job, std::string& obstacle) {
  if (const std::string_view own = of.pod.annotation(segment_size_key).value_or(""); !own.empty()) {
    const std::int64_t size = whole_number(own).value_or(0);
    if (size >= 1) return size;
    obstacle = fmt::format("annotation {}: expected a positive number, found \"{}\"", segment_size_key, own);
    return 0;
  }
  const member given = find(job.worker_annotations, segment_size_key);
  if (given && given->is(json_kind::string) && given->text().empty()) return 0;
  return number_in_annotation(of.top_object(), job.worker_annotations, segment_size_key, 1).value_or(0);
}

std::int64_t segments_of(std::int64_t workers, std::int64_t size) { return workers / size + (workers % size != 0); }

/// Segments whose first worker the gang needs are needed whole; the others may follow.
void add_segments(const workload& of, const pytorch_job& job, std::int64_t size, std::int64_t least, group_shape& to) {
  const std::int64_t count = segments_of(job.workers, size);
  if (count > max_sub_groups) {
    object& holder = of.top_object();
    fail_at(holder, find(job.worker, "replicas"), fmt::format("{} segments are more than {}", count, max_sub_groups));
    return;
  }
  add_part(worker, {}, 0, to).min_sub_group = count;
  const constraint_levels levels = segment_levels(of, job.worker_annotations);
  const std::int64_t needed = least == 0 ? 0 : (least - 1) / size + 1;
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t pods = i >= needed ? 0 : std::min(size, job.workers - i * size);
    add_part(fmt::format("{}-{}", worker, i), worker, pods, to).levels = levels;
  }
}

}  // namespace

std::string place_pytorch_job(const workload& of, placement& to) {
  const std::string_view role = of.pod.label(role_label).value_or("");
  if (role == master) to.sub_group = master;
  if (role != worker) return {};
  to.sub_group = worker;
  const pytorch_job job = read_pytorch_job(of.top_object());
  std::string obstacle;
  const std::int64_t size = pytorch_segment(of, job, obstacle);
  if (size == 0 || job.workers == 0) return obstacle;
  const std::string_view index = of.pod.label(index_label).value_or("");
  const std::optional<std::int64_t> number = whole_number(index);
  if (!number || *number < 0) return fmt::format("label {}: expected a number, found \"{}\"", index_label, index);
  to.sub_group = fmt::format("{}-{}", worker, *number / size);
  return {};
}

std::string shape_pytorch_job(const workload& of, group_shape& to) {
  object& holder = of.top_object();
  const pytorch_job job = read_pytorch_job(holder);
  const member policy = holder.section(holder.section(job.spec, "runPolicy"), "schedulingPolicy");
  to.min_member = kubeflow_size(of, pytorch_specs, {});
  const auto elastic = bounded_integer(holder, holder.section(job.spec, "elasticPolicy"), "minReplicas", 0);
  if (elastic && !find(policy, "minAvailable")) to.min_member = *elastic;
  if (job.masters > 0) add_part(master, {}, job.masters, to);
  if (!job.worker) return {};
  const std::int64_t least = std::max<std::int64_t>(0, to.min_member - job.masters);
  std::string obstacle;
  const std::int64_t size = pytorch_segment(of, job, obstacle);
  if (size > 0 && job.workers > 0) {
    add_segments(of, job, size, least, to);
    return obstacle;
  }
  add_part(worker, {}, least, to);
  return obstacle;
}

}  // namespace kaisched::io::kubernetes
