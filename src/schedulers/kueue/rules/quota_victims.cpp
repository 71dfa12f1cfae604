#include "schedulers/kueue/rules/quota_victims.hpp"

#include <algorithm>
#include <utility>

namespace kaisched::kueue {

namespace {

template <class T>
int three_way(const T& a, const T& b) {
  return a < b ? -1 : (b < a ? 1 : 0);
}

bool uses_any(const running_workload& one, const std::vector<cell_id>& cells) {
  return std::ranges::any_of(one.cells,
                             [&](cell_id cell) { return std::binary_search(cells.begin(), cells.end(), cell); });
}

bool allows(victim_policy policy, const victim_query& query, const running_workload& candidate) {
  const bool lower = query.priority > candidate.priority;
  switch (policy) {
    case victim_policy::never:
      return false;
    case victim_policy::lower_priority:
      return lower;
    case victim_policy::lower_or_newer_equal_priority:
      return lower || (query.priority == candidate.priority && query.queued_at < candidate.queued_at);
    case victim_policy::any:
      break;
  }
  return true;
}

bool fits_now(const quota_state& state, const victim_query& query, bool may_borrow) {
  for (const cell_amount& one : query.asked) {
    if (!may_borrow && state.tree.borrows_with(query.queue, one.cell, one.value)) return false;
    if (one.value > std::max(amount(), state.tree.available(query.queue, one.cell))) return false;
  }
  return !query.finds_places || query.finds_places();
}

/// Puts back whoever is not needed; the order is that of the reference, which fills gaps with the last one.
void fill_back(quota_state& state, const victim_query& query, std::vector<quota_victim>& victims, bool may_borrow) {
  for (std::size_t i = victims.size() < 2 ? 0 : victims.size() - 1; i-- > 0;) {
    state.restore(victims[i].workload);
    if (fits_now(state, query, may_borrow)) {
      victims[i] = victims.back();
      victims.pop_back();
    } else {
      state.remove(victims[i].workload);
    }
  }
}

/// Workloads that may be candidates, by queue.
std::vector<std::vector<std::size_t>> by_queue(const quota_state& state) {
  std::vector<std::vector<std::size_t>> made(state.tree.size());
  for (std::size_t i = 0; i < state.running.size(); ++i) {
    const node_id queue = state.running[i].queue;
    if (queue != no_node && !state.is_hidden(i)) made[queue].push_back(i);
  }
  return made;
}

void restore_all(quota_state& state, const std::vector<quota_victim>& victims) {
  for (const quota_victim& one : victims) state.restore(one.workload);
}

/// How a candidate may be taken.
enum class candidate_kind : std::uint8_t { in_queue, advantage, only_without_borrowing, while_borrowing };

struct quota_candidate {
  std::size_t workload = 0;
  node_id common = no_node;  ///< the lowest cohort that its queue shares with that of the preemptor
  candidate_kind kind = candidate_kind::in_queue;
};

victim_reason reason_of(candidate_kind kind) {
  switch (kind) {
    case candidate_kind::in_queue:
      return victim_reason::in_queue;
    case candidate_kind::while_borrowing:
      return victim_reason::reclamation_while_borrowing;
    case candidate_kind::advantage:
    case candidate_kind::only_without_borrowing:
      break;
  }
  return victim_reason::reclamation;
}

class priority_victims {
 public:
  priority_victims(quota_state& state, const victim_query& query)
      : state_(state), query_(query), of_queue_(by_queue(state)) {}

  std::vector<quota_victim> run() {
    collect();
    for (const bool may_borrow : attempts()) {
      std::vector<quota_victim> victims;
      for (const quota_candidate& one : all_) {
        if (!valid(one, may_borrow)) continue;
        state_.remove(one.workload);
        victims.push_back({one.workload, reason_of(one.kind)});
        if (!fits_now(state_, query_, may_borrow)) continue;
        fill_back(state_, query_, victims, may_borrow);
        restore_all(state_, victims);
        return victims;
      }
      restore_all(state_, victims);
    }
    return {};
  }

 private:
  using list = std::vector<quota_candidate>;

  void collect() {
    if (query_.rules.within_queue != victim_policy::never) collect_queue(query_.queue, no_node, false, same_queue_);
    collect_cohorts();
    for (list* one : {&advantage_, &by_priority_, &same_queue_}) {
      std::ranges::stable_sort(*one, [&](const quota_candidate& a, const quota_candidate& b) {
        return compare_candidates(state_.running[a.workload], state_.running[b.workload], query_.order) < 0;
      });
    }
    for (const bool evicted : {true, false}) {
      for (const list* one : {&advantage_, &by_priority_, &same_queue_}) {
        for (const quota_candidate& candidate : *one) {
          if (state_.running[candidate.workload].evicted == evicted) all_.push_back(candidate);
        }
      }
    }
  }

  void collect_cohorts() {
    const quota_tree& tree = state_.tree;
    if (!tree.has_parent(query_.queue) || query_.rules.reclaim_within_cohort == victim_policy::never) return;
    quota_tree::fit_in_quota found = tree.fits_in_quota(query_.queue, query_.asked);
    bool advantage = found.fits;
    node_id done = no_node;
    for (node_id root = tree.parent(query_.queue); root != no_node; root = tree.parent(root)) {
      collect_below(root, root, done, advantage, advantage ? advantage_ : by_priority_);
      found = tree.fits_in_quota(root, found.rest);
      advantage = advantage || found.fits;
      done = root;
    }
  }

  void collect_below(node_id cohort, node_id common, node_id done, bool advantage, list& into) {
    for (const node_id child : state_.tree.child_cohorts(cohort)) {
      if (child == done || state_.tree.within_quota(child, query_.cells)) continue;
      collect_below(child, common, done, advantage, into);
    }
    for (const node_id queue : state_.tree.child_queues(cohort)) {
      if (queue == query_.queue || state_.tree.within_quota(queue, query_.cells)) continue;
      collect_queue(queue, common, advantage, into);
    }
  }

  void collect_queue(node_id queue, node_id common, bool advantage, list& into) {
    for (const std::size_t i : of_queue_[queue]) {
      if (const std::optional<candidate_kind> kind = kind_of(state_.running[i], advantage))
        into.push_back({i, common, *kind});
    }
  }

  std::optional<candidate_kind> kind_of(const running_workload& one, bool advantage) const {
    const preemption_rules& rules = query_.rules;
    const bool own = one.queue == query_.queue;
    if (!uses_any(one, query_.cells)) return std::nullopt;
    if (!allows(own ? rules.within_queue : rules.reclaim_within_cohort, query_, one)) return std::nullopt;
    if (own) return candidate_kind::in_queue;
    if (advantage) return candidate_kind::advantage;
    if (!rules.borrow_within_cohort || one.priority >= query_.priority) return candidate_kind::only_without_borrowing;
    const std::optional<std::int64_t>& highest = rules.borrow_within_cohort->highest_priority;
    if (highest && one.priority > *highest) return candidate_kind::only_without_borrowing;
    return candidate_kind::while_borrowing;
  }

  std::vector<bool> attempts() const {
    const bool forbidden = !query_.rules.borrow_within_cohort;
    const bool under = std::ranges::all_of(query_.cells, [&](cell_id cell) {
      return state_.tree.quota(query_.queue, cell).nominal > state_.tree.usage(query_.queue, cell);
    });
    if ((advantage_.empty() && by_priority_.empty()) || (forbidden && !under)) return {true};
    if (forbidden && advantage_.empty()) return {false, true};
    return {true, false};
  }

  /// Earlier victims may have brought the subtree of a candidate back to its quota.
  bool valid(const quota_candidate& one, bool may_borrow) const {
    const node_id queue = state_.running[one.workload].queue;
    if (queue == query_.queue) return true;
    if (may_borrow && one.kind == candidate_kind::only_without_borrowing) return false;
    for (node_id at = queue; at != one.common; at = state_.tree.parent(at)) {
      if (state_.tree.within_quota(at, query_.cells)) return false;
    }
    return true;
  }

  quota_state& state_;
  const victim_query& query_;
  std::vector<std::vector<std::size_t>> of_queue_;
  list advantage_;
  list by_priority_;
  list same_queue_;
  list all_;
};

/// Which queue gives the next victim.
class share_descent {
 public:
  share_descent(const quota_state& state, const victim_query& query, const std::vector<std::size_t>& candidates)
      : state_(state),
        query_(query),
        waiting_(state.tree.size()),
        next_(state.tree.size()),
        pruned_(state.tree.size()),
        above_preemptor_(state.tree.size()) {
    for (const std::size_t one : candidates) waiting_[state.running[one].queue].push_back(one);
    for (node_id at = state.tree.parent(query.queue); at != no_node; at = state.tree.parent(at))
      above_preemptor_[at] = true;
  }

  /// The queue with the largest share that has candidates; none when all are done.
  std::optional<node_id> next() {
    if (!state_.tree.has_parent(query_.queue)) {
      if (pruned_[query_.queue] || !has_candidate(query_.queue)) return std::nullopt;
      return query_.queue;
    }
    const node_id root = state_.tree.root(query_.queue);
    while (!pruned_[root]) {
      if (const std::optional<node_id> found = descend(root)) return found;
    }
    return std::nullopt;
  }

  [[nodiscard]] bool has_candidate(node_id queue) const { return next_[queue] < waiting_[queue].size(); }
  std::size_t take(node_id queue) { return waiting_[queue][next_[queue]++]; }
  void drop(node_id queue) { pruned_[queue] = true; }

  /// The children of the lowest common cohort on the way to the preemptor and to the queue.
  [[nodiscard]] std::pair<node_id, node_id> sides(node_id queue) const {
    node_id target = queue;
    while (!above_preemptor_[state_.tree.parent(target)]) target = state_.tree.parent(target);
    const node_id common = state_.tree.parent(target);
    node_id own = query_.queue;
    while (state_.tree.parent(own) != common) own = state_.tree.parent(own);
    return {own, target};
  }

 private:
  std::optional<node_id> descend(node_id cohort) {
    const quota_tree& tree = state_.tree;
    borrowed_share largest_queue_share;
    largest_queue_share.ratio = -1;
    borrowed_share largest_cohort_share = largest_queue_share;
    node_id largest_queue = no_node;
    node_id largest_cohort = no_node;
    for (const node_id queue : tree.child_queues(cohort)) {
      if (pruned_[queue]) continue;
      const borrowed_share share = tree.share(queue);
      if ((!share.borrowing && queue != query_.queue) || !has_candidate(queue)) {
        pruned_[queue] = true;
        continue;
      }
      const int order = compare(share, largest_queue_share);
      if (order > 0 || (order == 0 && first_leaves_before(queue, largest_queue))) {
        largest_queue_share = share;
        largest_queue = queue;
      }
    }
    for (const node_id child : tree.child_cohorts(cohort)) {
      if (pruned_[child]) continue;
      const borrowed_share share = tree.share(child);
      // A cohort above the preemptor may be uneven inside although it borrows nothing.
      if (!share.borrowing && !above_preemptor_[child]) {
        pruned_[child] = true;
      } else if (compare(share, largest_cohort_share) >= 0) {
        largest_cohort_share = share;
        largest_cohort = child;
      }
    }
    if (largest_queue == no_node && largest_cohort == no_node) {
      pruned_[cohort] = true;
      return std::nullopt;
    }
    if (compare(largest_cohort_share, largest_queue_share) >= 0) return descend(largest_cohort);
    return largest_queue;
  }

  bool first_leaves_before(node_id a, node_id b) const {
    candidate_rules order = query_.order;
    order.local_usage = false;
    return compare_candidates(state_.running[waiting_[a][next_[a]]], state_.running[waiting_[b][next_[b]]], order) < 0;
  }

  const quota_state& state_;
  const victim_query& query_;
  std::vector<std::vector<std::size_t>> waiting_;
  std::vector<std::size_t> next_;
  std::vector<bool> pruned_;
  std::vector<bool> above_preemptor_;
};

class share_victims {
 public:
  share_victims(quota_state& state, const victim_query& query, const fair_rules& fair)
      : state_(state), query_(query), fair_(fair) {}

  std::vector<quota_victim> run() {
    std::vector<std::size_t> candidates = collect();
    if (candidates.empty() || fair_.strategies.empty()) return {};
    std::ranges::stable_sort(candidates, [&](std::size_t a, std::size_t b) {
      return compare_candidates(state_.running[a], state_.running[b], query_.order) < 0;
    });
    // Shares count the workload as if it ran.
    state_.tree.add_usage(query_.queue, query_.asked);
    bool fits = first_strategy(candidates);
    if (!fits && fair_.strategies.size() > 1) fits = second_strategy();
    state_.tree.remove_usage(query_.queue, query_.asked);
    if (fits) {
      fill_back(state_, query_, victims_, true);
      restore_all(state_, victims_);
      return std::move(victims_);
    }
    restore_all(state_, victims_);
    return {};
  }

 private:
  std::vector<std::size_t> collect() const {
    const quota_tree& tree = state_.tree;
    std::vector<std::size_t> found;
    const std::vector<std::vector<std::size_t>> of_queue = by_queue(state_);
    const auto collect_queue = [&](node_id queue, victim_policy policy) {
      for (const std::size_t i : of_queue[queue]) {
        const running_workload& one = state_.running[i];
        if (allows(policy, query_, one) && uses_any(one, query_.cells)) found.push_back(i);
      }
    };
    collect_queue(query_.queue, query_.rules.within_queue);
    if (!tree.has_parent(query_.queue) || query_.rules.reclaim_within_cohort == victim_policy::never) return found;
    for (const node_id queue : tree.queues_below(tree.root(query_.queue))) {
      const bool borrows = std::ranges::any_of(query_.cells, [&](cell_id cell) { return tree.borrows(queue, cell); });
      if (queue != query_.queue && borrows) collect_queue(queue, query_.rules.reclaim_within_cohort);
    }
    return found;
  }

  /// Takes the victim; true if the workload fits then.
  bool take(std::size_t workload, victim_reason why) {
    state_.remove(workload);
    victims_.push_back({workload, why});
    state_.tree.remove_usage(query_.queue, query_.asked);
    const bool fits = fits_now(state_, query_, true);
    state_.tree.add_usage(query_.queue, query_.asked);
    return fits;
  }

  bool allowed(share_strategy strategy, const share_descent& descent, node_id queue, std::size_t workload) {
    const auto [own, target] = descent.sides(queue);
    const borrowed_share mine = state_.tree.share(own);
    if (strategy == share_strategy::below_initial_share) return compare(mine, state_.tree.share(target)) < 0;
    state_.remove(workload);
    const borrowed_share left = state_.tree.share(target);
    state_.restore(workload);
    return compare(mine, left) <= 0;
  }

  bool first_strategy(const std::vector<std::size_t>& candidates) {
    share_descent descent(state_, query_, candidates);
    const bool within_nominal = fair_.within_nominal_is_free && std::ranges::none_of(query_.cells, [&](cell_id cell) {
                                  return state_.tree.borrows(query_.queue, cell);
                                });
    while (const std::optional<node_id> queue = descent.next()) {
      if (*queue == query_.queue || within_nominal) {
        const victim_reason why = *queue == query_.queue ? victim_reason::in_queue : victim_reason::reclamation;
        if (take(descent.take(*queue), why)) return true;
        continue;
      }
      while (descent.has_candidate(*queue)) {
        const std::size_t workload = descent.take(*queue);
        if (!allowed(fair_.strategies.front(), descent, *queue, workload)) {
          refused_.push_back(workload);
          continue;
        }
        if (take(workload, victim_reason::fair_sharing)) return true;
        break;  // shares have changed: another queue may be next
      }
    }
    return false;
  }

  /// Of every queue only the first candidate is asked, since the rule looks at the queue as it is.
  bool second_strategy() {
    share_descent descent(state_, query_, refused_);
    while (const std::optional<node_id> queue = descent.next()) {
      const bool may = allowed(share_strategy::below_initial_share, descent, *queue, 0);
      const std::size_t workload = descent.take(*queue);
      if (may && take(workload, victim_reason::fair_sharing)) return true;
      descent.drop(*queue);
    }
    return false;
  }

  quota_state& state_;
  const victim_query& query_;
  const fair_rules& fair_;
  std::vector<quota_victim> victims_;
  std::vector<std::size_t> refused_;
};

}  // namespace

int compare_candidates(const running_workload& a, const running_workload& b, const candidate_rules& rules) {
  if (a.evicted != b.evicted) return a.evicted ? -1 : 1;
  const bool a_own = a.queue == rules.queue;
  const bool b_own = b.queue == rules.queue;
  if (a_own != b_own) return a_own ? 1 : -1;
  const bool same_queue = a.queue == b.queue && a.local_queue != b.local_queue;
  if (rules.local_usage && same_queue && a.local_usage && b.local_usage && *a.local_usage != *b.local_usage)
    return *a.local_usage > *b.local_usage ? -1 : 1;
  if (const int order = three_way(a.priority, b.priority); order != 0) return order;
  if (const int order = three_way(b.reserved_at.value_or(rules.now), a.reserved_at.value_or(rules.now)); order != 0)
    return order;
  return three_way(a.id, b.id);
}

std::vector<quota_victim> find_victims(quota_state& state, const victim_query& query) {
  return priority_victims(state, query).run();
}

std::vector<quota_victim> find_fair_victims(quota_state& state, const victim_query& query, const fair_rules& fair) {
  return share_victims(state, query, fair).run();
}

victim_forecast forecast_victims(quota_state& state, victim_query query, const fair_rules* fair, cell_id cell,
                                 amount value) {
  query.asked = {{cell, value}};
  query.cells = {cell};
  query.finds_places = nullptr;
  const std::vector<quota_victim> victims =
      fair != nullptr ? find_fair_victims(state, query, *fair) : find_victims(state, query);
  for (const quota_victim& one : victims)
    state.tree.remove_usage(state.running[one.workload].queue, state.running[one.workload].usage);
  victim_forecast found{fit_mode::reclaim, state.tree.lowest_subtree_that_fits(query.queue, cell, value).height};
  for (const quota_victim& one : victims) {
    state.tree.add_usage(state.running[one.workload].queue, state.running[one.workload].usage);
    if (state.running[one.workload].queue == query.queue) found.mode = fit_mode::preempt;
  }
  if (victims.empty()) found.mode = fit_mode::no_candidates;
  return found;
}

}  // namespace kaisched::kueue
