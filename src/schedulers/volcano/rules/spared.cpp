// The plug-ins cdp and pdb: tasks that are no victims for a while, or of which only some may go.

#include <algorithm>
#include <vector>

#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::volcano {

namespace {

class cooldown final : public sparing_plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "cdp"; }

  [[nodiscard]] victims preemptable(const session& of, row, const std::vector<row>& candidates) const override {
    return those_that(candidates, [&](row one) { return !is_young(of.cluster(), one); });
  }

 private:
  static bool is_young(const cluster_state& cluster, row task) {
    const task_state& one = cluster.tasks[task];
    return one.spared_for > 0 && one.status == task_status::running && cluster.now - one.started < one.spared_for;
  }
};

/// Budgets are used up in the order in which victims are offered, anew for each offer.
class budgets final : public sparing_plugin {
 public:
  [[nodiscard]] std::string_view name() const override { return "pdb"; }

  [[nodiscard]] victims preemptable(const session& of, row, const std::vector<row>& candidates) const override {
    std::vector<std::int64_t> left = of.cluster().budgets;
    return those_that(candidates, [&](row one) {
      const task_state& task = of.cluster().tasks[one];
      if (!task.has_labels) return false;  // as Volcano, which asks budgets for pods with labels alone
      return task.budget == no_row || --left[task.budget] >= 0;
    });
  }
};

}  // namespace

std::unique_ptr<plugin> make_cooldown() { return std::make_unique<cooldown>(); }
std::unique_ptr<plugin> make_budgets() { return std::make_unique<budgets>(); }

}  // namespace kaisched::volcano
