#include "actions/reclaim_verdicts.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <optional>
#include <span>
#include <type_traits>
#include <utility>

#include "actions/victim_cost.hpp"
#include "framework/members.hpp"
#include "policy/reclaim/reclaim_rules.hpp"

namespace kaisched::actions {

namespace {

using framework::in_native;
using framework::is_active;
using framework::session_state;
using model::quota_vector;

/// Amounts that are judged one after the other.
using loss_list = boost::container::small_vector<quota_vector, 4>;
/// Those of a leaf queue.
struct leaf_losses {
  queue_row leaf;
  loss_list units;
  bool go_together = false;
};
using losses = boost::container::small_vector<leaf_losses, 4>;

/// What is judged at once: each surplus pod alone, then the core of the gang together. Victims that were placed again
/// lost nothing, unless victims may not be moved.
loss_list units_of(const session_state& c, const victim_unit& of) {
  if (of.pods.size() == 1) {  // of the gang or beyond it: the same
    const pod_row only = of.pods.front();
    if (c.options.reclaim_moves && is_active(c, only)) return {};
    return {c.queues.held(only)};
  }
  const model::group_core& g = c.state().groups[of.group];
  std::vector<std::vector<pod_row>> units;
  std::vector<pod_row> gang;
  std::vector<sub_group_row> pod_sets;
  // As in the reference pod sets of inner sets come before those beside them.
  const std::function<void(sub_group_row)> collect = [&](sub_group_row member) {
    if (!c.state().subs[member].is_set) return pod_sets.push_back(member);
    for (const bool sets : {true, false}) {
      for (sub_group_row child = c.state().subs[member].first_child; child != no_row;
           child = c.state().subs[child].next_sibling) {
        if (c.state().subs[child].is_set == sets) collect(child);
      }
    }
  };
  collect(g.first_sub);
  for (const sub_group_row sub : pod_sets) {
    std::int64_t room = g.semi_preemptible ? 0 : c.state().subs[sub].min;
    for (const pod_row p : of.pods) {
      if (c.state().pods[p].sub != sub) continue;
      if (room-- > 0)
        gang.push_back(p);
      else
        units.push_back({p});
    }
  }
  units.push_back(std::move(gang));
  loss_list amounts;
  for (const std::vector<pod_row>& unit : units) {
    quota_vector sum{};
    bool any = false;
    for (const pod_row p : unit) {
      if (c.options.reclaim_moves && is_active(c, p)) continue;
      any = true;
      const quota_vector one = c.queues.held(p);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += one[r];
    }
    if (any) amounts.push_back(sum);
  }
  return amounts;
}

/// The parts of a unit.
std::vector<std::span<const pod_row>> judged_at_once(const victim_unit& unit, bool pod_by_pod) {
  if (!pod_by_pod) return {unit.pods};
  std::vector<std::span<const pod_row>> parts;
  parts.reserve(unit.pods.size());
  for (const pod_row& p : unit.pods) parts.emplace_back(&p, 1);
  return parts;
}

/// Of pods that are offered at once.
quota_vector amount_lost(const session_state& c, std::span<const pod_row> pods) {
  quota_vector sum{};
  for (const pod_row p : pods) {
    if (c.options.reclaim_moves && is_active(c, p)) continue;
    const quota_vector one = c.queues.held(p);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += one[r];
  }
  return sum;
}

/// Victims of a scenario, each with its leaf queue: first what leaf queues have got in this session, which goes
/// together.
losses losses_in_order(const session_state& c, const scenario& what) {
  losses given;
  losses found;
  for (const victim_unit& one : what.potential) {
    const model::group_core& group = c.state().groups[one.group];
    for (const std::span<const pod_row> part : judged_at_once(one, group.semi_preemptible)) {
      const quota_vector lost = amount_lost(c, part);
      if (lost == quota_vector{}) continue;
      if (std::any_of(part.begin(), part.end(), [&c](pod_row p) { return had_begun(c, p); })) {
        found.push_back({group.queue, {lost}});
        continue;
      }
      const auto at = std::find_if(given.begin(), given.end(),
                                   [&](const leaf_losses& before) { return before.leaf == group.queue; });
      if (at == given.end())
        given.push_back({group.queue, {lost}, true});
      else
        at->units.push_back(lost);
    }
  }
  given.insert(given.end(), found.begin(), found.end());
  return given;
}

/// Victims of a scenario by leaf queue. `strict` keeps units and their order, the reference joins those of a leaf.
losses losses_of(const session_state& c, const scenario& what) {
  if (!c.compat()) return losses_in_order(c, what);
  losses found;
  for (const victim_unit& one : victims_by_group(what)) {
    loss_list units = units_of(c, one);
    if (units.empty()) continue;
    const queue_row leaf = c.state().groups[one.group].queue;
    auto at = std::find_if(found.begin(), found.end(), [&](const leaf_losses& f) { return f.leaf == leaf; });
    if (at == found.end())
      found.push_back({leaf, std::move(units)});
    else
      at->units.insert(at->units.end(), units.begin(), units.end());
  }
  return found;
}

template <class Amounts>
Amounts converted(const quota_vector& amount) {
  if constexpr (std::is_same_v<Amounts, policy::kai_amounts>)
    return in_native(amount);
  else
    return amount;
}

/// `growth`: of a semi-preemptible group, by so much its core would grow.
template <class Amounts>
policy::reclaimer<Amounts> claim_of(const session_state& c, group_row group, const Amounts& required,
                                    const std::optional<quota_vector>& growth) {
  const model::group_core& g = c.state().groups[group];
  if (!growth) return {g.queue, required, required, g.preemptible};
  const auto kept = converted<Amounts>(*growth);
  return {g.queue, required, kept, kept == Amounts{}};
}

template <class Queue, class Amounts>
class reclaim_judge : public reclaim_verdicts {
 public:
  using queue_list = std::shared_ptr<const std::vector<Queue>>;
  reclaim_judge(session_state& c, group_row group, queue_list queues, const policy::reclaimer<Amounts>& claim)
      : c_(c), group_(group), queues_(std::move(queues)), claim_(claim) {}
  [[nodiscard]] bool may_give(queue_row leaf) const override {
    return policy::reclaim::may_give(queues(), claim_, leaf, !c_.compat());
  }
  [[nodiscard]] bool may_end_with_less(queue_row leaf) const override {
    return policy::reclaim::may_end_with_less(queues(), claim_.queue, leaf);
  }
  [[nodiscard]] bool may_take(const scenario& what) const override {
    return may_take_units(what.group, losses_of(c_, what));
  }
  [[nodiscard]] bool may_take_alone(queue_row leaf, const quota_vector& amount) const override {
    losses alone;
    alone.push_back({leaf, {amount}});
    return may_take_units(group_, alone);
  }

 private:
  static constexpr bool is_compat = std::is_same_v<Amounts, policy::kai_amounts>;

  [[nodiscard]] std::span<const Queue> queues() const { return *queues_; }
  [[nodiscard]] bool may_take_units(group_row group, const losses& lost) const {
    boost::container::small_vector<policy::reclaim_victims<Amounts>, 4> victims;
    for (const auto& [leaf, units, go_together] : lost) {
      victims.push_back({leaf, {}, go_together});
      victims.back().units.reserve(units.size());
      for (const quota_vector& one : units) victims.back().units.push_back(converted<Amounts>(one));
    }
    const double multiplier = std::max(1.0, c_.options.saturation_multiplier);
    const std::span<const policy::reclaim_victims<Amounts>> all(victims);
    if constexpr (is_compat) {  // of the part that is searched for
      policy::reclaimer<Amounts> claim = claim_;
      claim.required = c_.chunks.chunk_ask(group);
      if (!c_.state().groups[group].semi_preemptible) claim.kept = claim.required;
      return policy::reclaim::may_take(queues(), claim, all, multiplier, false);
    } else {
      return policy::reclaim::may_take(queues(), claim_, all, std::llround(multiplier * 1000), true);
    }
  }

  session_state& c_;
  group_row group_;
  queue_list queues_;
  policy::reclaimer<Amounts> claim_;
};

}  // namespace

namespace {

/// Of a semi-preemptible group, by how much its core would grow.
std::optional<quota_vector> growth_of(session_state& c, group_row group) {
  if (!c.state().groups[group].semi_preemptible) return std::nullopt;
  return c.queues.core_growth(group, c.chunks.chunk_of(group, true));
}

}  // namespace

bool may_reclaim(session_state& c, group_row group) {
  const std::optional<quota_vector> growth = growth_of(c, group);
  if (c.compat())
    return policy::reclaim::may_reclaim(std::span<const policy::kai_queue>(c.queues.kai_queues),
                                        claim_of(c, group, c.chunks.chunk_ask(group), growth), false);
  return policy::reclaim::may_reclaim(std::span<const policy::exact_queue>(c.queues.exact_queues),
                                      claim_of(c, group, c.chunks.chunk_request(group), growth), true);
}

std::shared_ptr<const reclaim_verdicts> verdicts_for(session_state& c, group_row group, reclaim_memory& memory) {
  const std::optional<quota_vector> growth = growth_of(c, group);
  const std::pmr::polymorphic_allocator<> from(&memory.verdicts);
  if (c.compat()) {
    return std::allocate_shared<const reclaim_judge<policy::kai_queue, policy::kai_amounts>>(
        from, c, group, memory.native.of(c, c.queues.kai_queues),
        claim_of(c, group, c.chunks.chunk_ask(group), growth));
  }
  return std::allocate_shared<const reclaim_judge<policy::exact_queue, policy::exact_amounts>>(
      from, c, group, memory.exact.of(c, c.queues.exact_queues),
      claim_of(c, group, c.chunks.chunk_request(group), growth));
}

}  // namespace kaisched::actions
