// The plug-ins cdp and pdb: tasks that are no victims for a while, or of which only some may go.

#include <algorithm>
#include <vector>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class cooldown final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "cdp"; }
  [[nodiscard]] points orders() const override { return {}; }

  [[nodiscard]] victims preemptable(const session& of, row, const std::vector<row>& candidates) const override {
    std::vector<row> allowed;
    std::ranges::copy_if(candidates, std::back_inserter(allowed),
                         [&](row one) { return !is_young(of.cluster(), one); });
    return allowed;
  }
  [[nodiscard]] victims reclaimable(const session& of, row task, const std::vector<row>& candidates) const override {
    return preemptable(of, task, candidates);
  }

 private:
  static bool is_young(const cluster_state& cluster, row task) {
    const task_state& one = cluster.tasks[task];
    return one.spared_for > 0 && one.status == task_status::running && cluster.now - one.started < one.spared_for;
  }
};

/// Budgets are used up in the order in which victims are offered, anew for each offer.
class budgets final : public plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "pdb"; }
  [[nodiscard]] points orders() const override { return {}; }

  [[nodiscard]] victims preemptable(const session& of, row, const std::vector<row>& candidates) const override {
    std::vector<std::int64_t> left = of.cluster().budgets;
    std::vector<row> allowed;
    for (const row one : candidates) {
      const task_state& task = of.cluster().tasks[one];
      if (!task.has_labels) continue;  // as Volcano, which asks budgets for pods with labels alone
      if (task.budget != no_row && --left[task.budget] < 0) continue;
      allowed.push_back(one);
    }
    return allowed;
  }
  [[nodiscard]] victims reclaimable(const session& of, row task, const std::vector<row>& candidates) const override {
    return preemptable(of, task, candidates);
  }
};

}  // namespace

std::unique_ptr<plugin> make_cooldown() { return std::make_unique<cooldown>(); }
std::unique_ptr<plugin> make_budgets() { return std::make_unique<budgets>(); }

}  // namespace kaisched::volcano
