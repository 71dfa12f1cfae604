// The actions that evict: reclaim, preempt, consolidation, and the eviction of stale gangs.
#include <algorithm>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <boost/container/small_vector.hpp>

#include "actions/actions.hpp"
#include "actions/failed_groups.hpp"
#include "actions/job_queue.hpp"
#include "actions/migration.hpp"
#include "actions/reclaim_verdicts.hpp"
#include "actions/runtime.hpp"
#include "actions/search_backoff.hpp"
#include "actions/victim_cost.hpp"
#include "actions/victim_judges.hpp"
#include "actions/victim_search.hpp"
#include "base/row_marks.hpp"
#include "framework/members.hpp"
#include "framework/repeated_checks.hpp"
#include "policy/reclaim/reclaim_rules.hpp"

namespace kaisched::actions {

namespace {

using framework::in_native;
using framework::is_active;
using framework::session_state;
using model::quota_vector;

/// More pods than some pod set needs.
bool is_elastic(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    const model::sub_info& info = c.state().subs[sub];
    if (!info.is_set && info.min < static_cast<std::int64_t>(c.counts(sub).total)) return true;
  }
  return false;
}

// ---- pending groups ----------------------------------------------------------------------------------------------

/// Evicts nobody before it has waited for its delay, since its creation or since it was evicted last.
bool within_preemption_delay(const session_state& c, group_row group) {
  const model::group_extra& extra = c.state().group_extras[group];
  if (extra.preemption_delay <= 0) return false;  // `unset` is below 0
  const std::int64_t evicted = c.groups.last_eviction(group);
  const std::int64_t since =
      evicted == unset ? c.state().groups[group].created : std::max(c.state().groups[group].created, evicted);
  return c.now - since < extra.preemption_delay;
}

void remember(session_state& c, group_row group, attempt_outcome outcome, eviction_attempt what = {}) {
  what.action = c.run.action;
  what.group = group;
  what.outcome = outcome;
  c.results.attempts.push_back(what);
}

std::vector<group_row> groups_that_may_evict(session_state& c, bool preemptible_only) {
  std::vector<group_row> groups;
  groups.reserve(c.waiting_groups().size());
  for (const group_row g : c.waiting_groups()) {
    if (!c.queues.is_schedulable_queue(c.state().groups[g].queue) ||
        !framework::is_ready(c, c.state().groups[g].first_sub) ||
        framework::count_pods(c, g, &model::sub_counts::pending) == 0) {
      continue;
    }
    const model::group_core& group = c.state().groups[g];
    // What a semi-preemptible group starts once it has its core is preemptible.
    const bool preemptible =
        group.preemptible || (group.semi_preemptible && framework::is_satisfied(c, group.first_sub));
    if (preemptible_only && !preemptible) {
      remember(c, g, attempt_outcome::not_preemptible);
    } else if (c.groups.held.has(g)) {
      remember(c, g, attempt_outcome::obstacle);
    } else if (within_preemption_delay(c, g)) {
      remember(c, g, attempt_outcome::delayed);
    } else {
      groups.push_back(g);
    }
  }
  return groups;
}

/// No eviction could help: something else is in the way of one of the pods.
bool has_obstacle(const session_state& c, std::span<const pod_row> chunk) {
  return c.has_predicates && std::any_of(chunk.begin(), chunk.end(), [&](pod_row p) {
           return policy::judge_cluster(c.access, c.state().class_of(p)).what != constraint::none;
         });
}

// ---- minimum runtime ---------------------------------------------------------------------------------------------

/// Which promise of runtime counts.
enum class loss : std::uint8_t { by_preemption, by_reclaim };

std::int64_t promise_in(const model::queue_info& queue, loss how) {
  return how == loss::by_preemption ? queue.preempt_min_runtime : queue.reclaim_min_runtime;
}

std::int64_t promise_of(const session_state& c, queue_row q, loss how) {
  return promise_in((*c.state().queues)[q], how);
}

using queue_path = boost::container::small_vector<queue_row, 16>;

/// Queues whose promise counts, the first that says something: those from the victim's to its root; for reclaim from
/// the one below the lowest queue that both share, of different trees the victim's root only.
queue_path queues_that_promise(const session_state& c, queue_row mine, queue_row victim, loss how) {
  const std::vector<model::queue_info>& all = *c.state().queues;
  queue_path theirs;
  for (queue_row q = victim; q != no_row; q = all[q].parent) theirs.push_back(q);
  if (how == loss::by_preemption || c.options.min_runtime_from == runtime_resolution::queue) return theirs;
  queue_path path;
  for (queue_row q = mine; q != no_row; q = all[q].parent) path.push_back(q);
  if (path.back() != theirs.back()) return queue_path(1, theirs.back());
  const auto shared = std::find_if(theirs.begin(), theirs.end(),
                                   [&](queue_row q) { return std::find(path.begin(), path.end(), q) != path.end(); });
  return {shared == theirs.begin() ? shared : shared - 1, theirs.end()};
}

/// Which groups have run for less than their queues promise. Every queue is asked once.
class runtime_promises {
 public:
  runtime_promises(const session_state& c, loss how) : c_(c), how_(how), counts_(c.has("minruntime")) {}

  /// No group can be protected, whichever group is asked for.
  [[nodiscard]] bool protect_none() const {
    const std::int64_t by_default =
        how_ == loss::by_preemption ? c_.options.min_runtime_preempt : c_.options.min_runtime_reclaim;
    const auto promises = [this](const model::queue_info& q) { return promise_in(q, how_) > 0; };
    // A start in the future is not over yet, whatever is promised.
    const auto starts_later = [this](group_row g) { return c_.groups.last_start(g) > c_.now; };
    return !counts_ ||
           (by_default <= 0 && std::none_of(c_.state().queues->begin(), c_.state().queues->end(), promises) &&
            std::none_of(c_.groups.in_order().begin(), c_.groups.in_order().end(), starts_later));
  }
  /// Asks for another group from now on.
  void open(group_row group) {
    if (!counts_) return;
    mine_ = c_.state().groups[group].queue;
    promised_.assign(c_.state().queues->size(), unset);
  }

  /// The group may lose nothing, which is told: it is protected and has no surplus pods.
  [[nodiscard]] bool spare(group_row victim, eviction_attempt& told) {
    const bool spared = protect(victim) && !is_elastic(c_, victim);
    told.spared = told.spared || spared;
    return spared;
  }
  [[nodiscard]] bool protect(group_row victim) {
    if (!counts_) return false;
    const std::int64_t started = c_.groups.last_start(victim);
    return started != unset && c_.now - started < promised_by(c_.state().groups[victim].queue);
  }

 private:
  std::int64_t promised_by(queue_row theirs) {
    if (promised_[theirs] == unset) promised_[theirs] = ask(theirs);
    return promised_[theirs];
  }

  [[nodiscard]] std::int64_t ask(queue_row theirs) const {
    for (const queue_row q : queues_that_promise(c_, mine_, theirs, how_)) {
      if (promise_of(c_, q, how_) != unset) return promise_of(c_, q, how_);
    }
    return how_ == loss::by_preemption ? c_.options.min_runtime_preempt : c_.options.min_runtime_reclaim;
  }

  const session_state& c_;
  queue_row mine_ = no_row;
  loss how_;
  bool counts_;
  std::vector<std::int64_t> promised_;  ///< by queue; `unset`: not asked yet
};

/// A protected elastic group may lose surplus pods, not its core. The reference counts pods that are leaving as
/// members.
bool cores_are_respected(const session_state& c, const scenario& what, runtime_promises& promises) {
  const auto is_bound = [&](const victim_unit& one) { return promises.protect(one.group) && is_elastic(c, one.group); };
  if (std::none_of(what.recorded.begin(), what.recorded.end(), is_bound) &&
      std::none_of(what.potential.begin(), what.potential.end(), is_bound)) {
    return true;
  }
  for (const victim_unit& one : victims_by_group(what)) {
    if (!is_bound(one)) continue;
    const model::group_core& g = c.state().groups[one.group];
    for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
      if (c.state().subs[sub].is_set) continue;
      std::int64_t lost = 0;
      std::int64_t members = c.compat() ? c.counts(sub).active_used : c.counts(sub).active_allocated;
      for (const pod_row p : one.pods) {
        if (c.state().pods[p].sub != sub) continue;
        ++lost;
        members += !c.compat() && !is_active(c, p) ? 1 : 0;
      }
      if (lost > 0 && members - lost < c.state().subs[sub].min) return false;
    }
  }
  return true;
}

// ---- preempt -----------------------------------------------------------------------------------------------------

/// What the queues of a group hold, from its leaf to the root.
std::vector<quota_vector> held_on_path(const session_state& c, group_row group) {
  std::vector<quota_vector> held;
  if (c.compat() || !c.has_proportion) return held;
  for (queue_row q = c.state().groups[group].queue; q != no_row; q = c.queues.exact_queues[q].parent) {
    held.push_back(policy::reclaim::allocated(c.queues.exact_queues[q]));
  }
  return held;
}

/// With the chunk and the victims that have a place again no queue of the group holds more than before of what it is
/// not entitled to, and a chunk that is larger than all that a queue is entitled to takes nothing of that: another
/// queue could reclaim the chunk at any time, and not the pods that made room for it.
bool stays_entitled(session_state& c, const scenario& what, const std::vector<quota_vector>& before) {
  const quota_vector asked = c.chunks.chunk_request(what.group);
  quota_vector lost{};
  what.each_pod([&](pod_row p) {
    if (is_active(c, p)) return;  // it has a place again
    const quota_vector one = c.queues.held(p);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) lost[r] += one[r];
  });
  queue_row q = c.state().groups[what.group].queue;
  for (const quota_vector& held : before) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      if (asked[r] == 0) continue;
      const std::int64_t most = policy::reclaim::allocatable(c.queues.exact_queues[q].shares[r]);
      const std::int64_t left = held[r] - lost[r];
      if (asked[r] > lost[r] && !policy::reclaim::at_most(left + asked[r], most)) return false;
      if (lost[r] > 0 && !policy::reclaim::at_most(asked[r], most) && policy::reclaim::at_most(left + 1, most))
        return false;
    }
    q = c.queues.exact_queues[q].parent;
  }
  return true;
}

/// The leaf queue stays with the chunk within its fair share of what the chunk asks for, or none of the units that lose
/// pods would: `allocate` starts those that do first, so the unit would have the room again before the chunk.
bool comes_before_victims(session_state& c, const scenario& what, const std::vector<quota_vector>& before) {
  if (before.empty()) return true;
  const policy::exact_queue& queue = c.queues.exact_queues[c.state().groups[what.group].queue];
  std::vector<quota_vector> units;
  quota_vector left = before.front();
  for (const auto* some : {&what.recorded, &what.potential}) {
    for (const victim_unit& one : *some) {
      quota_vector lost{};
      for (const pod_row p : one.pods) {
        if (is_active(c, p)) continue;  // it has a place again
        const quota_vector held = c.queues.held(p);
        for (std::uint32_t r = 0; r < quota_dimensions; ++r) lost[r] += held[r];
      }
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) left[r] -= lost[r];
      units.push_back(lost);
    }
  }
  const auto stays_within = [&](const quota_vector& asked) {
    return policy::reclaim::stays_within_share(queue, left, asked);
  };
  return stays_within(c.chunks.chunk_request(what.group)) ||
         std::none_of(units.begin(), units.end(), [&](const quota_vector& unit) {
           return std::any_of(unit.begin(), unit.end(), [](std::int64_t x) { return x > 0; }) && stays_within(unit);
         });
}

/// Of the groups of each leaf queue that can lose pods, one of the lowest priority.
class lowest_priorities {
 public:
  explicit lowest_priorities(const session_state& c) : c_(c) {}

  /// Some group of the queue can lose pods and has a lower priority.
  [[nodiscard]] bool has_lower(queue_row queue, std::int64_t priority) {
    if (!may_have_lower(queue, priority)) return false;
    if (c_.statement.abandoned) return true;  // what such a statement has left behind no decision tells
    follow_decisions();
    const group_row lowest = by_queue_[queue];
    return lowest != no_row && c_.state().groups[lowest].priority < priority;
  }

 private:
  /// The same of groups with pods or without.
  [[nodiscard]] bool may_have_lower(queue_row queue, std::int64_t priority) const {
    const auto& known = c_.state().preemptible_priorities;
    return queue < known.size() && !known[queue].empty() && known[queue].front().first < priority;
  }

  void follow_decisions() {
    if (by_queue_.empty()) return find_all();
    for (; seen_ < c_.results.decisions.size(); ++seen_) {
      const group_row g = c_.results.decisions[seen_].group;
      if (g == no_row || c_.state().groups[g].queue == no_row) continue;
      if (can_lose(c_, g))
        offer(g);
      else if (by_queue_[c_.state().groups[g].queue] == g)
        return find_all();
    }
  }

  void find_all() {
    seen_ = c_.results.decisions.size();
    by_queue_.assign(c_.state().queues->size(), no_row);
    for (group_row g = 0; g < c_.state().group_slots; ++g) {
      if (c_.state().groups[g].queue != no_row && can_lose(c_, g)) offer(g);
    }
  }

  /// Of equal ones the oldest, which is taken from last.
  void offer(group_row g) {
    group_row& lowest = by_queue_[c_.state().groups[g].queue];
    const auto key = [this](group_row of) {
      return std::pair(c_.state().groups[of].priority, c_.state().groups[of].created);
    };
    if (lowest == no_row || key(g) < key(lowest)) lowest = g;
  }

  const session_state& c_;
  std::vector<group_row> by_queue_;
  std::size_t seen_ = 0;  ///< decisions that are counted in
};

// ---- drivers -----------------------------------------------------------------------------------------------------

/// What a driver asks of its action for one pending group.
struct attempt {
  bool skip = false;                                   ///< not a failure that says something about others
  bool fails = false;                                  ///< a failure without a search
  attempt_outcome why = attempt_outcome::no_solution;  ///< of these two
  bool nobody_may_lose = false;                        ///< a search would find no victims
  victim_rules rules;
  /// Another way to make room, tried before victims are searched for: true if the statement holds a solution.
  std::function<result<bool>()> gently;
};

/// Searches that need more effort than one session has go on in the next one, as a round: groups that have had their
/// search in this round come after those that have not. A group has had it if its search came to its end or had the
/// whole effort of the action to itself.
class search_round {
 public:
  explicit search_round(session_state& c) : c_(c), bit_(std::int64_t{1} << static_cast<unsigned>(c.run.action)) {}

  [[nodiscard]] bool has_had(group_row group) const { return (c_.groups.searched(group) & bit_) != 0; }
  void note_searched(group_row group) { searched_.push_back(group); }
  /// No steps are left: groups that come now are not searched for.
  void note_cut() { is_cut_ = true; }
  /// All groups have had their search: another round begins. After a cut this one goes on.
  void begin_anew() { is_new_ = !is_cut_; }

  /// What the groups of the action are told for the next session.
  void finish(std::span<const group_row> groups) const {
    std::vector<group_row> had;
    if (is_cut_) {
      had = searched_;
      if (!is_new_)
        std::copy_if(groups.begin(), groups.end(), std::back_inserter(had), [&](group_row g) { return has_had(g); });
      std::sort(had.begin(), had.end());
    }
    for (const group_row g : groups) {
      const std::int64_t before = c_.groups.searched(g);
      const bool marked = std::binary_search(had.begin(), had.end(), g);
      const std::int64_t after = marked ? before | bit_ : before & ~bit_;
      if (after != before) c_.groups.set_searched(g, after);
    }
  }

 private:
  session_state& c_;
  std::int64_t bit_;
  bool is_new_ = false;
  bool is_cut_ = false;
  std::vector<group_row> searched_;  ///< in this session
};

/// The pending groups of an action, each once.
class waiting_line {
 public:
  waiting_line(session_state& c, std::int64_t depth, search_round& round)
      : c_(c), queue_(c, static_cast<std::size_t>(depth)), index_(c, serving::groups), depth_(depth), round_(round) {}

  /// Those that have had their search in this round come last.
  void open(const std::vector<group_row>& groups) {
    groups_ = groups;
    for (const group_row g : groups) (round_.has_had(g) ? later_ : first_).push_back(g);
  }

  /// The next group, or no_row.
  result<group_row> next() {
    if (is_plain_) return next_of_rest();
    if (!std::exchange(is_filled_, true)) {
      result<void> filled = first_.empty() ? begin_anew() : fill_with(first_);
      if (!filled) return filled.failure();
    }
    result<group_row> found = next_of_part();
    if (found && *found != no_row) given_.mark(*found, c_.state().group_slots);
    if (!found || *found != no_row || later_.empty()) return found;
    if (auto done = begin_anew(); !done) return done.failure();
    return next_of_part();
  }

  /// No group that is left can change anything, so their order says nothing: they come as they have been filled in. In
  /// `compat`, where queues are compared by what groups ask for, which is remembered, that is said of groups without
  /// pods only.
  [[nodiscard]] bool leave_order_if(const std::function<bool(group_row)>& is_hopeless) {
    if (is_plain_ || depth_ != 0 || !later_.empty()) return is_plain_;
    for (; rest_ < groups_.size(); ++rest_) {
      const group_row g = groups_[rest_];
      if (given_.has(g)) continue;
      if (c_.compat() && framework::count_pods(c_, g, &model::sub_counts::active_used) > 0) return false;
      if (!is_hopeless(g)) return false;
    }
    rest_ = 0;
    return is_plain_ = true;
  }
  /// The group on which that depends.
  [[nodiscard]] bool waits_for_open_group() const { return rest_ < groups_.size() && !given_.has(groups_[rest_]); }

  /// Groups have got or lost pods.
  result<void> changed(std::span<const group_row> groups) {
    rest_ = 0;
    if (c_.compat()) return {};
    in_order_.reset();
    if (has_shared_order(c_)) {
      std::vector<group_row> left;
      for (group_row g = 0; g < waits_.size(); ++g) {
        if (waits_[g]) left.push_back(g);
      }
      taken_.clear();
      return index_.fill(left);
    }
    for (const group_row g : std::exchange(taken_, {})) {
      if (auto done = index_.update(g, false); !done) return done;
    }
    for (const group_row g : groups) {
      if (g == no_row || !waits_[g]) continue;
      if (auto done = index_.update(g, true); !done) return done;
    }
    return {};
  }

 private:
  result<void> begin_anew() {
    round_.begin_anew();
    return fill_with(std::exchange(later_, {}));
  }

  result<void> fill_with(const std::vector<group_row>& groups) {
    if (c_.compat()) return queue_.fill(groups);
    in_order_.reset();
    taken_.clear();
    waits_.assign(c_.state().group_slots, false);
    if (auto done = index_.fill(groups); !done) return done;
    for (const queue_row leaf : index_.leaves()) {
      group_index::cursor members = index_.members_of(leaf);
      group_row g = members.next();
      for (std::int64_t i = 0; g != no_row && (depth_ == 0 || i < depth_); ++i) {
        waits_[g] = true;
        g = members.next();
      }
    }
    return {};
  }

  group_row next_of_rest() {
    while (rest_ < groups_.size() && given_.has(groups_[rest_])) ++rest_;
    return rest_ == groups_.size() ? no_row : groups_[rest_++];
  }

  result<group_row> next_of_part() {
    if (c_.compat()) return queue_.empty() ? no_row : queue_.pop();
    // Queues stand as they are now: what has been decided since changes the order.
    if (!in_order_) {
      in_order_.emplace(c_, 0);
      if (auto done = in_order_->fill_from(index_, index_.leaves(), [this](group_row g) { return waits_[g]; }); !done)
        return done.failure();
    }
    if (in_order_->empty()) return no_row;
    result<group_row> found = in_order_->pop();
    if (!found) return found;
    waits_[*found] = false;
    taken_.push_back(*found);
    return found;
  }

  session_state& c_;
  job_queue queue_;
  group_index index_;
  std::int64_t depth_;
  search_round& round_;
  std::span<const group_row> groups_;  ///< all
  std::size_t rest_ = 0;               ///< all before it have been given or are hopeless
  base::row_marks given_;              ///< before the order was left
  bool is_plain_ = false;
  bool is_filled_ = false;             ///< the order has been made
  std::vector<group_row> first_;       ///< that have not had their search in this round
  std::vector<group_row> later_;       ///< that have had their search in this round
  std::vector<bool> waits_;            ///< by group
  std::optional<job_queue> in_order_;  ///< in `strict`, until something is decided
  std::vector<group_row> taken_;       ///< off it; the index does not know yet
};

/// Searches where that can help.
result<search_outcome> look_for_victims([[maybe_unused]] session_state& c, victim_search& search, group_row group,
                                        const victim_rules& rules, [[maybe_unused]] eviction_attempt& told) {
  result<bool> hopeless = search.is_hopeless(group, rules);
  if (!hopeless) return hopeless.failure();
  if (!*hopeless) return search.find(group, rules);
#ifdef KAISCHED_CHECKS
  if (!framework::is_repeated(c.results.statistics.back().groups_tried)) return search_outcome::failed;
  const eviction_attempt known = told;
  const action_statistics statistics = c.results.statistics.back();
  const std::uint64_t sets = c.run.sets_tried;
  const framework::effort effort = c.run.search_effort;
  result<search_outcome> found = search.find(group, rules);
  c.run.search_effort = effort;
  told = known;
  c.results.statistics.back() = statistics;
  c.run.sets_tried = sets;
  if (!found) return found;
  if (*found != search_outcome::failed) {
    return error{status::internal, "invariant violated: a search that was ruled out finds victims", {}};
  }
#endif
  return search_outcome::failed;
}

/// Each pending group once, in queue order; in any order once all that are left are hopeless or like those that failed.
/// `is_hopeless`: a cheap look at the group as things are; false says nothing.
template <class Prepare>
result<void> drive(session_state& c, bool preemptible_only, bool per_queue, std::int64_t depth, Prepare prepare,
                   const std::function<bool(group_row, victim_search&)>& is_hopeless) {
  c.chunks.keep_chunks();
  const std::vector<group_row> groups = groups_that_may_evict(c, preemptible_only);
  if (groups.empty()) return {};
  search_round round(c);
  search_backoff backoff(c);
  waiting_line line(c, depth, round);
  line.open(groups);
  failed_groups failed(c, per_queue);
  victim_search search(c);
  victim_judges judges(c);
  eviction_attempt told;  // by the rules of the group that is tried
  std::vector<group_row> touched;
  bool is_cut = false;  // the action has no steps left
  (void)line.leave_order_if([&](group_row g) { return is_hopeless(g, search); });
  std::uint64_t failed_before = 0;  // when it was last asked whether all groups that are left are like these
  const auto leave_order = [&] {
    if (failed_before == failed.added() && line.waits_for_open_group()) return;
    failed_before = failed.added();
    (void)line.leave_order_if([&](group_row g) { return is_hopeless(g, search) || failed.tell_that_hopeless(g); });
  };
  while (true) {
    if (auto on = c.run.go_on(); !on) return on;
    result<group_row> next = line.next();
    if (!next) return next.failure();
    const group_row group = *next;
    if (group == no_row) {
      round.finish(groups);
      return {};
    }
    told = {};
    if (is_cut) {
      told.cut = true;
      remember(c, group, attempt_outcome::cut, told);
      continue;
    }
    // A group that has lost pods since the action began would have claims to a part of its gangs.
    const bool has_changed = c.chunks.changes_of(group) > 0;
    if (!c.compat() && has_changed && !framework::is_ready(c, c.state().groups[group].first_sub)) {
      remember(c, group, attempt_outcome::obstacle, told);
      continue;
    }
    attempt one = prepare(group, failed, search, told);
    if (one.skip || one.fails) {
      remember(c, group, one.why, told);
      round.note_searched(group);
    }
    if (one.skip) {
      if (one.why != attempt_outcome::obstacle) leave_order();
      continue;
    }
    if (one.fails) {
      failed.add(group);
      leave_order();
      continue;
    }
    one.rules.refused = &told.refused;
    policy::budget_refusal over_budget;
    one.rules.over_budget = &over_budget;
    bool moved_too_much = false;  // how much moves depends on more than on what is asked for
    one.rules.moved_too_much = &moved_too_much;
    if (c.access.budgets->used()) one.rules.all_may_lose = one.rules.every_group_may_lose = false;
    if (judges.used()) {
      if (auto done = judges.ask(group); !done) return done;
      one.rules.may_lose = [may_lose = std::move(one.rules.may_lose), &judges](group_row g) {
        return !judges.spare(g) && may_lose(g);
      };
      one.rules.all_may_lose = one.rules.every_group_may_lose = false;
    }
    const std::uint64_t sets_before = c.run.sets_tried;
    ++c.results.statistics.back().groups_tried;
    const bool is_first = c.run.search_effort.drawn_in_action() == 0;
    std::int64_t most = c.compat() ? framework::search_steps_of(c.options, 0) : failed.most_steps(group);
    if (const std::int64_t wait = c.compat() ? backoff.most_steps(group) : unlimited; wait != unlimited)
      most = most == unlimited ? wait : std::min(most, wait);
    c.run.search_effort.begin_group(most);
    result<bool> gently = one.gently ? one.gently() : false;
    if (!gently) return gently.failure();
    result<search_outcome> found = *gently               ? search_outcome::solved
                                   : one.nobody_may_lose ? search_outcome::failed
                                                         : look_for_victims(c, search, group, one.rules, told);
    if (!found) return found.failure();
    told.sets = c.run.sets_tried - sets_before;
    told.steps = static_cast<std::uint64_t>(c.run.search_effort.drawn_in_group());
    told.cut = c.run.search_effort.was_cut();
    backoff.note(group, *found == search_outcome::solved, c.run.search_effort.drawn_in_group());
    if (!c.compat() && told.cut && *found != search_outcome::solved) failed.note_cut(group);
    is_cut = told.cut && c.run.search_effort.action_is_spent();
    if (is_cut) round.note_cut();
    if (!is_cut || is_first) round.note_searched(group);
    if (over_budget.budget != no_row) told.budget = c.budget_name(over_budget.budget);
    if (*found == search_outcome::solved) {
      c.results.forget_budget(group);
    } else if (over_budget.budget != no_row) {
      c.results.note_budget(group, over_budget);
    }
    remember(c, group,
             *found == search_outcome::solved ? attempt_outcome::placed
             : told.cut                       ? attempt_outcome::cut
             : told.sets == 0                 ? attempt_outcome::no_victims
                                              : attempt_outcome::no_solution,
             told);
    if (*found != search_outcome::failed) {
      touched.clear();
      for (const framework::operation& op : c.statement.log) touched.push_back(c.state().pods[op.pod].group);
      if (auto done = search.finish(*found); !done) return done;
      if (auto done = line.changed(touched); !done) return done;
    }
    if (*found == search_outcome::solved) {
      ++c.results.statistics.back().groups_placed;
      if (auto sound = c.verify(); !sound) return sound;
    } else if (c.compat() || per_queue ||
               (!can_lose(c, group) && !moved_too_much)) {  // others could move what is its own
      failed.add(group);
    }
  }
}

/// Passes over a group like one that has failed, or with an obstacle that evictions cannot remove.
bool not_worth_trying(session_state& c, group_row group, failed_groups& failed, attempt& one) {
  one.why = attempt_outcome::like_failed;
  if (!failed.tell_that_hopeless(group)) {
    one.why = attempt_outcome::obstacle;
    if (!has_obstacle(c, c.chunks.chunk_of(group, true))) return false;
  }
  one.skip = true;
  return true;
}

std::int64_t gpus_of(const session_state& c, std::span<const pod_row> chunk) {
  std::int64_t sum = 0;
  for (const pod_row p : chunk) sum += gpus_wanted(c, p);
  return sum;
}

}  // namespace

namespace {

/// What `reclaim` knows while one group looks for victims. The answer of a queue is the same for all of its groups.
class reclaim_attempt {
 public:
  explicit reclaim_attempt(session_state& c)
      : c_(c), promises_(c, loss::by_reclaim), protects_none_(!c.compat() && promises_.protect_none()) {}

  void open(group_row group, eviction_attempt& told) {
    rules_.reset();  // so that what it has kept can be used again
    rules_ = verdicts_for(c_, group, memory_);
    mine_ = c_.state().groups[group].queue;
    told_ = &told;
    gives_.assign(c_.state().queues->size(), unknown);
    losses_.clear();
    promises_.open(group);
  }
  [[nodiscard]] bool may_give(queue_row theirs) {
    if (theirs == mine_) return false;
    if (gives_[theirs] == unknown) gives_[theirs] = rules_->may_give(theirs) ? yes : no;
    return gives_[theirs] == yes;
  }
  /// Every queue is asked once about every amount.
  [[nodiscard]] bool may_be_lost(const victim_unit& unit) {
    quota_vector amount{};
    for (const pod_row p : unit.pods) {
      const quota_vector pod = c_.queues.held(p);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) amount[r] += pod[r];
    }
    const queue_row leaf = c_.state().groups[unit.group].queue;
    const auto [at, fresh] = losses_.try_emplace({leaf, amount}, false);
    if (fresh) at->second = rules_->may_take_alone(leaf, amount);
    return at->second;
  }
  [[nodiscard]] bool accepts(const scenario& what) {
    return rules_->may_take(what) && cores_are_respected(c_, what, promises_);
  }
  [[nodiscard]] victim_rules rules() {
    victim_rules made;
    made.queue_may_lose = [this](queue_row theirs) { return may_give(theirs); };
    made.queue_may_end_with_less = [this](queue_row q) { return rules_->may_end_with_less(q); };
    made.may_lose = [this](group_row victim) { return !promises_.spare(victim, *told_); };
    made.every_group_may_lose = protects_none_;
    made.may_be_lost = [this](const victim_unit& unit) { return may_be_lost(unit); };
    made.accepts = [this](const scenario& what) { return accepts(what); };
    if (!c_.compat() && c_.options.reclaim_moves) {
      made.queue_may_move = [this](queue_row theirs) { return theirs != mine_; };
      made.more_may_help = true;
    }
    return made;
  }

 private:
  static constexpr std::uint8_t unknown = 0;
  static constexpr std::uint8_t no = 1;
  static constexpr std::uint8_t yes = 2;

  session_state& c_;
  reclaim_memory memory_;
  std::shared_ptr<const reclaim_verdicts> rules_;
  queue_row mine_ = no_row;
  eviction_attempt* told_ = nullptr;
  std::vector<std::uint8_t> gives_;  ///< by queue
  std::map<std::pair<queue_row, quota_vector>, bool> losses_;
  runtime_promises promises_;
  bool protects_none_;
};

/// The same of `preempt`.
class preempt_attempt {
 public:
  explicit preempt_attempt(session_state& c) : c_(c), promises_(c, loss::by_preemption) {}

  void open(group_row group, eviction_attempt& told) {
    group_ = group;
    told_ = &told;
    promises_.open(group);
    before_ = held_on_path(c_, group);
  }
  [[nodiscard]] victim_rules rules() {
    victim_rules made;
    made.queue_may_lose = [this](queue_row theirs) { return theirs == c_.state().groups[group_].queue; };
    made.may_lose = [this](group_row victim) {
      return c_.state().groups[victim].priority < c_.state().groups[group_].priority &&
             !promises_.spare(victim, *told_);
    };
    made.more_may_help = !c_.compat();
    made.accepts = [this](const scenario& what) {
      return cores_are_respected(c_, what, promises_) &&
             (c_.compat() || (stays_entitled(c_, what, before_) && comes_before_victims(c_, what, before_)));
    };
    return made;
  }

 private:
  session_state& c_;
  group_row group_ = no_row;
  eviction_attempt* told_ = nullptr;
  runtime_promises promises_;
  std::vector<quota_vector> before_;
};

}  // namespace

bool keeps_promise(const session_state& c, action_kind action, group_row waiting, group_row victim) {
  if (action != action_kind::reclaim && action != action_kind::preempt) return false;
  runtime_promises promises(c, action == action_kind::reclaim ? loss::by_reclaim : loss::by_preemption);
  promises.open(waiting);
  eviction_attempt told;
  return promises.spare(victim, told);
}

result<void> reclaim(session_state& c) {
  if (!c.has_proportion) return {};
  reclaim_attempt state(c);
  return drive(
      c, false, true, c.options.reclaim_queue_depth,
      [&](group_row group, failed_groups& failed, victim_search&, eviction_attempt& told) {
        attempt one;
        one.skip = !may_reclaim(c, group);
        one.why = attempt_outcome::over_share;
        if (one.skip || not_worth_trying(c, group, failed, one)) return one;
        state.open(group, told);
        one.rules = state.rules();
        return one;
      },
      [&](group_row group, victim_search&) { return !may_reclaim(c, group); });
}

result<void> preempt(session_state& c) {
  lowest_priorities lowest(c);
  preempt_attempt state(c);
  return drive(
      c, false, true, c.options.preempt_queue_depth,
      [&](group_row group, failed_groups& failed, victim_search&, eviction_attempt& told) {
        attempt one;
        if (not_worth_trying(c, group, failed, one)) return one;
        const model::group_core& mine = c.state().groups[group];
        framework::failure why;
        one.fails = c.has_proportion &&
                    c.queues.quota_refuses(group, c.chunks.chunk_request(group), c.chunks.chunk_of(group, true), why);
        one.why = attempt_outcome::over_quota;
        if (one.fails) return one;
        one.nobody_may_lose = !lowest.has_lower(mine.queue, mine.priority);
        state.open(group, told);
        one.rules = state.rules();
        return one;
      },
      [&](group_row group, victim_search&) {
        const model::group_core& mine = c.state().groups[group];
        return !lowest.has_lower(mine.queue, mine.priority);
      });
}

namespace {

/// What moves, and had a place before the session, is no more than what is asked for: of GPUs, or if none are
/// asked for of cores, else of memory.
bool moves_no_more_than(const session_state& c, const scenario& what, const quota_vector& asked) {
  const std::uint32_t r = asked[dim_gpu] > 0 ? dim_gpu : asked[dim_cpu] > 0 ? dim_cpu : dim_memory;
  std::int64_t moved = 0;
  what.each_pod([&](pod_row p) {
    const bool moves = static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pipelined;
    if (moves && had_begun(c, p)) moved += c.queues.held(p)[r];
  });
  return moved <= asked[r];
}

}  // namespace

result<void> consolidation(session_state& c) {
  const std::int64_t by_mode = c.compat() ? 16 : unlimited;
  const std::int64_t most =
      c.options.consolidation_victims == policy_options::by_mode ? by_mode : c.options.consolidation_victims;
  if (most == 0) return {};
  const std::vector<group_row>& movable = *c.state().budget_groups;  // all that migrate
  const auto lacks_gpus = [&c](group_row group, victim_search& search) {
    const framework::pod_list chunk = c.chunks.chunk_of(group, true);
    return gpus_of(c, chunk) > search.free_gpus() || c.gpus.lack_memory(chunk);
  };
  return drive(
      c, true, false, c.options.consolidation_queue_depth,
      [&](group_row group, failed_groups& failed, victim_search& search, eviction_attempt&) {
        attempt one;
        if (not_worth_trying(c, group, failed, one)) return one;
        one.why = attempt_outcome::too_few_gpus;
        one.fails = lacks_gpus(group, search);
        if (one.fails) return one;
        one.rules.queue_may_lose = [](queue_row) { return true; };
        one.rules.may_lose = [](group_row) { return true; };
        one.rules.all_may_lose = one.rules.every_group_may_lose = movable.empty();
        if (!movable.empty()) {
          one.rules.may_lose = [&c](group_row g) { return !migrates(c, g); };
          one.gently = [&c, &movable, group] { return make_room_by_migration(c, group, movable); };
        }
        one.rules.queue_may_end_with_less = [](queue_row) { return false; };
        // The reference lets one more pass.
        if (most != unlimited) one.rules.most = static_cast<std::size_t>(most) + (c.compat() ? 1 : 0);
        one.rules.may_be_lost = [](const victim_unit&) { return false; };
        one.rules.more_may_help = true;
        one.rules.accepts = [&c](const scenario& what) {
          bool all_stay = true;
          what.each_pod([&](pod_row p) {
            all_stay = all_stay && static_cast<pod_status>(c.live.pod_state[p]) != pod_status::releasing;
          });
          return all_stay;
        };
        if (!c.compat() && !c.options.consolidation_moves_more) {
          one.rules.moves_little = [&c, asked = c.chunks.chunk_request(group)](const scenario& what) {
            return moves_no_more_than(c, what, asked);
          };
        }
        return one;
      },
      lacks_gpus);
}

namespace {

/// Pods on nodes are enough, leaving ones included. `compat` asks every pod set, `strict` as many members of a set as
/// it needs.
bool has_whole_gang(const session_state& c, sub_group_row member) {
  const model::sub_info& info = c.state().subs[member];
  if (!info.is_set) return static_cast<std::int64_t>(c.counts(member).active_used) >= info.min;
  std::int64_t whole = 0;
  for (sub_group_row child = info.first_child; child != no_row; child = c.state().subs[child].next_sibling) {
    whole += has_whole_gang(c, child) ? 1 : 0;
  }
  return whole >= (c.compat() ? info.members : framework::members_needed(c, member));
}

bool is_stale(const session_state& c, group_row group) {
  const model::group_core& g = c.state().groups[group];
  if (!g.live || framework::count_pods(c, group, &model::sub_counts::active_used) == 0 ||
      framework::count_pods(c, group, &model::sub_counts::succeeded) > 0 || has_whole_gang(c, g.first_sub)) {
    return false;
  }
  const model::group_extra& extra = c.state().group_extras[group];
  const std::int64_t age = extra.stale_since == unset ? 0 : c.now - extra.stale_since;
  const std::int64_t grace = extra.staleness_grace == unset ? c.options.staleness_grace : extra.staleness_grace;
  return grace >= 0 && age >= grace;
}

}  // namespace

result<void> evict_stale_gangs(session_state& c) {
  // None of them changes another one.
  std::vector<group_row> stale;
  if (c.statement.abandoned) {  // what such a statement has left behind no decision tells
    for (group_row g = 0; g < c.state().group_slots; ++g) stale.push_back(g);
  } else {
    stale = *c.state().partial_groups;
    for (const decision& d : c.results.decisions) {
      if (d.group != no_row) stale.push_back(d.group);
    }
  }
  std::erase_if(stale, [&](group_row g) { return !is_stale(c, g); });
  std::sort(stale.begin(), stale.end(), [&](group_row a, group_row b) { return model::group_before(c.state(), a, b); });
  stale.erase(std::unique(stale.begin(), stale.end()), stale.end());
  for (const group_row group : stale) {
    for (const pod_row p : pods_of(c, group)) {
      if (is_active(c, p)) c.statement.evict(p);
    }
    if (!c.statement.keeps_budgets()) continue;
    c.statement.commit();
    if (auto sound = c.verify(); !sound) return sound;
  }
  return {};
}

}  // namespace kaisched::actions
