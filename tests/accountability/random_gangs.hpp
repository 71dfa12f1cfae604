#pragma once
/// @file
/// Random small clusters with gangs of all forms.

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "oracle/random_cluster.hpp"
#include "rows.hpp"

namespace kaisched::test {

/// Topologies, trees of sub-groups, kinds of pods, limits and quotas, pods that leave, broken devices.
inline std::vector<table> random_gangs(dice& d) {
  rows queues(table_kind::queue, table_op::add, {"name", "parent", "quota", "limit"});
  rows nodes(table_kind::node, table_op::add, {"name", "capacity", "labels", "taints", "ready"});
  rows devices(table_kind::device, table_op::add, {"node", "index", "healthy"});
  rows groups(table_kind::pod_group, table_op::add,
              {"name", "queue", "preemptible", "created", "min_member", "min_sub_group", "topology", "required_level"});
  rows subs(table_kind::sub_group, table_op::add, {"group", "name", "min_member", "topology", "required_level"});
  rows pods(table_kind::pod, table_op::add,
            {"name", "group", "sub_group", "request", "status", "node", "node_selector", "tolerations"});
  const auto level = [&](bool some) { return some ? d.of<std::string>({"rack", "rack", "zone"}) : std::string(); };
  const auto amount = [&](bool some, std::int64_t most) {
    return some ? d.between(0, most) * whole_device : std::int64_t{unlimited};
  };
  queues.add({"dept", "", numbers{unlimited, unlimited, amount(d.one_in(3), 16)},
              numbers{unlimited, unlimited, amount(d.one_in(3), 16)}});
  for (const char* name : {"a", "b"}) {
    queues.add({name, "dept", numbers{unlimited, unlimited, amount(d.one_in(3), 8)},
                numbers{amount(d.one_in(6), 30), unlimited, amount(d.one_in(4), 8)}});
  }
  std::vector<std::int64_t> gpus;
  const std::int64_t node_count = d.between(1, 6);
  for (std::int64_t n = 0; n < node_count; ++n) {
    const std::string name = "n" + std::to_string(n);
    gpus.push_back(d.of<std::int64_t>({4, 8, 2, 0}));
    const char* zone = n % 2 == 0 ? "east" : "west";  // lists borrow their texts
    const char* rack = std::array{"r0", "r1", "r2"}[static_cast<std::size_t>(n) / 2];
    texts labels;
    if (!d.one_in(12)) labels = {"zone", zone, "rack", rack};
    const char* model = d.of<const char*>({"A100", "H100"});
    labels.insert(labels.end(), {"model", model});
    const std::int64_t there = gpus.back();
    for (std::int64_t i = 0, broken = d.one_in(6) ? d.upto(there) : 0; broken > 0 && i < there; ++i) {
      devices.add({name, i, i < broken ? 0 : 1});
      gpus.back() -= i < broken ? 1 : 0;
    }
    nodes.add({name,
               numbers{d.of<std::int64_t>({32, 16, 4}) * 1000, std::int64_t{1} << 40, gpus.back() * whole_device, 110},
               labels, d.one_in(8) ? texts{"pool=x:NoSchedule"} : texts{}, d.one_in(12) ? 0 : 1});
  }
  const auto running = [&](std::int64_t g) {
    const std::string name = "run" + std::to_string(g);
    groups.add({name, d.of<std::string>({"a", "b"}), d.one_in(3) ? 0 : 1, g, 1, unset, "", ""});
    const std::int64_t at = d.upto(node_count - 1);
    const std::int64_t wanted = d.between(1, 4);
    if (wanted > gpus[static_cast<std::size_t>(at)]) return;
    gpus[static_cast<std::size_t>(at)] -= wanted;
    pods.add({name + "-0", name, "default", numbers{1000, 1, wanted * whole_device},
              d.one_in(6) ? pod_status::releasing : pod_status::running, "n" + std::to_string(at), texts{}, texts{}});
  };
  for (std::int64_t g = d.upto(5); g > 0; --g) running(g);
  const auto waiting = [&](std::int64_t g) {
    const std::string name = "gang" + std::to_string(g);
    const std::int64_t sets = d.of<std::int64_t>({0, 0, 2, 3});
    const bool together = d.one_in(3);
    const bool chooses = sets > 0 && d.one_in(3);
    const std::int64_t size = d.between(1, 6);
    groups.add({name, d.of<std::string>({"a", "b"}), d.one_in(3) ? 0 : 1, 100 + g, sets == 0 ? size : 1,
                chooses ? sets - 1 : unset, together ? "tree" : "", level(together)});
    const auto kind = [&](const std::string& sub, std::int64_t count, std::int64_t first) {
      const std::int64_t wanted = d.of<std::int64_t>({1, 2, 4, 8, 0}) * whole_device;
      const std::int64_t cores = d.of<std::int64_t>({1, 2, 8}) * 1000;
      const bool selects = d.one_in(4);
      const bool tolerates = d.one_in(4);
      for (std::int64_t i = first; i < first + count; ++i) {
        const std::string pod = name + "-" + sub + std::to_string(i);
        pods.add({pod, name, sub.empty() ? "default" : sub, numbers{cores, 1, wanted},
                  d.one_in(40) ? pod_status::gated : pod_status::pending, "",
                  selects ? texts{"model", "H100"} : texts{}, tolerates ? texts{"pool=x"} : texts{}});
      }
    };
    const auto fill = [&](const std::string& sub, std::int64_t min) {
      const std::int64_t more = d.one_in(3) ? d.upto(2) : d.one_in(8) ? -1 : 0;
      const std::int64_t count = std::max<std::int64_t>(0, min + more);
      const std::int64_t others = d.one_in(2) ? d.upto(count) : 0;
      kind(sub, count - others, 0);
      kind(sub, others, count - others);
    };
    if (sets == 0) fill("", size);
    for (std::int64_t i = 0; i < sets; ++i) {
      const std::string sub = "s" + std::to_string(i);
      const bool close = d.one_in(4);
      const std::int64_t min = d.between(1, 3);
      subs.add({name, sub, min, close ? "tree" : "", level(close)});
      fill(sub, min);
    }
  };
  for (std::int64_t g = d.between(1, 3); g > 0; --g) waiting(g);
  std::vector<table> all;
  all.push_back(rows(table_kind::topology, table_op::add, {"name", "levels"}).add({"tree", texts{"zone", "rack"}}));
  for (const rows* one : {&queues, &nodes, &devices, &groups, &subs, &pods}) all.push_back(*one);
  return all;
}

}  // namespace kaisched::test
