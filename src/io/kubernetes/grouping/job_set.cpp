// `JobSet`: a sub-group for each replicated job, with one below it for each of its jobs.
#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view job_name_label = "jobset.sigs.k8s.io/replicatedjob-name";
constexpr std::string_view job_index_label = "jobset.sigs.k8s.io/job-index";

std::string replica_name(std::string_view job, std::string_view index) {
  return fmt::format("{}-replica-{}", job, index);
}

/// Replicated jobs that must be there together: those that start in order come one by one.
std::int64_t least_jobs(const workload& of, member spec, std::int64_t jobs) {
  object& set = of.top_object();
  if (object* const holder = of.top().annotated(least_pods_key)) {
    return std::min(jobs, number_in_annotation(*holder, holder->annotations(), least_pods_key, 1).value_or(jobs));
  }
  return set.text(set.section(spec, "startupPolicy"), "startupPolicyOrder") == "InOrder" ? 1 : jobs;
}

void add_replicated_job(object& set, json_value job, group_shape& to) {
  const member pods = set.section(job, "template");
  const member annotations = set.section(set.section(pods, "metadata"), "annotations");
  sub_group_record parent;
  parent.name = set.text(job, "name");
  if (parent.name.empty()) set.fail(job, "name", "the name is missing");
  const std::int64_t room = max_sub_groups - static_cast<std::int64_t>(to.sub_groups.size()) - 1;
  const std::int64_t replicas = bounded_integer(set, job, "replicas", 0, std::max<std::int64_t>(0, room)).value_or(1);
  const std::int64_t pods_of_job = bounded_integer(set, set.section(pods, "spec"), "parallelism", 0).value_or(1);
  sub_group_record one;
  one.parent = parent.name;
  one.min_member = number_in_annotation(set, annotations, least_pods_key, 1).value_or(pods_of_job);
  one.levels = template_levels(set, annotations);
  if (one.levels.topology.empty()) one.levels = {};
  parent.min_sub_group = replicas;
  to.sub_groups.push_back(std::move(parent));
  for (std::int64_t i = 0; i < replicas; ++i) {
    one.name = replica_name(one.parent, std::to_string(i));
    to.sub_groups.push_back(one);
  }
}

}  // namespace

std::string place_job_set(const workload& of, placement& to) {
  const std::string_view job = of.pod.label(job_name_label).value_or("");
  const std::string_view index = of.pod.label(job_index_label).value_or("");
  if (job.empty()) return fmt::format("label {} is missing", job_name_label);
  if (index.empty()) return fmt::format("label {} is missing", job_index_label);
  to.sub_group = replica_name(job, index);
  to.strict = true;
  return {};
}

std::string shape_job_set(const workload& of, group_shape& to) {
  object& set = of.top_object();
  const member spec = set.section(set.root(), "spec");
  const std::vector<json_value> jobs = set.items(spec, "replicatedJobs");
  if (jobs.empty()) set.fail(set.root(), "spec.replicatedJobs", "a job set needs at least one");
  to.min_sub_group = least_jobs(of, spec, static_cast<std::int64_t>(jobs.size()));
  for (const json_value job : jobs) {
    if (set.failed()) return {};
    add_replicated_job(set, job, to);
  }
  return {};
}

}  // namespace kaisched::io::kubernetes
