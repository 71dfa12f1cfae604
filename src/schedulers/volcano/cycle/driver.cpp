// Tiered plug-ins decide in one action of a session: their cluster is made from that of the session, their actions
// run, and what they commit is done in the session, statement by statement.
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
#include "schedulers/schedulers.hpp"
#include "schedulers/volcano/cycle/actions.hpp"
#include "schedulers/volcano/cycle/cluster_view.hpp"
#include "schedulers/volcano/rules/catalog.hpp"

namespace kaisched::volcano {

namespace {

action_kind kind_of(tiered_action action) {
  switch (action) {
    case tiered_action::backfill:
      return action_kind::backfill;
    case tiered_action::preempt:
    case tiered_action::gangpreempt:
      return action_kind::preempt;
    case tiered_action::reclaim:
    case tiered_action::gangreclaim:
      return action_kind::reclaim;
    case tiered_action::enqueue:
    case tiered_action::allocate:
      break;
  }
  return action_kind::allocate;
}

/// Does in a session what tiered plug-ins have committed.
class performer {
 public:
  performer(framework::session_state& c, const cluster_view& world) : c_(c), world_(world) {}

  result<void> perform(std::span<const operation> all) {
    while (!all.empty()) {
      if (auto on = c_.run.go_on(); !on) return on;
      const auto end = std::ranges::find_if(all, &operation::last);
      const auto count = static_cast<std::size_t>(end - all.begin()) + (end == all.end() ? 0 : 1);
      if (auto done = perform_one({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)}); !done) return done;
      all = all.subspan(count);
    }
    return {};
  }

  using operations = std::vector<operation>;
  /// Starts that were left out since the last call, a statement each.
  std::vector<operations> take_refused() { return std::exchange(refused_, {}); }

 private:
  [[nodiscard]] group_row group_of(const operations& statement) const {
    const auto placed = std::ranges::find_if(statement, [](const auto& one) { return one.what != deed::evict; });
    const auto& of = placed == statement.end() ? statement.front() : *placed;
    return c_.state().pods[world_.pods[of.task]].group;
  }

  /// Devices, ports and the neighbours of a pod are looked at here: tiers count amounts. Where these refuse, the whole
  /// statement is left out and its group waits.
  result<void> perform_one(operations statement) {
    const group_row group = group_of(statement);
    if (const auto before = held_.extract(group)) {
      statement.insert(statement.begin(), before.mapped().begin(), before.mapped().end());
    }
    const bool had_started = schedulers::begin_attempt(c_, group);
    const bool evicts = std::ranges::any_of(statement, [](const auto& one) { return one.what == deed::evict; });
    const std::size_t broken = actions::unit_remains(c_, group).size();
    schedulers::unit_losses losses(c_);
    for (const operation& one : statement) {
      if (one.what == deed::evict) losses.expect(pod_of(one));
    }
    for (const operation& one : statement) {
      if (one.what == deed::evict) {
        losses.evict(pod_of(one));
      } else if (!put(one)) {
        c_.statement.rollback(0);
        schedulers::note_failure(c_, group, pod_of(one));
        if (!evicts) refused_.push_back(std::move(statement));
        return {};
      }
    }
    losses.evict_rest();
    if (!c_.statement.keeps_budgets(group)) {
      schedulers::note_failure(c_, group);
      return {};
    }
    // Tiers count pods: what is a part of a unit waits for the rest of it.
    const operations all = statement;
    operations part;
    const schedulers::unit_outcome units = schedulers::keep_whole_units(
        c_, group, broken, !evicts, statement, [&](const operation& one) { return pod_of(one); },
        [&](const operation& one) { return put(one); }, part);
    if (units == schedulers::unit_outcome::refused) return {};
    // A part of a gang: backfill may bring the pods that ask for nothing, which count as there before. Room that
    // preempt has promised to some of a gang holds for one session in Volcano, and would stay here.
    if (units == schedulers::unit_outcome::waits ||
        (!evicts && c_.setup->keeps_gangs && !framework::is_satisfied(c_, c_.state().groups[group].first_sub))) {
      c_.statement.rollback(0);
      held_[group] = all;
      return {};
    }
    if (!part.empty()) held_[group] = std::move(part);
    bool waits = std::ranges::none_of(statement, [](const auto& one) { return one.what == deed::allocate; });
    if (!waits && actions::has_units(c_, group) && framework::must_wait_as_a_whole(c_, group)) {
      c_.statement.convert_to_pipelined(group);
      waits = true;
    }
    if (evicts) return actions::commit_group(c_, group, waits, had_started);
    const result<bool> starts = actions::start_placed(c_, group, waits, had_started);
    return starts ? result<void>() : result<void>(starts.failure());
  }

  [[nodiscard]] pod_row pod_of(const operation& one) const { return world_.pods[one.task]; }
  bool put(const operation& one) {
    return actions::put_on(c_, pod_of(one), static_cast<node_row>(one.node), one.what == deed::allocate);
  }

  framework::session_state& c_;
  const cluster_view& world_;
  std::map<group_row, operations> held_;  ///< statements of gangs that are not complete with them
  std::vector<operations> refused_;
};

/// Why jobs wait that have been let in: they were tried. Of others nobody has.
void note_failures(framework::session_state& c, const session& of, const cluster_view& world) {
  for (row job = 0; job < world.groups.size(); ++job) {
    const auto& one = of.cluster().jobs[job];
    if (!one.kept_out_by.empty()) c.results.note_refusing_plugin(world.groups[job], one.kept_out_by);
    if (one.phase == job_phase::pending || one.queue == no_row) continue;
    const auto waits = std::ranges::find_if(one.tasks, [&](row task) {
      const auto& about = of.cluster().tasks[task];
      return about.status == task_status::pending && !about.gated;
    });
    if (waits == one.tasks.end()) continue;
    framework::failure why;
    why.group = world.groups[job];
    why.pod = world.pods[*waits];
    const plugin* refuser = of.overuse_caller(one.queue);
    if (refuser == nullptr) refuser = of.allocation_refuser(one.queue, *waits);
    if (refuser != nullptr) {
      c.results.note_refusing_plugin(why.group, refuser->name());
      why.pod = kaisched::no_row;
      why.what = constraint::plugin;
    }
    c.results.failures.push_back(why);
  }
}

result<scheduler_setup> setup_of(const policy_options& options) {
  result<scheduler_setup> made = make_setup({options.volcano_tiers, options.volcano_settings, options.volcano_actions});
  if (made) made->preemption.remembers = !options.reference_path;
  return made;
}

/// Jobs whose statements are refused sit out, and others may have what these were given.
result<void> run_allocate(performer& by, session& of) {
  constexpr int most_rounds = 16;
  for (int round = 0; round < most_rounds; ++round) {
    if (auto done = by.perform(allocate(of)); !done) return done;
    const std::vector<performer::operations> refused = by.take_refused();
    if (refused.empty()) return {};
    for (const performer::operations& one : refused) {
      statement undone(of);
      undone.reopen(one);
      undone.discard();
      for (const operation& each : one) of.cluster().jobs[of.cluster().tasks[each.task].job].sits_out = true;
    }
  }
  return {};
}

result<void> run_one(performer& by, session& of, const scheduler_setup& setup, tiered_action action) {
  switch (action) {
    case tiered_action::enqueue:
      enqueue(of);
      return {};
    case tiered_action::allocate:
      return run_allocate(by, of);
    case tiered_action::backfill:
      return by.perform(backfill(of));
    case tiered_action::preempt:
      return by.perform(preempt(of, setup.preemption));
    case tiered_action::reclaim:
      return by.perform(reclaim(of));
    case tiered_action::gangpreempt:
      return by.perform(gang_preempt(of, setup.gang_preemption));
    case tiered_action::gangreclaim:
      return by.perform(gang_reclaim(of, setup.gang_reclaim));
  }
  return {};
}

}  // namespace

result<plugin_points> points_of_nodes(const framework::session_state& c, pod_row pod, std::span<const node_row> nodes,
                                      std::string_view without) {
  result<scheduler_setup> setup = setup_of(c.options);
  if (!setup) return setup.failure();
  result<cluster_view> world = view_of(c, setup->jobs, false);
  if (!world) return world.failure();
  const auto task = static_cast<row>(std::ranges::find(world->pods, pod) - world->pods.begin());
  const session of(std::move(world->cluster), std::move(setup->tiers));
  const std::vector<row> rows(nodes.begin(), nodes.end());
  plugin_points made;
  for (const tier& one_tier : of.tiers()) {
    for (const placed_plugin& one : one_tier) {
      const bool asked = one.does->scores_nodes() && one.on.test(static_cast<std::size_t>(point::node_order)) &&
                         one.does->name() != without;
      if (!asked) continue;
      made.plugins.emplace_back(one.does->name());
      std::vector<double>& column = made.points.emplace_back(rows.size(), 0.0);
      // Pods without a group are nobody's task.
      if (task < of.cluster().tasks.size() && !rows.empty()) one.does->score_nodes(of, task, rows, column);
    }
  }
  return made;
}

result<void> schedule(framework::session_state& c) {
  result<scheduler_setup> setup = setup_of(c.options);
  if (!setup) return setup.failure();
  const bool enqueues = std::ranges::find(setup->actions, tiered_action::enqueue) != setup->actions.end();
  result<cluster_view> world = view_of(c, setup->jobs, enqueues);
  if (!world) return world.failure();
  session of(std::move(world->cluster), std::move(setup->tiers));
  performer by(c, *world);
  bool first = true;
  for (const tiered_action action : setup->actions) {
    if (auto on = c.run.go_on(); !on) return on;
    if (action != tiered_action::enqueue) {
      c.run.action = kind_of(action);
      if (!first) c.results.statistics.push_back({});
      first = false;
      c.results.statistics.back().action = c.run.action;
    }
    if (auto done = run_one(by, of, *setup, action); !done) return done;
  }
  note_failures(c, of, *world);
  return {};
}

}  // namespace kaisched::volcano
