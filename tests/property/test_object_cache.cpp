// Objects of Kubernetes that come, change and go: the cluster that is changed with them is the one that all of them
// make anew, byte for byte.
#include <algorithm>
#include <map>
#include <regex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <rapidcheck.h>

#include "draws.hpp"
#include "io/kubernetes/object_cache.hpp"
#include "io/kubernetes/translation.hpp"
#include "support.hpp"

namespace of_test_object_cache {

using namespace kaisched;
using io::kubernetes::object_cache;
using test::draw;
using test::got;

namespace {

constexpr std::int64_t second = 1'000'000'000;
constexpr std::int64_t start = 1'767'300'000 * second;  // 2026-01-01T20:40:00Z

bool one_in(int n) { return draw(1, n) == 1; }

std::string pick(const std::vector<std::string>& of) {
  return of[static_cast<std::size_t>(draw(0, static_cast<int>(of.size()) - 1))];
}

std::string maybe(int n, std::string_view text) { return one_in(n) ? std::string(text) : std::string{}; }

/// An object and what it is known by.
struct drawn {
  std::string version, kind, name_space, name;
  std::string metadata{};  ///< more members
  std::string rest{};
  [[nodiscard]] std::string full_name() const { return name_space.empty() ? name : name_space + "/" + name; }
  [[nodiscard]] std::string head() const {
    return fmt::format(R"({{"apiVersion": "{}", "kind": "{}", "metadata": {{"name": "{}"{})", version, kind, name,
                       name_space.empty() ? "" : fmt::format(R"(, "namespace": "{}")", name_space));
  }
  [[nodiscard]] std::string text() const { return head() + metadata + "}" + rest + "}"; }
  /// What is enough to say that it is gone.
  [[nodiscard]] std::string mark() const { return head() + "}}"; }
};

drawn draw_node() {
  drawn made{"v1", "Node", "", fmt::format("n{}", draw(0, 4))};
  made.metadata = fmt::format(R"(, "labels": {{"zone": "z{}"}})", draw(0, 1));
  if (one_in(2)) {
    made.metadata += fmt::format(R"(, "annotations": {{"kaisched.io/load": "{}={}~5{}"}})", draw(0, 3),
                                 draw(0, 9) * 100, pick({"", ",9=5", ",0"}));
  }
  made.rest = fmt::format(
      R"(, "spec": {{"unschedulable": {}}}, "status": {{"allocatable": {{"cpu": "{}", "nvidia.com/gpu": "{}", "pods": "110"{}}}}})",
      one_in(5) ? "true" : "false", draw(4, 6), draw(0, 4), maybe(8, R"(, "example.com/x": "3")"));
  if (one_in(12)) made.rest = R"(, "status": {"allocatable": 7})";
  return made;
}

drawn draw_queue() {
  drawn made{"scheduling.run.ai/v2", "Queue", "", fmt::format("q{}", draw(0, 2))};
  made.metadata = pick({"", R"(, "annotations": {"kaisched.io/usage": "cpu=0.25,gpu=0.5"})",
                        R"(, "annotations": {"kaisched.io/usage": "gpu=0.125"})",
                        R"(, "annotations": {"kaisched.io/usage": "gpu=much"})"});
  made.rest = fmt::format(R"(, "spec": {{"priority": {}{}}})", draw(1, 2), maybe(4, R"(, "parentQueue": "q0")"));
  return made;
}

drawn draw_group() {
  drawn made{"scheduling.run.ai/v2alpha2", "PodGroup", "team", fmt::format("g{}", draw(0, 3))};
  if (one_in(8)) made.name = fmt::format("pg-p{}-u{}", draw(0, 3), draw(0, 3));  // as one that is made
  made.metadata = maybe(3, R"(, "annotations": {"kai.scheduler/last-start-timestamp": "2026-01-01T10:00:00Z"})");
  const std::string subs =
      pick({"", "", R"(, "subGroups": [{"name": "a", "minMember": 1}, {"name": "b", "minMember": 1}])",
            R"(, "subGroups": [{"name": "a", "parent": "none", "minMember": 1}])"});
  made.rest = fmt::format(R"(, "spec": {{"queue": "q{}", "minMember": {}{}{}}})", draw(0, 3),
                          pick({"1", "2", "0", "\"x\"", "3"}), maybe(3, R"(, "priorityClassName": "own")"), subs);
  return made;
}

drawn draw_pod() {
  const int number = draw(0, 11);
  drawn made{"v1", "Pod", number % 4 == 3 ? "team-b" : "team", fmt::format("p{}", number)};
  std::string notes = R"("a": "b")";
  std::string labels = fmt::format(R"("app": "{}")", pick({"a", "b", "c", "d", "e", "kai-resource-reservation"}));
  if (!one_in(3)) notes += fmt::format(R"(, "pod-group-name": "g{}")", draw(0, 3));
  if (one_in(3)) notes += fmt::format(R"(, "scheduling.k8s.io/group-name": "g{}")", draw(2, 5));
  if (one_in(8)) notes += R"(, "volcano.sh/task-spec": "a", "volcano.sh/cooldown-time": "90s")";
  if (one_in(6)) notes += R"(, "gpu-fraction": "0.5")";
  if (one_in(6)) {
    notes += fmt::format(
        R"(, "kaisched.io/extender-answers": "{}")",
        pick({R"({\"nodes\": [\"n1\"]})", R"({\"except\": [\"n1\", \"n7\"]})", R"({\"obstacle\": \"x\"})", "?"}));
  }
  if (one_in(8)) notes += R"(, "kaisched.io/later-members": "true")";
  if (one_in(6)) labels += fmt::format(R"(, "runai-gpu-group": "x{}")", draw(0, 1));
  if (one_in(4)) labels += R"(, "kai.scheduler/subgroup-name": "a")";
  made.metadata = fmt::format(R"(, "uid": "u{}", "labels": {{{}}}, "annotations": {{{}}})", number, labels, notes);
  if (one_in(3)) {
    made.metadata += fmt::format(R"(, "ownerReferences": [{{{}, "name": "j{}", "uid": "u", "controller": true}}])",
                                 pick({R"("apiVersion": "batch/v1", "kind": "Job")",
                                       R"("apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job")",
                                       R"("apiVersion": "kubeflow.org/v1", "kind": "PyTorchJob")"}),
                                 draw(0, 2));
  }
  const bool placed = !one_in(3);
  std::string spec =
      fmt::format(R"("schedulerName": "{}")", pick({"kai-scheduler", "kai-scheduler", "default-scheduler", "volcano"}));
  if (placed) spec += fmt::format(R"(, "nodeName": "n{}")", draw(0, 5));
  if (one_in(8)) {
    spec += R"(, "affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms":
      [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}]}}})";
  }
  if (one_in(5)) {
    spec += fmt::format(R"(, "volumes": [{{"name": "v", {}}}])",
                        pick({R"("persistentVolumeClaim": {"claimName": "v0"})",
                              R"("persistentVolumeClaim": {"claimName": "v1"})", R"("configMap": {"name": "m0"})"}));
  }
  if (one_in(20)) spec += R"(, "resourceClaims": [{"name": "c", "resourceClaimName": "c0"}])";
  spec += fmt::format(
      R"(, "containers": [{{"name": "m", "resources": {{"requests": {{"cpu": "{}", "nvidia.com/gpu": "{}"{}}}}}}}])",
      pick({"1", "2", "500m", "-1"}), draw(0, 3), maybe(12, R"(, "example.com/y": "1")"));
  if (one_in(10)) made.metadata += R"(, "deletionTimestamp": "2026-01-01T20:39:00Z")";
  std::string status =
      fmt::format(R"("phase": "{}")", placed ? pick({"Running", "Running", "Pending", "Succeeded"}) : "Pending");
  if (one_in(2)) status += R"(, "conditions": [{"type": "Ready", "status": "True"}])";
  if (!placed && one_in(4)) status += fmt::format(R"(, "nominatedNodeName": "n{}")", draw(0, 5));
  made.rest =
      fmt::format(R"(, "spec": {{{}}}, "status": {{{}}})", one_in(15) ? R"("containers": "none")" : spec, status);
  return made;
}

/// What groups and places of pods follow from.
drawn draw_surroundings() {
  switch (draw(0, 10)) {
    case 10: {
      drawn made{"scheduling.volcano.sh/v1beta1", "Queue", "", pick({"q0", "q1", "default"})};
      made.rest = fmt::format(R"(, "spec": {{"weight": {}{}}}, "status": {{"state": "{}"}})", draw(1, 2),
                              maybe(3, R"(, "reclaimable": false)"), pick({"Open", "Open", "Closed"}));
      return made;
    }
    case 9: {
      drawn made{"scheduling.volcano.sh/v1beta1", "PodGroup", "team", fmt::format("g{}", draw(2, 5))};
      made.metadata = maybe(4, R"(, "annotations": {"volcano.sh/preemptable": "false"})");
      const std::string parts = pick(
          {"", R"(, "minTaskMember": {"a": 1, "b": 1})",
           R"(, "subGroupPolicy": [{"name": "s", "subGroupSize": 2, "minSubGroups": 1, "matchLabelKeys": ["app"]}])",
           R"(, "networkTopology": {"highestTierAllowed": 1})", R"(, "subGroupPolicy": [{"labelSelector": 7}])"});
      made.rest = fmt::format(R"(, "spec": {{"queue": "q{}", "minMember": {}{}}})", draw(0, 2), draw(0, 3), parts);
      return made;
    }
    case 8: {
      drawn made{"policy/v1", "PodDisruptionBudget", pick({"team", "team-b"}), fmt::format("d{}", draw(0, 2))};
      made.rest = fmt::format(R"(, "spec": {{"selector": {}{}}}, "status": {{"disruptionsAllowed": {}{}}})",
                              pick({R"({"matchLabels": {"app": "a"}})",
                                    R"({"matchExpressions": [{"key": "app", "operator": "In", "values": ["a", "b"]}]})",
                                    "{}", R"({"matchExpressions": [{"key": "app", "operator": "About"}]})"}),
                              maybe(4, R"(, "unhealthyPodEvictionPolicy": "AlwaysAllow")"), draw(-1, 3),
                              maybe(2, R"(, "desiredHealthy": 1)"));
      return made;
    }
    case 0:
    case 1: {
      drawn made{"kubeflow.org/v1", "PyTorchJob", "team", fmt::format("j{}", draw(0, 2))};
      made.metadata = fmt::format(R"(, "uid": "u", "labels": {{"kai.scheduler/queue": "q{}"}})", draw(0, 3));
      made.rest = fmt::format(
          R"(, "spec": {{"runPolicy": {{"schedulingPolicy": {{"minAvailable": {}}}}}, "pytorchReplicaSpecs": {{"Worker": {{"replicas": {}}}}}}})",
          pick({"1", "2", "3", "-1"}), draw(1, 3));
      return made;
    }
    case 6: {
      drawn made{"topology.volcano.sh/v1alpha1", "HyperNode", "", fmt::format("h{}", draw(0, 2))};
      made.rest = fmt::format(
          R"(, "spec": {{"tier": {}, "members": [{{"type": "Node", "selector": {{"exactMatch": {{"name": "n{}"}}}}}}]}})",
          draw(0, 2), draw(0, 4));
      return made;
    }
    case 7: {
      drawn made{"batch.volcano.sh/v1alpha1", "Job", "team", fmt::format("j{}", draw(0, 2))};
      made.metadata = R"(, "uid": "u")";
      made.rest = fmt::format(R"(, "spec": {{"minAvailable": 1, "networkTopology": {{"highestTierAllowed": {}}}}})",
                              draw(0, 2));
      return made;
    }
    case 2: {
      drawn made{"v1", "PersistentVolumeClaim", "team", fmt::format("v{}", draw(0, 1))};
      made.rest = one_in(3) ? R"(, "spec": {"storageClassName": "s"}, "status": {"phase": "Pending"})"
                            : R"(, "spec": {"volumeName": "d0"}, "status": {"phase": "Bound"})";
      return made;
    }
    case 3:
      return {
          "v1",
          "PersistentVolume",
          "",
          "d0",
          "",
          fmt::format(
              R"(, "spec": {{"nodeAffinity": {{"required": {{"nodeSelectorTerms": [{{"matchExpressions": [{{"key": "zone", "operator": "In", "values": ["z{}"]}}]}}]}}}}}})",
              draw(0, 1))};
    case 4:
      return {"storage.k8s.io/v1",
              "StorageClass",
              "",
              "s",
              "",
              fmt::format(R"(, "provisioner": "example.com/disks", "volumeBindingMode": "{}")",
                          pick({"Immediate", "WaitForFirstConsumer"}))};
    default:
      return {"v1", "ConfigMap", "team", fmt::format("m{}", draw(0, 1)), "", R"(, "data": {"a": "b"})"};
  }
}

/// @param plain nothing that all others depend on.
drawn draw_other(bool plain) {
  if (one_in(2)) return draw_surroundings();
  switch (draw(0, plain ? 5 : 8)) {
    case 0: {
      drawn made{"v1", "Namespace", "", pick({"team", "team-b"})};
      made.metadata = maybe(2, R"(, "labels": {"team": "x"})");
      return made;
    }
    case 1:
    case 2: {
      drawn made{"batch/v1", "Job", "team", fmt::format("j{}", draw(0, 2))};
      made.metadata = fmt::format(R"(, "uid": "u", "labels": {{"kai.scheduler/queue": "q{}"}})", draw(0, 3));
      return made;
    }
    case 3:
      return {"scheduling.k8s.io/v1", "PriorityClass", "", "own", "", fmt::format(R"(, "value": {})", draw(1, 200))};
    case 4:
    case 5: {
      drawn made{"scheduling.run.ai/v1alpha2", "BindRequest", "team", fmt::format("b{}", draw(0, 2))};
      made.rest = fmt::format(R"(, "spec": {{"podName": "p{}", "selectedNode": "n{}"}})", draw(0, 11), draw(0, 4));
      return made;
    }
    case 6:
      return {
          "kai.scheduler/v1",
          "Config",
          "",
          "c",
          "",
          fmt::format(R"(, "spec": {{"global": {{"schedulerName": "{}"}}}})", pick({"default-scheduler", "another"}))};
    case 7: {
      drawn made{"topology.node.k8s.io/v1alpha2", "NodeResourceTopology", "", fmt::format("n{}", draw(0, 1))};
      made.rest =
          R"(, "zones": [{"name": "z0", "type": "Node", "resources": [{"name": "cpu", "allocatable": "4", "available": "2"}]}])";
      return made;
    }
    default:
      return {
          "resource.k8s.io/v1",
          "ResourceClaim",
          "team",
          "c0",
          "",
          R"(, "spec": {"devices": {"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu.nvidia.com"}}]}})"};
  }
}

drawn draw_object(bool plain) {
  const int what = draw(plain ? 4 : 0, 99);
  if (what < 4) return draw_queue();
  if (what < 16) return draw_node();
  if (what < 32) return draw_group();
  if (what < 90) return draw_pod();
  return draw_other(plain);
}

/// Queues are there, are made, or nobody takes the group.
constexpr std::string_view queue_rules = R"({"schema": "kaisched-queue-rules/1", "rules": [
  {"rule": "provided", "filter": {"names": ["q0", "q1"]}},
  {"rule": "namespace_label", "key": "team", "create": true, "parent": {"rule": "namespace", "create": true}},
  {"rule": "label", "key": "app", "create": true, "parent": {"rule": "fixed", "queue": "q1"},
   "filter": {"type": "deny", "names": ["b"]}},
  {"rule": "namespace", "create": true, "filter": {"names": ["team"]}}],
  "templates": {"q1": {"quota": {"gpu": 1}}}})";

/// Messages without the line, which is that of another text.
std::vector<std::string> told(const std::vector<error>& faults) {
  static const std::regex line("^text:[0-9]+: ");
  std::vector<std::string> messages;
  for (const error& one : faults) messages.push_back(std::regex_replace(one.message, line, ""));
  std::sort(messages.begin(), messages.end());
  return messages;
}

class world {
 public:
  explicit world(io::kubernetes::settings chosen) : chosen_(chosen), cache_(std::move(chosen)) {}

  void change(bool plain) {
    const drawn one = draw_object(plain);
    if (one_in(4) && objects_.contains(key_of(one))) {
      drop(one);
    } else {
      put(one);
    }
  }
  void put(const drawn& one) {
    objects_[key_of(one)] = one.text();
    got(cache_.put(one.text()));
  }
  void drop(const drawn& one) {
    objects_.erase(key_of(one));
    got(cache_.remove(one.mark()));
  }

  /// The cluster of the cache is that of all objects.
  void compare(std::int64_t now) {
    std::string all;
    for (const auto& [key, text] : objects_) all += text + "\n";
    io::kubernetes::settings chosen = chosen_;
    chosen.now = now;
    const io::kubernetes::translation read = got(io::kubernetes::translate_json(all, "text", chosen));
    cluster made;
    got(made.set("on_invalid", "quarantine"));
    got(made.apply(read.input.tables));
    const object_cache::version seen = got(cache_.take(now));
    RC_ASSERT(told(seen.faults) == told(read.input.faults));
    RC_ASSERT(seen.names.pod_uids == read.names.pod_uids);
    RC_ASSERT(seen.names.gpu_groups == read.names.gpu_groups);
    const snapshot expected = made.take_snapshot();
    if (seen.snapshot.save() != expected.save()) {
      RC_LOG() << all;
      RC_FAIL("the clusters differ");
    }
  }

  [[nodiscard]] std::uint64_t full_loads() const { return cache_.full_loads(); }

 private:
  static std::pair<std::string, std::string> key_of(const drawn& one) {
    return {one.version.substr(0, one.version.find('/')) + "/" + one.kind, one.full_name()};
  }

  io::kubernetes::settings chosen_;
  object_cache cache_;
  std::map<std::pair<std::string, std::string>, std::string> objects_;
};

}  // namespace

TEST_CASE("a cluster that is changed with its objects is the one that they make anew") {
  std::uint64_t steps = 0;
  std::uint64_t full_loads = 0;
  CHECK(rc::check([&] {
    io::kubernetes::settings chosen;
    if (one_in(2)) got(io::kubernetes::set(chosen, "queue_rules", queue_rules));
    world here(chosen);
    std::int64_t now = start;
    for (int i = draw(0, 40); i > 0; --i) here.change(false);
    const bool plain = !one_in(3);
    for (int step = draw(1, 12); step > 0; --step) {
      here.compare(now);
      for (int i = draw(0, 4); i > 0; --i) here.change(plain);
      now += draw(0, 100) * second;
      ++steps;
    }
    here.compare(now);
    full_loads += here.full_loads();
  }));
  MESSAGE(full_loads, " full loads in ", steps, " steps");
  constexpr std::uint64_t enough = 300;                     // of fewer draws most may have been of what all depend on
  if (steps >= enough) CHECK(full_loads * 10 < steps * 8);  // else deltas are not what is tested
}

TEST_CASE("what was known of a pod before all were read together does not count afterwards") {
  const drawn node{"v1", "Node", "", "n", "", R"(, "status": {"allocatable": {"cpu": "4", "pods": "110"}})"};
  const drawn pod{"v1",
                  "Pod",
                  "team",
                  "p",
                  "",
                  R"(, "spec": {"schedulerName": "another", "nodeName": "n", "containers": [{"name": "m", "resources":
                     {"requests": {"cpu": "3"}}}]}, "status": {"phase": "Running"})"};
  const drawn claim{
      "resource.k8s.io/v1", "ResourceClaim", "team", "c", "", R"(, "spec": {"devices": {"requests": []}})"};
  CHECK(rc::check([&] {
    world here({});
    here.put(node);
    here.put(pod);
    here.compare(start);
    here.put(claim);
    here.drop(node);
    here.compare(start);
    here.drop(claim);
    here.put(node);
    here.compare(start);
  }));
}

}  // namespace of_test_object_cache
