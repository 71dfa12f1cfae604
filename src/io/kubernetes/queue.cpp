#include "io/kubernetes/queue.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include <fmt/format.h>

#include "io/kubernetes/constraints.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// A quota or limit in units of the tables; every negative one is unlimited.
std::int64_t bound_of(object& of, member resource, std::string_view key, double unit) {
  const double given = of.number(resource, key).value_or(0);
  if (given < 0) return unlimited;
  const double scaled = given * unit;
  if (scaled <= static_cast<double>(max_amount)) return std::llround(scaled);
  of.fail(*find(resource, key), fmt::format("{} is too large", find(resource, key)->shown()));
  return 0;
}

/// What the host has told of its history, in parts of the capacity: `cpu=0.25,gpu=0.5`.
void read_usage(object& of, std::array<double, quota_dimensions>& to) {
  constexpr std::string_view annotation = "kaisched.io/usage";
  constexpr std::array<std::string_view, quota_dimensions> names{"cpu", "memory", "gpu"};
  const std::vector<std::string> pairs = annotated_pairs(of, annotation);
  for (std::size_t i = 0; i + 1 < pairs.size(); i += 2) {
    const auto* const name = std::find(names.begin(), names.end(), pairs[i]);
    const std::string& text = pairs[i + 1];
    double part = -1;
    const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), part);
    const bool is_part = failed == std::errc{} && end == text.data() + text.size() && part >= 0 && part <= 1e12;
    if (name == names.end() || !is_part) {
      of.fail(*find(of.annotations(), annotation),
              fmt::format("expected cpu, memory or gpu and a part of the capacity, found '{}={}'", pairs[i], text));
      return;
    }
    to[static_cast<std::size_t>(name - names.begin())] = part;
  }
}

}  // namespace

void read_queue(object& of, cluster_records& to) {
  struct resource_key {
    std::string_view name;
    double unit;  ///< of the object, in units of the tables
  };
  constexpr std::array<resource_key, quota_dimensions> keys{
      {{"cpu", 1}, {"memory", 1e6}, {"gpu", static_cast<double>(whole_device)}}};
  const member spec = of.section(of.root(), "spec");
  const member resources = of.section(spec, "resources");
  queue_record row;
  row.line = of.line();
  row.name = of.name();
  row.parent = of.text(spec, "parentQueue");
  row.priority = of.integer(spec, "priority").value_or(100);
  row.created = of.created();
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const member resource = of.section(resources, keys[i].name);
    row.quota[i] = bound_of(of, resource, "quota", keys[i].unit);
    row.limit[i] = bound_of(of, resource, "limit", keys[i].unit);
    row.weight[i] = of.number(resource, "overQuotaWeight").value_or(0);
  }
  read_usage(of, row.usage);
  row.reclaim_min_runtime = of.duration(spec, "reclaimMinRuntime").value_or(unset);
  row.preempt_min_runtime = of.duration(spec, "preemptMinRuntime").value_or(unset);
  if (!of.failed()) to.queues.push_back(std::move(row));
}

void read_topology(object& of, cluster_records& to, level_aliases& aliases) {
  topology_record row;
  row.line = of.line();
  row.name = of.name();
  for (const json_value level : of.items(of.section(of.root(), "spec"), "levels")) {
    const std::string_view label = of.text(level, "nodeLabel");
    const std::string_view alias = of.text(level, "alias");
    row.levels.emplace_back(label);
    if (!alias.empty()) aliases[row.name].emplace(alias, label);
  }
  row.shapes = annotated_pairs(of, "kaisched.io/shapes");
  if (!of.failed()) to.topologies.push_back(std::move(row));
}

void resolve_aliases(constraint_levels& of, const level_aliases& aliases) {
  const auto tree = aliases.find(of.topology);
  if (tree == aliases.end()) return;
  for (std::string* level : {&of.required, &of.preferred}) {
    if (const auto known = tree->second.find(*level); known != tree->second.end()) *level = known->second;
  }
}

void priority_classes::read(object& of) {
  const std::int64_t value = of.integer(of.root(), "value").value_or(0);
  if (of.failed()) return;
  values_.emplace(of.name(), value);
  if (of.flag(of.root(), "globalDefault")) fallback_ = value;
}

void priority_classes::finish() {
  if (values_.empty()) values_ = {{"train", 50}, {"build-preemptible", 75}, {"build", 100}, {"inference", 125}};
}

std::int64_t priority_classes::value(std::string_view name) const {
  const auto known = values_.find(name);
  return known == values_.end() ? fallback_ : known->second;
}

}  // namespace kaisched::io::kubernetes
