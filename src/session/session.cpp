#include <algorithm>
#include <iterator>
#include <optional>
#include <set>

#include <kaisched/session.hpp>

#include "actions/actions.hpp"
#include "actions/nominations.hpp"
#include "base/nearest.hpp"
#include "session/action_list.hpp"
#include "session/old_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched {

namespace {

error bad_row(std::string_view what) { return {status::argument, std::string(what), {}}; }

result<void> check_pod(const framework::session_state& c, pod_row pod) {
  if (pod >= c.state().pod_slots || !c.state().pods[pod].live) return bad_row("there is no pod in this row");
  return {};
}

result<void> check_node(const framework::session_state& c, node_row node) {
  if (node >= c.state().node_count()) return bad_row("there is no node in this row");
  return {};
}

}  // namespace

session::session(std::unique_ptr<impl> body) : impl_(std::move(body)) {}
session::session(session&&) noexcept = default;
session& session::operator=(session&&) noexcept = default;

session::~session() = default;

result<void> session::run(std::string_view action) { return run_for(action, no_row); }

result<void> session::run(std::string_view action, group_row group) {
  const framework::session_state& c = *impl_->state;
  if (group >= c.state().group_slots || !c.state().groups[group].live)
    return bad_row("there is no pod group in this row");
  return run_for(action, group);
}

namespace {

/// How many actions of the policy search for victims after this one.
std::int64_t searches_after(const framework::session_state& c, std::string_view action) {
  const std::vector<std::string>& all = c.options.actions;
  const auto here = std::find(all.begin(), all.end(), action);
  if (here == all.end()) return 0;
  return std::count_if(here + 1, all.end(), [](const std::string& later) {
    return std::ranges::any_of(session_detail::action_list(), [&](const session_detail::action_entry& entry) {
      return entry.searches && entry.name == later;
    });
  });
}

}  // namespace

/// no_row: for all groups.
result<void> session::run_for(std::string_view given_action, group_row group) {
  framework::session_state& c = *impl_->state;
  if (!c.statement.log.empty())
    return error{status::state, "the statement is open: commit or roll back before an action", {}};
  const std::string_view action = session_detail::current_action(given_action);
  session_detail::warn_of_old_action(given_action, impl_->warnings);
  std::vector<std::string_view> names;
  for (const session_detail::action_entry& entry : session_detail::action_list()) {
    names.push_back(entry.name);
    if (entry.name != action) continue;
    if (group != no_row && !entry.asks_groups)
      return error{status::argument, "action '" + std::string(action) + "' is not for groups that wait", {}};
    c.run.action = entry.kind;
    c.run.only_group = group;
    c.run.keeps_bounds = entry.keeps_bounds && c.has_proportion;
    c.run.search_effort.begin_action(searches_after(c, action));
    c.results.statistics.push_back({});
    c.results.statistics.back().action = entry.kind;
    const std::uint64_t sets_before = c.run.sets_tried;
    if (entry.asks_groups) c.prepare_classes();
    result<void> done = c.run.go_on();
    if (done) done = actions::start_nominated(c);
    if (done) done = entry.run(c);
    if (!done) {  // what was being tried is undone; what was committed before stays
      c.chunks.drop_part();
      c.statement.rollback(0);
    }
    c.statement.settle_decisions();
    c.run.cancel.forget();
    impl_->trials->forget();
    c.results.statistics.back().steps = c.results.statistics.back().candidates;
    c.results.statistics.back().simulations = c.run.sets_tried - sets_before;
    c.run.action = action_kind::none;
    c.run.only_group = no_row;
    c.run.keeps_bounds = false;
    c.renew_survey();
    if (done && c.counts_again()) done = c.check();
    return done;
  }
  std::string message = "there is no action '" + std::string(action) + "'";
  const std::string_view nearest = base::nearest_name(action, names);
  if (!nearest.empty()) message += "; did you mean '" + std::string(nearest) + "'?";
  return error{status::not_found, std::move(message), {}};
}

result<void> session::run() {
  const std::vector<std::string> actions = impl_->state->options.actions;
  for (const std::string& action : actions) {
    if (auto done = run(action); !done) return done;
  }
  actions::tell_lapsed(*impl_->state);
  return {};
}

std::vector<std::string> session::warnings() const {
  std::vector<std::string> all = impl_->state->options.warnings;
  for (const std::string& one : impl_->warnings) {
    if (std::ranges::find(all, one) == all.end()) all.push_back(one);
  }
  return all;
}

result<void> session::adopt_if_done(const std::function<result<void>(session&)>& run) {
  session trial = fork();
  trial.impl_->follow(*impl_);
  result<void> done = run(trial);
  impl_->trials->forget();
  if (!done && done.failure().code == status::no_memory) return done;
  impl_->adopt(*trial.impl_);
  impl_->state->run.cancel.forget();
  return done;
}

result<void> session::try_run(std::string_view action) {
  return adopt_if_done([action](session& trial) { return trial.run(action); });
}
result<void> session::try_run(std::string_view action, group_row group) {
  return adopt_if_done([action, group](session& trial) { return trial.run(action, group); });
}
result<void> session::try_run() {
  return adopt_if_done([](session& trial) { return trial.run(); });
}

void session::cancel() const noexcept {
  const std::lock_guard lock(impl_->adopting);
  impl_->state->run.cancel.ask();
  impl_->trials->ask();
}

session session::fork() const { return session(std::make_unique<impl>(*impl_)); }

result<std::vector<what_if_answer>> session::ask(std::string_view action, std::span<const group_row> groups) const {
  std::vector<what_if_answer> answers(groups.size());
  std::vector<result<void>> outcomes(groups.size());
  impl_->state->threads.ranges(groups.size(), 1, [&](std::size_t first, std::size_t last) {
    for (std::size_t i = first; i < last; ++i) {
      session alone = fork();
      alone.impl_->follow(*impl_);
      alone.impl_->state->threads = {};  // whose pieces would call the executor from within itself
      answers[i].group = groups[i];
      outcomes[i] = alone.run(action, groups[i]);
      answers[i].decisions = session_detail::decided_since(decisions(), alone.decisions());
    }
  });
  for (const result<void>& one : outcomes) {
    if (!one) return one.failure();
  }
  return answers;
}

result<std::vector<group_row>> session::line() const {
  if (impl_->state->statement.depth() != 0)
    return error{status::state, "the statement is open: commit it or roll it back", {}};
  const std::vector<std::string>& acts = impl_->state->options.actions;
  if (std::ranges::find(acts, "allocate") == acts.end()) {
    return error{status::state, "action 'allocate' is not among the actions of these options: there is no line", {}};
  }
  session trial = fork();
  trial.impl_->state->prepare_classes();
  return actions::allocation_order(*trial.impl_->state);
}

checkpoint session::mark() const { return {impl_->state->statement.depth(), impl_->state->statement.commits}; }

result<void> session::rollback(checkpoint to) {
  if (to.statement != impl_->state->statement.commits)
    return error{status::state, "the checkpoint belongs to a statement that was committed", {}};
  if (to.depth > impl_->state->statement.depth())
    return error{status::state, "the checkpoint lies beyond the end of the statement", {}};
  impl_->state->statement.rollback(to.depth);
  return {};
}

result<bool> session::allocate(pod_row pod, node_row node) {
  framework::session_state& c = *impl_->state;
  if (auto done = check_pod(c, pod); !done) return done.failure();
  if (auto done = check_node(c, node); !done) return done.failure();
  if (static_cast<pod_status>(c.live.pod_state[pod]) != pod_status::pending) {
    return error{status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' is not pending", {}};
  }
  const std::optional<framework::place> found = framework::place_on(c, pod, node, policy::free_amount::idle);
  if (!found || found->must_wait) return false;
  c.statement.allocate(pod, node, found->devices, found->groups);
  return true;
}

result<bool> session::pipeline(pod_row pod, node_row node) {
  framework::session_state& c = *impl_->state;
  if (auto done = check_pod(c, pod); !done) return done.failure();
  if (auto done = check_node(c, node); !done) return done.failure();
  const auto status_now = static_cast<pod_status>(c.live.pod_state[pod]);
  const std::uint32_t eviction = c.statement.eviction_of(pod);
  if (status_now != pod_status::pending && (status_now != pod_status::releasing || eviction == no_row)) {
    return error{
        status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' is neither pending nor evicted here", {}};
  }
  const std::optional<framework::place> found =
      framework::place_on(c, pod, node, policy::free_amount::idle_or_releasing);
  if (!found) return false;
  const bool same_node = status_now == pod_status::releasing && c.live.pod_node[pod] == (*c.state().nodes)[node]->slot;
  if (same_node && model::can_take(c.state(), c.live, c.state().class_of(pod), node, c.live.pod_devices[pod]) &&
      c.statement.gets_back(pod, node, eviction)) {
    c.statement.unevict(eviction);  // back in its own place: nothing happened to it
  } else {
    c.statement.pipeline(pod, node, found->devices, found->groups);
  }
  return true;
}

result<void> session::evict(pod_row pod) {
  framework::session_state& c = *impl_->state;
  if (auto done = check_pod(c, pod); !done) return done.failure();
  const auto status_now = static_cast<pod_status>(c.live.pod_state[pod]);
  if (!model::is_in(status_now, model::active_allocated) || c.live.pod_node[pod] == no_row) {
    return error{status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' is not placed", {}};
  }
  if (status_now == pod_status::pipelined) {
    return error{status::state,
                 "pod '" + std::string(c.state().pod_names[pod]) + "' has a claim only: there is nothing to stop",
                 {}};
  }
  if (c.state().pods[pod].group == no_row) {
    return error{status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' has no pod group: it stays", {}};
  }
  if (c.statement.is_leaving(pod)) {
    return error{status::state, "pod '" + std::string(c.state().pod_names[pod]) + "' has been evicted already", {}};
  }
  const bool placed_now =
      status_now == pod_status::allocated &&
      std::any_of(c.statement.log.begin(), c.statement.log.end(), [&](const framework::operation& op) {
        return op.kind == framework::operation_kind::allocate && op.pod == pod && !op.undone;
      });
  if (placed_now) {
    return error{status::state,
                 "pod '" + std::string(c.state().pod_names[pod]) + "' has been placed by this statement: roll it back",
                 {}};
  }
  c.statement.evict(pod);
  return {};
}

result<void> session::commit() {
  impl_->state->statement.commit();
  impl_->state->statement.settle_decisions();
  return impl_->state->verify();
}

std::vector<decision> session_detail::decided_since(std::span<const decision> before, std::span<const decision> now) {
  const auto [old, first] = std::mismatch(before.begin(), before.end(), now.begin(), now.end());
  std::vector<decision> made;
  if (old == before.end()) {
    made.assign(first, now.end());
    return made;
  }
  // What was decided before has been taken back in part: its place is told first.
  const auto is_in = [](std::span<const decision> all, const decision& one) {
    return std::find(all.begin(), all.end(), one) != all.end();
  };
  for (const decision& d : before) {
    const bool placed = d.kind == decision_kind::bind || d.kind == decision_kind::pipeline;
    if (!placed || std::any_of(now.begin(), now.end(), [&](const decision& one) { return one.pod == d.pod; })) continue;
    made.push_back(d);
    made.back().kind = decision_kind::evict;
  }
  std::copy_if(now.begin(), now.end(), std::back_inserter(made),
               [&](const decision& one) { return !is_in(before, one); });
  return made;
}

std::span<const decision> session::decisions() const { return impl_->state->results.decisions; }

std::vector<reason> session::reasons() const {
  return session_detail::reasons_of(*impl_->state, session_detail::waiting_groups(*impl_->state));
}

std::vector<reason> session::reasons(std::span<const group_row> groups) const {
  std::vector<decision> waiting(groups.size());
  for (std::size_t i = 0; i < groups.size(); ++i) waiting[i].group = groups[i];
  return session_detail::reasons_of(*impl_->state, waiting);
}

std::string_view session::refusing_plugin(group_row group) const {
  return impl_->state->results.refusing_plugin(group);
}

std::uint64_t session::withdrawn_starts() const {
  const framework::session_state& c = *impl_->state;
  if (c.decides_net()) return c.results.withdrawn_starts;
  std::uint64_t count = 0;
  std::set<pod_row> started;
  for (const decision& d : c.results.decisions) {
    if (d.kind == decision_kind::bind) started.insert(d.pod);
    if (d.kind == decision_kind::evict) count += started.erase(d.pod);
  }
  return count;
}

result<candidate_table> session::candidates(pod_row pod) const {
  if (auto done = check_pod(*impl_->state, pod); !done) return done.failure();
  return session_detail::candidates_of(*impl_->state, pod);
}

result<table> session::to_table(table_kind kind) const {
  const std::vector<decision> waiting = session_detail::waiting_groups(*impl_->state);
  return session_detail::output_table(*impl_->state, impl_->state->results.decisions, waiting, kind);
}

result<table> session::to_table(std::span<const decision> made) const {
  return session_detail::output_table(*impl_->state, made, {}, table_kind::decision);
}

table session::to_table(const candidate_table& all) const { return session_detail::candidate_rows(*impl_->state, all); }

std::string session::digest() const {
  return session_detail::decision_digest(*impl_->state, impl_->state->results.decisions);
}
std::span<const action_statistics> session::statistics() const {
  return std::span(impl_->state->results.statistics)
      .subspan(1);  // the first entry counts what the host does between actions
}
std::span<const eviction_attempt> session::attempts() const { return impl_->state->results.attempts; }
session_view session::view() const { return impl_->state->view(); }
const snapshot& session::base() const { return impl_->state->base; }
std::string session::text(const reason& why) const { return session_detail::reason_text(*impl_->state, why); }
result<void> session::check() const { return impl_->state->check(); }
std::string session::state_digest() const { return impl_->state->state_digest(); }

}  // namespace kaisched
