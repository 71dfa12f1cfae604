// Groups that pods get by the kinds of their owners: common rules, and kinds without roles.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "grouped_text.hpp"

namespace of_test_io_kubernetes_grouping {

using namespace grouping_test;

namespace {

constexpr std::string_view job_role = R"("training.kubeflow.org/job-role": "launcher", )";

}  // namespace

TEST_CASE("grouping: workloads of one pod at least") {
  grouped text;
  text.object("apps/v1", "Deployment", "web")
      .object("apps/v1", "ReplicaSet", "web-1", "", grouped::owned_by("apps/v1 Deployment web"))
      .pod("web-1-a", "apps/v1 ReplicaSet web-1")
      .object("apps/v1", "StatefulSet", "db", "", R"(, "labels": {"kai.scheduler/queue": "data"})")
      .pod("db-0", "apps/v1 StatefulSet db")
      .pod("db-1", "apps/v1 StatefulSet db")
      .object("kubeflow.org/v1beta1", "Notebook", "nb")
      .object("apps/v1", "StatefulSet", "nb", "", grouped::owned_by("kubeflow.org/v1beta1 Notebook nb"))
      .pod("nb-0", "apps/v1 StatefulSet nb")
      .object("batch/v1", "CronJob", "nightly")
      .object("batch/v1", "Job", "nightly-1", "", grouped::owned_by("batch/v1 CronJob nightly"))
      .pod("nightly-1-x", "batch/v1 Job nightly-1")
      .pod("task-0-x", "run.ai/v1 RunaiJob task")
      .object("flink.apache.org/v1beta1", "FlinkDeployment", "flow")
      .object("apps/v1", "Deployment", "flow", "", grouped::owned_by("flink.apache.org/v1beta1 FlinkDeployment flow"))
      .object("apps/v1", "ReplicaSet", "flow-1", "", grouped::owned_by("apps/v1 Deployment flow"))
      .pod("flow-jm", "apps/v1 ReplicaSet flow-1")
      .pod("flow-taskmanager-1-1", "apps/v1 Deployment flow");
  const std::string inference = R"(, "priority": 125, "preemptible": false)";
  CHECK(text.group("pg-web-1-a-u-web-1-a") == row_of("pg-web-1-a-u-web-1-a", inference));
  CHECK(text.of_pod("db-0", "group") == "team/pg-db-u-db");
  CHECK(text.of_pod("db-1", "group") == "team/pg-db-u-db");
  CHECK(holds(text.group("pg-db-u-db"), R"("queue": "data")"));
  CHECK(text.group("pg-nb-u-nb") == row_of("pg-nb-u-nb", R"(, "priority": 100, "preemptible": false)"));
  CHECK(text.of_pod("nightly-1-x", "group") == "team/pg-nightly-1-u-nightly-1");
  CHECK(text.of_pod("task-0-x", "group") == "team/pg-task-0-u-task");
  CHECK(text.of_pod("flow-jm", "group") == "team/pg-flow-u-flow");
  CHECK(text.of_pod("flow-taskmanager-1-1", "group") == "team/pg-flow-u-flow");
  CHECK(text.group("pg-flow-u-flow") == row_of("pg-flow-u-flow"));
}

TEST_CASE("grouping: labels of the nearest owner, then of the pod, then of those above") {
  const auto queue_of = [](std::string_view above, std::string_view near, std::string_view own) {
    grouped text;
    text.object("example.com/v1", "App", "app", "", R"(, "labels": {)" + std::string(above) + "}")
        .object("apps/v1", "StatefulSet", "set", "",
                grouped::owned_by("example.com/v1 App app") + R"(, "labels": {)" + std::string(near) + "}")
        .pod("set-0", "apps/v1 StatefulSet set", own);
    return text.group("pg-app-u-app");
  };
  const std::string_view build = R"("priorityClassName": "build")";
  const std::string_view inference = R"("priorityClassName": "inference")";
  const std::string_view unknown = R"("priorityClassName": "unknown")";
  CHECK(holds(queue_of(build, inference, ""), R"("priority": 125)"));
  CHECK(holds(queue_of(build, "", inference), R"("priority": 125)"));
  CHECK(holds(queue_of(build, unknown, inference), R"("priority": 100)"));
  CHECK(queue_of(unknown, unknown, unknown) == row_of("pg-app-u-app"));
  // The queue is what the top says, else the pod.
  CHECK(
      holds(queue_of(R"("kai.scheduler/queue": "a")", R"("kai.scheduler/queue": "b")", R"("kai.scheduler/queue": "c")"),
            R"("queue": "a")"));
  CHECK(holds(queue_of("", R"("kai.scheduler/queue": "b")", R"("kai.scheduler/queue": "c")"), R"("queue": "c")"));
  const std::string_view word = R"("kai.scheduler/preemptibility": "non-preemptible")";
  CHECK(holds(queue_of(R"("kai.scheduler/preemptibility": "preemptible")", word, ""), R"("preemptible": false)"));
  CHECK(holds(queue_of("", R"("kai.scheduler/preemptibility": "maybe")", word), R"("preemptible": false)"));
}

TEST_CASE("grouping: topology and delays are annotations of the top owner") {
  grouped text;
  text.object("kai.scheduler/v1alpha1", "Topology", "tree",
              R"(, "spec": {"levels": [{"nodeLabel": "zone", "alias": "z"}, {"nodeLabel": "rack"}]})", "")
      .object("apps/v1", "StatefulSet", "set", "",
              R"(, "annotations": {"kai.scheduler/topology": "tree", "kai.scheduler/topology-required-placement": "z",
        "kai.scheduler/topology-preferred-placement": "rack", "kai.scheduler/preemption-delay": "-1s",
        "kai.scheduler/staleness-grace-period": "-1s"})")
      .pod("set-0", "apps/v1 StatefulSet set", "", R"("kai.scheduler/preemption-delay": "2s")");
  const std::string row = text.group("pg-set-u-set");
  CHECK(holds(row, R"("topology": "tree", "required_level": "zone", "preferred_level": "rack")"));
  CHECK(holds(row, R"("preemption_delay": 2000000000)"));
  CHECK(holds(row, R"("staleness_grace": -1000000000)"));
}

TEST_CASE("grouping: defaults of kinds are in the config map that the configuration names") {
  const auto group_with = [](std::string_view types) {
    grouped text;
    text.object("kai.scheduler/v1", "Config", "kai-config",
                R"(, "spec": {"podGrouper": {"args": {"defaultPrioritiesConfigMapName": "kinds",
          "defaultPrioritiesConfigMapNamespace": "team"}}})")
        .object("v1", "ConfigMap", "kinds", R"(, "data": {"types": ")" + std::string(types) + "\"}")
        .pod("web-a", "apps/v1 Deployment web");
    return text.fault() == "(no fault)" ? text.group("pg-web-a-u-web-a") : text.fault();
  };
  CHECK(
      group_with(
          R"([{\"typeName\": \"Deployment\", \"group\": \"apps\", \"priorityName\": \"build\", \"preemptibility\": \"Preemptible\"}])") ==
      row_of("pg-web-a-u-web-a", R"(, "priority": 100)"));
  CHECK(holds(group_with(R"([{\"typeName\": \"Deployment\", \"priorityName\": \"train\"}])"),
              R"("queue": "default-queue", "namespace")"));
  CHECK(holds(group_with(R"([{\"typeName\": \"Deployment\", \"group\": \"other\", \"priorityName\": \"train\"}])"),
              R"("priority": 125)"));
  CHECK(group_with("7") == "c.json:3: ConfigMap team/kinds: data.types: expected a list in JSON");
}

TEST_CASE("grouping: pods and owners that are to be left alone") {
  grouped text;
  text.object("apps/v1", "StatefulSet", "set", "", R"(, "annotations": {"kai.scheduler/skip-podgrouper": "true"})")
      .pod("set-0", "apps/v1 StatefulSet set")
      .pod("own", "", "", R"("kai.scheduler/skip-podgrouper": "true")")
      .pod("other", "", "", R"("kai.scheduler/skip-podgrouper": "false")");
  CHECK(text.row(R"("name": "team/set-0")") == "(no row)");
  CHECK(text.row(R"("name": "team/own")") == "(no row)");
  CHECK(text.of_pod("other", "group") == "team/pg-other-u-other");
}

TEST_CASE("grouping: applications of Spark and of YuniKorn") {
  grouped text;
  text.pod("driver", "", R"("spark-app-name": "pi", "spark-app-selector": "spark-1")")
      .pod("exec-1", "v1 Pod driver", R"("spark-app-name": "pi", "spark-app-selector": "spark-1")")
      .pod("sleep-1", "", R"("applicationId": "sleep", "queue": "root.batch")")
      .pod("sleep-2", "apps/v1 Deployment d", R"("yunikorn.apache.org/app-id": "sleep")")
      .pod("plain", "", R"("queue": "root.batch")");
  CHECK(text.of_pod("driver", "group") == "team/spark-1");
  CHECK(text.of_pod("exec-1", "group") == "team/spark-1");
  CHECK(text.of_pod("sleep-1", "group") == "team/pg-sleep");
  CHECK(text.of_pod("sleep-2", "group") == "team/pg-sleep");
  CHECK(holds(text.group("pg-sleep"), R"("queue": "root.batch")"));
  CHECK(text.group("pg-plain-u-plain") == row_of("pg-plain-u-plain"));
}

TEST_CASE("grouping: flat gangs of Kubeflow") {
  const auto group_of = [](std::string_view kind, std::string_view spec, bool launcher = false) {
    grouped text;
    text.object("kubeflow.org/v1", kind, "job", R"(, "spec": {)" + std::string(spec) + "}")
        .pod("job-worker-0", "kubeflow.org/v1 " + std::string(kind) + " job");
    if (launcher) {
      text.pod("job-launcher", "kubeflow.org/v1 " + std::string(kind) + " job",
               std::string(job_role) + R"("training.kubeflow.org/job-name": "job")");
    }
    return text.fault() == "(no fault)" ? text.group("pg-job-u-job") : text.fault();
  };
  const auto of_size = [](int size) { return row_of("pg-job-u-job", R"(, "min_member": )" + std::to_string(size)); };
  CHECK(group_of("TFJob", R"("tfReplicaSpecs": {"Chief": {"replicas": 1}, "Worker": {"replicas": 4}})") == of_size(5));
  CHECK(group_of("TFJob", R"("runPolicy": {"schedulingPolicy": {"minAvailable": 3}})") == of_size(3));
  CHECK(group_of("XGBoostJob", R"("xgbReplicaSpecs": {"Master": {"replicas": 1}, "Worker": {"replicas": 2}})") ==
        of_size(3));
  CHECK(group_of("JAXJob", R"("jaxReplicaSpecs": {"Worker": {"replicas": 2}})") == of_size(2));
  const std::string mpi = R"("mpiReplicaSpecs": {"Launcher": {"replicas": 1}, "Worker": {"replicas": 2}})";
  const std::string delayed = R"("launcherCreationPolicy": "WaitForWorkersReady", )" + mpi;
  CHECK(group_of("MPIJob", mpi) == of_size(3));
  CHECK(group_of("MPIJob", delayed) == of_size(2));
  CHECK(group_of("MPIJob", delayed, true) == of_size(3));

  CHECK(group_of("XGBoostJob", R"("xgbReplicaSpecs": {"Worker": {"replicas": 2}})") ==
        "c.json:1: XGBoostJob team/job: spec.xgbReplicaSpecs.Master: a job of this kind needs this role");
  CHECK(group_of("TFJob", R"("tfReplicaSpecs": {"Worker": {"replicas": 0}})") ==
        "c.json:1: TFJob team/job: spec.tfReplicaSpecs.Worker.replicas: expected 1 to 2147483647, found 0");
  CHECK(group_of("TFJob", R"("tfReplicaSpecs": {"Worker": {"replicas": "two"}})") ==
        R"(c.json:1: TFJob team/job: spec.tfReplicaSpecs.Worker.replicas: expected an integer, found "two")");
  CHECK(group_of("TFJob", "") == "c.json:1: TFJob team/job: spec.tfReplicaSpecs: the roles of the job are missing");
}

TEST_CASE("grouping: a fault of an owner holds back its own pods alone") {
  grouped text;
  text.object("kubeflow.org/v1", "TFJob", "bad", R"(, "spec": {"tfReplicaSpecs": {"Worker": {}}})")
      .object("kubeflow.org/v1", "TFJob", "good", R"(, "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})")
      .pod("bad-0", "kubeflow.org/v1 TFJob bad")
      .pod("bad-1", "kubeflow.org/v1 TFJob bad")
      .pod("good-0", "kubeflow.org/v1 TFJob good");
  const std::string what =
      "c.json:1: TFJob team/bad: spec.tfReplicaSpecs.Worker.replicas: the number of pods is missing";
  CHECK(text.fault() == what);
  CHECK("c.json:1: " + text.of_pod("bad-0", "obstacle") == what);
  CHECK("c.json:1: " + text.of_pod("bad-1", "obstacle") == what);
  CHECK(text.of_pod("good-0", "obstacle").empty());
  CHECK(text.group("pg-good-u-good") == row_of("pg-good-u-good", R"(, "min_member": 2)"));
}

TEST_CASE("grouping: owners that are not there") {
  // Nothing of the kind: it cannot be read, and the last owner that can be counts.
  grouped unread;
  unread.object("batch/v1", "Job", "set-main-0", "", grouped::owned_by("jobset.x-k8s.io/v1alpha2 JobSet set"))
      .pod("set-main-0-0", "batch/v1 Job set-main-0")
      .pod("worker", "kubeflow.org/v1 PyTorchJob torch");
  CHECK(unread.of_pod("set-main-0-0", "group") == "team/pg-set-main-0-u-set-main-0");
  CHECK(unread.of_pod("worker", "group") == "team/pg-worker-u-worker");
  CHECK(unread.of_pod("worker", "obstacle").empty());
  // Others of the kind are there: this one is gone, or has been made again under the same name.
  grouped gone;
  gone.object("kubeflow.org/v1", "TFJob", "other", R"(, "spec": {"tfReplicaSpecs": {"Worker": {"replicas": 2}}})")
      .pod("lost", "kubeflow.org/v1 TFJob gone");
  CHECK(gone.of_pod("lost", "obstacle") == "its TFJob gone is not among the objects");
  CHECK(gone.of_pod("lost", "group") == "team/pg-lost-u-lost");
  // Kinds of the same name in another group are no owners.
  grouped same;
  same.object("batch.volcano.sh/v1alpha1", "Job", "job", R"(, "spec": {"minAvailable": 2, "tasks": []})")
      .object("batch/v1", "Job", "job", "", R"(, "labels": {"kai.scheduler/queue": "a"})")
      .pod("job-0", "batch/v1 Job job");
  CHECK(holds(same.group("pg-job-u-job"), R"("queue": "a")"));
}

}  // namespace of_test_io_kubernetes_grouping
