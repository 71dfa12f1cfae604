// Pods are aligned with the NUMA zones of nodes (part `numa`).
#include <algorithm>

#include "policy/constraints/registry.hpp"
#include "policy/numa/ledger.hpp"

namespace kaisched::policy {

namespace {

class numa_zones final : public node_constraint {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "numa_zones"; }
  [[nodiscard]] std::unique_ptr<node_constraint> clone() const override { return std::make_unique<numa_zones>(*this); }
  [[nodiscard]] result<bool> open(const constraint_setup& with) override {
    if (with.has_part(part())) zones_.open(*with.access.state, *with.access.options);
    return zones_.used();
  }
  void show(session_access& to) const override { to.zones = &zones_; }

  [[nodiscard]] std::string_view part() const override { return "numa"; }
  [[nodiscard]] bool concerns(const session_access&, pod_row) const override { return true; }
  [[nodiscard]] bool needs_scores(const session_access&, pod_row) const override { return true; }
  void judge(const session_access& a, pod_row pod, free_amount which, std::span<const node_row> nodes,
             std::span<constraint> verdicts) const override {
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (verdicts[i] == constraint::none && !zones_fit(a, a.state->class_of(pod), nodes[i], which))
        verdicts[i] = constraint::numa_alignment;
    }
  }

  [[nodiscard]] bool saves() const override { return true; }
  [[nodiscard]] std::uint32_t save(pod_row pod) override { return zones_.number_of(pod); }
  void after_amounts(const session_access& a, model::live_state&, const place_change& change) override {
    const auto charge = [&](std::int64_t sign) { zones_.charge(change.pod, change.row, sign); };
    switch (change.what) {
      case place_event::placed:
        zones_.set(change.pod, change.saved != place_change::nothing_saved ? change.saved : placed(a, change));
        charge(1);
        if (change.starts) zones_.occupy(change.pod, change.row, 1);
        break;
      case place_event::taken_back:
        charge(-1);
        if (change.starts) zones_.occupy(change.pod, change.row, -1);
        zones_.set(change.pod, change.saved);
        break;
      case place_event::evicted:
      case place_event::evicted_again:
        charge(-1);
        break;
      case place_event::restored:
      case place_event::restored_again:
        charge(1);
        break;
      case place_event::ended:
        end(change, change.before, -1);
        break;
      case place_event::revived:
        end(change, change.after, 1);
        break;
    }
  }

  [[nodiscard]] bool gets_back(const session_access& a, pod_row pod, node_row row, std::uint32_t) override {
    const std::uint32_t had = zones_.number_of(pod);
    if (!a.compat()) return zones_.has_room(row, had);
    const std::uint32_t now =
        zones_.place(*a.state, a.state->class_of(pod), row, zone_ledger::amount::free_or_releasing);
    return now == 0 || now == had;
  }

  [[nodiscard]] std::uint32_t traits(const session_access&) const override { return trait_not_by_amount; }

  void describe(const session_access&, pod_row pod, node_row, decision& to) const override {
    to.numa_zones = zones_.zones_of_pod(pod);
  }
  void describe_left(std::uint32_t saved, decision& to) const override { to.numa_zones = zones_.zones_at(saved); }

  void digest(base::sha256& to) const override {
    to.update(std::as_bytes(std::span(zones_.available())));
    to.update(std::as_bytes(std::span(zones_.idle())));
    for (pod_row p = 0; p < zones_.pod_count(); ++p) {
      for (const zone_share& one : zones_.placement_at(p)) {
        const std::int64_t words[] = {p, one.zone, one.dim, one.amount};
        to.update(std::as_bytes(std::span(words)));
      }
    }
  }

  /// Zones have what they had at the start and what has been given back since. What they had is counted by a fresh
  /// ledger, which takes the pods to be where the session has put them.
  [[nodiscard]] std::string fault(const session_access& a, const recount_facts& facts) const override {
    if (facts.evicted_twice) return {};
    const model::cluster_state& s = *a.state;
    zone_ledger before;
    before.open(s, *a.options);
    std::vector<std::int64_t> available = before.available();
    std::vector<std::int64_t> idle = before.idle();
    for (pod_row p = 0; p < s.pod_slots; ++p) {
      if (!s.pods[p].live) continue;
      const auto was = static_cast<pod_status>(s.live.pod_state[p]);
      const auto is = static_cast<pod_status>(a.live->pod_state[p]);
      const std::uint32_t slot = s.live.pod_node[p];
      if (slot != no_row && model::is_in(was, model::active_allocated))
        before.add_to(available, before.placement_at(p), (*s.node_row_of_slot)[slot]);
      if (a.live->pod_node[p] != no_row && model::is_in(is, model::active_allocated)) {
        const node_row row = (*s.node_row_of_slot)[a.live->pod_node[p]];
        const zone_placement& has = zones_.placement_at(p);
        before.take_from(available, has, row);
        const bool fresh = is == pod_status::allocated || is == pod_status::binding;
        if (fresh && was == pod_status::pending) before.take_from(idle, has, row);
      }
    }
    if (available != zones_.available()) return "available amounts of NUMA zones differ from their pods";
    if (facts.only_starts && idle != zones_.idle()) return "idle amounts of NUMA zones differ from their pods";
    return {};
  }

 private:
  [[nodiscard]] std::uint32_t placed(const session_access& a, const place_change& change) {
    using amount = zone_ledger::amount;
    return zones_.place(*a.state, a.state->class_of(change.pod), change.row,
                        change.starts ? amount::free_now : amount::free_or_releasing);
  }
  /// A pod that has ended is no longer in zones, neither as one that stays nor as one that leaves.
  void end(const place_change& change, pod_status was, std::int64_t sign) {
    if (model::is_in(was, model::active_allocated)) zones_.charge(change.pod, change.row, sign);
    if (was != pod_status::pipelined) zones_.occupy(change.pod, change.row, sign);
  }

  zone_ledger zones_;
};

}  // namespace

std::unique_ptr<node_constraint> make_numa_zones() { return std::make_unique<numa_zones>(); }

}  // namespace kaisched::policy
