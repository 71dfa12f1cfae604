// Topology spread constraints of pods (part `topologyspread`). Preferred affinity is counted beside them.
#include <algorithm>

#include "policy/constraints/registry.hpp"
#include "policy/predicates/neighbours.hpp"

namespace kaisched::policy {

namespace {

class pod_spread final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "pod_spread"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override { return std::make_unique<pod_spread>(*this); }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    neighbours_.open(with.access, with.has_part(part()), with.has_part("interpodaffinity"));
    return neighbours_.is_open();
  }
  void show(session_access& to) const override { to.neighbours = &neighbours_; }

  [[nodiscard]] bool is_rule() const override { return true; }
  [[nodiscard]] std::string_view part() const override { return "topologyspread"; }
  [[nodiscard]] bool concerns(const session_access&, pod_row pod) const override {
    return neighbours_.must_spread(pod);
  }
  [[nodiscard]] bool follows_other_pods(const session_access&, const model::pod_class& c) const override {
    return std::ranges::any_of(c.spread, [](const model::spread_constraint& one) { return !one.soft; });
  }
  [[nodiscard]] bool needs_scores(const session_access&, pod_row pod) const override {
    return neighbours_.has_wishes(pod);
  }
  void judge(const session_access& a, pod_row pod, free_amount, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    spread_verdicts(a, pod, nodes, verdicts);
  }

  void changed(const session_access& a, pod_row pod) override { neighbours_.changed(a, pod); }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override { return 0; }

  /// Counts follow from where pods are.
  void digest(base::sha256&) const override {}
  [[nodiscard]] std::string fault(const session_access& a, const recount_facts&) const override {
    neighbour_book anew;
    const auto& parts = a.options->parts;
    const auto has = [&](std::string_view name) { return std::ranges::find(parts, name) != parts.end(); };
    anew.open(a, has(part()), has("interpodaffinity"));
    return anew.counts_alike(neighbours_) ? std::string{} : "pods by domain differ from where pods are";
  }

 private:
  neighbour_book neighbours_;
};

}  // namespace

std::unique_ptr<node_constraint> make_pod_spread() { return std::make_unique<pod_spread>(); }

}  // namespace kaisched::policy
