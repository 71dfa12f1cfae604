#include "io/kubernetes/node.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/node_devices.hpp"
#include "io/kubernetes/quantity.hpp"
#include "policy/devices/vendor/device.hpp"

namespace kaisched::io::kubernetes {

namespace {

using devices::mebibyte;

/// The label `nvidia.com/gpu.memory` in bytes; 0 if it is missing or no number.
std::int64_t gpu_memory_of(const object& node) {
  const std::int64_t value = whole_number(node.label("nvidia.com/gpu.memory").value_or("")).value_or(0);
  if (value <= 0) return 0;
  // It is in MiB, but one version of the feature discovery wrote bytes; no GPU has a tebibyte.
  return value < mebibyte ? value * mebibyte : value;
}

/// A number at the start of a text, which loses it; nothing that is not in the range.
std::optional<std::int64_t> number_in_front(std::string_view& text, std::int64_t most) {
  std::int64_t value = -1;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc{} || value < 0 || value > most) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return value;
}

/// What the host has measured of GPUs, per mille: `0=350~50,1=20`, the index, the mean and the deviation.
void read_loads(object& of, node_record& row) {
  constexpr std::string_view annotation = "kaisched.io/load";
  constexpr std::int64_t last_device = 63;
  constexpr std::int64_t all = 1000;
  const std::vector<std::string> pairs = annotated_pairs(of, annotation);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    std::string_view name = pairs[i];
    std::string_view text = pairs[i + 1];
    const auto index = number_in_front(name, last_device);
    const auto mean = number_in_front(text, all);
    std::optional<std::int64_t> deviation = 0;
    if (text.starts_with('~')) {
      text.remove_prefix(1);
      deviation = number_in_front(text, all);
    }
    if (!index || !mean || !deviation || !name.empty() || !text.empty()) {
      of.fail(*find(of.annotations(), annotation),
              fmt::format("expected the index of a GPU and its load per mille such as 0=350~50, found '{}={}'",
                          pairs[i], pairs[i + 1]));
      return;
    }
    row.loads[static_cast<std::uint32_t>(*index)] = {*mean, *deviation};
  }
}

/// As KAI: not ready, under pressure or without network keeps all pods away.
bool is_ready(object& of, member status) {
  constexpr std::array<std::string_view, 4> troubles{"MemoryPressure", "DiskPressure", "PIDPressure",
                                                     "NetworkUnavailable"};
  bool ready = true;
  for (const json_value one : of.items(status, "conditions")) {
    const std::string_view type = of.text(one, "type");
    const std::string_view value = of.text(one, "status");
    if (type == "Ready" && value != "True") ready = false;
    if (std::find(troubles.begin(), troubles.end(), type) != troubles.end() && value != "False") ready = false;
  }
  return ready;
}

}  // namespace

void read_node(object& of, const device_catalog& catalog, bool find, cluster_records& to) {
  const member spec = of.section(of.root(), "spec");
  const member status = of.section(of.root(), "status");
  node_record row;
  row.line = of.line();
  row.name = of.name();
  member capacity = of.section(status, "allocatable");
  if (!capacity) capacity = of.section(status, "capacity");
  row.capacity = amounts_of(of, capacity);
  row.ready = is_ready(of, status);
  row.unschedulable = of.flag(spec, "unschedulable");
  row.labels = label_texts_of(of, of.section(of.root(), "metadata"), "labels");
  for (const json_value taint : of.items(spec, "taints")) row.taints.push_back(taint_text(of, taint));
  row.gpu_memory = gpu_memory_of(of);
  row.position = annotated_pairs(of, "kaisched.io/position");
  read_loads(of, row);
  read_node_devices(of, catalog, find, row);
  if (of.failed()) return;
  to.nodes.push_back(std::move(row));
}

namespace {

/// Policy and scope of attributes, else of the older list that has both in one word.
void read_policy(object& of, node_record& node) {
  struct legacy_word {
    std::string_view word, policy, scope;
  };
  constexpr std::array<legacy_word, 9> legacy_words{{
      {"SingleNUMANodeContainerLevel", "single-numa-node", "container"},
      {"SingleNUMANodePodLevel", "single-numa-node", "pod"},
      {"Restricted", "restricted", "container"},
      {"RestrictedContainerLevel", "restricted", "container"},
      {"RestrictedPodLevel", "restricted", "pod"},
      {"BestEffort", "best-effort", "container"},
      {"BestEffortContainerLevel", "best-effort", "container"},
      {"BestEffortPodLevel", "best-effort", "pod"},
      {"None", "none", "container"},
  }};
  constexpr std::array<std::string_view, 4> policies{"none", "best-effort", "restricted", "single-numa-node"};
  std::string_view policy;
  std::string_view scope = "container";
  for (const json_value one : of.items(of.root(), "attributes")) {
    const std::string_view name = of.text(one, "name");
    const std::string_view value = of.text(one, "value");
    if (name == "topologyManagerPolicy") policy = value;
    if (name == "topologyManagerScope" && value == "pod") scope = value;
  }
  if (policy.empty()) {
    scope = "container";
    for (const std::string_view word : of.texts(of.root(), "topologyPolicies")) {
      const auto* known = std::find_if(legacy_words.begin(), legacy_words.end(),
                                       [&](const legacy_word& one) { return one.word == word; });
      if (known == legacy_words.end()) continue;
      policy = known->policy;
      scope = known->scope;
      break;
    }
  }
  const bool known = std::find(policies.begin(), policies.end(), policy) != policies.end();
  node.numa_policy = known ? policy : "none";
  node.numa_scope = scope;
}

}  // namespace

void read_node_topology(object& of, node_record& node, cluster_records& to) {
  std::vector<numa_zone_record> zones;
  for (const json_value zone : of.items(of.root(), "zones")) {
    if (of.text(zone, "type") != "Node") continue;
    numa_zone_record row;
    row.line = zone.line();
    row.node = node.name;
    row.name = of.text(zone, "name");
    for (const json_value resource : of.items(zone, "resources")) {
      const std::string_view name = of.text(resource, "name");
      const auto amount = [&](std::string_view key) {
        const member given = find(resource, key);
        const std::int64_t read = given ? of.amount(*given, name == "cpu" ? 3 : 0) : 0;
        return dimension_of(name) == "gpu" ? std::min(read, max_amount / whole_device) * whole_device : read;
      };
      row.capacity[std::string(dimension_of(name))] = amount("allocatable");
      row.available[std::string(dimension_of(name))] = amount("available");
    }
    zones.push_back(std::move(row));
  }
  if (zones.empty() || of.failed()) return;
  read_policy(of, node);
  for (numa_zone_record& row : zones) to.zones.push_back(std::move(row));
}

void set_label(node_record& node, std::string_view key, std::string_view value) {
  std::size_t at = 0;
  while (at < node.labels.size() && node.labels[at] != key) at += 2;
  if (at == node.labels.size()) {
    node.labels.emplace_back(key);
    node.labels.emplace_back();
  }
  node.labels[at + 1] = value;
}

}  // namespace kaisched::io::kubernetes
