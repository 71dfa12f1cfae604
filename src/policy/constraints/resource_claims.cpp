// Devices of resource claims, which several pods may share (part `dynamicresources`).
#include <utility>
#include <vector>

#include "model/account.hpp"
#include "policy/claims/ledger.hpp"
#include "policy/constraints/registry.hpp"

namespace kaisched::policy {

namespace {

class resource_claims final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "resource_claims"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override {
    return std::make_unique<resource_claims>(*this);
  }
  /// Devices that pods share are charged once per node: the model has charged each pod.
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    const model::cluster_state& s = *with.access.state;
    claims_.open(s, *with.access.options, with.has_part(part()));
    for (pod_row p = 0; claims_.used() && p < s.pod_slots; ++p) {
      const auto status = static_cast<pod_status>(with.live.pod_state[p]);
      if (!claims_.has_claims(p) || with.live.pod_node[p] == no_row || !model::is_in(status, model::active_used))
        continue;
      const node_row row = (*s.node_row_of_slot)[with.live.pod_node[p]];
      model::charge_gpus(s, with.live, row, status, -claims_.enter(p, row, s.class_of(p).requests(dim_gpu)));
    }
    return claims_.used();
  }
  void show(session_access& to) const override { to.claims = &claims_; }

  [[nodiscard]] std::string_view part() const override { return "dynamicresources"; }
  [[nodiscard]] bool concerns(const session_access&, pod_row pod) const override { return claims_.has_claims(pod); }
  [[nodiscard]] bool needs_scores(const session_access&, pod_row pod) const override { return claims_.has_claims(pod); }
  void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    if (!claims_.decides() || !claims_.has_claims(pod)) return;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !claims_fit(a, pod, nodes[i], which))
        verdicts[i] = constraint::resource_claim;
    }
  }
  /// KAI's plug-in looks at amounts alone.
  [[nodiscard]] bool is_available(const session_access&, pod_row, node_row) const override { return true; }
  [[nodiscard]] std::int64_t gpus_paid(pod_row pod, node_row row, free_amount which) const override {
    return claims_.has_claims(pod) ? claims_.paid_for(pod, row, which == free_amount::idle) : 0;
  }

  [[nodiscard]] bool saves() const override { return true; }
  [[nodiscard]] std::uint32_t save(pod_row pod) override {
    if (!claims_.has_claims(pod)) return place_change::nothing_saved;
    saved_.push_back(claims_.save(pod));
    return static_cast<std::uint32_t>(saved_.size() - 1);
  }
  void end_statement(bool keeps) override {
    if (keeps)
      kept_ = saved_.size();
    else
      saved_.resize(kept_);
  }
  void reopen_statements() override { kept_ = 0; }

  void before_amounts(const session_access& a, model::live_state&, const place_change& change) override {
    if (!claims_.has_claims(change.pod)) return;
    // KAI counts a pod on its node before it gets the devices of its claims.
    if (change.what == place_event::placed && claims_.decides() && !a.compat())
      claims_.allocate(change.pod, change.row, change.starts);
    if (change.what == place_event::restored || change.what == place_event::revived) rejoin(change);
  }
  void after_amounts(const session_access& a, model::live_state&, const place_change& change) override {
    if (!claims_.has_claims(change.pod)) return;
    const bool decides = claims_.decides();
    switch (change.what) {
      case place_event::placed:
        if (decides && a.compat()) claims_.allocate(change.pod, change.row, change.starts);
        break;
      case place_event::taken_back:
        if (decides) claims_.deallocate(change.pod);
        if (change.restores) claims_.restore(change.pod, saved_[change.saved]);
        break;
      case place_event::evicted:
        if (!decides) break;
        claims_.deallocate(change.pod);
        claims_.leave_behind(change.pod, saved_[change.saved]);
        break;
      case place_event::restored:
        if (decides && a.compat()) claims_.allocate(change.pod, change.row, false);
        break;
      case place_event::evicted_again:
      case place_event::ended:
        if (decides) claims_.deallocate(change.pod);
        break;
      case place_event::restored_again:
      case place_event::revived:
        break;
    }
  }
  void charge(const session_access& a, model::live_state& live, pod_row pod, node_row row, pod_status status,
              std::int64_t sign) override {
    if (!claims_.has_claims(pod)) return;
    const std::int64_t gpus = a.state->class_of(pod).requests(dim_gpu);
    const std::int64_t shared = sign > 0 ? claims_.enter(pod, row, gpus) : claims_.leave(pod, row, gpus);
    model::charge_gpus(*a.state, live, row, status, -sign * shared);
  }
  void recharge(const session_access& a, model::live_state& live, pod_row pod, node_row row, pod_status from,
                pod_status to) override {
    if (!claims_.has_claims(pod)) return;
    const std::int64_t gpus = a.state->class_of(pod).requests(dim_gpu);
    model::charge_gpus(*a.state, live, row, from, claims_.leave(pod, row, gpus));
    model::charge_gpus(*a.state, live, row, to, -claims_.enter(pod, row, gpus));
  }
  [[nodiscard]] bool counts_gpus_of(pod_row pod) const override { return claims_.has_claims(pod); }

  [[nodiscard]] bool gets_back(const session_access& a, pod_row pod, node_row, std::uint32_t saved) override {
    return a.compat() || !claims_.has_claims(pod) || claims_.can_rejoin(pod, saved_[saved]);
  }

  [[nodiscard]] std::uint32_t traits(const session_access& a) const override {
    std::uint32_t all = trait_not_by_amount | trait_pays_gpus | trait_amounts_not_of_pods;
    if (a.compat()) all |= trait_undo_is_inexact;
    if (a.compat() && claims_.decides()) all |= trait_simulations_leave_traces;
    return all;
  }

  void describe(const session_access& a, pod_row pod, node_row, decision& to) const override {
    to.claim_devices = claims_.devices_of(*a.state, pod);
  }

  void digest(base::sha256& to) const override { to.update(claims_.digest()); }
  /// Which pod pays for a device that several have depends on which came first, so nothing can be counted anew.
  [[nodiscard]] std::string fault(const session_access&, const recount_facts&) const override { return {}; }

 private:
  void rejoin(const place_change& change) {
    if (change.saved != place_change::nothing_saved) claims_.rejoin(change.pod, saved_[change.saved]);
  }

  claim_ledger claims_;
  std::vector<saved_claims> saved_;
  std::size_t kept_ = 0;  ///< of statements that are over
};

}  // namespace

std::unique_ptr<node_constraint> make_resource_claims() { return std::make_unique<resource_claims>(); }

}  // namespace kaisched::policy
