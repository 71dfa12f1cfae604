#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/session.hpp>

#include "base/shelf.hpp"
#include "framework/session_state.hpp"
#include "session/trial_sessions.hpp"
#include "session/trial_world.hpp"

namespace kaisched {

/// The cluster as a session left it after so many changes.
struct kept_world {
  session_detail::trial_world world;
  snapshot now;
  std::uint64_t changes = 0;
  std::size_t questions = 0;
};

struct session::impl {
  impl(const snapshot& base, std::shared_ptr<const framework::policy_setup> setup, std::int64_t now)
      : state(std::make_unique<framework::session_state>(base, std::move(setup), now)) {}
  /// A fork has trials of its own; that of a trial belongs to the same session as the trial.
  impl(const impl& other)
      : state(std::make_unique<framework::session_state>(*other.state)),
        warnings(other.warnings),
        worlds(other.worlds),
        above(other.above) {
    if (above != nullptr) above->add(state->run.cancel);
  }
  impl& operator=(const impl&) = delete;
  ~impl() {
    if (above != nullptr) above->remove(state->run.cancel);
  }
  /// This is a trial of another session, or of the one that the other is a trial of: it ends with it.
  void follow(const impl& other) {
    if (above != nullptr) above->remove(state->run.cancel);
    above = other.above != nullptr ? other.above : other.trials;
    above->add(state->run.cancel);
  }

  /// This goes on with what a trial of it has done.
  void adopt(impl& trial) noexcept {
    trial.above->remove(trial.state->run.cancel);
    const std::lock_guard lock(adopting);
    if (above != nullptr) above->replace(state->run.cancel, trial.state->run.cancel);
    state.swap(trial.state);
    warnings.swap(trial.warnings);
    trial.above = nullptr;
  }

  /// What an earlier question has left, or a new one. Errors: those of `trial_world::of`.
  [[nodiscard]] result<std::unique_ptr<kept_world>> take_world(const session& self);
  /// For the next question, unless so many have been asked that the names they tried have to go.
  void put_world(std::unique_ptr<kept_world> kept, std::size_t questions);

  std::mutex adopting;  ///< while another thread cancels
  std::unique_ptr<framework::session_state> state;
  std::vector<std::string> warnings;  ///< of actions that were run by old names
  base::shelf<kept_world> worlds;     ///< for the next question
  /// Trials of this session, and those that it is one of.
  std::shared_ptr<session_detail::trial_sessions> trials = std::make_shared<session_detail::trial_sessions>();
  std::shared_ptr<session_detail::trial_sessions> above;
};

namespace session_detail {

/// What a session has decided beyond what it, or the one that it is a fork of, had decided before. A start that it has
/// taken back is told as an eviction.
[[nodiscard]] std::vector<decision> decided_since(std::span<const decision> before, std::span<const decision> now);
/// One decision for each pod: how it stands at the end against how it stood at the beginning.
[[nodiscard]] std::vector<decision> net_decisions_of(const framework::session_state& c);
/// Decisions of the groups that wait, in order of priority, creation time and name.
[[nodiscard]] std::vector<decision> waiting_groups(const framework::session_state& c);
/// Reasons of these groups.
[[nodiscard]] std::vector<reason> reasons_of(const framework::session_state& c, std::span<const decision> waiting);
/// Why one node refuses the pods of a class and group, with figures; says nothing about what pods on nodes decide.
[[nodiscard]] reason judge_node(const framework::session_state& c, group_row group, const model::pod_class& ask,
                                node_row row);
/// See `session::candidates`; the pod exists.
[[nodiscard]] result<candidate_table> candidates_of(const framework::session_state& c, pod_row pod);
/// All nodes for a pod in the state of a session, whose parts are asked; without the score of one part, if it is named.
[[nodiscard]] result<candidate_table> nodes_for(framework::session_state& c, pod_row pod,
                                                std::string_view without = {});
/// The failure of a question about a pod that this session has not placed.
[[nodiscard]] error not_placed(const framework::session_state& c, pod_row pod);
/// Why a node refuses a pod that waits, in the state of the session now; `constraint::none` if it does not.
[[nodiscard]] result<reason> refusal_of(framework::session_state& c, pod_row pod, node_row node);
/// An amount of a dimension in the unit that people use.
[[nodiscard]] std::string amount_text(const framework::session_state& c, dimension d, std::int64_t amount);
[[nodiscard]] std::string reason_text(const framework::session_state& c, const reason& why);
[[nodiscard]] result<table> output_table(const framework::session_state& c, std::span<const decision> all,
                                         std::span<const decision> waiting, table_kind kind);
[[nodiscard]] table candidate_rows(const framework::session_state& c, const candidate_table& all);
[[nodiscard]] table sharing_group_table(const framework::session_state& c);
[[nodiscard]] std::string decision_digest(const framework::session_state& c, std::span<const decision> all);

}  // namespace session_detail
}  // namespace kaisched
