// Questions about groups that do not exist yet. The cluster goes on from the session's snapshot, with its decisions and
// the change; everything else happens on sessions over it.
#include <algorithm>
#include <array>
#include <iterator>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/what_if.hpp>

#include "actions/actions.hpp"
#include "actions/runtime.hpp"
#include "framework/members.hpp"
#include "model/snapshot_access.hpp"
#include "session/session_impl.hpp"
#include "session/trial_world.hpp"

namespace kaisched {

namespace {

using session_detail::trial_world;

constexpr std::array<std::string_view, 5> way_names{"none", "now", "displaces", "later", "unknown"};
constexpr std::array<std::string_view, 5> knowledge_names{"none", "known", "no_estimate", "never", "horizon"};

template <std::size_t n>
std::string_view name_in(const std::array<std::string_view, n>& names, std::size_t number) {
  return number < n ? names[number] : std::string_view{};
}

/// Time goes on: groups end as they are expected to, and those that wait are served.
class course_of_time {
 public:
  course_of_time(const trial_world& like, const snapshot& from, group_row group, std::int64_t now,
                 std::vector<std::string> actions)
      : like_(like), world_(from), group_(group), when_(now), actions_(std::move(actions)) {}

  result<void> run(std::uint32_t most_ends, forecast& to) {
    if (auto done = remove_leaving(); !done) return done;
    for (std::uint32_t step = 0;; ++step) {
      result<session> then = like_.open(world_.take_snapshot(), when_);
      if (!then) return then.failure();
      for (const std::string& action : actions_) {
        if (auto done = then->run(action); !done) return done;
      }
      if (session_detail::places_of(then->decisions(), group_) > 0) {
        to.expected = when_;
        to.knowledge = start_knowledge::known;
        to.ends_before = ended_;
        to.starts_before = static_cast<std::uint32_t>(started_.size());
        return {};
      }
      for (const decision& d : then->decisions()) {
        if (d.kind == decision_kind::bind) started_.insert(d.group);
      }
      if (auto done = world_.assume(*then); !done) return done.failure();
      if (step == most_ends) {
        to.knowledge = start_knowledge::horizon;
        return {};
      }
      bool is_known = true;
      const std::int64_t next = next_end(is_known);
      if (next == unset) {
        to.knowledge = is_known ? start_knowledge::never : start_knowledge::no_estimate;
        return {};
      }
      when_ = std::max(when_, next);
      if (auto done = end_groups(); !done) return done;
    }
  }

 private:
  struct expected {
    group_row group;
    std::int64_t end;  ///< unset: unknown
  };

  /// Of the groups that hold something.
  [[nodiscard]] std::vector<expected> ends(const model::cluster_state& s) const {
    std::vector<expected> all;
    for (group_row g = 0; g < s.group_slots; ++g) {
      const model::group_core& group = s.groups[g];
      if (!group.live || g == group_) continue;
      bool holds = false;
      for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub)
        holds = holds || s.live.counts[sub].active_allocated > 0;
      if (!holds) continue;
      const model::group_extra& extra = s.group_extras[g];
      const bool known = extra.runtime_estimate >= 0 && extra.last_start != unset;
      all.push_back({g, known ? actions::later_by(extra.last_start, extra.runtime_estimate) : unset});
    }
    return all;
  }

  std::int64_t next_end(bool& is_known) {
    const snapshot now = world_.take_snapshot();
    std::int64_t next = unset;
    for (const expected& one : ends(model::state_of(now))) {
      if (one.end == unset) {
        is_known = false;
      } else if (next == unset || one.end < next) {
        next = one.end;
      }
    }
    return next;
  }

  result<void> end_groups() {
    const snapshot now = world_.take_snapshot();
    const model::cluster_state& s = model::state_of(now);
    std::vector<std::string_view> groups;
    std::vector<std::string_view> pods;
    for (const expected& one : ends(s)) {
      if (one.end == unset || one.end > when_) continue;
      ++ended_;
      groups.push_back(s.group_names[one.group]);
      const model::group_core& g = s.groups[one.group];
      for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
        for (pod_row p = s.subs[sub].first_pod; p != no_row; p = s.pods[p].next) pods.push_back(s.pod_names[p]);
      }
    }
    return remove(pods, groups);
  }

  result<void> remove_leaving() {
    const snapshot now = world_.take_snapshot();
    const model::cluster_state& s = model::state_of(now);
    std::vector<std::string_view> pods;
    for (pod_row p = 0; p < s.pod_slots; ++p) {
      if (s.pods[p].live && static_cast<pod_status>(s.live.pod_state[p]) == pod_status::releasing)
        pods.push_back(s.pod_names[p]);
    }
    return remove(pods, {});
  }

  result<void> remove(std::span<const std::string_view> pods, std::span<const std::string_view> groups) {
    std::vector<table> delta;
    for (const auto& [kind, column, names] :
         {std::tuple{table_kind::pod, std::uint32_t{col::pod_name}, pods},
          std::tuple{table_kind::pod_group, std::uint32_t{col::pod_group_name}, groups}}) {
      if (names.empty()) continue;
      table::column& name = delta.emplace_back(kind, table_op::remove).add(column, column_type::string);
      for (const std::string_view one : names) name.push(one);
    }
    return delta.empty() ? result<void>{} : world_.apply(delta);
  }

  const trial_world& like_;
  cluster world_;
  group_row group_;
  std::int64_t when_;
  std::vector<std::string> actions_;  ///< of each session
  std::uint32_t ended_ = 0;
  std::set<group_row> started_;
};

/// Of the policy, those that start groups on what is free.
std::vector<std::string> starting_actions(const policy_options& of) {
  std::vector<std::string> found;
  std::ranges::copy_if(of.actions, std::back_inserter(found),
                       [](const std::string& one) { return one == "allocate" || one == "backfill"; });
  if (found.empty()) found.emplace_back("allocate");
  return found;
}

/// A group of the cluster with the change. Only the cluster without it knows names; those that the change adds stand
/// behind, most of the time.
result<group_row> find_group(const cluster& without, const model::cluster_state& with, std::string_view name) {
  const auto is_it = [&](group_row row) {
    return row < with.group_slots && with.groups[row].live && with.group_names[row] == name;
  };
  const result<entity_id> known = without.find(entity_kind::pod_group, name);
  if (known && is_it(known->slot())) return group_row{known->slot()};
  for (group_row row = static_cast<group_row>(with.group_slots); row-- > 0;) {
    if (is_it(row)) return row;
  }
  return known ? error{status::not_found, "there is no pod group '" + std::string(name) + "' after the change", {}}
               : known.failure();
}

}  // namespace

std::string_view start_way_name(start_way w) noexcept { return name_in(way_names, static_cast<std::size_t>(w)); }
std::string_view start_knowledge_name(start_knowledge k) noexcept {
  return name_in(knowledge_names, static_cast<std::size_t>(k));
}

/// One group of a cluster that has it; `opened` is a session over that cluster.
result<forecast> session::forecast_of(const session_detail::trial_world& world, const session& opened, group_row group,
                                      const what_if_limits& limits) {
  const framework::session_state& c = *opened.impl_->state;
  forecast made;
  made.group = group;
  if (framework::count_pods(c, group, &model::sub_counts::pending) == 0) return made;
  session then = opened.fork();
  if (auto done = then.run("allocate", group); !done) return done.failure();
  made.decisions.assign(then.decisions().begin(), then.decisions().end());
  made.starts = session_detail::places_of(made.decisions, group);
  const bool claims = std::any_of(made.decisions.begin(), made.decisions.end(),
                                  [](const decision& d) { return d.kind == decision_kind::pipeline; });
  if (made.starts > 0) made.action = action_kind::allocate;
  if (made.starts > 0 && !claims) {
    made.way = start_way::now;
    made.earliest = made.expected = c.now;
    made.knowledge = start_knowledge::known;
    return made;
  }
  made.reasons = trial_world::reasons_in(then, group);
  for (const reason& why : made.reasons) made.texts.push_back(then.text(why));
  if (made.starts > 0) made.way = start_way::displaces;  // those that are leaving
  for (const std::string_view action : {"consolidation", "reclaim", "preempt"}) {
    if (!limits.displace || made.starts > 0) break;
    const result<std::uint32_t> room = opened.make_room(action, group, limits.eviction_steps, made.decisions);
    if (!room && room.failure().code != status::limit) return room.failure();
    if (!room || *room == 0) continue;
    made.starts = *room;
    made.action = made.decisions.front().action;
    made.way = start_way::displaces;
  }
  if (made.starts == 0) made.decisions.clear();
  const result<certificate> proof = opened.certify(group);
  if (!proof) return proof.failure();
  if (proof->assumption == certificate_assumption::empty) {
    made.knowledge = start_knowledge::never;
  } else if (limits.ends > 0) {
    framework::session_state look(c);
    const result<std::int64_t> earliest = actions::earliest_start(look, group);
    if (!earliest) return earliest.failure();
    made.earliest = *earliest == unset ? -1 : *earliest;
    course_of_time time(world, opened.base(), group, c.now,
                        limits.policy_actions ? starting_actions(c.options) : std::vector<std::string>{"allocate"});
    if (auto done = time.run(limits.ends, made); !done) return done.failure();
  }
  if (made.way == start_way::none) made.way = made.expected >= 0 ? start_way::later : start_way::unknown;
  return made;
}

namespace {

/// The named groups, or else those that the change adds.
std::vector<std::string> groups_asked_about(std::span<const table_view> change,
                                            std::span<const std::string_view> groups) {
  std::vector<std::string> names(groups.begin(), groups.end());
  for (const table_view& one : change) {
    const bool adds_groups = one.kind == static_cast<std::uint32_t>(table_kind::pod_group) &&
                             one.op == static_cast<std::uint32_t>(table_op::add);
    const column_view* const column = adds_groups ? one.find(col::pod_group_name) : nullptr;
    for (std::uint64_t row = 0; column != nullptr && groups.empty() && row < one.rows; ++row)
      names.emplace_back(column->string(row));
  }
  return names;
}

}  // namespace

result<what_if_report> session::what_if(std::span<const table_view> change, std::span<const std::string_view> groups,
                                        const what_if_limits& limits) const {
  if (!impl_->state->statement.log.empty())
    return error{status::state, "the statement is open: commit it or roll it back", {}};
  result<std::unique_ptr<kept_world>> taken = impl_->take_world(*this);
  if (!taken) return taken.failure();
  std::unique_ptr<kept_world> kept = std::move(taken).value();
  const auto answer = [&](trial_world& world) -> result<what_if_report> {
    const result<snapshot> over = world.world().preview(change);
    if (!over) return over.failure();
    const std::vector<std::string> names = groups_asked_about(change, groups);
    if (names.empty()) return error{status::argument, "no pod group is named, and the change adds none", {}};
    what_if_report report{*over, {}};
    const result<session> opened = world.open(report.over, impl_->state->now);
    if (!opened) return opened.failure();
    for (const std::string& name : names) {
      const result<group_row> group = find_group(world.world(), model::state_of(report.over), name);
      if (!group) return group.failure();
      result<forecast> one = forecast_of(world, *opened, *group, limits);
      if (!one) return one.failure();
      report.groups.push_back(std::move(*one));
    }
    return report;
  };
  result<what_if_report> report = answer(kept->world);
  impl_->put_world(std::move(kept), 1);
  return report;
}

}  // namespace kaisched
