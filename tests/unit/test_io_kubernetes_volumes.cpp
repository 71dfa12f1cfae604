// Volumes and configuration of pods: where they hold pods, and what is in the way.
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "grouped_text.hpp"

namespace of_test_io_kubernetes_volumes {

using namespace grouping_test;

namespace {

constexpr std::string_view claim_volume =
    R"(, "volumes": [{"name": "data", "persistentVolumeClaim": {"claimName": "data"}}])";

/// A pod that mounts the claim `data`, behind what a test adds.
grouped with_pod(grouped text, std::string_view more = "") {
  return text.pod("p", "", "", "", std::string(claim_volume) + std::string(more));
}

grouped with_claim(std::string_view spec, std::string_view status = "", std::string_view metadata = "") {
  grouped text;
  text.object("v1", "PersistentVolumeClaim", "data",
              R"(, "spec": {"resources": {"requests": {"storage": "10Gi"}}, "accessModes": ["ReadWriteOnce"])" +
                  std::string(spec) + R"(}, "status": {)" + std::string(status) + "}",
              metadata);
  return text;
}

std::string class_rest(std::string_view mode, std::string_view provisioner, std::string_view more = "") {
  return R"(, "volumeBindingMode": ")" + std::string(mode) + R"(", "provisioner": ")" + std::string(provisioner) +
         "\"" + std::string(more);
}

grouped& add_volume(grouped& text, std::string_view name, std::string_view zone, std::string_view more = "") {
  return text.cluster_object(
      "v1", "PersistentVolume", name,
      R"(, "spec": {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
      "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "zone", "operator": "In", "values": [")" +
          std::string(zone) + R"("]}]}]}})" + std::string(more) + "}");
}

std::string obstacle_of(const grouped& text) { return text.of_pod("p", "obstacle"); }
std::string affinity_of(const grouped& text) {
  const std::string row = text.row(R"("name": "team/p")");
  const std::string key = R"("node_affinity": )";
  const std::size_t begin = row.find(key);
  return begin == std::string::npos ? ""
                                    : row.substr(begin + key.size(), row.find(']', begin) + 1 - begin - key.size());
}

}  // namespace

TEST_CASE("volumes: nothing is assumed of kinds that are not there") {
  CHECK(obstacle_of(with_pod({})).empty());
  const grouped bound = with_pod(with_claim(R"(, "volumeName": "pv")", R"("phase": "Bound")"));
  CHECK(obstacle_of(bound).empty());
  CHECK(affinity_of(bound).empty());
  CHECK(obstacle_of(with_pod(with_claim(R"(, "storageClassName": "fast")"))).empty());
}

TEST_CASE("volumes: a bound claim holds its pod to where the volume is") {
  grouped text = with_claim(R"(, "volumeName": "pv")", R"("phase": "Bound")");
  add_volume(text, "pv", "a");
  CHECK(affinity_of(with_pod(text)) == R"x(["zone in (a)"])x");
  const std::string_view own = R"(, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms": [{"matchExpressions": [{"key": "x", "operator": "Exists"}]},
                             {"matchExpressions": [{"key": "y", "operator": "Exists"}]}]}}})";
  CHECK(affinity_of(with_pod(text, own)) == R"x(["x,zone in (a)", "y,zone in (a)"])x");
  grouped other = with_claim(R"(, "volumeName": "gone")", R"("phase": "Bound")");
  add_volume(other, "pv", "a");
  CHECK(obstacle_of(with_pod(other)) == "PersistentVolume gone of PersistentVolumeClaim team/data is missing");
}

TEST_CASE("volumes: claims that are missing, lost or on their way out") {
  grouped other;
  other.object("v1", "PersistentVolumeClaim", "other");
  CHECK(obstacle_of(with_pod(other)) == "PersistentVolumeClaim team/data is missing");
  grouped scratch = other;
  scratch.pod("p", "", "", "", R"(, "volumes": [{"name": "scratch", "ephemeral": {"volumeClaimTemplate": {}}}])");
  CHECK(obstacle_of(scratch) == "PersistentVolumeClaim team/p-scratch is missing");
  CHECK(obstacle_of(with_pod(with_claim("", R"("phase": "Lost")"))) ==
        "PersistentVolumeClaim team/data has lost its volume");
  CHECK(obstacle_of(with_pod(with_claim("", "", R"(, "deletionTimestamp": "2026-01-01T00:00:00Z")"))) ==
        "PersistentVolumeClaim team/data is being deleted");
  const grouped bad = with_pod(with_claim(R"(, "volumeMode": 7)"));
  CHECK(obstacle_of(bad) == "PersistentVolumeClaim team/data: spec.volumeMode: expected a string, found 7");
  CHECK(bad.fault() == "c.json:1: " + obstacle_of(bad));
}

TEST_CASE("volumes: claims that wait for their first pod") {
  const auto text_of = [](std::string_view rest, std::string_view claim = R"(, "storageClassName": "fast")",
                          std::string_view metadata = "") {
    grouped text = with_claim(claim, "", metadata);
    text.cluster_object("storage.k8s.io/v1", "StorageClass", "fast", rest);
    return text;
  };
  constexpr std::string_view waits = "WaitForFirstConsumer";
  const std::string zones =
      R"(, "allowedTopologies": [{"matchLabelExpressions": [{"key": "zone", "values": ["a", "b"]}]}])";
  CHECK(obstacle_of(with_pod(text_of(class_rest("Immediate", "csi")))) ==
        "PersistentVolumeClaim team/data is not bound");
  CHECK(obstacle_of(with_pod(text_of(class_rest(waits, "csi"), R"(, "storageClassName": "slow")"))) ==
        "StorageClass slow of PersistentVolumeClaim team/data is missing");
  const grouped anywhere = with_pod(text_of(class_rest(waits, "csi")));
  CHECK(obstacle_of(anywhere).empty());
  CHECK(affinity_of(anywhere).empty());
  CHECK(affinity_of(with_pod(text_of(class_rest(waits, "csi", zones)))) == R"x(["zone in (a,b)"])x");
  const std::string_view selected = R"(, "annotations": {"volume.kubernetes.io/selected-node": "n1"})";
  CHECK(affinity_of(with_pod(text_of(class_rest(waits, "csi"), R"(, "storageClassName": "fast")", selected))) ==
        R"x(["metadata.name in (n1)"])x");
  CHECK(
      with_claim("", "", R"(, "annotations": {"volume.kubernetes.io/selected-node": "n1 n2"})").fault() ==
      R"(c.json:1: PersistentVolumeClaim team/data: metadata.annotations["volume.kubernetes.io/selected-node"]: expected the name of a node)");
  // Volumes that nobody makes must be there: large enough, of the same mode, and free.
  const std::string fast = R"(, "storageClassName": "fast")";
  grouped local = text_of(class_rest(waits, "kubernetes.io/no-provisioner"));
  add_volume(local, "taken", "x", fast + R"(, "claimRef": {"name": "other"})");
  add_volume(local, "block", "y", fast + R"(, "volumeMode": "Block")");
  CHECK(obstacle_of(with_pod(local)) == "no PersistentVolume fits PersistentVolumeClaim team/data");
  add_volume(local, "one", "a", fast);
  add_volume(local, "two", "b", fast);
  CHECK(affinity_of(with_pod(local)) == R"x(["zone in (a,b)"])x");
  local.cluster_object("v1", "PersistentVolume", "three",
                       R"(, "spec": {"capacity": {"storage": "20Gi"}, "accessModes": ["ReadWriteMany", "ReadWriteOnce"],
      "nodeAffinity": {"required": {"nodeSelectorTerms": [{"matchExpressions": [
        {"key": "zone", "operator": "In", "values": ["c"]}, {"key": "ssd", "operator": "Exists"}]}]}})" +
                           fast + "}");
  CHECK(affinity_of(with_pod(local)) == R"x(["zone in (c),ssd", "zone in (a,b)"])x");
  CHECK(
      with_pod(
          text_of(class_rest(waits, "csi", R"(, "allowedTopologies": [{"matchLabelExpressions": [{"key": "z"}]}])")))
          .fault() ==
      "c.json:2: StorageClass fast: allowedTopologies[0].matchLabelExpressions[0].values: expected at least one value");
}

TEST_CASE("volumes: config maps of namespaces that the text has some of") {
  const auto text_of = [](std::string_view spec, std::string_view annotations = "") {
    grouped text;
    text.object("v1", "ConfigMap", "known").pod("p", "", "", annotations, spec);
    return obstacle_of(text);
  };
  const auto mounted = [](std::string_view rest) {
    return R"(, "volumes": [{"name": "c", "configMap": {"name": )" + std::string(rest) + "}}]";
  };
  CHECK(text_of(mounted(R"("known")")).empty());
  CHECK(text_of(mounted(R"("gone")")) == "ConfigMap team/gone is missing");
  CHECK(text_of(mounted(R"("gone", "optional": true)")).empty());
  CHECK(text_of(mounted(R"("gpu-0")"), R"("runai/shared-gpu-configmap": "gpu")").empty());
  CHECK(text_of(R"(, "volumes": [{"projected": {"sources": [{"configMap": {"name": "gone"}}]}}])") ==
        "ConfigMap team/gone is missing");
  for (const std::string_view reference :
       {R"("env": [{"name": "A", "valueFrom": {"configMapKeyRef": {"name": "gone", "key": "a"}}}])",
        R"("envFrom": [{"configMapRef": {"name": "gone"}}])"}) {
    CHECK(text_of(R"(, "initContainers": [{)" + std::string(reference) + "}]") == "ConfigMap team/gone is missing");
  }
  grouped elsewhere;
  elsewhere.pod("p", "", "", "", mounted(R"("gone")"));
  CHECK(obstacle_of(elsewhere).empty());
}

TEST_CASE("volumes: a node takes as many of a driver as its CSINode says") {
  const auto text_of = [](std::string_view csi_nodes, std::string_view volume = R"(, "csi": {"driver": "d.io"})") {
    grouped text = with_claim(R"(, "volumeName": "pv", "storageClassName": "fast")", R"("phase": "Bound")");
    add_volume(text, "pv", "a", volume);
    for (const char* node : {"n1", "n2"})
      text.cluster_object("v1", "Node", node, R"(, "status": {"allocatable": {"cpu": "8", "pods": "110"}})");
    if (!csi_nodes.empty()) text.cluster_object("storage.k8s.io/v1", "CSINode", "n1", csi_nodes);
    return with_pod(text);
  };
  constexpr std::string_view three = R"(, "spec": {"drivers": [{"name": "d.io", "allocatable": {"count": 3}},
    {"name": "e.io"}]})";
  const grouped limited = text_of(three);
  CHECK(holds(limited.row(R"("name": "team/p")"), R"("attachable-volumes-csi-d.io": 1)"));
  CHECK(holds(limited.row(R"("name": "n1")"), R"("attachable-volumes-csi-d.io": 3)"));
  CHECK(holds(limited.row(R"("name": "n2")"), R"("attachable-volumes-csi-d.io": 1000000)"));
  CHECK_FALSE(holds(limited.tables(), "e.io"));
  // Without a limit nobody counts.
  CHECK_FALSE(holds(text_of("").tables(), "attachable"));
  CHECK_FALSE(holds(text_of(three, R"(, "csi": {"driver": "e.io"})").row(R"("name": "team/p")"), "attachable"));
  // One that is yet to be made is its class's, and a claim that is mounted twice is one volume.
  grouped unbound = with_claim(R"(, "storageClassName": "fast")");
  unbound.cluster_object("storage.k8s.io/v1", "StorageClass", "fast", class_rest("WaitForFirstConsumer", "d.io"))
      .cluster_object("storage.k8s.io/v1", "CSINode", "n1", three)
      .pod("p", "", "", "", R"(, "volumes": [{"persistentVolumeClaim": {"claimName": "data"}},
        {"persistentVolumeClaim": {"claimName": "data"}}])");
  CHECK(holds(unbound.row(R"("name": "team/p")"), R"("attachable-volumes-csi-d.io": 1)"));
  grouped wrong;
  wrong.cluster_object("storage.k8s.io/v1", "CSINode", "n1",
                       R"(, "spec": {"drivers": [{"name": "d.io", "allocatable": {"count": -1}}]})");
  CHECK(wrong.fault() == "c.json:1: CSINode n1: spec.drivers[0].allocatable: expected a count of at least 0");
}

TEST_CASE("volumes: snapshots of KAI have them in lists of their own") {
  grouped text;
  text.snapshot(R"("pods": [{"metadata": {"name": "p", "namespace": "team"}, "spec": {"schedulerName": "kai-scheduler",
      "volumes": [{"persistentVolumeClaim": {"claimName": "data"}}]}}], "configMaps": [], "storageClasses": [],
      "persistentVolumeClaims": [{"metadata": {"name": "data", "namespace": "team"}, "spec": {"volumeName": "pv"}}],
      "persistentVolumes": [{"metadata": {"name": "pv"}, "spec": {"nodeAffinity": {"required": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "zone", "operator": "Exists"}]}]}}}}])");
  CHECK(affinity_of(text) == R"(["zone"])");
}

TEST_CASE("volumes: who runs is not held back, but stays where its volumes are") {
  grouped text = with_claim(R"(, "volumeName": "pv")", R"("phase": "Lost")");
  text.cluster_object("v1", "Node", "n1", R"(, "status": {"allocatable": {"cpu": "8", "pods": "110"}})")
      .object("v1", "Pod", "p",
              R"(, "spec": {"schedulerName": "kai-scheduler", "nodeName": "n1", "containers": [])" +
                  std::string(claim_volume) + R"(}, "status": {"phase": "Running"})");
  CHECK(obstacle_of(text).empty());
  CHECK(text.of_pod("p", "status") == "running");
}

}  // namespace of_test_io_kubernetes_volumes
