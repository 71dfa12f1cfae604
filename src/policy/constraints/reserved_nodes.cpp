// Nodes that are reserved for others at the time at which a group would run.
#include "policy/constraints/registry.hpp"
#include "policy/predicates/reservations.hpp"

namespace kaisched::policy {

namespace {

class reserved_for_others final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "reservations"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override {
    return std::make_unique<reserved_for_others>(*this);
  }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    reservations_.open(*with.access.state, with.access.now);
    return reservations_.used();
  }
  void show(session_access& to) const override { to.reservations = &reservations_; }

  [[nodiscard]] bool is_rule() const override { return true; }
  [[nodiscard]] bool concerns(const session_access& a, pod_row pod) const override {
    return closed_to(a.state->pods[pod].group) != nullptr;
  }
  void judge(const session_access& a, pod_row pod, free_amount, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    const node_flags* const closed = closed_to(a.state->pods[pod].group);
    for (std::size_t i = 0; closed != nullptr && i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && (*closed)[nodes[i]] != 0) verdicts[i] = constraint::node_reserved;
    }
  }
  [[nodiscard]] const node_flags* closed_to(group_row group) const override { return reservations_.closed_to(group); }
  [[nodiscard]] std::uint32_t kind_of(group_row group) const override { return reservations_.kind_of(group); }

  void look_at(group_row group, std::int64_t time) override { reservations_.look_at(group, time); }
  void look_at_now() override { reservations_.look_at_now(); }
  [[nodiscard]] std::int64_t next_change(std::int64_t after) const override { return reservations_.next_change(after); }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override { return trait_closes_nodes; }

  /// Pods change nothing of reservations.
  void digest(base::sha256&) const override {}
  [[nodiscard]] std::string fault(const session_access&, const recount_facts&) const override { return {}; }

 private:
  reservation_book reservations_;
};

}  // namespace

std::unique_ptr<node_constraint> make_reserved_nodes() { return std::make_unique<reserved_for_others>(); }

}  // namespace kaisched::policy
