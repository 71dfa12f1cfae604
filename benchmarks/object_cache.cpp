// What a cycle of a host in Kubernetes costs before anything is decided: all objects read anew, against those that have
// changed. usage: kaisched_objects_bench NODES PODS [CHANGES]
#include "io/kubernetes/object_cache.hpp"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <functional>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <kaisched/cluster.hpp>

#include "benchmarks/timing.hpp"
#include "io/kubernetes/translation.hpp"

namespace {

using namespace kaisched;
using bench::must;
using bench::seconds;

constexpr std::int64_t now = 1'767'300'000'000'000'000;
constexpr int gang = 4;
constexpr int gpus = 8;
constexpr int steps = 5;

std::string node_text(int i) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Node","metadata":{{"name":"n{0:05}","labels":{{"kubernetes.io/hostname":"n{0:05}","kubernetes.io/arch":"amd64","rack":"r{1}","nvidia.com/gpu.memory":"81559"}}}},"status":{{"allocatable":{{"cpu":"95500m","memory":"1031000Mi","nvidia.com/gpu":"{2}","pods":"110","ephemeral-storage":"900Gi"}},"conditions":[{{"type":"Ready","status":"True","message":"kubelet is fine","lastTransitionTime":"2026-01-01T00:00:00Z"}}]}}}})",
      i, i / 32, gpus);
}

std::string queue_text(int i) {
  return fmt::format(
      R"({{"apiVersion":"scheduling.run.ai/v2","kind":"Queue","metadata":{{"name":"q{}"}},"spec":{{"resources":{{"gpu":{{"quota":100,"limit":-1,"overQuotaWeight":1}}}}}}}})",
      i);
}

std::string group_text(int i) {
  return fmt::format(
      R"({{"apiVersion":"scheduling.run.ai/v2alpha2","kind":"PodGroup","metadata":{{"name":"g{0:06}","namespace":"team{1}","creationTimestamp":"2026-01-01T00:00:00Z"}},"spec":{{"queue":"q{2}","minMember":{3}}}}})",
      i, i % 10, i % 8, gang);
}

/// As the API server has it, but for what no decision depends on. @param node of a pod that runs; below 0: it waits.
std::string pod_text(int i, int node) {
  return fmt::format(
      R"({{"apiVersion":"v1","kind":"Pod","metadata":{{"name":"g{0:06}-{1}","namespace":"team{2}","uid":"0000-{3}","creationTimestamp":"2026-01-01T00:00:00Z","labels":{{"app":"g{0:06}","job-name":"j{0:06}"}},"annotations":{{"pod-group-name":"g{0:06}"}},"ownerReferences":[{{"apiVersion":"batch/v1","kind":"Job","name":"j{0:06}","uid":"j-{0}","controller":true}}]}},"spec":{{"schedulerName":"kai-scheduler",{4}"restartPolicy":"Never","volumes":[{{"name":"token","projected":{{"sources":[{{"serviceAccountToken":{{"expirationSeconds":3607,"path":"token"}}}},{{"configMap":{{"name":"kube-root-ca.crt","items":[{{"key":"ca.crt","path":"ca.crt"}}]}}}}]}}}}],"nodeSelector":{{"kubernetes.io/arch":"amd64"}},"tolerations":[{{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}},{{"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute","tolerationSeconds":300}}],"containers":[{{"name":"main","image":"registry.example.com/train:1","command":["python","train.py"],"env":[{{"name":"A","value":"1"}},{{"name":"B","value":"2"}}],"resources":{{"requests":{{"cpu":"8","memory":"64Gi","nvidia.com/gpu":"1"}},"limits":{{"nvidia.com/gpu":"1"}}}},"volumeMounts":[{{"name":"token","mountPath":"/var/run/secrets","readOnly":true}}]}}]}},"status":{{"phase":"{5}","qosClass":"Burstable"}}}})",
      i / gang, i % gang, i / gang % 10, i, node < 0 ? std::string{} : fmt::format(R"("nodeName":"n{:05}",)", node),
      node < 0 ? "Pending" : "Running");
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

/// Milliseconds, the median of some steps.
void tell(const char* what, const std::function<void(int)>& prepare, const std::function<void()>& work) {
  std::vector<double> times;
  for (int step = 0; step < steps; ++step) {
    prepare(step);
    times.push_back(seconds(work));
  }
  fmt::print("{:<36}{:>10.2f} ms\n", what, median(times) * 1000);
}

void run(int nodes, int pods, int changes) {
  const int running = std::min(nodes * gpus - gpus, pods * 9 / 10);
  std::string all;
  for (int i = 0; i < nodes; ++i) all += node_text(i) + "\n";
  for (int i = 0; i < 8; ++i) all += queue_text(i) + "\n";
  for (int i = 0; i < pods / gang; ++i) all += group_text(i) + "\n";
  for (int i = 0; i < pods; ++i) all += pod_text(i, i < running ? i / gpus : -1) + "\n";
  fmt::print("{} nodes, {} pods, {:.0f} MB\n", nodes, pods, static_cast<double>(all.size()) / 1e6);

  io::kubernetes::settings chosen;
  chosen.now = now;
  const auto nothing = [](int) {};
  tell("all: text into values", nothing, [&] { (void)must(io::json_document::parse_stream(all, "text")); });
  const io::json_document document = must(io::json_document::parse_stream(all, "text"));
  tell("all: values into tables", nothing, [&] { (void)must(io::kubernetes::translate(document, "text", chosen)); });
  const io::kubernetes::translation read = must(io::kubernetes::translate(document, "text", chosen));
  tell("all: tables into a cluster", nothing, [&] {
    cluster made;
    must(made.set("on_invalid", "quarantine"));
    must(made.apply(read.input.tables));
    (void)made.take_snapshot();
  });

  io::kubernetes::object_cache cache(chosen);
  must(cache.put(all));
  fmt::print("{:<36}{:>10.2f} ms\n", "cache: the first snapshot", seconds([&] { (void)must(cache.take(now)); }) * 1000);
  const auto snapshot = [&] { (void)must(cache.take(now)); };
  tell("cache: nothing has changed", nothing, snapshot);
  // Pods that wait get places, as far as there are some, and give them back.
  std::string text;
  tell(
      fmt::format("cache: {} pods into values", changes).c_str(),
      [&](int step) {
        text.clear();
        for (int i = 0; i < changes; ++i)
          text += pod_text(running - 1 - i, step % 2 == 0 ? -1 : (running - 1 - i) / gpus) + "\n";
      },
      [&] { must(cache.put(text)); });
  int turn = 0;
  tell(
      fmt::format("cache: {} pods have changed", changes).c_str(),
      [&](int) {
        ++turn;
        for (int i = 0; i < changes; ++i) {
          must(cache.put(pod_text(running - 1 - i, turn % 2 == 0 ? -1 : (running - 1 - i) / gpus)));
        }
      },
      snapshot);
  fmt::print("{:<36}{:>10}\n", "cache: clusters made anew", cache.full_loads());
}

}  // namespace

int main(int argc, char** argv) {
  try {
    if (argc < 3) throw std::invalid_argument("usage: kaisched_objects_bench NODES PODS [CHANGES]");
    run(std::stoi(argv[1]), std::stoi(argv[2]), argc > 3 ? std::stoi(argv[3]) : 50);
    return 0;
  } catch (const std::exception& fault) {
    std::fprintf(stderr, "kaisched_objects_bench: %s\n", fault.what());
    return 2;
  }
}
