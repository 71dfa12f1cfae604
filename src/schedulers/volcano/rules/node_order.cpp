// The plug-in nodeorder: what it says by amounts of cpu and memory, and by taints and labels of nodes. Images are no
// part.

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

/// What a task that does not say is taken to need, where nodes are compared by how full they are.
constexpr double usual_cpu = 100;
constexpr double usual_memory = 200.0 * 1024 * 1024;

double cpu_or_usual(const policy::resource_list& request) { return request.cpu == 0 ? usual_cpu : request.cpu; }
double memory_or_usual(const policy::resource_list& request) {
  return request.memory == 0 ? usual_memory : request.memory;
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

std::int64_t fullness_of_node(double used_cpu, double used_memory, const policy::resource_list& capacity,
                              bool emptier) {
  const points_of_resource cpu = fullness(used_cpu, capacity.cpu, emptier);
  const points_of_resource memory = fullness(used_memory, capacity.memory, emptier);
  const std::int64_t count = (cpu.counts ? 1 : 0) + (memory.counts ? 1 : 0);
  return count == 0 ? 0 : (cpu.points + memory.points) / count;
}

/// The resources whose parts are held against each other: cpu and memory, which always count, and a device, which
/// counts for tasks that ask for it.
constexpr std::string_view balanced_device = "nvidia.com/gpu";
using balanced_amounts = std::array<double, 3>;

balanced_amounts balanced_of(const policy::resource_list& of, bool with_device) {
  return {of.cpu, of.memory, with_device ? of.get(balanced_device) : 0};
}

/// 100 if all resources are used in equal parts.
std::int64_t evenness(const balanced_amounts& used, const balanced_amounts& capacity) {
  balanced_amounts parts{};
  std::size_t count = 0;
  for (std::size_t i = 0; i < used.size(); ++i) {
    if (capacity[i] > 0) parts[count++] = std::min(used[i] / capacity[i], 1.0);
  }
  double spread = 0;
  if (count == 2) {
    spread = std::fabs((parts[0] - parts[1]) / 2);
  } else if (count > 2) {
    const double mean = std::accumulate(parts.begin(), parts.end(), 0.0) / static_cast<double>(count);
    double sum = 0;
    for (const double part : parts) sum += (part - mean) * (part - mean);
    spread = std::sqrt(sum / static_cast<double>(count));
  }
  return static_cast<std::int64_t>((1 - spread) * 100);
}

/// By what the task changes: 75 if nothing.
std::int64_t balance_of_node(const balanced_amounts& used, const balanced_amounts& capacity,
                             const balanced_amounts& asked) {
  balanced_amounts with = used;
  for (std::size_t i = 0; i < with.size(); ++i) with[i] += asked[i];
  return 50 + (50 + evenness(with, capacity) - evenness(used, capacity)) / 2;
}

class node_order final : public plugin {
 public:
  explicit node_order(node_order_weights weights) : weights_(weights) {}

  [[nodiscard]] std::string_view name() const override { return "nodeorder"; }
  [[nodiscard]] bool judges_victims_by_node() const override { return true; }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const cluster_state& cluster = of.cluster();
    const policy::resource_list& asked = cluster.tasks[task].request;
    const bool balances = weights_.balanced_gpus ? !cluster.tasks[task].best_effort : asked.cpu > 0 || asked.memory > 0;
    const bool with_device = weights_.balanced_gpus && asked.get(balanced_device) > 0;
    const balanced_amounts own = balanced_of(asked, with_device);
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const node_state& node = cluster.nodes[nodes[i]];
      double used_cpu = cpu_or_usual(asked);
      double used_memory = memory_or_usual(asked);
      balanced_amounts asked_for{};
      for (const auto& [other, status] : node.tasks) {
        if (status == task_status::releasing) continue;
        const policy::resource_list& request = cluster.tasks[other].request;
        used_cpu += cpu_or_usual(request);
        used_memory += memory_or_usual(request);
        const balanced_amounts theirs = balanced_of(request, with_device);
        for (std::size_t k = 0; k < theirs.size(); ++k) asked_for[k] += theirs[k];
      }
      if (balances) {
        const balanced_amounts capacity = balanced_of(node.allocatable, with_device);
        scores[i] += static_cast<double>(weights_.balanced * balance_of_node(asked_for, capacity, own));
      }
      const auto points = [&](bool emptier) {
        return fullness_of_node(used_cpu, used_memory, node.allocatable, emptier);
      };
      scores[i] +=
          static_cast<double>(weights_.least_requested * points(true) + weights_.most_requested * points(false));
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

}  // namespace kaisched::volcano
