// Required affinity and anti-affinity to pods, and host ports (part `predicates`).
#include "policy/constraints/registry.hpp"
#include "policy/predicates/affinity_counts.hpp"

namespace kaisched::policy {

namespace {

class required_pod_affinity final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "pod_affinity"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override {
    return std::make_unique<required_pod_affinity>(*this);
  }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (with.has_part(part())) affinity_.open(with.access);
    return affinity_.is_open();
  }

  [[nodiscard]] bool is_rule() const override { return true; }
  [[nodiscard]] std::string_view part() const override { return "predicates"; }
  [[nodiscard]] bool concerns(const session_access&, pod_row pod) const override { return affinity_.concerns(pod); }
  [[nodiscard]] bool follows_other_pods(const session_access& a, const model::pod_class& c) const override {
    return a.state->pods_with_affinity > 0 || !c.host_ports.empty();
  }
  void judge(const session_access&, pod_row pod, free_amount, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    affinity_.judge(pod, nodes, verdicts);
  }

  void changed(const session_access& a, pod_row pod) override { affinity_.changed(a, pod); }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override { return 0; }

  /// Counts follow from where pods are.
  void digest(base::sha256&) const override {}
  [[nodiscard]] std::string fault(const session_access& a, const recount_facts&) const override {
    affinity_counts anew;
    anew.open(a);
    return anew.counts_alike(affinity_) ? std::string{} : "pods by domain differ from where pods are";
  }

 private:
  affinity_counts affinity_;
};

}  // namespace

std::unique_ptr<node_constraint> make_pod_affinity() { return std::make_unique<required_pod_affinity>(); }

}  // namespace kaisched::policy
