// Queues and pod groups of Volcano.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "grouped_text.hpp"

namespace of_test_io_kubernetes_volcano {

using namespace grouping_test;

namespace {

constexpr std::string_view api = "scheduling.volcano.sh/v1beta1";

/// A cluster with a queue `team` and this pod group of three pods.
grouped gang(std::string_view spec, std::string_view metadata = "") {
  grouped text;
  text.cluster_object(api, "Queue", "team", R"(, "spec": {"weight": 2})")
      .object(api, "PodGroup", "g", R"(, "spec": {"queue": "team")" + std::string(spec) + "}", metadata);
  return text;
}

/// A pod of the group.
grouped& add(grouped& to, std::string_view name, std::string_view labels = "", std::string_view annotations = "",
             std::string_view spec = "") {
  const std::string more = annotations.empty() ? "" : ", " + std::string(annotations);
  return to.pod(name, "", labels, R"("scheduling.k8s.io/group-name": "g")" + more, spec);
}

std::string queue_row(const grouped& text, std::string_view name) {
  return text.row(R"("name": ")" + std::string(name) + R"(")");
}

std::string group_start(std::string_view queue) {
  return R"({"name": "team/g", "queue": ")" + std::string(queue) + R"(", "priority": 0, )";
}

}  // namespace

TEST_CASE("volcano: queues") {
  grouped text;
  text.cluster_object(api, "Queue", "root", R"(, "spec": {"weight": 1})")
      .cluster_object(api, "Queue", "org", R"(, "spec": {"parent": "root", "weight": 3, "priority": 7})")
      .cluster_object(api, "Queue", "lab", R"(, "spec": {"parent": "org", "reclaimable": false,
          "capability": {"cpu": "8", "nvidia.com/gpu": "4", "example.com/x": "1"}, "deserved": {"memory": "2M"},
          "guarantee": {"resource": {"nvidia.com/gpu": "1"}}})")
      .cluster_object(api, "Queue", "plain", R"(, "spec": {})");
  CHECK(queue_row(text, "root") == R"({"name": "root", "priority": 0})");
  CHECK(queue_row(text, "org") ==
        R"({"name": "org", "parent": "root", "priority": 7, "quota": {"cpu": 0, "memory": 0, "gpu": 0}, )"
        R"("over_quota_weight": {"cpu": 3, "memory": 3, "gpu": 3}})");
  CHECK(queue_row(text, "lab") ==
        R"({"name": "lab", "parent": "org", "priority": 0, "quota": {"cpu": 0, "memory": 2000000, "gpu": 0}, )"
        R"("limit": {"cpu": 8000, "gpu": 4000}, "guarantee": {"gpu": 1000}, "reclaimable": false})");
  CHECK(queue_row(text, "plain") ==
        R"({"name": "plain", "parent": "root", "priority": 0, "quota": {"cpu": 0, "memory": 0, "gpu": 0}})");
}

TEST_CASE(
    "volcano: the root is there only if somebody has made it, and a queue of KAI comes before one of the same name") {
  grouped text;
  text.cluster_object(api, "Queue", "a", R"(, "spec": {"parent": "root"})")
      .cluster_object(api, "Queue", "both", R"(, "spec": {"weight": 9})")
      .cluster_object("scheduling.run.ai/v2", "Queue", "both", R"(, "spec": {"priority": 5})");
  CHECK(queue_row(text, "a") == R"({"name": "a", "priority": 0, "quota": {"cpu": 0, "memory": 0, "gpu": 0}})");
  CHECK(holds(queue_row(text, "both"), R"("priority": 5)"));
}

TEST_CASE("volcano: paths and groups of nodes of queues") {
  grouped text;
  const auto path = [](std::string_view steps, std::string_view weights) {
    return R"(, "annotations": {"volcano.sh/hierarchy": ")" + std::string(steps) +
           R"(", "volcano.sh/hierarchy-weights": ")" + std::string(weights) + R"("})";
  };
  text.cluster_object(api, "Queue", "q", R"(, "spec": {"affinity": {
          "nodeGroupAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["a"],
                                "preferredDuringSchedulingIgnoredDuringExecution": ["c", "b"]},
          "nodeGroupAntiAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": ["d"],
                                    "preferredDuringSchedulingIgnoredDuringExecution": ["e"]}}})",
                      path("root/sci/dev", "100/2.5/0.1"));
  CHECK(holds(queue_row(text, "q"),
              R"("hierarchy": ["root:100", "sci:2.5", "dev:1"], "node_groups": ["required:a", "preferred:c", )"
              R"("preferred:b", "avoided:d", "rather_avoided:e"])"));
  grouped wrong;
  wrong.cluster_object(api, "Queue", "q", "", path("root/sci", "100"));
  CHECK(wrong.fault() == R"(c.json:1: Queue q: metadata.annotations["volcano.sh/hierarchy"]: )"
                         R"(2 steps need as many weights in volcano.sh/hierarchy-weights, found 1)");
}

TEST_CASE("volcano: a pod group and its pods") {
  grouped text = gang(R"(, "minMember": 2, "minResources": {"cpu": "3", "nvidia.com/gpu": "2", "count/pods": "2"})");
  add(text, "a");
  add(text, "b", "", R"("volcano.sh/task-priority": "9")", R"(, "priority": 7)");
  add(text, "c", "", "", R"(, "priority": 7)");
  text.pod("other", "", "", R"("scheduling.k8s.io/group-name": "gone")");
  CHECK(text.group("g") == group_start("team") + R"("min_member": 2, "namespace": "team", )"
                                                 R"("min_resources": ["cpu:3000", "gpu:2000"]})");
  CHECK(text.of_pod("a", "group") == "team/g");
  CHECK(holds(text.row(R"("name": "team/b")"), R"("priority": 9)"));
  CHECK(holds(text.row(R"("name": "team/c")"), R"("priority": 7)"));
  text.cluster_object(api, "Queue", "default", R"(, "spec": {})");
  CHECK(text.of_pod("other", "group") == "team/pg-other-u-other");
  CHECK(holds(text.group("pg-other-u-other"), R"("queue": "default")"));  // where Volcano's pods go that say nothing
  CHECK(holds(gang("").group("g"), R"("min_member": 0, "namespace": "team", "min_resources": ["cpu:0"])"));
}

TEST_CASE("volcano: what is written on a pod group") {
  grouped text = gang(R"(, "minMember": 1, "priorityClassName": "high")",
                      R"(, "creationTimestamp": "1970-01-01T00:00:10Z", "labels": {"kai.scheduler/queue": "team"},
      "annotations": {"volcano.sh/sla-waiting-time": "1m", "volcano.sh/preemptable": "no",
                      "volcano.sh/task-topology-affinity": "ps,worker"})");
  text.cluster_object("scheduling.k8s.io/v1", "PriorityClass", "high", R"(, "value": 1000, "globalDefault": true)");
  add(text, "a", R"("volcano.sh/task-spec": "ps", "volcano.sh/cooldown-time": "1m30.1s")");
  CHECK(text.group("g") ==
        R"({"name": "team/g", "queue": "team", "priority": 1000, "preemptible": false, "created": 10000000000, )"
        R"("namespace": "team", "deadline": 70000000000, "min_resources": ["cpu:0"]})");
  CHECK(holds(text.row(R"("name": "team/a")"),
              R"("annotations": ["volcano.sh/task-topology-affinity=ps,worker", "volcano.sh/task-spec=ps", )"
              R"("volcano.sh/cooldown-time=91s"])"));
  // Without a class the priority is 0, whatever the cluster's default; a pod may say that it must not be taken from.
  grouped plain = gang(R"(, "minMember": 1)");
  plain.cluster_object("scheduling.k8s.io/v1", "PriorityClass", "high", R"(, "value": 1000, "globalDefault": true)");
  add(plain, "a", R"("volcano.sh/preemptable": "false")");
  CHECK(holds(plain.group("g"), R"("priority": 0, "preemptible": false)"));
  add(plain, "b", "", R"("volcano.sh/preemptable": "true")");
  CHECK(holds(plain.group("g"), R"("preemptible": false)"));
}

TEST_CASE("volcano: the label of a queue comes before what the group says") {
  grouped text = gang(R"(, "minMember": 1)");
  text.cluster_object(api, "Queue", "mine", R"(, "spec": {})");
  add(text, "a", R"("kai.scheduler/queue": "mine")");
  CHECK(holds(text.group("g"), R"("queue": "mine")"));
}

TEST_CASE("volcano: one group for the pods of a job, whose tasks are its sub-groups") {
  grouped text = gang(R"(, "minMember": 3, "minTaskMember": {"ps": 1, "worker": 2})");
  text.object("batch.volcano.sh/v1alpha1", "Job", "job", R"(, "spec": {"minAvailable": 3, "queue": "else", "tasks": [
      {"name": "ps", "replicas": 1}, {"name": "worker", "replicas": 3, "minAvailable": 2}]})");
  const auto task = [&](std::string_view name, std::string_view role) {
    text.pod(name, "batch.volcano.sh/v1alpha1 Job job", R"("volcano.sh/task-spec": ")" + std::string(role) + "\"",
             R"("scheduling.k8s.io/group-name": "g")");
  };
  task("p", "ps");
  task("w", "worker");
  task("x", "extra");
  CHECK(text.of_pod("p", "group") == "team/g");
  CHECK(text.of_pod("p", "sub_group") == "ps");
  CHECK(text.of_pod("x", "sub_group") == "rest");
  CHECK(text.sub_group("g", "ps") == sub_row("g", "ps", R"(, "min_member": 1)"));
  CHECK(text.sub_group("g", "worker") == sub_row("g", "worker", R"(, "min_member": 2)"));
  CHECK(text.sub_group("g", "rest") == sub_row("g", "rest", ""));
  CHECK(text.group("pg-job-u-job") == "(no row)");
  // A smaller minimum may be met by any pods.
  grouped any = gang(R"(, "minMember": 2, "minTaskMember": {"ps": 1, "worker": 2})");
  add(any, "p", R"("volcano.sh/task-spec": "ps")");
  CHECK(any.of_pod("p", "sub_group").empty());
  CHECK(holds(any.group("g"), R"("min_member": 2)"));
}

TEST_CASE("volcano: sub-groups by policies") {
  const auto text_of = [](std::string_view least, int members) {
    grouped text = gang(R"(, "minMember": )" + std::to_string(members) + R"(, "subGroupPolicy": [
        {"name": "decode", "subGroupSize": 2, "matchLabelKeys": ["replica"],
         "labelSelector": {"matchLabels": {"role": "decode"}})" +
                        std::string(least) + R"(},
        {"name": "prefill", "subGroupSize": 3, "minSubGroups": 1, "matchLabelKeys": ["replica"],
         "labelSelector": {"matchLabels": {"role": "prefill"}}}])");
    for (const char* replica : {"0", "1"}) {
      for (const char* name : {"a", "b"})
        add(text, std::string("d") + replica + name, R"("role": "decode", "replica": ")" + std::string(replica) + "\"");
    }
    add(text, "router", R"("role": "router")");
    add(text, "lost", R"("role": "decode")");
    return text;
  };
  const grouped text = text_of(R"(, "minSubGroups": 1)", 6);
  CHECK(text.sub_group("g", "decode") == sub_row("g", "decode", R"(, "min_sub_group": 1)"));
  CHECK(text.sub_group("g", "decode-0") == sub_row("g", "decode-0", R"(, "parent": "decode", "min_member": 2)"));
  CHECK(text.sub_group("g", "decode-1") == sub_row("g", "decode-1", R"(, "parent": "decode", "min_member": 2)"));
  CHECK(text.sub_group("g", "prefill") == sub_row("g", "prefill", R"(, "min_member": 3)"));  // nobody is there yet
  CHECK(text.sub_group("g", "rest") == sub_row("g", "rest", R"(, "min_member": 1)"));        // 6 are more than 2 + 3
  CHECK(text.of_pod("d1a", "sub_group") == "decode-1");
  CHECK(text.of_pod("lost", "sub_group") == "rest");  // without the label it is not known where
  CHECK(text_of("", 0).sub_group("g", "decode") == sub_row("g", "decode", R"(, "min_sub_group": 0)"));
  const grouped many = gang(R"(, "subGroupPolicy": [{"minSubGroups": 2000000000, "subGroupSize": 2000000000}])");
  CHECK(many.fault() ==
        "c.json:2: PodGroup team/g: spec.subGroupPolicy[0].minSubGroups: 2000000000 sub-groups of 2000000000 pods are "
        "too many");
  const grouped twice = gang(R"(, "subGroupPolicy": [{"name": "a"}, {"name": "a"}])");
  CHECK(twice.fault() == "c.json:2: PodGroup team/g: spec.subGroupPolicy[1]: there are two policies 'a'");
}

TEST_CASE("volcano: networks of groups and of their sub-groups") {
  grouped text = gang(R"(, "minMember": 2, "networkTopology": {"mode": "soft"},
      "subGroupPolicy": [{"name": "p", "minSubGroups": 1, "matchLabelKeys": ["replica"],
                          "networkTopology": {"highestTierAllowed": 1}}])");
  const auto hyper_node = [&](std::string_view name, std::string_view spec) {
    text.cluster_object("topology.volcano.sh/v1alpha1", "HyperNode", name, R"(, "spec": {)" + std::string(spec) + "}");
  };
  text.cluster_object("v1", "Node", "n", R"(, "status": {"allocatable": {"cpu": "1"}})");
  hyper_node("leaf", R"("tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "n"}}}])");
  hyper_node("top", R"("tier": 2, "members": [{"type": "HyperNode", "selector": {"exactMatch": {"name": "leaf"}}}])");
  add(text, "a", R"("replica": "0")");
  CHECK(holds(text.group("g"),
              R"("topology": "volcano.sh/hypernodes", "preferred_level": "topology.volcano.sh/tier-1")"));
  CHECK(holds(text.sub_group("g", "p-0"),
              R"("topology": "volcano.sh/hypernodes", "required_level": "topology.volcano.sh/tier-1")"));
  hyper_node("low", R"("tier": 5, "members": [])");
  grouped none = gang(R"(, "networkTopology": {"highestTierName": "rack"})");
  none.cluster_object("v1", "Node", "n", R"(, "status": {"allocatable": {"cpu": "1"}})")
      .cluster_object(
          "topology.volcano.sh/v1alpha1", "HyperNode", "leaf",
          R"(, "spec": {"tier": 1, "members": [{"type": "Node", "selector": {"exactMatch": {"name": "n"}}}]})");
  add(none, "a");
  CHECK(none.of_pod("a", "obstacle") == "no HyperNode is of tier 'rack'");
}

TEST_CASE("volcano: closed queues start nobody") {
  for (const char* state : {"Closed", "Closing", "Open"}) {
    CAPTURE(state);
    grouped text = gang(R"(, "minMember": 1)");
    text.cluster_object(api, "Queue", "team", R"(, "spec": {}, "status": {"state": ")" + std::string(state) + "\"}");
    add(text, "a");
    text.pod("own", "", R"("kai.scheduler/queue": "team")");
    const std::string why = std::string_view(state) == "Open" ? "" : "the queue 'team' is closed";
    CHECK(text.of_pod("a", "obstacle") == why);
    CHECK(text.of_pod("own", "obstacle") == why);
  }
}

TEST_CASE("volcano: its scheduler counts where its objects are") {
  const std::string pod = R"(, "spec": {"schedulerName": "volcano", "nodeName": "n", "containers": []})";
  const std::string named = R"(, "annotations": {"scheduling.k8s.io/group-name": "g"})";
  grouped there = gang(R"(, "minMember": 1)");
  there.cluster_object("v1", "Node", "n", "").object("v1", "Pod", "a", pod, named);
  CHECK(there.of_pod("a", "group") == "team/g");
  grouped elsewhere;
  elsewhere.cluster_object("v1", "Node", "n", "").object("v1", "Pod", "a", pod, named);
  CHECK(elsewhere.of_pod("a", "group").empty());
  CHECK(holds(elsewhere.row(R"("name": "team/a")"), R"("node": "n")"));
  // Another's pods are no members, whatever they name.
  grouped other = gang(R"(, "minMember": 1)");
  other.cluster_object("v1", "Node", "n", "")
      .object("v1", "Pod", "a", R"(, "spec": {"schedulerName": "else", "nodeName": "n", "containers": []})", named);
  CHECK(other.of_pod("a", "group").empty());
}

TEST_CASE("volcano: a pod group of KAI has its pods, and the name") {
  grouped text = gang(R"(, "minMember": 1)");
  text.object("scheduling.run.ai/v2alpha2", "PodGroup", "g", R"(, "spec": {"queue": "team", "minMember": 5})")
      .object("scheduling.run.ai/v2alpha2", "PodGroup", "k", R"(, "spec": {"queue": "team", "minMember": 5})");
  add(text, "a", "", R"("pod-group-name": "k")");
  CHECK(text.of_pod("a", "group") == "team/k");
  CHECK(holds(text.group("g"), R"("min_member": 5)"));
}

}  // namespace of_test_io_kubernetes_volcano
