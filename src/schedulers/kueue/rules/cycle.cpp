#include "schedulers/kueue/rules/cycle.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::kueue {

namespace {

class one_cycle {
 public:
  one_cycle(quota_state& state, std::span<const cycle_queue> queues, std::span<const cycle_head> heads,
            const cycle_rules& rules)
      : state_(state), queues_(queues), heads_(heads), rules_(rules), told_(state.running.size()) {
    made_.heads.resize(heads.size());
  }

  cycle_result run() {
    std::vector<cycle_entry> entries;
    for (std::size_t i = 0; i < heads_.size(); ++i) {
      look(i, {});
      const cycle_head& head = heads_[i];
      const flavor_assignment& assignment = made_.heads[i].assignment;
      entries.push_back({queues_[head.queue].node, head.holds_quota, head.preemptor, assignment.borrowing,
                         head.priority, head.queued_at, head.name, assignment.usage});
    }
    if (rules_.by_shares) {
      fair_tournament tournament(state_.tree, std::move(entries), rules_.entries);
      while (const std::optional<std::size_t> next = tournament.next(state_.tree)) process(*next);
    } else {
      std::vector<std::size_t> order(entries.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
        return compare_entries(entries[a], entries[b], rules_.entries) < 0;
      });
      for (const std::size_t one : order) process(one);
    }
    return std::move(made_);
  }

 private:
  struct proposal {
    flavor_assignment assignment;
    std::vector<quota_victim> victims;
    set_places places;
  };

  std::size_t number_of(const cycle_head& head) const { return static_cast<std::size_t>(&head - heads_.data()); }

  victim_query query_of(const cycle_head& head) const {
    const cycle_queue& queue = queues_[head.queue];
    victim_query query;
    query.queue = queue.node;
    query.priority = head.priority;
    query.queued_at = head.queued_at;
    query.rules = queue.preemption;
    query.order = {queue.node, rules_.now, rules_.local_usage};
    return query;
  }

  std::vector<quota_victim> victims_for(const cycle_head& head, const flavor_assignment& assignment) {
    victim_query query = query_of(head);
    query.asked = total_requests(assignment, head.demands, state_.tree.cells(), false);
    query.cells = assignment.cells_to_preempt(state_.tree.cells());
    if (rules_.places != nullptr) {
      query.finds_places = [&] { return !rules_.places->look(number_of(head), assignment, false).failed; };
    }
    return rules_.by_shares ? find_fair_victims(state_, query, rules_.fair) : find_victims(state_, query);
  }

  flavor_assignment assign(const cycle_head& head, std::span<const pod_set_demand> demands,
                           const std::vector<std::vector<flavor_of_resource>>& nominated, set_places& places) {
    flavor_assignment made = assign_quota(head, demands, nominated);
    if (rules_.places == nullptr || made.mode() == assignment_mode::no_fit) return made;
    if (made.mode() == assignment_mode::fit) {
      place_book::answer found = rules_.places->look(number_of(head), made, false);
      if (found.failed) {
        made.pod_sets[*found.failed].topology_failed = true;
        made.pod_sets[*found.failed].topology_reason = found.reason;
        made.set_mode(*found.failed, assignment_mode::preempt);
      } else {
        places = std::move(found.places);
      }
    }
    if (made.mode() == assignment_mode::preempt && !head.lost_places) {
      // Quota may be free, but scattered: even then others would have to leave.
      const place_book::answer found = rules_.places->look(number_of(head), made, true);
      if (found.failed) {
        for (flavor_attempt& one : made.pod_sets[*found.failed].attempts) {
          if (one.flavor != found.flavor) continue;
          one.mode = assignment_mode::no_fit;
          one.why = no_fit_class::topology;
        }
        made.set_mode(*found.failed, assignment_mode::no_fit);
        explain_no_fit(made, queues_[head.queue].groups);
      } else {
        for (const std::size_t set : found.asked) made.set_mode(set, assignment_mode::preempt);
      }
    }
    return made;
  }

  /// Where the pods will be once the victims are gone; without victims, where they would be if nobody else was there.
  void place_beside_victims(const cycle_head& head, proposal& made) {
    if (rules_.places == nullptr || head.lost_places || made.assignment.mode() != assignment_mode::preempt) return;
    for (const quota_victim& one : made.victims) state_.remove(one.workload);
    place_book::answer found = rules_.places->look(number_of(head), made.assignment, made.victims.empty());
    for (const quota_victim& one : made.victims) state_.restore(one.workload);
    if (!found.failed) made.places = std::move(found.places);
  }

  flavor_assignment assign_quota(const cycle_head& head, std::span<const pod_set_demand> demands,
                                 const std::vector<std::vector<flavor_of_resource>>& nominated) {
    const cycle_queue& queue = queues_[head.queue];
    flavor_search search;
    search.tree = &state_.tree;
    search.queue = queue.node;
    search.groups = queue.groups;
    search.rules = queue.rules;
    search.fungible = rules_.fungible;
    search.preempts_while_borrowing = queue.preempts_while_borrowing;
    search.ignores_missing_resources = rules_.ignores_missing_resources;
    search.resource_order = rules_.resource_order;
    search.pods_resource = rules_.pods_resource;
    search.has_topology = rules_.has_topology;
    // Whoever looks again begins with the first flavor.
    search.progress = nominated.empty() && !head.progress.empty() ? &head.progress : nullptr;
    search.nominated = nominated;
    search.oracle = [&](cell_id cell, amount value) {
      return forecast_victims(state_, query_of(head), rules_.by_shares ? &rules_.fair : nullptr, cell, value);
    };
    return assign_flavors(search, demands);
  }

  /// An assignment that fits, or one with victims.
  std::optional<proposal> propose(const cycle_head& head, std::span<const pod_set_demand> demands,
                                  const std::vector<std::vector<flavor_of_resource>>& nominated,
                                  flavor_assignment* refused) {
    proposal made;
    made.assignment = assign(head, demands, nominated, made.places);
    const assignment_mode mode = made.assignment.mode();
    if (mode == assignment_mode::fit) return made;
    if (mode == assignment_mode::preempt) made.victims = victims_for(head, made.assignment);
    if (!made.victims.empty()) return made;
    if (refused != nullptr) *refused = std::move(made.assignment);
    return std::nullopt;
  }

  void look(std::size_t i, const std::vector<std::vector<flavor_of_resource>>& nominated) {
    const cycle_head& head = heads_[i];
    head_result& into = made_.heads[i];
    flavor_assignment refused;
    std::optional<proposal> found = propose(head, head.demands, nominated, &refused);
    if (!found) found = with_fewer_pods(head, nominated);
    if (!found) found = proposal{std::move(refused), {}, {}};
    place_beside_victims(head, *found);
    into.assignment = std::move(found->assignment);
    into.victims = std::move(found->victims);
    into.places = std::move(found->places);
  }

  /// The largest counts that will do, by bisection.
  std::optional<proposal> with_fewer_pods(const cycle_head& head,
                                          const std::vector<std::vector<flavor_of_resource>>& nominated) {
    if (!rules_.fewer_pods || head.fewest.empty()) return std::nullopt;
    std::vector<std::int64_t> full;
    std::int64_t steps = 0;
    for (std::size_t k = 0; k < head.demands.size(); ++k) {
      full.push_back(head.demands[k].count);
      steps += full[k] - head.fewest[k];
    }
    if (steps <= 0) return std::nullopt;
    std::optional<proposal> best;
    std::int64_t low = 0;
    std::int64_t high = steps + 1;
    std::int64_t best_step = -1;
    while (low < high) {
      const std::int64_t step = low + (high - low) / 2;
      const std::vector<std::int64_t> counts = reduced_counts(full, head.fewest, step, steps);
      std::vector<pod_set_demand> demands = head.demands;
      for (std::size_t k = 0; k < demands.size(); ++k) {
        demands[k].requests = scaled(demands[k].requests, full[k], counts[k]);
        demands[k].count = counts[k];
      }
      if (std::optional<proposal> found = propose(head, demands, nominated, nullptr)) {
        best = std::move(found);
        best_step = step;
        high = step;
      } else {
        low = step + 1;
      }
    }
    return best_step == low ? std::move(best) : std::nullopt;
  }

  bool overlaps(const head_result& head) const {
    return std::ranges::any_of(head.victims, [&](const quota_victim& one) { return told_[one.workload]; });
  }

  enum class room : std::uint8_t { enough, no_quota, no_places };

  /// Whether the assignment has room once all victims, its own and those told before, are gone.
  room room_for(std::size_t i) {
    std::vector<std::size_t> gone = all_told_;
    for (const quota_victim& one : made_.heads[i].victims) {
      if (!told_[one.workload]) gone.push_back(one.workload);
    }
    std::ranges::sort(gone);
    for (const std::size_t w : gone) state_.remove(w);
    const node_id queue = queues_[heads_[i].queue].node;
    const head_result& head = made_.heads[i];
    const bool quota = heads_[i].holds_quota || std::ranges::all_of(head.assignment.usage, [&](const cell_amount& one) {
                         return std::max(amount(), state_.tree.available(queue, one.cell)) >= one.value;
                       });
    const bool places = !quota || rules_.places == nullptr || rules_.places->has_room(i, head.assignment, head.places);
    for (const std::size_t w : gone) state_.restore(w);
    return !quota ? room::no_quota : places ? room::enough : room::no_places;
  }

  void take(std::size_t i, const cell_amounts& usage) {
    if (!heads_[i].holds_quota) state_.tree.add_usage(queues_[heads_[i].queue].node, usage);
    if (rules_.places != nullptr) rules_.places->add(i, made_.heads[i].assignment, made_.heads[i].places);
  }

  void look_again(std::size_t i, bool as_if_gone) {
    head_result& head = made_.heads[i];
    head.looked_again = true;
    head.looked_as_if_gone = as_if_gone;
    std::vector<std::vector<flavor_of_resource>> nominated;
    for (const pod_set_assignment& set : head.assignment.pod_sets) {
      auto& flavors = nominated.emplace_back();
      for (const chosen_flavor& one : set.flavors) flavors.push_back({one.resource, one.flavor});
    }
    if (!as_if_gone) return look(i, nominated);
    const std::vector<bool> hidden = state_.hidden;
    state_.hidden.resize(state_.running.size());
    for (const std::size_t w : all_told_) {
      state_.hidden[w] = true;
      state_.remove(w);
    }
    look(i, nominated);
    state_.hidden = hidden;
    for (const std::size_t w : all_told_) state_.restore(w);
    if (head.assignment.mode() == assignment_mode::fit) head.assignment.overall = assignment_mode::deferred_fit;
  }

  /// A running variant of the same job in the same queue, of a better or of a worse flavor.
  std::optional<std::size_t> sibling(std::size_t i, bool better) const {
    const variant& own = heads_[i].as_variant;
    if (own.job.empty()) return std::nullopt;
    for (std::size_t w = 0; w < state_.running.size(); ++w) {
      const running_workload& other = state_.running[w];
      if (other.queue != queues_[heads_[i].queue].node || !own.is_sibling_of(other.as_variant)) continue;
      if (better ? *other.as_variant.rank < *own.rank : *other.as_variant.rank > *own.rank) return w;
    }
    return std::nullopt;
  }

  void process(std::size_t i) {
    made_.order.push_back(i);
    head_result& head = made_.heads[i];
    if (sibling(i, true)) {
      head.outcome = cycle_outcome::better_runs;
      return;
    }
    if (rules_.looks_again_on_overlap && overlaps(head)) {
      look_again(i, true);
    } else if (rules_.places != nullptr && rules_.looks_again_for_places && room_for(i) == room::no_places) {
      look_again(i, false);
    }
    head.outcome = decide(i);
  }

  cycle_outcome decide(std::size_t i) {
    head_result& head = made_.heads[i];
    const cycle_queue& queue = queues_[heads_[i].queue];
    const assignment_mode mode = head.assignment.mode();
    if (heads_[i].lost_places && rules_.leaves_without_replacement && mode != assignment_mode::fit)
      return cycle_outcome::not_replaced;
    if (mode == assignment_mode::no_fit) return cycle_outcome::no_fit;
    if (mode == assignment_mode::preempt && head.victims.empty()) {
      const bool sure = queue.preemption.reclaim_within_cohort == victim_policy::any;
      if (!sure || (rules_.entries.preemptors_first && heads_[i].preemptor)) {
        take(i,
             amounts_to_reserve(state_.tree, queue.node, head.assignment.usage, mode, head.assignment.borrowing > 0));
      }
      return cycle_outcome::no_candidates;
    }
    if (mode == assignment_mode::preempt && heads_[i].may_not_preempt) return cycle_outcome::gated;
    if (mode == assignment_mode::deferred_fit) {
      take(i, head.assignment.usage);
      return cycle_outcome::deferred;
    }
    if (overlaps(head)) return cycle_outcome::overlap;
    if (room_for(i) != room::enough) return cycle_outcome::crowded_out;
    for (const quota_victim& one : head.victims) {
      told_[one.workload] = true;
      all_told_.push_back(one.workload);
    }
    take(i, head.assignment.usage);
    if (mode == assignment_mode::preempt) return cycle_outcome::preempts;
    head.sibling = sibling(i, false);
    if (!head.sibling) return cycle_outcome::admitted;
    const bool too_low = queue.last_rank && *heads_[i].as_variant.rank > *queue.last_rank;
    return too_low ? cycle_outcome::too_low : cycle_outcome::moves;
  }

  quota_state& state_;
  std::span<const cycle_queue> queues_;
  std::span<const cycle_head> heads_;
  const cycle_rules& rules_;
  std::vector<bool> told_;
  std::vector<std::size_t> all_told_;  ///< the same as a list
  cycle_result made_;
};

}  // namespace

cycle_result run_cycle(quota_state& state, std::span<const cycle_queue> queues, std::span<const cycle_head> heads,
                       const cycle_rules& rules) {
  return one_cycle(state, queues, heads, rules).run();
}

}  // namespace kaisched::kueue
