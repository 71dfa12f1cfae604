// Queues take turns in one action of a session: their cluster is made from that of the session, and whatever a turn
// starts is done in the session at once.
#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actions/placement.hpp"
#include "actions/unit_remains.hpp"
#include "schedulers/common/cycle/attempts.hpp"
#include "schedulers/schedulers.hpp"
#include "schedulers/yunikorn/cycle/cluster_view.hpp"
#include "schedulers/yunikorn/rules/cycle.hpp"

namespace kaisched::yunikorn {

namespace {

/// Does in a session what turns decide.
class turn_host final : public host {
 public:
  turn_host(framework::session_state& c, const cluster_view& world) : c_(c), world_(world) {}

  result<void> go_on() override { return c_.run.go_on(); }

  bool accepts(row ask, row node) override {
    const pod_row pod = world_.pods[ask];
    const auto held = held_.find(c_.state().pods[pod].group);
    if (held == held_.end()) return is_open(pod, static_cast<node_row>(node));
    const bool accepted = std::ranges::all_of(held->second, [&](const placement& one) { return put(one); }) &&
                          is_open(pod, static_cast<node_row>(node));
    c_.statement.rollback(0);
    return accepted;
  }

  result<start_answer> start(std::span<const placement> all, std::span<const row> victims) override {
    const group_row group = c_.state().pods[world_.pods[all.front().ask]].group;
    const bool had_started = schedulers::begin_attempt(c_, group);
    const action_kind before = c_.run.action;
    if (!victims.empty()) c_.run.action = action_kind::reclaim;
    schedulers::unit_losses losses(c_);
    for (const row victim : victims) losses.expect(world_.pods[victim]);
    for (const row victim : victims) losses.evict(world_.pods[victim]);
    losses.evict_rest();
    result<start_answer> answer = c_.statement.keeps_budgets(group)
                                      ? place_all(group, all, had_started)
                                      : start_answer{start_answer::outcome::refused, no_row};
    c_.run.action = before;
    return answer;
  }

 private:
  [[nodiscard]] bool is_open(pod_row pod, node_row node) {
    if (!actions::others_allow(c_, pod, node)) return false;
    const std::optional<framework::place> found = framework::place_on(c_, pod, node, policy::free_amount::idle);
    return found && !found->must_wait;
  }

  bool put(const placement& one) {
    return actions::put_on(c_, world_.pods[one.ask], static_cast<node_row>(one.node), !one.waits);
  }

  result<start_answer> place_all(group_row group, std::span<const placement> more, bool had_started) {
    const std::size_t broken = actions::unit_remains(c_, group).size();
    const bool evicts = !c_.statement.log.empty();
    std::vector<placement> all;
    if (const auto held = held_.find(group); held != held_.end()) all = held->second;
    const std::size_t first = all.size();
    all.insert(all.end(), more.begin(), more.end());
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (put(all[i])) continue;
      c_.statement.rollback(0);
      // Turns know of the first ones that they have started, and would try the same node again.
      return first > 0 ? start_answer{start_answer::outcome::refused, no_row}
                       : start_answer{start_answer::outcome::no_place, all[i].ask};
    }
    // Turns count pods: what is a part of a unit waits for the rest of it, and has no place until then.
    std::vector<placement> part;
    switch (schedulers::keep_whole_units(
        c_, group, broken, !evicts, all, [&](const placement& one) { return world_.pods[one.ask]; },
        [&](const placement& one) { return put(one); }, part)) {
      case schedulers::unit_outcome::placed:
        break;
      case schedulers::unit_outcome::refused:
        return start_answer{start_answer::outcome::refused, no_row};
      case schedulers::unit_outcome::waits:
        all.insert(all.end(), part.begin(), part.end());
        held_[group] = std::move(all);
        return start_answer{};
    }
    held_.erase(group);
    if (!part.empty()) held_[group] = std::move(part);
    const result<bool> starts = actions::start_or_keep(c_, group, had_started);
    if (!starts) return starts.failure();
    return *starts ? start_answer{} : start_answer{start_answer::outcome::refused, no_row};
  }

  framework::session_state& c_;
  const cluster_view& world_;
  std::map<group_row, std::vector<placement>> held_;  ///< parts of units
};

void note_refusals(framework::session_state& c, const cluster_view& world, std::span<const ask_refusal> refusals) {
  for (const ask_refusal& one : refusals) {
    framework::failure why;
    const ask_state& ask = world.cluster.asks[one.ask];
    why.group = world.groups[ask.app];
    const bool by_queue = one.queue && !one.queue->by_user && world.queues[one.queue->queue] != kaisched::no_row;
    if (one.may_not_run || (one.queue && one.queue->by_user)) {
      why.what = constraint::plugin;
    } else if (by_queue) {
      why.what = constraint::queue_limit;
      why.queue = world.queues[one.queue->queue];
      why.resource = static_cast<std::uint32_t>(one.queue->dimension);
      why.need = one.queue->need;
      why.have = one.queue->have;
    } else {
      why.pod = world.pods[one.ask];
    }
    c.results.failures.push_back(why);
  }
  for (const group_row group : world.unsupported)
    schedulers::note_failure(c, group, kaisched::no_row, constraint::plugin);
}

}  // namespace

result<void> schedule(framework::session_state& c) {
  const result<scheduler_setup> plan = make_setup(c.options.yunikorn_settings);
  if (!plan) return plan.failure();
  result<cluster_view> world = view_of(c, *plan);
  if (!world) return world.failure();
  turn_host by(c, *world);
  const result<std::vector<ask_refusal>> refusals = take_turns(world->cluster, by);
  if (!refusals) return refusals.failure();
  note_refusals(c, *world, *refusals);
  return {};
}

}  // namespace kaisched::yunikorn
