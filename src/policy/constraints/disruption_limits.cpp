// Disruption budgets: no node refuses a pod for them, but pods do not leave (option `respect_disruption_budgets`).
#include "policy/constraints/disruption_ledger.hpp"
#include "policy/constraints/registry.hpp"

namespace kaisched::policy {

namespace {

class disruption_limits final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "disruption_budgets"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override {
    return std::make_unique<disruption_limits>(*this);
  }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (with.access.options->respect_disruption_budgets) budgets_.open(*with.access.state);
    return budgets_.used();
  }
  void show(session_access& to) const override { to.budgets = &budgets_; }

  [[nodiscard]] bool concerns(const session_access&, pod_row) const override { return false; }
  void judge(const session_access&, pod_row, free_amount, std::span<const node_row>,
             std::span<constraint>) const override {}

  void after_amounts(const session_access&, model::live_state&, const place_change& change) override {
    if (change.what == place_event::evicted) budgets_.charge(change.pod);
    if (change.what == place_event::restored) budgets_.restore(change.pod);
  }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override { return trait_refuses_no_node; }

  void digest(base::sha256& to) const override { to.update(std::as_bytes(budgets_.left())); }
  /// Which pods count was decided when the session opened.
  [[nodiscard]] std::string fault(const session_access&, const recount_facts&) const override { return {}; }

 private:
  disruption_ledger budgets_;
};

}  // namespace

std::unique_ptr<node_constraint> make_disruption_limits() { return std::make_unique<disruption_limits>(); }

}  // namespace kaisched::policy
