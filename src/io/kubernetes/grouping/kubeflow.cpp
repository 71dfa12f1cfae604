// Training jobs of Kubeflow whose pods are one flat gang.
#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

using namespace std::string_view_literals;

constexpr std::array launcher_and_worker{"Launcher"sv, "Worker"sv};
constexpr std::array master_and_worker{"Master"sv, "Worker"sv};
constexpr std::array worker_alone{"Worker"sv};

}  // namespace

std::int64_t kubeflow_size(const workload& of, std::string_view specs, std::span<const std::string_view> mandatory) {
  object& job = of.top_object();
  const member spec = job.section(job.root(), "spec");
  const member policy = job.section(job.section(spec, "runPolicy"), "schedulingPolicy");
  if (const auto least = bounded_integer(job, policy, "minAvailable", 0)) return *least;
  const member replicas = job.section(spec, specs);
  if (!replicas) {
    job.fail(job.root(), fmt::format("spec.{}", specs), "the roles of the job are missing");
    return 1;
  }
  for (const std::string_view name : mandatory) {
    if (!find(replicas, name)) job.fail(*replicas, name, "a job of this kind needs this role");
  }
  std::int64_t total = 0;
  for (const json_value role : *replicas) {
    const std::optional<std::int64_t> count = bounded_integer(job, role, "replicas", 1);
    if (!count) job.fail(role, "replicas", "the number of pods is missing");
    total += count.value_or(0);
  }
  if (total >= 1 && total <= max_group_size) return total;
  job.fail(*replicas, fmt::format("expected 1 to {} pods, found {}", max_group_size, total));
  return 1;
}

std::string shape_tf_job(const workload& of, group_shape& to) {
  to.min_member = kubeflow_size(of, "tfReplicaSpecs", {});
  return {};
}

std::string shape_xgboost_job(const workload& of, group_shape& to) {
  to.min_member = kubeflow_size(of, "xgbReplicaSpecs", master_and_worker);
  return {};
}

std::string shape_jax_job(const workload& of, group_shape& to) {
  to.min_member = kubeflow_size(of, "jaxReplicaSpecs", worker_alone);
  return {};
}

std::string shape_mpi_job(const workload& of, group_shape& to) {
  object& job = of.top_object();
  const member spec = job.section(job.root(), "spec");
  constexpr std::string_view specs = "mpiReplicaSpecs";
  to.min_member = kubeflow_size(of, specs, launcher_and_worker);
  // The launcher comes once the workers run: until then the gang has to do without it.
  if (job.text(spec, "launcherCreationPolicy") != "WaitForWorkersReady" ||
      of.objects.has_launcher(job.name_space(), job.name())) {
    return {};
  }
  const member launcher = job.section(job.section(spec, specs), launcher_and_worker.front());
  to.min_member = std::max<std::int64_t>(0, to.min_member - job.integer(launcher, "replicas").value_or(1));
  return {};
}

}  // namespace kaisched::io::kubernetes
