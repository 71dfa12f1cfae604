// The plug-in nodeorder: what it says by amounts of cpu and memory, and by taints and labels of nodes. Images are no
// part.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <span>

#include "policy/tiers/plugins.hpp"
#include "policy/tiers/session.hpp"

namespace kaisched::policy::tiers {

namespace {

/// What a task that does not say is taken to need, where nodes are compared by how full they are.
constexpr double usual_cpu = 100;
constexpr double usual_memory = 200.0 * 1024 * 1024;

resource_list at_least_usual(const resource_list& request) {
  resource_list one = request;
  if (one.cpu == 0) one.cpu = usual_cpu;
  if (one.memory == 0) one.memory = usual_memory;
  return one;
}

/// Whole points of one resource; a node that has none of it does not count.
struct points_of_resource {
  std::int64_t points = 0;
  bool counts = false;
};

points_of_resource fullness(double used, double capacity, bool emptier) {
  const auto most = static_cast<std::int64_t>(capacity);
  if (most <= 0) return {};
  const auto asked = static_cast<std::int64_t>(used);
  if (emptier) return {asked > most ? 0 : (most - asked) * 100 / most, true};
  return {std::min(asked, most) * 100 / most, true};
}

std::int64_t fullness_of_node(const resource_list& used, const resource_list& capacity, bool emptier) {
  const points_of_resource cpu = fullness(used.cpu, capacity.cpu, emptier);
  const points_of_resource memory = fullness(used.memory, capacity.memory, emptier);
  const std::int64_t count = (cpu.counts ? 1 : 0) + (memory.counts ? 1 : 0);
  return count == 0 ? 0 : (cpu.points + memory.points) / count;
}

/// The resources whose parts are held against each other; the first two always count.
constexpr std::array<std::string_view, 3> balanced_names{"cpu", "memory", "nvidia.com/gpu"};

/// 100 if all resources are used in equal parts. `asked`: a device counts only for tasks that ask for it.
std::int64_t evenness(const resource_list& used, const resource_list& capacity, const resource_list& asked,
                      std::size_t resources) {
  std::vector<double> parts;
  for (const std::string_view name : std::span(balanced_names).first(resources)) {
    const double most = capacity.get(name);
    const bool counts = name == balanced_names[0] || name == balanced_names[1] || asked.get(name) > 0;
    if (most > 0 && counts) parts.push_back(std::min(used.get(name) / most, 1.0));
  }
  double spread = 0;
  if (parts.size() == 2) {
    spread = std::fabs((parts[0] - parts[1]) / 2);
  } else if (parts.size() > 2) {
    const double mean = std::accumulate(parts.begin(), parts.end(), 0.0) / static_cast<double>(parts.size());
    double sum = 0;
    for (const double part : parts) sum += (part - mean) * (part - mean);
    spread = std::sqrt(sum / static_cast<double>(parts.size()));
  }
  return static_cast<std::int64_t>((1 - spread) * 100);
}

/// By what the task changes: 75 if nothing.
std::int64_t balance_of_node(const resource_list& used, const resource_list& capacity, const resource_list& asked,
                             std::size_t resources) {
  resource_list with = used;
  with.add(asked);
  const std::int64_t change = evenness(with, capacity, asked, resources) - evenness(used, capacity, asked, resources);
  return 50 + (50 + change) / 2;
}

class node_order final : public plugin {
 public:
  explicit node_order(node_order_weights weights) : weights_(weights) {}

  [[nodiscard]] std::string_view name() const override { return "nodeorder"; }
  [[nodiscard]] points orders() const override { return {}; }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const cluster_state& cluster = of.cluster();
    const resource_list& asked = cluster.tasks[task].request;
    const resource_list request = at_least_usual(asked);
    const std::size_t resources = weights_.balanced_gpus ? balanced_names.size() : balanced_names.size() - 1;
    const bool balances = weights_.balanced_gpus ? !cluster.tasks[task].best_effort : asked.cpu > 0 || asked.memory > 0;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const node_state& node = cluster.nodes[nodes[i]];
      resource_list used = request;
      resource_list asked_for;
      for (const auto& [other, status] : node.tasks) {
        if (status == task_status::releasing) continue;
        used.add(at_least_usual(cluster.tasks[other].request));
        asked_for.add(cluster.tasks[other].request);
      }
      if (balances) {
        scores[i] +=
            static_cast<double>(weights_.balanced * balance_of_node(asked_for, node.allocatable, asked, resources));
      }
      scores[i] += static_cast<double>(weights_.least_requested * fullness_of_node(used, node.allocatable, true) +
                                       weights_.most_requested * fullness_of_node(used, node.allocatable, false));
    }
    if (cluster.tasks[task].avoids != nullptr) {
      // 100 without such taints, 0 with most of them.
      const std::vector<std::int64_t> points = parts_of_most(*cluster.tasks[task].avoids, nodes);
      add(scores, weights_.taints, points.size(), [&](std::size_t i) { return 100 - points[i]; });
    }
    if (cluster.tasks[task].prefers != nullptr) {
      const std::vector<std::int64_t>& prefers = *cluster.tasks[task].prefers;
      const std::vector<std::int64_t> points =
          weights_.scales_affinity ? parts_of_most(prefers, nodes) : std::vector<std::int64_t>();
      add(scores, weights_.affinity, nodes.size(),
          [&](std::size_t i) { return weights_.scales_affinity ? points[i] : prefers[nodes[i]]; });
    }
    if (cluster.neighbours != nullptr) {
      const std::vector<std::int64_t> even = cluster.neighbours->evenness(task, nodes);
      add(scores, weights_.spread, even.size(), [&](std::size_t i) { return even[i]; });
      const std::vector<std::int64_t> near = cluster.neighbours->welcome(task, nodes, weights_.required_pods);
      add(scores, weights_.pods, near.size(), [&](std::size_t i) { return near[i]; });
    }
  }

 private:
  /// Of the most that one of the nodes has, in whole hundredths.
  static std::vector<std::int64_t> parts_of_most(const std::vector<std::int64_t>& amounts,
                                                 const std::vector<row>& nodes) {
    std::int64_t most = 0;
    for (const row node : nodes) most = std::max(most, amounts[node]);
    std::vector<std::int64_t> parts;
    for (const row node : nodes) parts.push_back(most == 0 ? 0 : 100 * amounts[node] / most);
    return parts;
  }
  template <class Points>
  static void add(std::vector<double>& scores, std::int64_t weight, std::size_t count, const Points& points) {
    for (std::size_t i = 0; i < count; ++i) scores[i] += static_cast<double>(weight * points(i));
  }

  node_order_weights weights_;
};

}  // namespace

std::unique_ptr<plugin> make_node_order(node_order_weights weights) { return std::make_unique<node_order>(weights); }

}  // namespace kaisched::policy::tiers
