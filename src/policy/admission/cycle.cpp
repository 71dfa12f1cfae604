#include "policy/admission/cycle.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::admission {

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
      entries.push_back({queues_[head.queue].node, false, head.preemptor, assignment.borrowing, head.priority,
                         head.queued_at, head.name, assignment.usage});
    }
    if (rules_.by_shares) {
      fair_tournament tournament(state_.tree, std::move(entries), rules_.entries);
      while (const std::optional<std::size_t> next = tournament.next(state_.tree)) process(*next);
    } else {
      std::vector<std::size_t> order(entries.size());
      for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
      std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
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
  };

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
    return rules_.by_shares ? find_fair_victims(state_, query, rules_.fair) : find_victims(state_, query);
  }

  flavor_assignment assign(const cycle_head& head, std::span<const pod_set_demand> demands,
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
    proposal made{assign(head, demands, nominated), {}};
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
    into.assignment = found ? std::move(found->assignment) : std::move(refused);
    into.victims = found ? std::move(found->victims) : std::vector<quota_victim>{};
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
    return std::any_of(head.victims.begin(), head.victims.end(), [&](const quota_victim& one) { return told_[one.workload]; });
  }

  /// Whether the assignment has room once all victims, its own and those told before, are gone.
  bool has_room(std::size_t i) {
    std::vector<bool> gone = told_;
    for (const quota_victim& one : made_.heads[i].victims) gone[one.workload] = true;
    for (std::size_t w = 0; w < gone.size(); ++w) {
      if (gone[w]) state_.tree.remove_usage(state_.running[w].queue, state_.running[w].usage);
    }
    const node_id queue = queues_[heads_[i].queue].node;
    const cell_amounts& usage = made_.heads[i].assignment.usage;
    const bool room = std::all_of(usage.begin(), usage.end(), [&](const cell_amount& one) {
      return std::max(amount(), state_.tree.available(queue, one.cell)) >= one.value;
    });
    for (std::size_t w = 0; w < gone.size(); ++w) {
      if (gone[w]) state_.tree.add_usage(state_.running[w].queue, state_.running[w].usage);
    }
    return room;
  }

  void look_again(std::size_t i) {
    head_result& head = made_.heads[i];
    head.looked_again = true;
    std::vector<std::vector<flavor_of_resource>> nominated;
    for (const pod_set_assignment& set : head.assignment.pod_sets) {
      auto& flavors = nominated.emplace_back();
      for (const chosen_flavor& one : set.flavors) flavors.push_back({one.resource, one.flavor});
    }
    const std::vector<bool> hidden = state_.hidden;
    state_.hidden.resize(state_.running.size());
    for (std::size_t w = 0; w < told_.size(); ++w) {
      if (!told_[w]) continue;
      state_.hidden[w] = true;
      state_.remove(w);
    }
    look(i, nominated);
    state_.hidden = hidden;
    for (std::size_t w = 0; w < told_.size(); ++w) {
      if (told_[w]) state_.restore(w);
    }
    if (head.assignment.mode() == assignment_mode::fit) head.assignment.overall = assignment_mode::deferred_fit;
  }

  void process(std::size_t i) {
    made_.order.push_back(i);
    head_result& head = made_.heads[i];
    if (rules_.looks_again_on_overlap && overlaps(head)) look_again(i);
    head.outcome = decide(i);
  }

  cycle_outcome decide(std::size_t i) {
    head_result& head = made_.heads[i];
    const cycle_queue& queue = queues_[heads_[i].queue];
    const assignment_mode mode = head.assignment.mode();
    if (mode == assignment_mode::no_fit) return cycle_outcome::no_fit;
    if (mode == assignment_mode::preempt && head.victims.empty()) {
      const bool sure = queue.preemption.reclaim_within_cohort == victim_policy::any;
      if (!sure || (rules_.entries.preemptors_first && heads_[i].preemptor)) {
        state_.tree.add_usage(queue.node, amounts_to_reserve(state_.tree, queue.node, head.assignment.usage, mode,
                                                             head.assignment.borrowing > 0));
      }
      return cycle_outcome::no_candidates;
    }
    if (mode == assignment_mode::deferred_fit) {
      state_.tree.add_usage(queue.node, head.assignment.usage);
      return cycle_outcome::deferred;
    }
    if (overlaps(head)) return cycle_outcome::overlap;
    if (!has_room(i)) return cycle_outcome::crowded_out;
    for (const quota_victim& one : head.victims) told_[one.workload] = true;
    state_.tree.add_usage(queue.node, head.assignment.usage);
    return mode == assignment_mode::preempt ? cycle_outcome::preempts : cycle_outcome::admitted;
  }

  quota_state& state_;
  std::span<const cycle_queue> queues_;
  std::span<const cycle_head> heads_;
  const cycle_rules& rules_;
  std::vector<bool> told_;
  cycle_result made_;
};

}  // namespace

cycle_result run_cycle(quota_state& state, std::span<const cycle_queue> queues, std::span<const cycle_head> heads,
                       const cycle_rules& rules) {
  return one_cycle(state, queues, heads, rules).run();
}

}  // namespace kaisched::admission
