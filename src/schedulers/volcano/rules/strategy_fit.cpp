// The plug-in resource-strategy-fit.

#include <utility>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class strategy_fit final : public plugin {
 public:
  strategy_fit(policy::strategy_fit_settings fit, policy::scarcity_settings scarcity, strategies_by_task of_tasks)
      : fit_(policy::usable_settings(std::move(fit))), scarcity_(std::move(scarcity)), of_tasks_(std::move(of_tasks)) {}

  [[nodiscard]] std::string_view name() const override { return "resource-strategy-fit"; }

  [[nodiscard]] bool judges_by_kind(const session&) const override { return of_tasks_.empty(); }

  [[nodiscard]] bool scores_nodes() const override { return true; }
  void score_nodes(const session& of, row task, const std::vector<row>& nodes,
                   std::vector<double>& scores) const override {
    const task_state& one = of.cluster().tasks[task];
    const auto own = of_tasks_.find(one.name);
    const policy::resource_strategies* strategies = own == of_tasks_.end() ? nullptr : &own->second;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      const node_state& node = of.cluster().nodes[nodes[i]];
      if (fit_.weight > 0)
        scores[i] += policy::strategy_fit_score(one.request, node.allocatable, node.used, fit_, strategies);
      if (scarcity_.weight > 0) scores[i] += policy::scarcity_score(one.request, node.allocatable, scarcity_);
    }
  }

 private:
  policy::strategy_fit_settings fit_;
  policy::scarcity_settings scarcity_;
  strategies_by_task of_tasks_;
};

}  // namespace

std::unique_ptr<plugin> make_strategy_fit(policy::strategy_fit_settings fit, policy::scarcity_settings scarcity,
                                          strategies_by_task of_tasks) {
  return std::make_unique<strategy_fit>(std::move(fit), std::move(scarcity), std::move(of_tasks));
}

}  // namespace kaisched::volcano
