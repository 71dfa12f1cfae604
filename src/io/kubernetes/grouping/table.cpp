#include <algorithm>
#include <array>

#include "io/kubernetes/grouping/grouper.hpp"

namespace kaisched::io::kubernetes {

namespace {

using enum owner_rule;

constexpr std::string_view build = "build";
constexpr std::string_view inference = "inference";
constexpr std::string_view train = "train";

constexpr std::array<grouper, 32> groupers{{
    {{"", "Pod"}, counted, train, nullptr, place_bare_pod, nullptr},
    {{"apps", "Deployment"}, counted, inference, nullptr, place_alone, nullptr},
    {{"batch", "Job"}, counted, train, nullptr, nullptr, shape_job},
    {{"batch", "CronJob"}, counted, train, choose_spawned_job, nullptr, nullptr},
    {{"jobset.x-k8s.io", "JobSet"}, sized, train, nullptr, place_job_set, shape_job_set},
    {{"leaderworkerset.x-k8s.io", "LeaderWorkerSet"},
     sized,
     train,
     nullptr,
     place_leader_worker_set,
     shape_leader_worker_set},
    {{"kubeflow.org", "PyTorchJob"}, sized, train, nullptr, place_pytorch_job, shape_pytorch_job},
    {{"kubeflow.org", "TFJob"}, sized, train, nullptr, nullptr, shape_tf_job},
    {{"kubeflow.org", "XGBoostJob"}, sized, train, nullptr, nullptr, shape_xgboost_job},
    {{"kubeflow.org", "JAXJob"}, sized, train, nullptr, nullptr, shape_jax_job},
    {{"kubeflow.org", "MPIJob"}, sized, train, nullptr, nullptr, shape_mpi_job},
    {{"kubeflow.org", "Notebook"}, counted, build, nullptr, nullptr, nullptr},
    {{"ray.io", "RayCluster"}, sized, train, choose_ray_cluster, place_ray, shape_ray},
    {{"ray.io", "RayJob"}, sized, train, choose_ray_cluster, place_ray, shape_ray},
    {{"ray.io", "RayService"}, sized, train, choose_ray_cluster, place_ray, shape_ray},
    {{"serving.knative.dev", "Service"}, counted, inference, choose_revision, place_revision, shape_revision},
    {{"serving.knative.dev", "Configuration"}, counted, inference, choose_revision, place_revision, shape_revision},
    {{"serving.knative.dev", "Revision"}, counted, inference, choose_revision, place_revision, shape_revision},
    {{"grove.io", "PodCliqueSet"}, counted, train, choose_pod_gang, place_pod_gang, shape_pod_gang},
    {{"grove.io", "PodGangSet"}, counted, train, choose_pod_gang, place_pod_gang, shape_pod_gang},
    {{"batch.volcano.sh", "Job"}, sized, train, nullptr, place_volcano_job, shape_volcano_job},
    {{"egx.nvidia.io", "SPOTRequest"}, counted, inference, nullptr, nullptr, nullptr},
    {{"amlarc.azureml.com", "AmlJob"}, sized, train, nullptr, nullptr, shape_aml_job},
    {{"run.ai", "RunaiJob"}, counted, train, nullptr, place_runai_job, nullptr},
    {{"argoproj.io", "Workflow"}, skipped, train, nullptr, nullptr, nullptr},
    {{"trainer.kubeflow.org", "TrainJob"}, skipped, train, nullptr, nullptr, nullptr},
    {{"nvidia.com", "DynamoGraphDeployment"}, skipped, train, nullptr, nullptr, nullptr},
    {{"run.ai", "TrainingWorkload"}, skipped, train, nullptr, nullptr, nullptr},
    {{"run.ai", "InteractiveWorkload"}, skipped, train, nullptr, nullptr, nullptr},
    {{"run.ai", "DistributedWorkload"}, skipped, train, nullptr, nullptr, nullptr},
    {{"run.ai", "InferenceWorkload"}, skipped, train, nullptr, nullptr, nullptr},
    {{"run.ai", "DistributedInferenceWorkload"}, skipped, train, nullptr, nullptr, nullptr},
}};

}  // namespace

grouper grouper_of(const workload_owner& owner) {
  const auto* const known =
      std::find_if(groupers.begin(), groupers.end(), [&](const grouper& one) { return owner.is(one.of); });
  return known == groupers.end() ? grouper{} : *known;
}

}  // namespace kaisched::io::kubernetes
