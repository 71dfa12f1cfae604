// GPUs that pods share, counted in groups as KAI does (mode `compat`).
#include "policy/constraints/registry.hpp"
#include "policy/devices/sharing/gpu_groups.hpp"

namespace kaisched::policy {

namespace {

class shared_gpus final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "shared_gpus"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override { return std::make_unique<shared_gpus>(*this); }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (with.access.compat()) groups_.open(*with.access.state, with.live);
    return groups_.is_open();
  }
  [[nodiscard]] bool opens_first() const override { return true; }
  void show(session_access& to) const override { to.groups = &groups_; }

  /// Groups are asked with amounts: they are how a node counts its GPUs.
  [[nodiscard]] bool concerns(const session_access&, pod_row) const override { return false; }
  void judge(const session_access&, pod_row, free_amount, std::span<const node_row>,
             std::span<constraint>) const override {}

  void before_amounts(const session_access& a, model::live_state& live, const place_change& change) override {
    const model::cluster_state& s = *a.state;
    const model::pod_class& c = s.class_of(change.pod);
    if (!a.in_groups(c)) return;
    switch (change.what) {
      case place_event::placed:
        if (change.before == pod_status::releasing)
          is_on(s, change.left, change.row) ? groups_.forget(change.pod) : groups_.leave_behind(change.pod);
        groups_.put(s, live, change.pod, change.row, change.after,
                    change.groups == nullptr || change.groups->empty()
                        ? groups_.on_devices(change.row, c, change.devices.mask).groups
                        : *change.groups);
        break;
      case place_event::taken_back:
        groups_.take(s, live, change.pod);
        break;
      case place_event::ended:
        groups_.shelve(s, live, change.pod);
        break;
      case place_event::revived:
        groups_.unshelve(s, live, change.pod, change.row, change.after);
        break;
      case place_event::evicted:
      case place_event::restored:
      case place_event::evicted_again:
      case place_event::restored_again:
        break;
    }
  }
  void after_amounts(const session_access& a, model::live_state&, const place_change& change) override {
    if (change.what != place_event::taken_back) return;
    const model::cluster_state& s = *a.state;
    const bool was_elsewhere =
        change.after == pod_status::releasing && !change.replaces && !is_on(s, change.left, change.row);
    if (was_elsewhere && a.in_groups(s.class_of(change.pod)))
      groups_.come_back(change.pod, (*s.node_row_of_slot)[change.left]);
    if (change.is_undo) groups_.drop_empty(change.row);
  }
  void charge(const session_access& a, model::live_state&, pod_row pod, node_row row, pod_status,
              std::int64_t sign) override {
    const model::pod_class& c = a.state->class_of(pod);
    if (!a.in_groups(c)) groups_.count_whole(row, c, sign);
  }
  void recharge(const session_access& a, model::live_state& live, pod_row pod, node_row, pod_status,
                pod_status to) override {
    if (!a.in_groups(a.state->class_of(pod))) return;
    if (groups_.is_booked(pod))
      groups_.restate(*a.state, live, pod, to);
    else
      groups_.recall(*a.state, live, pod, to);
  }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override {
    return trait_refuses_no_node | trait_amounts_not_of_pods | trait_undo_is_inexact | trait_simulations_leave_traces;
  }

  /// What the books say depends on what has been tried.
  void digest(base::sha256&) const override {}
  [[nodiscard]] std::string fault(const session_access&, const recount_facts&) const override { return {}; }

 private:
  static bool is_on(const model::cluster_state& s, std::uint32_t slot, node_row row) {
    return slot != no_row && (*s.node_row_of_slot)[slot] == row;
  }

  gpu_groups groups_;
};

}  // namespace

std::unique_ptr<node_constraint> make_shared_gpus() { return std::make_unique<shared_gpus>(); }

}  // namespace kaisched::policy
