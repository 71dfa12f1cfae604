// Queues that admit decide in one action of a session: cycles run over the quotas and places of the session, and what
// they have decided is done in it, step by step.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actions/placement.hpp"
#include "actions/unit_remains.hpp"
#include "framework/members.hpp"
#include "schedulers/common/cycle/attempts.hpp"
#include "schedulers/kueue/cycle/cluster_view.hpp"
#include "schedulers/kueue/cycle/cycles.hpp"
#include "schedulers/kueue/cycle/places.hpp"
#include "schedulers/schedulers.hpp"

namespace kaisched::kueue {

namespace {

/// Does in a session what the cycles have decided.
class step_performer {
 public:
  step_performer(framework::session_state& c, const cluster_view& world, const session_places* places)
      : c_(c), world_(world), places_(places) {}

  result<void> perform(const admission_step& step) {
    if (step.undone) return {};
    return step.victims.empty() ? start(step) : evict(step);
  }

 private:
  result<void> evict(const admission_step& step) {
    const bool in_queue = step.victims.front().why == victim_reason::in_queue;
    c_.run.action = in_queue ? action_kind::preempt : action_kind::reclaim;
    for (const quota_victim& one : step.victims) schedulers::evict_group(c_, world_.running[one.workload]);
    if (c_.statement.keeps_budgets(world_.waiting[step.workload].group)) c_.statement.commit();
    c_.run.action = action_kind::allocate;
    return c_.verify();
  }

  /// Pods of a workload start on nodes that have room now; if those that do are no gang, nobody does and the quota is
  /// kept for it as long as the session lasts.
  result<void> start(const admission_step& step) {
    const waiting_workload& of = world_.waiting[step.workload];
    const bool had_started = schedulers::begin_attempt(c_, of.group);
    framework::failure why;
    why.group = of.group;
    const std::size_t broken = actions::unit_remains(c_, of.group).size();
    std::vector<std::size_t> counts;
    for (std::size_t i = 0; i < of.sets.size() && i < step.assignment.pod_sets.size(); ++i)
      counts.push_back(static_cast<std::size_t>(step.assignment.pod_sets[i].count));
    result<bool> all = place_sets(step, of, counts, why);
    if (!all) return all.failure();
    // Quotas count pods: who is part of a unit that is not whole is left out.
    if (const std::vector<pod_row> remains = actions::unit_remains(c_, of.group); remains.size() > broken) {
      leave_out(remains, of, counts);
      c_.statement.rollback(0);
      framework::failure again;
      again.group = of.group;
      const result<bool> placed = place_sets(step, of, counts, again);
      if (!placed) return placed.failure();
      if (actions::unit_remains(c_, of.group).size() > broken) c_.statement.rollback(0);
      all = false;
    }
    const sub_group_row root = c_.state().groups[of.group].first_sub;
    if (!*all) c_.results.failures.push_back(why);
    if (c_.statement.log.empty() || (!*all && !framework::is_satisfied(c_, root))) {
      c_.statement.rollback(0);
      return {};
    }
    const result<bool> starts = actions::start_placed(c_, of.group, false, had_started);
    return starts ? result<void>() : result<void>(starts.failure());
  }

  /// So many of each set. False if some have no place: those before them have theirs.
  result<bool> place_sets(const admission_step& step, const waiting_workload& of, std::span<const std::size_t> counts,
                          framework::failure& why) {
    bool all = true;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      const std::span<const pod_row> pods = std::span(of.sets[i].pods).first(counts[i]);
      const bool has_places = places_ != nullptr && i < step.places.size() && step.places[i];
      result<bool> placed = has_places ? place_in_domains(pods, step.assignment.pod_sets[i], *step.places[i], why)
                                       : place_in_flavor(pods, step.assignment.pod_sets[i], why);
      if (!placed) return placed;
      all = all && *placed;
    }
    return all;
  }

  /// Of each role as many pods fewer than have places as it has in the broken unit, of its last sets first.
  void leave_out(std::span<const pod_row> remains, const waiting_workload& of, std::vector<std::size_t>& counts) const {
    std::map<sub_group_row, std::size_t> surplus;
    for (const pod_row p : remains) ++surplus[c_.state().pods[p].sub];
    for (std::size_t i = counts.size(); i-- > 0;) {
      const std::span<const pod_row> pods = std::span(of.sets[i].pods).first(counts[i]);
      const auto placed =
          static_cast<std::size_t>(std::ranges::count_if(pods, [&](pod_row p) { return framework::is_active(c_, p); }));
      std::size_t& left = surplus[of.sets[i].sub];
      const std::size_t fewer = std::min(left, placed);
      counts[i] = placed - fewer;
      left -= fewer;
    }
  }

  result<bool> place_in_domains(std::span<const pod_row> pods, const pod_set_assignment& set,
                                const domain_assignment& places, framework::failure& why) {
    bool all = true;
    for (const placed_pods& one : places.places) {
      const auto count = std::min(pods.size(), static_cast<std::size_t>(one.count));
      result<bool> placed = place_on_nodes(pods.first(count), places_->nodes_of(set.flavors.front().flavor, one), why);
      if (!placed) return placed;
      all = all && *placed;
      pods = pods.subspan(count);
    }
    return all && pods.empty();
  }

  /// Any node of the flavor that the pods were given; pods that ask for nothing have none and may go anywhere.
  result<bool> place_in_flavor(std::span<const pod_row> pods, const pod_set_assignment& set, framework::failure& why) {
    if (set.flavors.empty() || world_.flavors.size() == 1) return place_in_scope(pods, {}, why);
    const std::uint32_t flavor = set.flavors.front().flavor;
    if (nodes_of_flavor_.empty()) {
      nodes_of_flavor_.resize(world_.flavors.size());
      for (node_row row = 0; row < world_.flavor_of_node.size(); ++row) {
        if (world_.flavor_of_node[row] != no_flavor) nodes_of_flavor_[world_.flavor_of_node[row]].push_back(row);
      }
    }
    return place_on_nodes(pods, nodes_of_flavor_[flavor], why);
  }

  result<bool> place_on_nodes(std::span<const pod_row> pods, std::span<const node_row> nodes, framework::failure& why) {
    if (nodes.size() == 1) {
      for (const pod_row pod : pods) {
        if (!actions::put_on(c_, pod, nodes.front(), true)) {
          why.pod = pod;
          return false;
        }
      }
      return true;
    }
    framework::node_set among(c_.state().node_count(), 0);
    for (const node_row row : nodes) among[row] = 1;
    const framework::node_band band(nodes.begin(), nodes.end());
    framework::node_bands bands(band);
    return place_in_scope(pods, {&among, &bands}, why);
  }

  result<bool> place_in_scope(std::span<const pod_row> pods, const framework::node_scope& scope,
                              framework::failure& why) {
    c_.choice.start_scope();
    for (const pod_row pod : pods) {
      if (auto on = c_.run.go_on(); !on) return on.failure();
      result<framework::place> found = c_.choice.best(c_, pod, false, scope);
      if (!found) return found.failure();
      if (found->row == no_row || found->must_wait) {
        why.pod = pod;
        return false;
      }
      c_.statement.allocate(pod, found->row, found->devices, found->groups);
    }
    return true;
  }

  framework::session_state& c_;
  const cluster_view& world_;
  const session_places* places_;
  std::vector<std::vector<node_row>> nodes_of_flavor_;
};

}  // namespace

result<void> schedule(framework::session_state& c) {
  const result<scheduler_setup> setup = make_setup(c.options.kueue_settings);
  if (!setup) return setup.failure();
  cluster_view world = view_of(c, *setup);
  std::optional<session_places> places;
  if (!world.topology.empty()) places.emplace(c, world);
  session_places* const book = places ? &*places : nullptr;
  const result<cycle_decisions> made = run_cycles(world, *setup, c, book);
  if (!made) return made.failure();
  step_performer by(c, world, book);
  for (const admission_step& step : made->steps) {
    if (auto on = c.run.go_on(); !on) return on;
    if (auto done = by.perform(step); !done) return done;
  }
  for (const framework::failure& why : made->reasons) c.results.failures.push_back(why);
  return {};
}

}  // namespace kaisched::kueue
