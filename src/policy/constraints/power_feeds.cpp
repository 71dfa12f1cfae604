// The feeds of nodes deliver no more power than they may (part `powercap`).
#include "policy/constraints/registry.hpp"
#include "policy/predicates/power_caps.hpp"

namespace kaisched::policy {

namespace {

class power_feeds final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "power_feeds"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override { return std::make_unique<power_feeds>(*this); }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (with.has_part(part())) power_.open(*with.access.state, with.live);
    return power_.used();
  }
  void show(session_access& to) const override { to.power = &power_; }

  [[nodiscard]] std::string_view part() const override { return "powercap"; }
  [[nodiscard]] bool concerns(const session_access&, pod_row) const override { return true; }
  void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && power_missing(a, pod, nodes[i], which)) verdicts[i] = constraint::power;
    }
  }
  [[nodiscard]] bool fits_with(const session_access& a, pod_row pod, node_row row, const device_set& devices,
                               bool starts) const override {
    return !power_.missing(*a.state, *a.live, a.state->class_of(pod), row, devices, starts);
  }

  void node_changed(const session_access& a, node_row row) override { power_.node_changed(*a.state, *a.live, row); }

  [[nodiscard]] bool gets_back(const session_access& a, pod_row pod, node_row row, std::uint32_t) override {
    return fits_with(a, pod, row, a.live->pod_devices[pod], false);
  }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override {
    return trait_not_by_amount | trait_depends_on_other_nodes | trait_waiting_may_need_more | trait_by_devices;
  }

  /// What nodes draw follows from what they have free.
  void digest(base::sha256&) const override {}
  [[nodiscard]] std::string fault(const session_access& a, const recount_facts&) const override {
    return power_.fault(*a.state, *a.live);
  }

 private:
  power_book power_;
};

}  // namespace

std::unique_ptr<node_constraint> make_power_feeds() { return std::make_unique<power_feeds>(); }

}  // namespace kaisched::policy
