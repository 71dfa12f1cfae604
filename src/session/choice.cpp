// Why here and not there: the runner-up, and what would have turned the choice.
#include <algorithm>
#include <cmath>
#include <limits>

#include <kaisched/cluster.hpp>
#include <kaisched/schema.hpp>

#include "model/snapshot_access.hpp"
#include "session/replay.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

using framework::session_state;

bool must_be_together(const session_state& c, group_row group) {
  if (group == no_row || c.topologies == nullptr) return false;
  const model::group_core& g = c.state().groups[group];
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (c.state().subs[sub].together != nullptr) return true;
  }
  return false;
}

/// What stands above the scores of nodes for this decision.
choice_plan plan_of(const session_state& c, const decision& d) {
  if (d.kind == decision_kind::move || d.kind == decision_kind::migrate) return choice_plan::move;
  const bool frees = d.action == action_kind::reclaim || d.action == action_kind::preempt ||
                     d.action == action_kind::consolidation || d.action == action_kind::repartition;
  if (frees) return choice_plan::eviction;
  return must_be_together(c, d.group) ? choice_plan::topology : choice_plan::none;
}

/// The least that has to be added to a score, rounding included, to reach another one.
double missing_to(double reached, double from) {
  double more = reached - from;
  while (from + more < reached) more = std::nextafter(more, std::numeric_limits<double>::infinity());
  return more;
}

/// The same decisions in a cluster in which a node is closed.
result<session_state> with_closed_node(const session_state& c, node_row node, std::size_t decided) {
  cluster closed(c.base);
  table change(table_kind::node, table_op::change);
  change.add(col::node_name, column_type::string).push(std::string_view((*model::state_of(c.base).nodes)[node]->name));
  change.add(col::node_unschedulable, column_type::u8).push(std::uint8_t{1});
  if (auto done = closed.apply(change); !done) return done.failure();
  session_state then(closed.take_snapshot(), c.setup, c.now);
  if (auto done = then.open(); !done) return done.failure();
  session_detail::replay_before(then, c, decided);
  return session_state(then);
}

class choice_teller {
 public:
  choice_teller(const session_state& c, pod_row pod, std::size_t decided) : c_(c), decided_(decided) {
    account_.pod = pod;
    account_.chosen = c.results.decisions[decided].node;
  }

  result<choice_account> tell() {
    session_state then(c_.base, c_.setup, c_.now);
    if (auto done = then.open(); !done) return done.failure();
    session_detail::replay_before(then, c_, decided_);
    session_state first(then);  // every question has parts of its own, which may keep state
    const result<candidate_table> table = session_detail::nodes_for(first, account_.pod);
    if (!table) return table.failure();
    compare(*table);
    if (account_.rule == choice_rule::not_by_score || account_.plan != choice_plan::none) return account_;
    if (auto done = leave_parts_out(then, *table); !done) return done.failure();
    raise_runner_up(*table);
    if (auto done = close_node(); !done) return done.failure();
    return account_;
  }

 private:
  void compare(const candidate_table& table) {
    account_.fitting = table.fitting;
    std::size_t runner_up = table.fitting;
    for (std::size_t i = table.fitting; i-- > 0;) {
      if (table.nodes[i].node == account_.chosen)
        account_.rank = static_cast<std::uint32_t>(i) + 1;
      else
        runner_up = i;
    }
    const decision& d = c_.results.decisions[decided_];
    account_.plan = plan_of(c_, d);
    if (account_.rank != 1) {
      account_.rule = choice_rule::not_by_score;
      const bool claims = d.kind == decision_kind::pipeline;
      if (account_.plan == choice_plan::none) account_.plan = claims ? choice_plan::claim : choice_plan::allocation;
    }
    if (runner_up == table.fitting) return;
    account_.runner_up = table.nodes[runner_up].node;
    if (account_.rank == 0) return;
    const std::size_t mine = account_.rank - 1;
    account_.margin = table.nodes[mine].score - table.nodes[runner_up].score;
    if (account_.rank == 1) account_.rule = account_.margin == 0 ? choice_rule::name : choice_rule::score;
    for (std::size_t p = 0; p < table.parts.size(); ++p) {
      const double here = table.scores_of(mine)[p];
      const double there = table.scores_of(runner_up)[p];
      if (here != there) account_.differences.push_back({table.parts[p], here, there});
    }
  }

  /// Without the score of one part, the others asked again.
  result<void> leave_parts_out(const session_state& then, const candidate_table& table) {
    for (std::size_t p = 0; p < table.parts.size() && table.fitting > 1; ++p) {
      bool tells_apart = false;
      for (std::size_t i = 1; i < table.fitting; ++i) {
        tells_apart = tells_apart || table.scores_of(i)[p] != table.scores_of(0)[p];
      }
      if (!tells_apart) continue;
      session_state copy(then);
      const result<candidate_table> without = session_detail::nodes_for(copy, account_.pod, table.parts[p]);
      if (!without) return without.failure();
      const node_row best = without->nodes.front().node;
      if (best != account_.chosen) account_.flips.push_back({choice_flip_kind::without_part, table.parts[p], 0, best});
    }
    return {};
  }

  void raise_runner_up(const candidate_table& table) {
    if (account_.runner_up == no_row) return;
    const std::vector<std::uint32_t>& rank = *model::state_of(c_.base).name_rank;
    const bool wins_ties = rank[account_.runner_up] < rank[account_.chosen];
    const double best = table.nodes[0].score;
    const double enough = wins_ties ? best : std::nextafter(best, std::numeric_limits<double>::infinity());
    account_.flips.push_back(
        {choice_flip_kind::more_score, {}, missing_to(enough, table.nodes[1].score), account_.runner_up});
  }

  result<void> close_node() {
    result<session_state> closed = with_closed_node(c_, account_.chosen, decided_);
    if (!closed) return closed.failure();
    const result<candidate_table> table = session_detail::nodes_for(*closed, account_.pod);
    if (!table) return table.failure();
    account_.flips.push_back(
        {choice_flip_kind::closed_node, {}, 0, table->fitting > 0 ? table->nodes.front().node : no_row});
    return {};
  }

  const session_state& c_;
  const std::size_t decided_;
  choice_account account_;
};

}  // namespace

result<choice_account> session::choice(pod_row pod) const {
  const session_state& c = *impl_->state;
  if (pod >= c.state().pod_slots || !c.state().pods[pod].live)
    return error{status::argument, "there is no pod in this row", {}};
  const auto status_now = static_cast<pod_status>(c.live.pod_state[pod]);
  const std::size_t decided = session_detail::placement_of(c, pod);
  const bool waits = status_now == pod_status::pending || status_now == pod_status::gated;
  if (waits || decided == c.results.decisions.size()) return session_detail::not_placed(c, pod);
  return choice_teller(c, pod, decided).tell();
}

}  // namespace kaisched
