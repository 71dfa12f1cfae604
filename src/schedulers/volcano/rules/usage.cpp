// The plug-in usage: nodes by what was measured of them.

#include <map>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class usage final : public plugin {
 public:
  explicit usage(const usage_settings& settings) : settings_(settings) {}

  [[nodiscard]] std::string_view name() const override { return "usage"; }

  void open(const session& of, const points&) override {
    const cluster_state& cluster = of.cluster();
    estimates_.resize(cluster.nodes.size());
    for (row node = 0; node < cluster.nodes.size(); ++node) {
      for (const auto& [task, status] : cluster.nodes[node].tasks) {
        const bool measured =
            status == task_status::running && cluster.now - cluster.tasks[task].started >= settings_.measured_after;
        if (!measured && is_allocated(status)) add(cluster, task, node);
      }
    }
  }
  void task_allocated(const session& of, row task) override { add(of.cluster(), task, of.cluster().tasks[task].node); }
  void task_deallocated(const session&, row task) override {
    const auto known = added_.find(task);
    if (known == added_.end()) return;  // what it uses was measured
    estimates_[known->second.node].cpu -= known->second.what.cpu;
    estimates_[known->second.node].memory -= known->second.what.memory;
    added_.erase(known);
  }

  [[nodiscard]] node_refusal refuses(const session& of, row, row node) const override {
    const std::optional<policy::measured_load>& load = of.cluster().nodes[node].load;
    const bool busy = load && policy::refused_by_load(*load, settings_.thresholds) != policy::load_refusal::none;
    return busy ? node_refusal::for_good : node_refusal::none;
  }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row, const std::vector<row>& nodes, std::vector<double>& scores) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!of.cluster().nodes[nodes[i]].load) continue;
      const estimate parts = parts_of(of.cluster(), nodes[i]);
      scores[i] += policy::load_score(parts.cpu, parts.memory, settings_.weights, settings_.weight);
    }
  }

 private:
  struct estimate {
    double cpu = 0;
    double memory = 0;
  };
  struct placed_estimate {
    row node;
    estimate what;
  };

  /// Of a node, what was measured and what is to come, from 0 to 1.
  [[nodiscard]] estimate parts_of(const cluster_state& cluster, row node) const {
    const node_state& one = cluster.nodes[node];
    const policy::measured_load load = one.load.value_or(policy::measured_load{});
    return {policy::composite_load(load.cpu, estimates_[node].cpu, one.allocatable.cpu),
            policy::composite_load(load.memory, estimates_[node].memory, one.allocatable.memory)};
  }

  void add(const cluster_state& cluster, row task, row node) {
    const estimate parts = parts_of(cluster, node);
    const double risk = policy::risk_factor(policy::combined_load(parts.cpu, parts.memory, settings_.weights),
                                            settings_.risk_threshold, settings_.risk_factor);
    const auto expected = [&](double asked, double of_none) {
      return cluster.tasks[task].best_effort ? policy::estimated_best_effort_use(of_none, risk)
                                             : policy::estimated_use(asked, asked, settings_.request_ratio, 0, risk);
    };
    const policy::resource_list& request = cluster.tasks[task].request;
    const estimate made{expected(request.cpu, settings_.cpu_of_none),
                        expected(request.memory, settings_.memory_of_none)};
    added_[task] = {node, made};
    estimates_[node].cpu += made.cpu;
    estimates_[node].memory += made.memory;
  }

  usage_settings settings_;
  std::vector<estimate> estimates_;       ///< by node, of tasks that nobody has measured yet
  std::map<row, placed_estimate> added_;  ///< by task
};

}  // namespace

std::unique_ptr<plugin> make_usage(const usage_settings& settings) { return std::make_unique<usage>(settings); }

}  // namespace kaisched::volcano
