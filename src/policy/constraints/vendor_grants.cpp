// Devices that nodes give away by the rules of their vendors (part `vendordevices`).
#include "policy/constraints/registry.hpp"
#include "policy/devices/allocation/ledger.hpp"

namespace kaisched::policy {

namespace {

class vendor_grants final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "vendor_devices"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override {
    return std::make_unique<vendor_grants>(*this);
  }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (auto done = vendors_.open(*with.access.state, *with.access.options, with.catalog); !done) return done.failure();
    return vendors_.used();
  }
  void show(session_access& to) const override { to.vendors = &vendors_; }

  [[nodiscard]] std::string_view part() const override { return "vendordevices"; }
  [[nodiscard]] bool concerns(const session_access& a, pod_row pod) const override {
    return vendors_.concerns(*a.state, pod);
  }
  [[nodiscard]] bool needs_scores(const session_access& a, pod_row pod) const override { return concerns(a, pod); }
  void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    if (!concerns(a, pod)) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !vendors_.fits(*a.state, pod, nodes[i], which == free_amount::idle))
        verdicts[i] = constraint::vendor_device;
    }
  }

  void before_amounts(const session_access&, model::live_state&, const place_change& change) override {
    if (change.what == place_event::revived) vendors_.revive(change.pod);
  }
  void after_amounts(const session_access& a, model::live_state&, const place_change& change) override {
    switch (change.what) {
      case place_event::placed:
        vendors_.put(*a.state, change.pod, change.row, change.starts);
        break;
      case place_event::taken_back:
        vendors_.take(change.pod, change.row);
        break;
      case place_event::evicted:
        vendors_.release(change.pod, change.row);
        break;
      case place_event::restored:
        vendors_.hold_again(change.pod, change.row, change.after != pod_status::pipelined);
        break;
      case place_event::ended:
        vendors_.end(change.pod, change.row);
        break;
      case place_event::evicted_again:
      case place_event::restored_again:
      case place_event::revived:
        break;
    }
  }

  [[nodiscard]] bool gets_back(const session_access& a, pod_row pod, node_row row, std::uint32_t) override {
    return !concerns(a, pod) || vendors_.can_hold_again(pod, row);
  }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override { return trait_not_by_amount; }

  void describe(const session_access&, pod_row pod, node_row row, decision& to) const override {
    to.device_grants = vendors_.grants_of(pod, row);
  }

  void digest(base::sha256& to) const override { to.update(vendors_.digest()); }
  [[nodiscard]] std::string fault(const session_access&, const recount_facts&) const override {
    return vendors_.fault();
  }

 private:
  device_ledger vendors_;
};

}  // namespace

std::unique_ptr<node_constraint> make_vendor_grants() { return std::make_unique<vendor_grants>(); }

}  // namespace kaisched::policy
