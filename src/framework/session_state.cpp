#include "framework/session_state.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "framework/members.hpp"
#include "framework/remaining_group.hpp"
#include "framework/topologies.hpp"
#include "model/nominations.hpp"
#include "model/snapshot_access.hpp"
#include "policy/predicates/reservations.hpp"

namespace kaisched::framework {

using model::bit;
using model::cluster_state;
using model::group_core;
using model::pod_class;
using model::quota_vector;

session_state::session_state(snapshot b, std::shared_ptr<const policy_setup> by, std::int64_t t)
    : base(std::move(b)),
      setup(std::move(by)),
      options(setup->options),
      now(t),
      live(model::state_of(base).live),
      run(options),
      state_(&model::state_of(base)) {
  gate_dependent_groups();
  take_up_nominations();
  connect();
}

std::vector<std::pair<group_row, std::int64_t>> session_state::searched_changes() const {
  std::map<group_row, std::int64_t> bits_of = groups.searched_now();
  for (const decision& d : results.decisions) {
    if (d.group != no_row && groups.searched(d.group) != 0 &&
        count_pods(*this, d.group, &model::sub_counts::pending) == 0)
      bits_of[d.group] = 0;
  }
  std::vector<std::pair<group_row, std::int64_t>> changed;
  for (const auto& [group, bits] : bits_of) {
    if (bits != state().group_extras[group].searched) changed.emplace_back(group, bits);
  }
  return changed;
}

/// Pods that are pipelined wait for the nodes where their places are.
void session_state::take_up_nominations() {
  if (!keeps_nominations() || state().nominated_pods == 0) return;
  extended_ = std::make_shared<const cluster_state>(model::with_pods_nominated(state()));
  state_ = extended_.get();
  live = state_->live;
}

void session_state::gate_dependent_groups() {
  model::open_dependencies waiting = model::find_open_dependencies(model::state_of(base));
  if (waiting.empty()) return;
  extended_ = std::make_shared<const cluster_state>(model::with_gates(model::state_of(base), waiting));
  groups.wait_for(std::make_shared<const model::open_dependencies>(std::move(waiting)));
  state_ = extended_.get();
  live = state_->live;
}

session_state::session_state(const session_state& other)
    : threads(other.threads),
      base(other.base),
      setup(other.setup),
      options(setup->options),
      now(other.now),
      live(other.live),
      choice(other.choice),
      statement(other.statement),
      queues(other.queues),
      chunks(other.chunks),
      results(other.results),
      run(other.run),
      groups(other.groups),
      constraints(other.constraints),
      has_proportion(other.has_proportion),
      has_predicates(other.has_predicates),
      topologies(other.topologies),
      ledger_(other.ledger_),
      state_(other.extended_ == nullptr ? &model::state_of(base) : other.extended_.get()),
      extended_(other.extended_) {
  connect();
  if (other.changes() == other.surveyed_at_) survey_ = other.survey_;
  surveyed_at_ = changes();
  for (const auto& [name, make] : setup->parts) {
    add_part(make(options));
    (void)parts.back()->session_open(view());  // opened once already with the same snapshot and options
  }
}

session_state::~session_state() {
  for (const auto& part : parts) part->session_close();
}

void session_state::add_part(std::unique_ptr<policy_part> part) {
  capabilities |= part->capabilities();
  parts.push_back(std::move(part));
}

void session_state::connect() {
  access.state = state_;
  access.live = &live;
  access.options = &options;
  access.now = now;
  access.fair_share = queues.fair_share;
  access.leaving = &statement.leaving;
  static const policy::gpu_groups no_groups;
  static const policy::reservation_book no_reservations;
  static const policy::disruption_ledger no_budgets;
  access.groups = &no_groups;
  access.reservations = &no_reservations;
  access.budgets = &no_budgets;
  access.predicates = has_predicates;
  access.constraints = &constraints;
  constraints.show(access);
  access.node_changed_at = choice.changed_at();
  statement.connect(*this);
  queues.connect(*this);
  gpus.connect(*this);
  chunks.connect(*this);
  groups.connect(access);
}

bool session_state::has(std::string_view part) const {
  return std::any_of(setup->parts.begin(), setup->parts.end(), [&](const auto& f) { return f.first == part; });
}

result<void> session_state::open() {
  has_proportion = has("proportion");
  has_predicates = has("predicates");
  queues.find_gpu_memories();
  if (auto done = open_constraints(true); !done) return done;
  queues.count_anew();
  if (state().topology_asks > 0 && has("topology")) topologies = build_topologies(state(), compat());
  queues.divide_shares();
  if (auto done = open_constraints(false); !done) return done;
  connect();
  for (const auto& [name, make] : setup->parts) {
    std::unique_ptr<policy_part> part = make(options);
    if (part == nullptr) return error{status::plugin, "part '" + name + "' cannot be made with these options", {}};
    if (auto done = part->session_open(view()); !done) return done.failure();
    add_part(std::move(part));
  }
  if (auto done = queues.ask_for_shares(); !done) return done;
  results.statistics.push_back({});
  choice.open(*this);
  access.node_changed_at = choice.changed_at();
  if (options.invariants != invariant_level::off || counts_again()) ledger_.open(live);
  return {};
}

result<void> session_state::open_constraints(bool first) {
  if (auto done = constraints.open(setup->constraints, {access, live, setup->catalog}, first); !done) return done;
  connect();
  return {};
}

void session_state::prepare_classes() {
  if (!threads.is_used()) return;
  std::vector<class_row> kinds;
  for (const group_row g : waiting_groups()) {
    const group_core& group = state().groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      const model::sub_info& set = state().subs[sub];
      if (set.is_set || live.counts[sub].pending == 0) continue;
      if (set.is_uniform) kinds.push_back(set.only_class);
      for (pod_row p = set.is_uniform ? no_row : set.first_pod; p != no_row; p = state().pods[p].next) {
        if (static_cast<pod_status>(live.pod_state[p]) == pod_status::pending)
          kinds.push_back(state().pods[p].pod_class);
      }
    }
  }
  std::sort(kinds.begin(), kinds.end());
  kinds.erase(std::unique(kinds.begin(), kinds.end()), kinds.end());
  choice.prepare(*this, kinds);
}

void session_state::renew_survey() {
  if (changes() == surveyed_at_) return;
  survey_ = std::make_shared<base::first_made<survey>>();
  surveyed_at_ = changes();
}

}  // namespace kaisched::framework
