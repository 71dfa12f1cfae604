#include "io/kubernetes/volcano_queue.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/text.hpp"
#include "io/kubernetes/resources.hpp"

namespace kaisched::io::kubernetes {

namespace {

constexpr std::string_view root_queue = "root";
constexpr std::string_view path_key = "volcano.sh/hierarchy";
constexpr std::string_view weights_key = "volcano.sh/hierarchy-weights";

/// Of cpu, memory and gpu; `absent` for those that the list does not name.
std::array<std::int64_t, quota_dimensions> quotas_of(object& of, member list, std::int64_t absent) {
  constexpr std::array<std::string_view, quota_dimensions> names{"cpu", "memory", gpu};
  const amounts read = amounts_of(of, list);
  std::array<std::int64_t, quota_dimensions> made{};
  for (std::size_t i = 0; i < names.size(); ++i) {
    const auto named = read.find(names[i]);
    made[i] = named == read.end() ? absent : named->second;
  }
  return made;
}

std::vector<std::string_view> steps_of(std::string_view path) {
  std::vector<std::string_view> steps;
  for (;;) {
    const std::size_t slash = path.find('/');
    steps.push_back(path.substr(0, slash));
    if (slash == std::string_view::npos) return steps;
    path.remove_prefix(slash + 1);
  }
}

/// Weights below 1, and what is no number, count as 1.
void read_path(object& of, queue_record& to) {
  const std::string_view path = of.annotation(path_key).value_or("");
  if (path.empty()) return;
  const std::vector<std::string_view> steps = steps_of(path);
  const std::vector<std::string_view> weights = steps_of(of.annotation(weights_key).value_or(""));
  if (weights.size() != steps.size()) {
    of.fail(*find(of.annotations(), path_key),
            fmt::format("{} steps need as many weights in {}, found {}", steps.size(), weights_key, weights.size()));
    return;
  }
  for (std::size_t i = 0; i < steps.size(); ++i) {
    double weight = 1;
    const auto [end, fault] = std::from_chars(weights[i].data(), weights[i].data() + weights[i].size(), weight);
    if (fault != std::errc{} || end != weights[i].data() + weights[i].size() || !(weight >= 1)) weight = 1;
    to.hierarchy.push_back(fmt::format("{}:{}", steps[i], weight));
  }
}

void read_node_groups(object& of, member spec, queue_record& to) {
  struct wish_list {
    std::string_view of, list, word;
  };
  constexpr std::string_view required = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view preferred = "preferredDuringSchedulingIgnoredDuringExecution";
  const member affinity = of.section(spec, "affinity");
  for (const wish_list& one :
       {wish_list{"nodeGroupAffinity", required, "required"}, wish_list{"nodeGroupAffinity", preferred, "preferred"},
        wish_list{"nodeGroupAntiAffinity", required, "avoided"},
        wish_list{"nodeGroupAntiAffinity", preferred, "rather_avoided"}}) {
    for (const std::string_view name : of.texts(of.section(affinity, one.of), one.list))
      to.node_groups.push_back(fmt::format("{}:{}", one.word, name));
  }
}

queue_record queue_of(object& of) {
  const member spec = of.section(of.root(), "spec");
  queue_record row;
  row.line = of.line();
  row.name = of.name();
  row.parent = of.text(spec, "parent");
  row.priority = of.integer(spec, "priority").value_or(0);
  row.created = of.created();
  const bool deserves = find(spec, "deserved").has_value();
  row.quota = quotas_of(of, of.section(spec, "deserved"), row.name == root_queue && !deserves ? unlimited : 0);
  row.limit = quotas_of(of, of.section(spec, "capability"), unlimited);
  row.guarantee = quotas_of(of, of.section(of.section(spec, "guarantee"), "resource"), 0);
  const std::int64_t weight = of.integer(spec, "weight").value_or(1);
  row.weight.fill(static_cast<double>(weight));
  row.reclaimable = !find(spec, "reclaimable") || of.flag(spec, "reclaimable");
  read_path(of, row);
  read_node_groups(of, spec, row);
  return row;
}

}  // namespace

std::set<std::string, std::less<>> read_volcano_queues(std::span<object* const> objects, cluster_records& to) {
  std::set<std::string, std::less<>> others;
  for (const queue_record& one : to.queues) others.insert(one.name);
  std::set<std::string, std::less<>> closed;
  std::vector<queue_record> read;
  for (object* one : objects) {
    if (others.contains(one->name())) continue;
    queue_record row = queue_of(*one);
    const std::string_view state = one->text(one->section(one->root(), "status"), "state");
    if (one->failed()) continue;
    if (state == "Closed" || state == "Closing") closed.insert(row.name);
    read.push_back(std::move(row));
  }
  const bool has_root =
      std::any_of(read.begin(), read.end(), [](const queue_record& one) { return one.name == root_queue; });
  for (queue_record& row : read) {
    if (row.parent.empty() || row.parent == root_queue) row.parent = has_root ? root_queue : std::string_view{};
    if (row.name == root_queue) row.parent.clear();
    to.queues.push_back(std::move(row));
  }
  return closed;
}

std::string closed_queue_text(std::string_view queue) {
  return fmt::format("the queue '{}' is closed", base::shown(queue));
}

}  // namespace kaisched::io::kubernetes
