// The smallest changes that let a group start. Everything is tried: a trial is the session that would open over the
// cluster as this one leaves it, with the change.
#include <algorithm>
#include <map>
#include <memory>

#include <kaisched/remedies.hpp>

#include "model/snapshot_access.hpp"
#include "session/levers.hpp"
#include "session/session_impl.hpp"
#include "session/trial_world.hpp"

namespace kaisched {

namespace {

using framework::session_state;
using session_detail::lever;
using session_detail::lever_subject;
using session_detail::setting;
using session_detail::trial;
using session_detail::trial_world;
using session_detail::verdict;

class finder {
 public:
  finder(const lever_subject& of, trial_world& world)
      : of_(of), world_(world), levers_(session_detail::levers_of(of)), pulled_(levers_.size()) {}

  result<remedy_report> run() {
    result<void> done = search();
    if (!done && done.failure().code != status::limit) return done.take_failure();
    return std::move(report_);
  }

 private:
  using choice = std::vector<std::size_t>;  ///< indices of levers, ascending

  result<void> search() {
    if (of_.waiting.empty()) return {};
    const result<trial> now = attempt();
    if (!now) return now.failure();
    if (now->starts > 0) {
      report_.remedies.push_back({{}, now->starts, action_kind::allocate});
      return {};
    }
    for (std::uint32_t size = 1; size <= of_.limits.together && report_.remedies.empty(); ++size) {
      if (size > 1) {
        const result<bool> all = helps(everything());
        if (!all) return all.failure();
        if (!*all) return {};  // more of a change is taken to do no harm
      }
      choice some;
      if (auto done = try_sets(some, 0, size); !done) return done;
    }
    return {};
  }

  [[nodiscard]] choice everything() const {
    choice all(levers_.size());
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = i;
    return all;
  }

  /// All sets of this many levers.
  result<void> try_sets(choice& some, std::size_t next, std::uint32_t more) {
    if (more == 0) return try_set(some);
    for (; next < levers_.size(); ++next) {
      some.push_back(next);
      if (auto done = try_sets(some, next + 1, more - 1); !done) return done;
      some.pop_back();
    }
    return {};
  }

  /// The levers pulled as far as they go, all others not at all.
  result<bool> helps(const choice& some) {
    std::fill(pulled_.begin(), pulled_.end(), setting{});
    for (const std::size_t i : some) pulled_[i] = levers_[i]->most();
    const result<trial> made = attempt();
    if (!made) return made.failure();
    return made->starts > 0;
  }

  result<void> try_set(const choice& some) {
    const result<bool> enough = helps(some);
    if (!enough) return enough.failure();
    if (!*enough) return {};
    for (const std::size_t i : some) {
      const result<std::vector<setting>> least = levers_[i]->smallest([&](const setting& to) -> result<verdict> {
        pulled_[i] = to;
        const result<trial> made = attempt();
        if (!made) return made.failure();
        return verdict{made->starts > 0, made->reasons};
      });
      if (!least) return least.failure();
      for (std::size_t alternative = 1; some.size() == 1 && alternative < least->size(); ++alternative) {
        pulled_[i] = (*least)[alternative];
        if (auto done = tell(some); !done) return done;
      }
      pulled_[i] = least->front();
    }
    return tell(some);
  }

  /// What the levers stand at, which has been tried.
  result<void> tell(const choice& some) {
    const result<trial> made = attempt();
    if (!made) return made.failure();
    remedy found;
    for (const std::size_t i : some) levers_[i]->describe(pulled_[i], found.changes);
    found.starts = made->starts;
    if (found.starts > 0) report_.remedies.push_back(std::move(found));
    return {};
  }

  result<trial> attempt() {
    const auto known = tried_.find(pulled_);
    if (known != tried_.end()) return known->second;
    if (report_.trials == of_.limits.trials) {
      report_.complete = false;
      return error{status::limit, "not searched further", {}};
    }
    ++report_.trials;
    session_detail::change_set changes;
    for (std::size_t i = 0; i < levers_.size(); ++i) {
      if (!pulled_[i].empty()) levers_[i]->add_rows(pulled_[i], changes);
    }
    result<trial> made = world_.start(session_detail::tables_of(of_, std::move(changes)), of_.group);
    if (made) tried_.emplace(pulled_, *made);
    return made;
  }

  const lever_subject& of_;
  trial_world& world_;
  std::vector<std::unique_ptr<lever>> levers_;
  std::vector<setting> pulled_;  ///< by lever
  std::map<std::vector<setting>, trial> tried_;
  remedy_report report_;
};

std::vector<pod_row> waiting_pods(const session_state& c, group_row group) {
  std::vector<pod_row> waiting;
  const model::cluster_state& s = c.state();
  const model::group_core& g = s.groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) {
      if (static_cast<pod_status>(c.live.pod_state[p]) == pod_status::pending) waiting.push_back(p);
    }
  }
  return waiting;
}

}  // namespace

/// What an action would do for the group on a fork: how many of its pods get places. Errors: `limit` if it takes more
/// steps.
result<std::uint32_t> session::make_room(std::string_view action, group_row group, std::uint32_t steps,
                                         std::vector<decision>& made) const {
  session then = fork();
  then.impl_->follow(*impl_);
  then.impl_->state->run.steps_left = steps;
  if (auto done = then.run(action, group); !done) return done.failure();
  made = session_detail::decided_since(decisions(), then.decisions());
  return session_detail::places_of(made, group);
}

/// What the actions that make room would do.
result<void> session::add_evictions(group_row group, const remedy_limits& limits, remedy_report& to) const {
  for (const std::string_view action : {"consolidation", "reclaim", "preempt"}) {
    if (to.trials == limits.trials) {
      to.complete = false;
      return {};
    }
    ++to.trials;
    std::vector<decision> made;
    const result<std::uint32_t> starts = make_room(action, group, limits.eviction_steps, made);
    if (!starts && starts.failure().code != status::limit) return starts.failure();
    if (!starts) to.complete = false;
    if (!starts || *starts == 0) continue;
    remedy found{{}, *starts, made.front().action};
    for (const decision& d : made) {
      if (d.group == group || (d.kind != decision_kind::evict && d.kind != decision_kind::move)) continue;
      const entity_id pod(entity_kind::pod, impl_->state->state().pods[d.pod].generation, d.pod);
      found.changes.push_back({change_kind::eviction, pod, no_row, 0, d.kind == decision_kind::move ? 1 : 0});
    }
    to.remedies.push_back(std::move(found));
  }
  return {};
}

result<std::vector<remedy_report>> session::remedies(std::span<const group_row> groups,
                                                     const remedy_limits& limits) const {
  const session_state& c = *impl_->state;
  for (const group_row group : groups) {
    if (group >= c.state().group_slots || !c.state().groups[group].live)
      return error{status::argument, "there is no pod group in this row", {}};
  }
  if (!c.statement.log.empty()) return error{status::state, "the statement is open: commit it or roll it back", {}};
  result<std::unique_ptr<kept_world>> taken = impl_->take_world(*this);
  if (!taken) return taken.failure();
  std::unique_ptr<kept_world> kept = std::move(taken).value();
  std::vector<remedy_report> all;
  for (const group_row group : groups) {
    lever_subject of{c, model::state_of(kept->now), group, waiting_pods(c, group), {}, limits};
    for (const pod_row p : of.waiting) of.classes.push_back(c.state().pods[p].pod_class);
    std::sort(of.classes.begin(), of.classes.end());
    of.classes.erase(std::unique(of.classes.begin(), of.classes.end()), of.classes.end());
    result<remedy_report> one = finder(of, kept->world).run();
    if (!one) return one.failure();
    const bool waits = !of.waiting.empty() && (one->remedies.empty() || !one->remedies.front().changes.empty());
    if (waits && limits.evictions) {
      if (auto done = add_evictions(group, limits, *one); !done) return done.failure();
    }
    all.push_back(std::move(*one));
  }
  impl_->put_world(std::move(kept), groups.size());
  return all;
}

result<remedy_report> session::remedies(group_row group, const remedy_limits& limits) const {
  result<std::vector<remedy_report>> all = remedies(std::span(&group, 1), limits);
  if (!all) return all.failure();
  return std::move(all->front());
}

}  // namespace kaisched
