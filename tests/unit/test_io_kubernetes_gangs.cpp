// Groups that pods get by the kinds of their owners: kinds with roles, and owners that hand on what is below them.
#include <initializer_list>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "grouped_text.hpp"

namespace of_test_io_kubernetes_gangs {

using namespace grouping_test;

namespace {

void add_tree(grouped& text) {
  text.cluster_object("kai.scheduler/v1alpha1", "Topology", "tree", R"(, "spec": {"levels": [{"nodeLabel": "rack"}]})");
}

std::string replica_label(std::string_view role, int index) {
  return R"("training.kubeflow.org/replica-type": ")" + std::string(role) +
         R"(", "training.kubeflow.org/replica-index": ")" + std::to_string(index) + "\"";
}

grouped torch_job(std::string_view spec, std::string_view metadata = "") {
  grouped text;
  text.object("kubeflow.org/v1", "PyTorchJob", "job", R"(, "spec": {)" + std::string(spec) + "}", metadata);
  add_tree(text);
  text.pod("job-master-0", "kubeflow.org/v1 PyTorchJob job", replica_label("master", 0));
  for (int i = 0; i < 5; ++i) {
    text.pod("job-worker-" + std::to_string(i), "kubeflow.org/v1 PyTorchJob job", replica_label("worker", i));
  }
  return text;
}

grouped ray_cluster(std::string_view groups) {
  grouped text;
  text.object("ray.io/v1", "RayCluster", "ray",
              R"(, "spec": {"headGroupSpec": {}, "workerGroupSpecs": [)" + std::string(groups) + "]}")
      .pod("ray-head", "ray.io/v1 RayCluster ray", R"("ray.io/group": "headgroup", "ray.io/node-type": "head")")
      .pod("ray-gpu", "ray.io/v1 RayCluster ray", R"("ray.io/group": "gpu")")
      .pod("ray-odd", "ray.io/v1 RayCluster ray", R"("ray.io/group": "odd")");
  return text;
}

grouped job_set(std::string_view spec, std::string_view metadata = "") {
  const auto labels = [](std::string_view job, int index) {
    return R"("jobset.sigs.k8s.io/replicatedjob-name": ")" + std::string(job) +
           R"(", "jobset.sigs.k8s.io/job-index": ")" + std::to_string(index) + "\"";
  };
  grouped text;
  text.object("jobset.x-k8s.io/v1alpha2", "JobSet", "set", R"(, "spec": {)" + std::string(spec) + "}", metadata)
      .object("batch/v1", "Job", "set-w-1", "", grouped::owned_by("jobset.x-k8s.io/v1alpha2 JobSet set"))
      .pod("set-w-1-0", "batch/v1 Job set-w-1", labels("w", 1))
      .pod("set-w-1-9", "batch/v1 Job set-w-1", labels("w", 9))
      .pod("set-w-1-x", "batch/v1 Job set-w-1");
  return text;
}

grouped leader_worker_set(std::string_view spec, int size, std::string_view leader_spec = "") {
  const auto labels = [](int index) {
    return R"("leaderworkerset.sigs.k8s.io/group-index": "3", "leaderworkerset.sigs.k8s.io/worker-index": ")" +
           std::to_string(index) + "\"";
  };
  const std::string api = "leaderworkerset.x-k8s.io/v1 LeaderWorkerSet set";
  grouped text;
  text.object("leaderworkerset.x-k8s.io/v1", "LeaderWorkerSet", "set", R"(, "spec": {)" + std::string(spec) + "}")
      .object("apps/v1", "StatefulSet", "set", "", grouped::owned_by(api))
      .pod("set-3", "apps/v1 StatefulSet set", labels(0), "", leader_spec)
      .object("apps/v1", "StatefulSet", "set-3", "", grouped::owned_by("v1 Pod set-3"));
  for (int i = 1; i < size; ++i) text.pod("set-3-" + std::to_string(i), "apps/v1 StatefulSet set-3", labels(i));
  return text;
}

}  // namespace

TEST_CASE("grouping: masters and workers of PyTorch") {
  const std::string roles = R"("pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 5}})";
  const std::string group = "pg-job-u-job";
  const grouped text = torch_job(roles);
  CHECK(text.group(group) == row_of(group));
  CHECK(text.sub_group(group, "master") == sub_row(group, "master", R"(, "min_member": 1)"));
  CHECK(text.sub_group(group, "worker") == sub_row(group, "worker", R"(, "min_member": 5)"));
  CHECK(text.of_pod("job-master-0", "sub_group") == "master");
  CHECK(text.of_pod("job-worker-4", "sub_group") == "worker");
  // Elastic jobs start with fewer; the policy counts before that.
  const std::string elastic = roles + R"(, "elasticPolicy": {"minReplicas": 3})";
  CHECK(holds(torch_job(elastic).sub_group(group, "worker"), R"("min_member": 2)"));
  CHECK(holds(
      torch_job(elastic + R"(, "runPolicy": {"schedulingPolicy": {"minAvailable": 5}})").sub_group(group, "worker"),
      R"("min_member": 4)"));
}

TEST_CASE("grouping: segments of workers of PyTorch") {
  const auto job = [](std::string_view size, std::string_view more = "") {
    return torch_job(R"("pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 5, "template":
        {"metadata": {"annotations": {"kai.scheduler/segment-size": ")" +
                         std::string(size) + R"(", "kai.scheduler/segment-topology-required-placement": "rack"}}}}})" +
                         std::string(more),
                     R"(, "annotations": {"kai.scheduler/topology": "tree"})");
  };
  const std::string group = "pg-job-u-job";
  const grouped text = job("2");
  CHECK(text.sub_group(group, "worker") == sub_row(group, "worker", R"(, "min_sub_group": 3)"));
  CHECK(holds(
      text.tables(),
      R"("name": "worker-0", "parent": "worker", "min_member": 2, "topology": "tree", "required_level": "rack")"));
  CHECK(holds(text.tables(), R"("name": "worker-2", "parent": "worker", "min_member": 1,)"));
  CHECK(text.of_pod("job-worker-1", "sub_group") == "worker-0");
  CHECK(text.of_pod("job-worker-4", "sub_group") == "worker-2");
  // Segments beyond what the gang needs may follow.
  const grouped fewer = job("2", R"(, "runPolicy": {"schedulingPolicy": {"minAvailable": 4}})");
  CHECK(holds(fewer.tables(), R"("name": "worker-1", "parent": "worker", "min_member": 2,)"));
  CHECK(holds(fewer.tables(), R"("name": "worker-2", "parent": "worker", "topology")"));
  CHECK(
      job("0").fault() ==
      R"(c.json:2: PyTorchJob team/job: spec.pytorchReplicaSpecs.Worker.template.metadata.annotations["kai.scheduler/segment-size"]: expected a whole number from 1 to 2147483647, found "0")");
}

TEST_CASE("grouping: groups of Ray") {
  const std::string group = "pg-ray-u-ray";
  const grouped text = ray_cluster(R"({"groupName": "gpu", "replicas": 4, "minReplicas": 2, "numOfHosts": 3},
      {"replicas": 1}, {"groupName": "odd", "replicas": 2, "suspended": true}, {"groupName": "none", "replicas": 0})");
  CHECK(text.group(group) == row_of(group));
  CHECK(text.sub_group(group, "headgroup") == sub_row(group, "headgroup", R"(, "min_member": 1)"));
  CHECK(text.sub_group(group, "gpu") == sub_row(group, "gpu", R"(, "min_member": 6)"));
  CHECK(text.sub_group(group, "worker-group-1") == sub_row(group, "worker-group-1", R"(, "min_member": 1)"));
  CHECK(text.sub_group(group, "odd") == "(no row)");
  CHECK(text.of_pod("ray-gpu", "sub_group") == "gpu");
  CHECK(text.of_pod("ray-odd", "sub_group") == "default");  // which is not there: it is no part of the gang
  CHECK(text.of_pod("ray-odd", "group") == "team/" + group);
  CHECK(ray_cluster(R"({"replicas": 1, "minReplicas": 2})").fault() ==
        "c.json:1: RayCluster team/ray: spec.workerGroupSpecs[0].minReplicas: 2 are more than the 1 replicas");
  CHECK(ray_cluster(R"({"groupName": "a", "replicas": 1}, {"groupName": "a", "replicas": 1})").fault() ==
        "c.json:1: RayCluster team/ray: spec.workerGroupSpecs[1]: there are two groups 'a'");
}

TEST_CASE("grouping: jobs and services of Ray have the shape of their cluster") {
  const auto text_of = [](std::string_view kind, std::string_view status, std::string_view cluster) {
    grouped text;
    text.object("ray.io/v1", kind, "top", R"(, "status": {)" + std::string(status) + "}",
                R"(, "labels": {"ray.io/priority-class-name": "inference"})")
        .object("ray.io/v1", "RayCluster", cluster,
                R"(, "spec": {"workerGroupSpecs": [{"groupName": "gpu", "replicas": 2}]})")
        .pod("w", "ray.io/v1 " + std::string(kind) + " top", R"("ray.io/group": "gpu")");
    return text;
  };
  for (const auto& [kind, status] : {std::pair{"RayJob", R"("rayClusterName": "c")"},
                                     std::pair{"RayService", R"("activeServiceStatus": {"rayClusterName": "c"})"},
                                     std::pair{"RayService", R"("pendingServiceStatus": {"rayClusterName": "c"})"}}) {
    const grouped text = text_of(kind, status, "c");
    CHECK(text.of_pod("w", "sub_group") == "gpu");
    CHECK(holds(text.group("pg-top-u-top"), R"("priority": 125)"));
    CHECK(text.sub_group("pg-top-u-top", "gpu") == sub_row("pg-top-u-top", "gpu", R"(, "min_member": 2)"));
  }
  CHECK(text_of("RayJob", "", "c").of_pod("w", "obstacle") == "RayJob team/top has no RayCluster among the objects");
}

TEST_CASE("grouping: job sets have a sub-group for each of their jobs") {
  const std::string jobs = R"("replicatedJobs": [{"name": "l"}, {"name": "w", "replicas": 2,
      "template": {"spec": {"parallelism": 4}}}])";
  const std::string group = "pg-set-u-set";
  const grouped text = job_set(jobs);
  CHECK(text.group(group) ==
        R"({"name": "team/pg-set-u-set", "queue": "default-queue", "min_sub_group": 2, "namespace": "team"})");
  CHECK(text.sub_group(group, "w") == sub_row(group, "w", R"(, "min_sub_group": 2)"));
  CHECK(text.sub_group(group, "w-replica-1") == sub_row(group, "w-replica-1", R"(, "parent": "w", "min_member": 4)"));
  CHECK(text.sub_group(group, "l-replica-0") == sub_row(group, "l-replica-0", R"(, "parent": "l", "min_member": 1)"));
  CHECK(text.of_pod("set-w-1-0", "sub_group") == "w-replica-1");
  CHECK(text.of_pod("set-w-1-9", "obstacle") == "JobSet set has no sub-group w-replica-9");
  CHECK(text.of_pod("set-w-1-x", "obstacle") == "label jobset.sigs.k8s.io/replicatedjob-name is missing");
  CHECK(text.of_pod("set-w-1-x", "group") == "team/pg-set-w-1-x-u-set-w-1-x");
  CHECK(holds(job_set(jobs + R"(, "startupPolicy": {"startupPolicyOrder": "InOrder"})").group(group),
              R"("min_sub_group": 1)"));
  CHECK(holds(job_set(jobs, R"(, "annotations": {"kai.scheduler/batch-min-member": "1"})").group(group),
              R"("min_sub_group": 1)"));
  CHECK(job_set("").fault() == "c.json:1: JobSet team/set: spec.replicatedJobs: a job set needs at least one");
  CHECK(job_set(R"("replicatedJobs": [{"name": "w", "replicas": 10000}])").fault() ==
        "c.json:1: JobSet team/set: spec.replicatedJobs[0].replicas: expected 0 to 9999, found 10000");
  CHECK(job_set(R"("replicatedJobs": [{}])").fault() ==
        "c.json:1: JobSet team/set: spec.replicatedJobs[0].name: the name is missing");
}

TEST_CASE("grouping: leaders and workers") {
  const std::string group = "pg-set-u-set-group-3";
  const grouped text = leader_worker_set(R"("leaderWorkerTemplate": {"size": 4})", 4);
  CHECK(text.group(group) == row_of(group));
  CHECK(text.sub_group(group, "leader") == sub_row(group, "leader", R"(, "min_member": 1)"));
  CHECK(text.sub_group(group, "workers") == sub_row(group, "workers", R"(, "min_member": 3)"));
  CHECK(text.of_pod("set-3", "sub_group") == "leader");
  CHECK(text.of_pod("set-3-3", "sub_group") == "workers");
  // Where workers come once the leader is ready, it starts alone.
  const std::string ready = R"("startupPolicy": "LeaderReady", "leaderWorkerTemplate": {"size": 4})";
  CHECK(leader_worker_set(ready, 1).sub_group(group, "workers") == "(no row)");
  CHECK(holds(leader_worker_set(ready, 4, R"(, "nodeName": "n")").sub_group(group, "workers"), R"("min_member": 3)"));
  CHECK(leader_worker_set(R"("leaderWorkerTemplate": {})", 1).fault() ==
        "c.json:1: LeaderWorkerSet team/set: spec.leaderWorkerTemplate.size: the size is missing");
}

TEST_CASE("grouping: segments of leaders and workers") {
  const std::string group = "pg-set-u-set-group-3";
  const auto text_of = [](int size, int segment, std::string_view type) {
    return leader_worker_set(R"("leaderWorkerTemplate": {"size": )" + std::to_string(size) +
                                 R"(, "subGroupPolicy": {"subGroupSize": )" + std::to_string(segment) +
                                 R"(, "subGroupPolicyType": ")" + std::string(type) + "\"}}",
                             size);
  };
  // Six workers in segments of two: the leader is one more in the first.
  const grouped extra = text_of(7, 2, "LeaderWorker");
  CHECK(extra.sub_group(group, "segment-0") == sub_row(group, "segment-0", R"(, "min_sub_group": 2)"));
  CHECK(extra.sub_group(group, "leader") == sub_row(group, "leader", R"(, "parent": "segment-0", "min_member": 1)"));
  CHECK(extra.sub_group(group, "workers") == sub_row(group, "workers", R"(, "parent": "segment-0", "min_member": 2)"));
  CHECK(extra.sub_group(group, "segment-2") == sub_row(group, "segment-2", R"(, "min_member": 2)"));
  CHECK(extra.of_pod("set-3-2", "sub_group") == "workers");
  CHECK(extra.of_pod("set-3-3", "sub_group") == "segment-1");
  // Six pods in segments of four: the leader is one of the first, the last segment is smaller.
  const grouped among = text_of(6, 4, "LeaderWorker");
  CHECK(among.sub_group(group, "workers") == sub_row(group, "workers", R"(, "parent": "segment-0", "min_member": 3)"));
  CHECK(among.sub_group(group, "segment-1") == sub_row(group, "segment-1", R"(, "min_member": 2)"));
  CHECK(among.of_pod("set-3-3", "sub_group") == "workers");
  CHECK(among.of_pod("set-3-4", "sub_group") == "segment-1");
  const grouped apart = text_of(5, 2, "LeaderExcluded");
  CHECK(apart.sub_group(group, "leader") == sub_row(group, "leader", R"(, "min_member": 1)"));
  CHECK(apart.sub_group(group, "segment-1") == sub_row(group, "segment-1", R"(, "min_member": 2)"));
  CHECK(apart.of_pod("set-3-1", "sub_group") == "segment-0");
  CHECK(
      text_of(6, 4, "LeaderExcluded").fault() ==
      "c.json:1: LeaderWorkerSet team/set: spec.leaderWorkerTemplate: LeaderExcluded needs segments that divide the 5 "
      "workers");
  CHECK(text_of(3, 4, "LeaderWorker").fault() ==
        "c.json:1: LeaderWorkerSet team/set: spec.leaderWorkerTemplate: a segment of 4 pods is larger than the replica "
        "of 3");
}

TEST_CASE("grouping: revisions of Knative") {
  const auto text_of = [](std::string_view gang) {
    grouped text;
    if (!gang.empty()) {
      text.object("kai.scheduler/v1", "Config", "kai-config",
                  R"(, "spec": {"podGrouper": {"args": {"gangScheduleKnative": )" + std::string(gang) + "}}}");
    }
    text.object("serving.knative.dev/v1", "Revision", "rev", "",
                grouped::owned_by("serving.knative.dev/v1 Configuration web") +
                    R"(, "annotations": {"autoscaling.knative.dev/min-scale": "3"})")
        .object("serving.knative.dev/v1", "Configuration", "web", "",
                grouped::owned_by("serving.knative.dev/v1 Service web"))
        .object("apps/v1", "Deployment", "rev-d", "", grouped::owned_by("serving.knative.dev/v1 Revision rev"))
        .pod("a", "apps/v1 Deployment rev-d", R"("serving.knative.dev/revision": "rev")")
        .pod("b", "apps/v1 Deployment rev-d", R"("serving.knative.dev/revision": "gone")");
    return text;
  };
  const std::string inference = R"(, "priority": 125, "preemptible": false)";
  CHECK(text_of("").group("pg-rev-u-rev") == row_of("pg-rev-u-rev", inference + R"(, "min_member": 3)"));
  CHECK(text_of("").of_pod("b", "obstacle") == "its Revision gone is not among the objects");
  CHECK(text_of("false").group("pg-a-u-a") == row_of("pg-a-u-a", inference));
}

TEST_CASE("grouping: jobs of Volcano") {
  const auto text_of = [](std::string_view spec) {
    grouped text;
    text.object("batch.volcano.sh/v1alpha1", "Job", "job", R"(, "spec": {)" + std::string(spec) + "}")
        .pod("job-ps-0", "batch.volcano.sh/v1alpha1 Job job", R"("volcano.sh/task-spec": "ps")");
    return text;
  };
  const std::string tasks =
      R"("queue": "batch", "tasks": [{"name": "ps", "replicas": 2}, {"name": "worker", "replicas": 4,
      "minAvailable": 3}])";
  const std::string group = "pg-job-u-job";
  const std::string row = R"({"name": "team/pg-job-u-job", "queue": "batch", )";
  CHECK(text_of(tasks).group(group) == row + R"("namespace": "team"})");
  CHECK(text_of(tasks).sub_group(group, "worker") == sub_row(group, "worker", R"(, "min_member": 3)"));
  CHECK(text_of(tasks).of_pod("job-ps-0", "sub_group") == "ps");
  // Any four of them.
  CHECK(text_of(tasks + R"(, "minAvailable": 4)").group(group) == row + R"("min_member": 4, "namespace": "team"})");
  CHECK(text_of(tasks + R"(, "minAvailable": 4)").of_pod("job-ps-0", "sub_group").empty());
  CHECK(text_of(R"("tasks": [{"name": "ps", "replicas": 2, "minAvailable": 3}])").fault() ==
        "c.json:1: Job team/job: spec.tasks[0].minAvailable: expected 0 to 2, found 3");
}

TEST_CASE("HyperNodes of Volcano become a topology, and their jobs ask for its levels") {
  const auto text_of = [](std::string_view asked, std::string_view more = "") {
    grouped text;
    for (const std::string_view name : {"a-1", "a-2", "b-1", "c-1", "x"})
      text.cluster_object("v1", "Node", name, "", std::string(R"(, "labels": {"rack": ")") + name.front() + R"("})");
    const auto tree = [&](std::string_view name, std::string_view spec) {
      text.cluster_object("topology.volcano.sh/v1alpha1", "HyperNode", name,
                          R"(, "spec": {)" + std::string(spec) + "}");
    };
    tree("sa", R"("tier": 1, "members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "^a-[0-9]+$"}}}])");
    tree("sb", R"("tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "b-1"}}},
               {"type": "Node", "selector": {"exactMatch": {"name": "gone"}}}])");
    tree("top", R"("tier": 4, "tierName": "hall", "members": [
               {"type": "HyperNode", "selector": {"regexMatch": {"pattern": "s[a-z]"}}},
               {"type": "Node", "selector": {"labelMatch": {"matchLabels": {"rack": "c"}}}}])");
    if (!more.empty()) tree("wrong", more);
    text.object("batch.volcano.sh/v1alpha1", "Job", "job",
                R"(, "spec": {"tasks": [{"name": "w"}], "networkTopology": {)" + std::string(asked) + "}}")
        .pod("job-w-0", "batch.volcano.sh/v1alpha1 Job job");
    return text;
  };
  const grouped hard = text_of(R"("mode": "hard", "highestTierAllowed": 3)");
  const std::string tree = R"("topology": "volcano.sh/hypernodes", )";
  CHECK(hard.fault() == "(no fault)");
  CHECK(hard.row(R"("name": "volcano.sh/hypernodes")") ==
        R"({"name": "volcano.sh/hypernodes", "levels": ["topology.volcano.sh/tier-4", "topology.volcano.sh/tier-1"]})");
  const auto labels = [&](std::string_view node) {
    const std::string at = hard.row(R"("name": ")" + std::string(node) + "\"");
    const std::size_t begin = at.find(R"("topology.volcano.sh/tier-1")");
    return begin == std::string::npos ? std::string() : at.substr(begin, at.find('}', begin) - begin);
  };
  CHECK(labels("a-1") == R"("topology.volcano.sh/tier-1": "sa", "topology.volcano.sh/tier-4": "top")");
  CHECK(labels("b-1") == R"("topology.volcano.sh/tier-1": "sb", "topology.volcano.sh/tier-4": "top")");
  CHECK(labels("c-1") == R"("topology.volcano.sh/tier-1": "node:c-1", "topology.volcano.sh/tier-4": "top")");
  CHECK(labels("x").empty());
  const std::string group = "pg-job-u-job";
  CHECK(holds(hard.group(group), tree + R"("required_level": "topology.volcano.sh/tier-1")"));
  CHECK(holds(text_of(R"("highestTierName": "hall")").group(group),
              tree + R"("required_level": "topology.volcano.sh/tier-4")"));
  for (const std::string_view near : {R"("mode": "soft")", R"("mode": "hard", "highestTierAllowed": 5)"})
    CHECK(holds(text_of(near).group(group), tree + R"("preferred_level": "topology.volcano.sh/tier-1")"));
  CHECK_FALSE(holds(text_of(R"("mode": "hard")").group(group), "topology"));
  CHECK(text_of(R"("highestTierAllowed": 0)").of_pod("job-w-0", "obstacle") == "no HyperNode is of tier 0 or below");
  CHECK(text_of(R"("highestTierName": "row")").of_pod("job-w-0", "obstacle") == "no HyperNode is of tier 'row'");
  CHECK(holds(text_of(R"("mode": "any")").fault(), "spec.networkTopology.mode: expected hard or soft"));

  // One that does not fit into the tree is left out.
  struct wrong {
    std::string_view spec, fault;
  };
  for (const wrong& one : std::initializer_list<wrong>{
           {R"("members": [])", "spec.tier: expected a number from 0 on"},
           {R"("tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "a-2"}}}])",
            "spec.members: node 'a-2' is in HyperNode 'sa', which is no member"},
           {R"("tier": 5, "members": [{"type": "HyperNode", "selector": {"exactMatch": {"name": "sa"}}}])",
            "spec.members[0]: HyperNode 'sa' is in 'top' already"},
           {R"("tier": 4, "members": [{"type": "HyperNode", "selector": {"exactMatch": {"name": "top"}}}])",
            "spec.members[0]: HyperNode 'top' is of tier 4, which is not below 4"},
           {R"("tier": 2, "members": [{"type": "Node", "selector": {"regexMatch": {"pattern": "("}}}])",
            "spec.members[0].selector.regexMatch.pattern: expected a regular expression"},
           {R"("tier": 2, "members": [{"type": "Rack", "selector": {"exactMatch": {"name": "x"}}}])",
            "spec.members[0].type: expected Node or HyperNode"},
           {R"("tier": 2, "members": [{"type": "Node"}])",
            "spec.members[0].selector: expected exactMatch, regexMatch or labelMatch"}}) {
    const grouped text = text_of(R"("mode": "soft")", one.spec);
    CHECK(holds(text.fault(), one.fault));
    CHECK(holds(text.fault(), "HyperNode wrong"));
    CHECK(text.row(R"("name": "volcano.sh/hypernodes")") == hard.row(R"("name": "volcano.sh/hypernodes")"));
  }
}

TEST_CASE("grouping: roles that should be together, on jobs of Volcano and on pod groups") {
  const std::string_view said = R"(, "annotations": {"volcano.sh/task-topology-affinity": "ps,worker",
      "volcano.sh/task-topology-anti-affinity": "ps", "volcano.sh/task-topology-task-order": "worker,ps"})";
  const auto text_of = [&](std::string_view least) {
    grouped text;
    text.object("batch.volcano.sh/v1alpha1", "Job", "job",
                R"(, "spec": {"tasks": [{"name": "ps"}, {"name": "worker", "replicas": 4}])" + std::string(least) + "}",
                said)
        .pod("job-ps-0", "batch.volcano.sh/v1alpha1 Job job", R"("volcano.sh/task-spec": "ps")")
        .pod("alone", "v1 ReplicaSet other", R"("volcano.sh/task-spec": "ps")");
    return text;
  };
  const std::string of_group =
      R"("volcano.sh/task-topology-affinity=ps,worker", "volcano.sh/task-topology-anti-affinity=ps", )"
      R"("volcano.sh/task-topology-task-order=worker,ps")";
  const std::string pod = R"("name": "team/job-ps-0")";
  CHECK(holds(text_of("").row(pod), R"("annotations": [)" + of_group + "]"));
  CHECK(text_of("").of_pod("job-ps-0", "sub_group") == "ps");
  // Without sub-groups the pod says which role it has.
  CHECK(holds(text_of(R"(, "minAvailable": 2)").row(pod),
              R"("annotations": [)" + of_group + R"(, "volcano.sh/task-spec=ps"])"));
  CHECK_FALSE(holds(text_of("").row(R"("name": "team/alone")"), "annotations"));
  grouped known;
  known
      .object("scheduling.run.ai/v2alpha2", "PodGroup", "pair",
              R"(, "spec": {"queue": "a", "subGroups": [{"name": "ps", "minMember": 1}]})", said)
      .pod("one", "v1 ReplicaSet any", R"("kai.scheduler/subgroup-name": "ps")", R"("pod-group-name": "pair")");
  CHECK(holds(known.row(R"("name": "team/one")"), R"("annotations": [)" + of_group + "]"));
}

TEST_CASE("grouping: gangs of Grove") {
  grouped text;
  text.object("grove.io/v1alpha1", "PodCliqueSet", "set", "", R"(, "labels": {"kai.scheduler/queue": "a"})")
      .object("grove.io/v1alpha1", "PodClique", "set-0-p", "", grouped::owned_by("grove.io/v1alpha1 PodCliqueSet set"))
      .object(
          "scheduler.grove.io/v1alpha1", "PodGang", "set-0",
          R"(, "spec": {"priorityClassName": "build", "topologyConstraint": {"packConstraint": {"required": "rack"}},
          "topologyConstraintGroupConfigs": [{"name": "both", "podGroupNames": ["p", "d"]}],
          "podgroups": [{"name": "p", "minReplicas": 2, "podReferences": [{"namespace": "team", "name": "set-0-p-0"}]},
                        {"name": "d", "minReplicas": 1, "podReferences": []}]})",
          R"(, "annotations": {"grove.io/topology-name": "tree"})")
      .pod("set-0-p-0", "grove.io/v1alpha1 PodClique set-0-p", R"("grove.io/podgang": "set-0")")
      .pod("set-9-p-0", "grove.io/v1alpha1 PodClique set-0-p", R"("grove.io/podgang": "set-9")");
  add_tree(text);
  const std::string group = "pg-set-0-u-set-0";
  const std::string row = text.group(group);
  CHECK(holds(row, R"("queue": "a", "priority": 100)"));
  CHECK(holds(row, R"("topology": "tree", "required_level": "rack")"));
  CHECK(text.sub_group(group, "both") == sub_row(group, "both", R"(, "min_sub_group": 2)"));
  CHECK(text.sub_group(group, "p") == sub_row(group, "p", R"(, "parent": "both", "min_member": 2)"));
  CHECK(text.of_pod("set-0-p-0", "sub_group") == "p");
  CHECK(text.of_pod("set-9-p-0", "obstacle") == "its PodGang set-9 is not among the objects");
}

TEST_CASE("grouping: owners that hand on what is below them") {
  grouped text;
  text.object("argoproj.io/v1alpha1", "Workflow", "flow", "",
              R"(, "labels": {"kai.scheduler/queue": "a", "priorityClassName": "build"})")
      .pod("step", "argoproj.io/v1alpha1 Workflow flow")
      .object("kubeflow.org/v1", "TFJob", "job", R"(, "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})",
              grouped::owned_by("argoproj.io/v1alpha1 Workflow flow") + R"(, "labels": {"kai.scheduler/queue": "b"})")
      .pod("job-worker-0", "kubeflow.org/v1 TFJob job")
      .object("trainer.kubeflow.org/v1alpha1", "TrainJob", "fit", "", R"(, "labels": {"user": "kim"})")
      .object("jobset.x-k8s.io/v1alpha2", "JobSet", "fit", R"(, "spec": {"replicatedJobs": [{"name": "node"}]})",
              grouped::owned_by("trainer.kubeflow.org/v1alpha1 TrainJob fit"))
      .object("batch/v1", "Job", "fit-node-0", "", grouped::owned_by("jobset.x-k8s.io/v1alpha2 JobSet fit"))
      .pod("fit-node-0-0", "batch/v1 Job fit-node-0",
           R"("jobset.sigs.k8s.io/replicatedjob-name": "node", "jobset.sigs.k8s.io/job-index": "0")");
  CHECK(holds(text.group("pg-step-u-step"), R"("queue": "a", "priority": 100)"));
  CHECK(holds(text.group("pg-job-u-job"), R"("queue": "b", "priority": 100)"));
  CHECK(holds(text.group("pg-job-u-job"), R"("min_member": 2)"));
  CHECK(holds(text.group("pg-fit-u-fit"), R"("user": "kim")"));
  CHECK(text.of_pod("fit-node-0-0", "sub_group") == "node-replica-0");
}

TEST_CASE("grouping: workloads and pod groups of Kubernetes") {
  grouped text;
  const std::string_view reference =
      R"(, "workloadRef": {"name": "wl", "podGroup": "workers", "podGroupReplicaKey": "0"})";
  text.object("scheduling.k8s.io/v1alpha1", "Workload", "wl",
              R"(, "spec": {"podGroups": [{"name": "workers", "policy": {"gang": {"minCount": 4}}}]})",
              R"(, "labels": {"kai.scheduler/queue": "a"})")
      .object("scheduling.k8s.io/v1alpha2", "PodGroup", "gang",
              R"(, "spec": {"schedulingPolicy": {"gang": {"minCount": 2}}})")
      .object("batch/v1", "Job", "job", "", R"(, "labels": {"kai.scheduler/queue": "b", "user": "kim"})")
      .pod("a", "batch/v1 Job job", "", "", reference)
      .pod("b", "batch/v1 Job job", "", R"("kai.scheduler/ignore-workload-api": "true")", reference)
      .pod("c", "", "", "", R"(, "workloadRef": {"name": "wl", "podGroup": "none"})")
      .pod("d", "", "", "", R"(, "workloadRef": {"name": "gone", "podGroup": "workers"})")
      .pod("e", "", "", "", R"(, "schedulingGroup": {"podGroupName": "gang"})");
  const std::string row = text.group("wl-workers-0");
  CHECK(holds(row, R"("queue": "a")"));
  CHECK(holds(row, R"("min_member": 4)"));
  CHECK(holds(row, R"("user": "kim")"));
  CHECK(text.of_pod("b", "group") == "team/pg-job-u-job");
  CHECK(text.of_pod("c", "obstacle") == "its Workload wl has no pod group 'none'");
  CHECK(text.of_pod("d", "obstacle") == "its Workload gone is not among the objects");
  CHECK(text.group("gang") == row_of("gang", R"(, "min_member": 2)"));
}

TEST_CASE("grouping: a pod group that is there has the pod, whatever its annotation does not say yet") {
  grouped text;
  text.object("scheduling.run.ai/v2alpha2", "PodGroup", "pg-job-u-job",
              R"(, "spec": {"queue": "q", "subGroups": [{"name": "worker", "minMember": 1}]})")
      .object("kubeflow.org/v1", "PyTorchJob", "job",
              R"(, "spec": {"pytorchReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 5}}})")
      .pod("job-worker-0", "kubeflow.org/v1 PyTorchJob job", replica_label("worker", 0))
      .pod("job-master-0", "kubeflow.org/v1 PyTorchJob job", replica_label("master", 0));
  CHECK(text.of_pod("job-worker-0", "group") == "team/pg-job-u-job");
  CHECK(text.of_pod("job-worker-0", "sub_group") == "worker");
  CHECK(text.of_pod("job-master-0", "sub_group") == "default");
  CHECK(text.of_pod("job-master-0", "group") == "team/pg-job-u-job");
}

TEST_CASE("grouping: the submitter of a ray job waits as under KAI, or starts when it comes") {
  const auto job = [](std::string_view annotations, std::string_view of_pod = "") {
    grouped text;
    text.object("ray.io/v1", "RayJob", "job", R"(, "status": {"rayClusterName": "ray"})",
                R"(, "annotations": {)" + std::string(annotations) + "}")
        .object("ray.io/v1", "RayCluster", "ray",
                R"(, "spec": {"workerGroupSpecs": [{"groupName": "gpu", "replicas": 2}]})",
                grouped::owned_by("ray.io/v1 RayJob job"))
        .object("batch/v1", "Job", "job-submit", "", grouped::owned_by("ray.io/v1 RayJob job"))
        .pod("ray-head", "ray.io/v1 RayCluster ray", R"("ray.io/group": "headgroup")")
        .pod("submit", "batch/v1 Job job-submit", "", of_pod);
    return text;
  };
  grouped waits = job("");
  CHECK(waits.of_pod("submit", "group") == "team/pg-job-u-job");
  CHECK(waits.of_pod("submit", "sub_group") == "default");
  CHECK(waits.sub_group("pg-job-u-job", "later-members") == "(no row)");
  const std::string row = sub_row("pg-job-u-job", "later-members", "");
  grouped by_owner = job(R"("kaisched.io/later-members": "true")");
  CHECK(by_owner.of_pod("submit", "sub_group") == "later-members");
  CHECK(by_owner.of_pod("ray-head", "sub_group") == "headgroup");
  CHECK(by_owner.sub_group("pg-job-u-job", "later-members") == row);
  CHECK(job("", R"("kaisched.io/later-members": "true")").of_pod("submit", "sub_group") == "later-members");
  CHECK(job(R"("kaisched.io/later-members": "no")").of_pod("submit", "sub_group") == "default");
  CHECK(job("").option("later_members", "true").sub_group("pg-job-u-job", "later-members") == row);
}

TEST_CASE("grouping: later members of pod groups of the text") {
  const auto group = [](std::string_view spec, std::string_view annotations, std::string_view name) {
    grouped text;
    text.object("scheduling.run.ai/v2alpha2", "PodGroup", "g",
                R"(, "spec": {"queue": "q", "subGroups": [{"name": "a", "minMember": 1}])" + std::string(spec) + "}",
                R"(, "annotations": {)" + std::string(annotations) + "}")
        .pod("in", "", R"("kai.scheduler/subgroup-name": "a")", R"("pod-group-name": "g")")
        .pod("late", "", "", R"("pod-group-name": "g")");
    return text.of_pod(name, "sub_group");
  };
  const std::string_view later = R"("kaisched.io/later-members": "true")";
  CHECK(group("", "", "late") == "default");
  CHECK(group("", later, "late") == "later-members");
  CHECK(group("", later, "in") == "a");
  // A sub-group that needs nobody would count as one of those that are needed.
  CHECK(group(R"(, "minSubGroup": 1)", later, "late") == "default");
}

TEST_CASE("grouping: nobody waits for later members, and they do not wait once the others run") {
  const auto bound = [](bool head_runs) {
    const std::string place = head_runs ? R"(, "nodeName": "n")" : "";
    grouped text;
    text.option("later_members", "true")
        .cluster_object("v1", "Node", "n", R"(, "status": {"allocatable": {"cpu": "8", "pods": "10"}})")
        .object("scheduling.run.ai/v2alpha2", "PodGroup", "g",
                R"(, "spec": {"queue": "q", "subGroups": [{"name": "a", "minMember": 1}]})");
    if (!head_runs) text.pod("in", "", R"("kai.scheduler/subgroup-name": "a")", R"("pod-group-name": "g")");
    if (head_runs) {
      text.object("v1", "Pod", "in", R"(, "spec": {"nodeName": "n", "containers": []}, "status": {"phase": "Running"})",
                  R"(, "labels": {"kai.scheduler/subgroup-name": "a"}, "annotations": {"pod-group-name": "g"})")
          .pod("late", "", "", R"("pod-group-name": "g")");
    }
    const io::cluster_input input = text.read();
    result<cluster> made = io::build_cluster(input);
    REQUIRE(made.ok());
    const engine with;
    const result<session> decided = with.run(made->take_snapshot(), input.now);
    REQUIRE(decided.ok());
    std::size_t bindings = 0;
    for (const decision& one : decided->decisions()) bindings += one.kind == decision_kind::bind ? 1U : 0U;
    return bindings;
  };
  CHECK(bound(false) == 1);
  CHECK(bound(true) == 1);
}

}  // namespace of_test_io_kubernetes_gangs
