// Kubernetes' own jobs, bare pods, and kinds of Run:ai and Azure.
#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr group_kind batch_job{"batch", "Job"};

}  // namespace

std::string choose_spawned_job(workload& of) {
  while (of.owners.size() > 1 && !of.top().is(batch_job)) of.owners.pop_back();
  return of.top().is(batch_job) ? std::string{} : "no Job stands between the pod and its CronJob";
}

std::string shape_job(const workload& of, group_shape& to) {
  object* const holder = of.top().annotated(least_pods_key);
  if (holder == nullptr) return {};
  to.min_member = number_in_annotation(*holder, holder->annotations(), least_pods_key, 0).value_or(1);
  return holder->failed() ? holder->fault_text() : std::string{};
}

std::string place_runai_job(const workload& of, placement& to) {
  const std::string_view name = of.pod.name();
  to.group = group_name(name.substr(0, name.rfind('-')), of.top().uid);
  return {};
}

std::string shape_aml_job(const workload& of, group_shape& to) {
  object& job = of.top_object();
  const member spec = job.section(job.root(), "spec");
  const member envs = job.section(job.section(job.section(spec, "job"), "options"), "envs");
  const std::optional<std::int64_t> nodes = bounded_integer(job, envs, "AZUREML_NODE_COUNT", 1);
  if (!nodes) job.fail(job.root(), "spec.job.options.envs.AZUREML_NODE_COUNT", "the number of nodes is missing");
  to.min_member = nodes.value_or(1);
  return {};
}

std::string place_bare_pod(const workload& of, placement& to) {
  // Driver and executors of Spark say themselves which application they are of.
  const std::string_view spark = of.pod.label("spark-app-selector").value_or("");
  if (!spark.empty() && of.pod.label("spark-app-name")) to.group = spark;
  return {};
}

}  // namespace kaisched::io::kubernetes
