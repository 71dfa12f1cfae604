// Why a pod had to leave or move.
#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "actions/actions.hpp"
#include "actions/migration.hpp"
#include "actions/reclaim_verdicts.hpp"
#include "actions/victim_judges.hpp"
#include "actions/victim_units.hpp"
#include "framework/members.hpp"
#include "policy/predicates/reservations.hpp"
#include "session/replay.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

using framework::session_state;
using session_detail::takes_away;

void count_pod(std::vector<group_pods>& list, group_row group) {
  const auto at = std::find_if(list.begin(), list.end(), [&](const group_pods& one) { return one.group == group; });
  if (at == list.end())
    list.push_back({group, 1});
  else
    ++at->pods;
}

bool is_listed(const std::vector<group_pods>& list, group_row group) {
  return std::any_of(list.begin(), list.end(), [&](const group_pods& one) { return one.group == group; });
}

struct commit_parties {
  std::vector<group_pods> placed;
  std::vector<group_pods> victims;
};

commit_parties parties_of(std::span<const decision> all, std::uint32_t commit) {
  commit_parties found;
  for (const decision& d : all) {
    if (d.commit != commit) continue;
    if (takes_away(d))
      count_pod(found.victims, d.group);
    else if (session_detail::is_placement(d))
      count_pod(found.placed, d.group);
  }
  return found;
}

/// The session as it was before a commit.
result<std::unique_ptr<session_state>> state_before(const session_state& c, std::uint32_t commit) {
  auto then = std::make_unique<session_state>(c.base, c.setup, c.now);
  if (auto done = then->open(); !done) return done.failure();
  session_detail::replay_commits(*then, c, commit);
  return then;
}

/// Who an action that makes room for one group leaves alone, in the state before it did.
class bystanders {
 public:
  bystanders(session_state& before, action_kind action, group_row waiting)
      : c_(before), action_(action), waiting_(waiting), judges_(before) {}

  result<void> open() {
    c_.run.action = action_;
    result<void> done = judges_.ask(waiting_);
    c_.run.action = action_kind::none;
    if (action_ == action_kind::reclaim) verdicts_ = actions::verdicts_for(c_, waiting_, memory_);
    return done;
  }

  [[nodiscard]] spared_reason why(group_row group) const {
    const model::group_core& mine = c_.state().groups[waiting_];
    const model::group_core& theirs = c_.state().groups[group];
    const bool may_go = action_ == action_kind::consolidation && actions::migrates(c_, group);
    if (!may_go && !actions::has_pods_to_lose(c_, group)) return spared_reason::not_preemptible;
    if (c_.groups.evicted_enough(group)) return spared_reason::evicted_enough;
    if (action_ == action_kind::reclaim && theirs.queue == mine.queue) return spared_reason::own_queue;
    if (action_ == action_kind::preempt && theirs.queue != mine.queue) return spared_reason::other_queue;
    if (action_ == action_kind::preempt && theirs.priority >= mine.priority) return spared_reason::priority;
    if (verdicts_ != nullptr && !may_reclaim_from(group)) return spared_reason::queue_within_share;
    if (actions::keeps_promise(c_, action_, waiting_, group)) return spared_reason::minimum_runtime;
    if (judges_.spare(group)) return spared_reason::part;
    return budgets_hold(group) ? spared_reason::disruption_budget : spared_reason::not_needed;
  }

 private:
  /// What is refused for the first unit alone is refused for more.
  [[nodiscard]] bool may_reclaim_from(group_row group) const {
    const queue_row leaf = c_.state().groups[group].queue;
    if (!verdicts_->may_give(leaf)) return false;
    actions::victim_chains chains(c_);
    model::quota_vector amount{};
    for (const pod_row p : chains.of(group).front().pods) {
      const model::quota_vector one = c_.queues.held(p);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) amount[r] += one[r];
    }
    return verdicts_->may_take_alone(leaf, amount);
  }

  /// All that the group would lose first stays where it is.
  [[nodiscard]] bool budgets_hold(group_row group) const {
    if (!c_.access.budgets->used()) return false;
    actions::victim_chains chains(c_);
    const std::vector<actions::victim_unit>& units = chains.of(group);
    return !units.empty() && c_.access.budgets->refuses(units.front().pods).has_value();
  }

  session_state& c_;
  action_kind action_;
  group_row waiting_;
  actions::victim_judges judges_;
  actions::reclaim_memory memory_;
  std::shared_ptr<const actions::reclaim_verdicts> verdicts_;
};

/// The pod is not of the last unit of its group, which is the gang.
bool is_beyond_gang(const session_state& c, group_row group, pod_row pod) {
  actions::victim_chains chains(c);
  const std::vector<actions::victim_unit>& units = chains.of(group);
  const auto at = std::find_if(units.begin(), units.end(), [&](const actions::victim_unit& one) {
    return std::find(one.pods.begin(), one.pods.end(), pod) != one.pods.end();
  });
  if (at == units.end()) return false;
  return c.state().groups[group].semi_preemptible || at + 1 != units.end();
}

/// Below the lowest queue that both share.
bool holds_too_much(const session_state& c, queue_row theirs, queue_row mine, std::span<const std::int64_t> held) {
  std::vector<queue_row> path;
  for (queue_row q = mine; q != no_row; q = (*c.state().queues)[q].parent) path.push_back(q);
  const session_view view = c.view();
  for (queue_row q = theirs; q != no_row; q = (*c.state().queues)[q].parent) {
    if (std::find(path.begin(), path.end(), q) != path.end()) return false;
    for (dimension d = 0; d < quota_dimensions; ++d) {
      if (held[d] > 0 && view.queue_allocated(q)[d] > view.queue_fair_share(q)[d]) return true;
    }
  }
  return false;
}

/// Rules of the order of victims, where others of the queue were left alone that might have lost pods.
void add_order(const session_state& c, victim_account& account) {
  const model::group_core& mine = c.state().groups[account.group];
  bool lower = false;
  bool higher = false;
  bool younger = false;
  bool older = false;
  for (const spared_group& one : account.spared) {
    const model::group_core& other = c.state().groups[one.group];
    if (one.why != spared_reason::not_needed || other.queue != mine.queue) continue;
    lower = lower || other.priority < mine.priority;
    higher = higher || other.priority > mine.priority;
    if (other.priority != mine.priority) continue;
    younger = younger || other.created > mine.created;
    older = older || other.created < mine.created;
  }
  if (higher && !lower) account.rules.push_back(victim_rule::lowest_priority);
  if (older && !younger && !lower) account.rules.push_back(victim_rule::youngest);
}

/// It leaves a node that is reserved, or its gang goes with pods that do.
void add_reservation(const session_state& before, victim_account& account) {
  std::vector<pod_row> pods{account.pod};
  for (const pod_row p : actions::pods_of(before, account.group)) pods.push_back(p);
  for (const pod_row p : pods) {
    const std::optional<policy::reservation_refusal> by = actions::vacated_by(before, p);
    if (!by) continue;
    account.rules.push_back(p == account.pod ? victim_rule::reserved_node : victim_rule::gang_leaves);
    account.reservation = (*before.state().reservations)[by->reservation].name;
    return;
  }
}

void add_rules(const session_state& before, victim_account& account) {
  std::vector<victim_rule>& rules = account.rules;
  if (account.action == action_kind::stale_gang_eviction) return rules.push_back(victim_rule::stale_gang);
  if (account.action == action_kind::runtime_limit) return rules.push_back(victim_rule::runtime_limit);
  if (account.action == action_kind::over_limit) return rules.push_back(victim_rule::over_limit);
  if (account.action == action_kind::resize && account.kind == decision_kind::evict)
    return rules.push_back(victim_rule::brings_less);
  if (account.action == action_kind::vacate) return add_reservation(before, account);
  if (account.kind == decision_kind::migrate) return rules.push_back(victim_rule::migration);
  if (account.action == action_kind::repartition) return rules.push_back(victim_rule::drained_device);
  if (account.kind == decision_kind::move) return rules.push_back(victim_rule::has_to_move);
  if (is_beyond_gang(before, account.group, account.pod)) rules.push_back(victim_rule::beyond_gang);
  if (account.action == action_kind::reclaim && !account.placed.empty()) {
    const queue_row mine = before.state().groups[account.placed.front().group].queue;
    const model::quota_vector held = before.queues.held(account.pod);
    if (holds_too_much(before, before.state().groups[account.group].queue, mine, held))
      rules.push_back(victim_rule::queue_over_share);
  }
  add_order(before, account);
  if (rules.empty()) rules.push_back(victim_rule::in_solution);
}

/// Spares one group, whoever asks.
class protecting_part final : public policy_part {
 public:
  explicit protecting_part(group_row group) : group_(group) {}
  [[nodiscard]] std::string_view name() const noexcept override { return "protected"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return part_judges_victims; }
  result<void> judge_victims(const session_view&, action_kind, group_row, std::span<const group_row> groups,
                             std::span<std::uint8_t> spared) override {
    for (std::size_t i = 0; i < groups.size(); ++i) spared[i] = groups[i] == group_ ? 1 : 0;
    return {};
  }

 private:
  group_row group_;
};

bool searches_for_victims(action_kind action) {
  return action == action_kind::reclaim || action == action_kind::preempt || action == action_kind::consolidation;
}

/// The decision that made the pod leave or move, the last one if there are several.
const decision* departure_of(const session_state& c, pod_row pod) {
  for (std::size_t i = c.results.decisions.size(); i-- > 0;) {
    if (c.results.decisions[i].pod == pod && takes_away(c.results.decisions[i])) return &c.results.decisions[i];
  }
  return nullptr;
}

}  // namespace

result<victim_account> session::victim(pod_row pod) const {
  const session_state& c = *impl_->state;
  if (pod >= c.state().pod_slots || !c.state().pods[pod].live)
    return error{status::argument, "there is no pod in this row", {}};
  const decision* const left = departure_of(c, pod);
  if (left == nullptr) {
    return error{status::state, "no decision made pod '" + std::string(c.state().pod_names[pod]) + "' leave or move",
                 entity_id(entity_kind::pod, c.state().pods[pod].generation, pod)};
  }
  victim_account account;
  account.pod = pod;
  account.group = left->group;
  account.kind = left->kind;
  account.action = left->action;
  account.commit = left->commit;
  commit_parties parties = parties_of(c.results.decisions, left->commit);
  account.placed = std::move(parties.placed);
  account.victims = std::move(parties.victims);
  result<std::unique_ptr<session_state>> before = state_before(c, left->commit);
  if (!before) return before.failure();
  if (!account.placed.empty()) {
    bystanders others(**before, left->action, account.placed.front().group);
    if (auto done = others.open(); !done) return done.failure();
    for (group_row g = 0; g < c.state().group_slots; ++g) {
      const bool holds =
          c.state().groups[g].live && framework::count_pods(**before, g, &model::sub_counts::holding) > 0;
      if (holds && !is_listed(account.victims, g) && !is_listed(account.placed, g))
        account.spared.push_back({g, others.why(g)});
    }
  }
  add_rules(**before, account);
  if (account.placed.empty() || !searches_for_victims(left->action)) return account;

  auto setup = std::make_shared<framework::policy_setup>(*c.setup);
  setup->parts.emplace_back(
      "protected", [group = account.group](const policy_options&) { return std::make_unique<protecting_part>(group); });
  auto body = std::make_unique<impl>(c.base, std::move(setup), c.now);
  body->follow(*impl_);
  if (auto done = body->state->open(); !done) return done.failure();
  session_detail::replay_commits(*body->state, c, left->commit);
  session then(std::move(body));
  const std::vector<decision> before_it(then.decisions().begin(), then.decisions().end());
  const std::size_t attempts = then.attempts().size();
  const group_row waiting = account.placed.front().group;
  if (auto done = then.run(action_name(left->action), waiting); !done) return done.failure();
  account.if_protected.tried = true;
  for (const decision& d : session_detail::decided_since(before_it, then.decisions())) {
    if (takes_away(d))
      count_pod(account.if_protected.victims, d.group);
    else if (session_detail::is_placement(d) && d.group == waiting)
      ++account.if_protected.pods;
  }
  if (then.attempts().size() > attempts) account.if_protected.attempt = then.attempts().back();
  return account;
}

result<std::vector<passed_over>> session::passes(group_row group, std::size_t most) const {
  const session_state& c = *impl_->state;
  if (group >= c.state().group_slots || !c.state().groups[group].live)
    return error{status::argument, "there is no pod group in this row", {}};
  std::vector<passed_over> all;
  std::uint32_t last = 0;
  for (const decision& d : c.results.decisions) {
    if (all.size() == most) break;
    if (!takes_away(d) || d.commit == last) continue;
    last = d.commit;
    commit_parties parties = parties_of(c.results.decisions, d.commit);
    if (parties.placed.empty()) continue;
    result<std::unique_ptr<session_state>> before = state_before(c, d.commit);
    if (!before) return before.failure();
    bystanders others(**before, d.action, parties.placed.front().group);
    if (auto done = others.open(); !done) return done.failure();
    const bool gave = is_listed(parties.victims, group);
    all.push_back(
        {d.action, d.commit, std::move(parties.placed), gave, gave ? spared_reason::not_needed : others.why(group)});
  }
  return all;
}

}  // namespace kaisched
