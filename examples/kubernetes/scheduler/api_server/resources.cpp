#include "api_server/resources.hpp"

#include <algorithm>
#include <array>
#include <stdexcept>

#include <fmt/format.h>

#include "api_server/http_client.hpp"

namespace shim {

namespace {

constexpr std::array<resource, 55> watched{{
    {"Node", "v1", "nodes", true},
    {"PriorityClass", "scheduling.k8s.io/v1", "priorityclasses", true},
    {"Queue", "scheduling.run.ai/v2", "queues", false},
    {"Topology", "kai.scheduler/v1alpha1", "topologies", false},
    {"PodGroup", "scheduling.run.ai/v2alpha2", "podgroups", false},
    // What rules of queues look at, and labels by which affinity selects namespaces.
    {"Namespace", "v1", "namespaces", false},
    // Owners of pods.
    {"Job", "batch/v1", "jobs", false},
    {"CronJob", "batch/v1", "cronjobs", false},
    {"ReplicaSet", "apps/v1", "replicasets", false},
    {"Deployment", "apps/v1", "deployments", false},
    {"StatefulSet", "apps/v1", "statefulsets", false},
    {"JobSet", "jobset.x-k8s.io/v1alpha2", "jobsets", false},
    {"LeaderWorkerSet", "leaderworkerset.x-k8s.io/v1", "leaderworkersets", false},
    {"PyTorchJob", "kubeflow.org/v1", "pytorchjobs", false},
    {"TFJob", "kubeflow.org/v1", "tfjobs", false},
    {"XGBoostJob", "kubeflow.org/v1", "xgboostjobs", false},
    {"JAXJob", "kubeflow.org/v1", "jaxjobs", false},
    {"MPIJob", "kubeflow.org/v2beta1", "mpijobs", false},
    {"Notebook", "kubeflow.org/v1", "notebooks", false},
    {"TrainJob", "trainer.kubeflow.org/v1alpha1", "trainjobs", false},
    {"RayCluster", "ray.io/v1", "rayclusters", false},
    {"RayJob", "ray.io/v1", "rayjobs", false},
    {"RayService", "ray.io/v1", "rayservices", false},
    {"SparkApplication", "sparkoperator.k8s.io/v1beta2", "sparkapplications", false},
    {"FlinkDeployment", "flink.apache.org/v1beta1", "flinkdeployments", false},
    {"Workflow", "argoproj.io/v1alpha1", "workflows", false},
    {"Service", "serving.knative.dev/v1", "services", false},
    {"Configuration", "serving.knative.dev/v1", "configurations", false},
    {"Revision", "serving.knative.dev/v1", "revisions", false},
    {"PodCliqueSet", "grove.io/v1alpha1", "podcliquesets", false},
    {"PodClique", "grove.io/v1alpha1", "podcliques", false},
    {"PodCliqueScalingGroup", "grove.io/v1alpha1", "podcliquescalinggroups", false},
    {"PodGang", "scheduler.grove.io/v1alpha1", "podgangs", false},
    {"Workload", "scheduling.k8s.io/v1alpha1", "workloads", false},
    {"PodGroup", "scheduling.k8s.io/v1alpha2", "podgroups", false},
    {"RunaiJob", "run.ai/v1", "runaijobs", false},
    {"AmlJob", "amlarc.azureml.com/v1alpha1", "amljobs", false},
    {"SPOTRequest", "egx.nvidia.io/v1", "spotrequests", false},
    {"DynamoGraphDeployment", "nvidia.com/v1alpha1", "dynamographdeployments", false},
    {"Job", "batch.volcano.sh/v1alpha1", "jobs", false},
    // What Volcano says of queues, gangs and networks.
    {"Queue", "scheduling.volcano.sh/v1beta1", "queues", false},
    {"PodGroup", "scheduling.volcano.sh/v1beta1", "podgroups", false},
    {"HyperNode", "topology.volcano.sh/v1alpha1", "hypernodes", false},
    // What groups of such kinds have by default.
    {"Config", "kai.scheduler/v1", "configs", false},
    // Where volumes of pods are.
    {"StorageClass", "storage.k8s.io/v1", "storageclasses", false},
    {"PersistentVolume", "v1", "persistentvolumes", false},
    {"PersistentVolumeClaim", "v1", "persistentvolumeclaims", false},
    {"CSINode", "storage.k8s.io/v1", "csinodes", false},
    // Devices that drivers offer, and who has which.
    {"DeviceClass", "resource.k8s.io/v1", "deviceclasses", false},
    {"ResourceSlice", "resource.k8s.io/v1", "resourceslices", false},
    {"ResourceClaimTemplate", "resource.k8s.io/v1", "resourceclaimtemplates", false},
    {"ResourceClaim", "resource.k8s.io/v1", "resourceclaims", false},
    // How many pods that belong together may leave at once.
    {"PodDisruptionBudget", "policy/v1", "poddisruptionbudgets", false},
    {"BindRequest", "scheduling.run.ai/v1alpha2", "bindrequests", false},
    {"Pod", "v1", "pods", true},
}};

}  // namespace

std::string_view resource::group() const {
  const std::size_t slash = version.find('/');
  return slash == std::string_view::npos ? std::string_view{} : version.substr(0, slash);
}

std::string resource::key() const { return group().empty() ? std::string(kind) : fmt::format("{}/{}", group(), kind); }

std::span<const resource> watched_resources() { return watched; }

std::string collection(const resource& of) { return place(of, {}, {}); }

std::string place(const resource& of, std::string_view name_space, std::string_view name) {
  std::string target = fmt::format("/{}/{}", of.version == "v1" ? "api" : "apis", of.version);
  if (!name_space.empty()) target += fmt::format("/namespaces/{}", encoded(name_space));
  target += fmt::format("/{}", of.plural);
  if (!name.empty()) target += fmt::format("/{}", encoded(name));
  return target;
}

std::pair<std::string, std::string> split_name(const std::string& name) {
  const std::size_t slash = name.find('/');
  if (slash == std::string::npos) return {{}, name};
  return {name.substr(0, slash), name.substr(slash + 1)};
}

std::string place_of(std::string_view key, const std::string& name, std::string_view part) {
  const auto [name_space, own] = split_name(name);
  std::string target = place(resource_of(key), name_space, own);
  if (!part.empty()) target += fmt::format("/{}", part);
  return target;
}

const resource& resource_of(std::string_view key) {
  const auto* const found =
      std::find_if(watched.begin(), watched.end(), [&](const resource& one) { return one.key() == key; });
  if (found == watched.end()) throw std::logic_error(fmt::format("no such kind: {}", key));
  return *found;
}

}  // namespace shim
