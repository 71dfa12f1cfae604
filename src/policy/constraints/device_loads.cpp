// Devices that pods share take no more load than they can (part `colocation`).
#include <algorithm>

#include "policy/constraints/registry.hpp"
#include "policy/devices/sharing/load_book.hpp"

namespace kaisched::policy {

namespace {

load_book::amount load_amount(free_amount which) {
  return which == free_amount::idle ? load_book::amount::now : load_book::amount::later;
}

class device_loads final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "device_loads"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override {
    return std::make_unique<device_loads>(*this);
  }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (with.has_part("colocation") && !with.access.compat())
      loads_.open(with.access, with.access.options->colocation_most);
    return loads_.used();
  }
  void show(session_access& to) const override { to.loads = &loads_; }

  [[nodiscard]] bool concerns(const session_access& a, pod_row pod) const override {
    return loads_.concerns(a.state->class_of(pod));
  }
  void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !loads_fit(a, a.state->class_of(pod), nodes[i], which))
        verdicts[i] = constraint::device_load;
    }
  }
  [[nodiscard]] std::uint64_t devices_for(const session_access& a, const model::pod_class& c, node_row row,
                                          free_amount which) const override {
    return loads_.devices_for(*a.state, c, row, load_amount(which));
  }

  void changed(const session_access& a, pod_row pod) override { loads_.changed(a, pod); }

  [[nodiscard]] bool gets_back(const session_access& a, pod_row pod, node_row row, std::uint32_t) override {
    return loads_.can_take(*a.state, a.state->class_of(pod), row, a.live->pod_devices[pod].mask,
                           load_book::amount::later);
  }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override {
    return trait_not_by_amount | trait_by_devices;
  }

  void digest(base::sha256& to) const override {
    to.update(std::as_bytes(loads_.staying()));
    to.update(std::as_bytes(loads_.leaving()));
  }
  [[nodiscard]] std::string fault(const session_access& a, const recount_facts&) const override {
    load_book anew;
    anew.open(a, a.options->colocation_most);
    const bool same =
        std::ranges::equal(anew.staying(), loads_.staying()) && std::ranges::equal(anew.leaving(), loads_.leaving());
    return same ? std::string{} : "loads of devices differ from their pods";
  }

 private:
  load_book loads_;
};

}  // namespace

std::unique_ptr<node_constraint> make_device_loads() { return std::make_unique<device_loads>(); }

}  // namespace kaisched::policy
