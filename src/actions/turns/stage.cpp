// Queues take turns in one action of a session: their cluster is made from that of the session, and whatever a turn
// starts is done in the session at once.
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "actions/actions.hpp"
#include "actions/placement.hpp"
#include "actions/turns/world.hpp"
#include "policy/turns/cycle.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using policy::turns::placement;
using policy::turns::start_answer;

/// Does in a session what turns decide.
class turn_host final : public policy::turns::host {
 public:
  turn_host(work::core& c, const turns::turn_world& world) : c_(c), world_(world) {}

  result<void> go_on() override { return c_.go_on(); }

  bool accepts(policy::turns::row ask, policy::turns::row node) override {
    const pod_row pod = world_.pods[ask];
    if (!others_allow(c_, pod, static_cast<node_row>(node))) return false;
    const std::optional<work::place> found =
        work::place_on(c_, pod, static_cast<node_row>(node), policy::free_amount::idle);
    return found && !found->must_wait;
  }

  result<start_answer> start(std::span<const placement> all, std::span<const policy::turns::row> victims) override {
    const group_row group = c_.state().pods[world_.pods[all.front().ask]].group;
    const bool had_started = work::count_pods(c_, group, &model::sub_counts::holding) > 0;
    const action_kind before = c_.action;
    if (!victims.empty()) c_.action = action_kind::reclaim;
    ++c_.statistics.back().groups_tried;
    for (const policy::turns::row victim : victims) c_.evict(world_.pods[victim]);
    result<start_answer> answer = c_.keeps_budgets(group)
                                      ? place_all(group, all, had_started)
                                      : start_answer{start_answer::outcome::refused, policy::turns::no_row};
    c_.action = before;
    return answer;
  }

 private:
  result<start_answer> place_all(group_row group, std::span<const placement> all, bool had_started) {
    for (const placement& one : all) {
      if (put_on(c_, world_.pods[one.ask], static_cast<node_row>(one.node), !one.waits)) continue;
      c_.rollback(0);
      return start_answer{start_answer::outcome::no_place, one.ask};
    }
    const bool waits = work::must_wait_as_a_whole(c_, group);
    if (waits) c_.convert_to_pipelined(group);
    const result<bool> starts = waits ? result<bool>(true) : permit_start(c_, group);
    if (!starts) return starts.failure();
    if (!*starts) return start_answer{start_answer::outcome::refused, policy::turns::no_row};
    if (auto done = commit_group(c_, group, waits, had_started); !done) return done.failure();
    return start_answer{};
  }

  work::core& c_;
  const turns::turn_world& world_;
};

void note_refusals(work::core& c, const turns::turn_world& world, const policy::turns::turn_taker& turns) {
  for (const policy::turns::ask_refusal& one : turns.refusals()) {
    work::failure why;
    const policy::turns::ask_state& ask = world.cluster.asks[one.ask];
    why.group = world.groups[ask.app];
    const bool by_queue = one.queue && !one.queue->by_user && world.queues[one.queue->queue] != no_row;
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
    c.failures.push_back(why);
  }
  for (const group_row group : world.unsupported) {
    work::failure why;
    why.group = group;
    why.what = constraint::plugin;
    c.failures.push_back(why);
  }
}

}  // namespace

result<void> take_turns(work::core& c) {
  const result<policy::turns::turn_plan> plan = policy::turns::make_turn_plan(c.options.turn_settings);
  if (!plan) return plan.failure();
  result<turns::turn_world> world = turns::world_of(c, *plan);
  if (!world) return world.failure();
  turn_host by(c, *world);
  policy::turns::turn_taker turns(world->cluster, by);
  if (auto done = turns.run(); !done) return done;
  note_refusals(c, *world, turns);
  return {};
}

}  // namespace kaisched::actions
