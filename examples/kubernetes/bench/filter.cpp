/// What a question of kube-scheduler costs: kaisched_filter_bench NODES PODS [QUESTIONS]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "extender/extender_fields.hpp"
#include "hami/device_choice.hpp"
#include "watch/object_store.hpp"

namespace {

using nlohmann::json;
using clock_type = std::chrono::steady_clock;

constexpr std::size_t cards_per_node = 8;
constexpr std::int64_t now = 1'800'000'000'000'000'000;

json node_of(std::size_t at) {
  json cards = json::array();
  for (std::size_t i = 0; i < cards_per_node; ++i) {
    cards.push_back({{"id", fmt::format("GPU-{}-{}", at, i)},
                     {"index", i},
                     {"count", 10},
                     {"devmem", 81920},
                     {"devcore", 100},
                     {"type", "NVIDIA-H100"},
                     {"numa", i / 4},
                     {"mode", "hami-core"},
                     {"health", true}});
  }
  return {
      {"apiVersion", "v1"},
      {"kind", "Node"},
      {"metadata",
       {{"name", fmt::format("n{}", at)},
        {"uid", fmt::format("node-{}", at)},
        {"resourceVersion", std::to_string(at + 1)},
        {"annotations", {{"hami.io/node-nvidia-register", cards.dump()}}}}},
      {"status", {{"allocatable", {{"cpu", "128"}, {"memory", "1Ti"}, {"pods", "110"}, {"nvidia.com/gpu", "80"}}}}}};
}

json pod_of(const std::string& name) {
  return {{"apiVersion", "v1"},
          {"kind", "Pod"},
          {"metadata", {{"name", name}, {"namespace", "team"}, {"uid", name}, {"resourceVersion", "1"}}},
          {"spec",
           {{"schedulerName", "default-scheduler"},
            {"containers",
             json::array({{{"name", "main"},
                           {"resources", {{"limits", {{"nvidia.com/gpu", "1"}, {"nvidia.com/gpumem", "8192"}}}}}}})}}},
          {"status", {{"phase", "Pending"}}}};
}

json pod_on(std::size_t at, std::size_t nodes) {
  json made = pod_of(fmt::format("p{}", at));
  const std::size_t node = at % nodes;
  made["metadata"]["annotations"] = {
      {"hami.io/vgpu-devices-allocated", fmt::format("GPU-{}-{},NVIDIA,8192,10:;", node, at / nodes % cards_per_node)}};
  made["spec"]["nodeName"] = fmt::format("n{}", node);
  made["status"]["phase"] = "Running";
  return made;
}

/// Milliseconds of the median.
double median(std::vector<double> all) {
  std::sort(all.begin(), all.end());
  return all[all.size() / 2];
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 3) {
    std::fputs("kaisched_filter_bench NODES PODS [QUESTIONS]\n", stderr);
    return 2;
  }
  const std::size_t nodes = std::strtoul(argv[1], nullptr, 10);
  const std::size_t pods = std::strtoul(argv[2], nullptr, 10);
  const std::size_t questions = std::max<std::size_t>(1, argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 20);
  shim::object_store store("kaisched");
  shim::candidate_nodes candidates;
  std::vector<json> all;
  for (std::size_t i = 0; i < nodes; ++i) {
    all.push_back(node_of(i));
    candidates.emplace(fmt::format("n{}", i), nullptr);
  }
  store.replace(shim::resource_of("Node"), std::move(all));
  all.clear();
  for (std::size_t i = 0; i < pods; ++i) all.push_back(pod_on(i, nodes));
  store.replace(shim::resource_of("Pod"), std::move(all));

  const kaisched::abi::options engine = shim::extender_settings().engine;
  shim::device_chooser kept(engine, {});
  std::vector<double> anew, after;
  for (std::size_t i = 0; i < questions; ++i) {
    // Each is about another pod, and the one before has got its devices.
    const auto ask = [&](shim::device_chooser& of, std::vector<double>& to) {
      std::uint64_t seen = 0;
      const json pod = pod_of(fmt::format("q{}", i));
      const clock_type::time_point began = clock_type::now();
      shim::device_choice choice = of.choose(store, pod, candidates, now, seen);
      to.push_back(std::chrono::duration<double, std::milli>(clock_type::now() - began).count());
      if (choice.node.empty()) std::puts("no node fits");
      return choice;
    };
    shim::device_chooser fresh(engine, {});
    (void)ask(fresh, anew);
    const shim::device_choice choice = ask(kept, after);
    json given = pod_of(fmt::format("q{}", i));
    given["metadata"]["annotations"] = choice.metadata["annotations"];
    given["spec"]["nodeName"] = choice.node;
    store.put(shim::resource_of("Pod"), std::move(given));
  }
  after.erase(after.begin());  // it read everything
  std::printf("%zu nodes with %zu cards each, %zu pods: all read anew %.1f ms, what has changed %.1f ms\n", nodes,
              cards_per_node, pods, median(anew), after.empty() ? 0 : median(after));
  return 0;
}
