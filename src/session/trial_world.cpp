#include "session/trial_world.hpp"

#include <algorithm>

#include "actions/nominations.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

result<trial_world> trial_world::of(const session& decided) {
  if (!decided.impl_->state->statement.log.empty())
    return error{status::state, "the statement is open: commit it or roll it back", {}};
  cluster world(decided.base());
  if (auto done = world.assume(decided); !done) return done.failure();
  return trial_world(*decided.impl_, std::move(world));
}

result<session> trial_world::open_by(const snapshot& over, std::shared_ptr<const framework::policy_setup> setup,
                                     std::int64_t now) {
  session opened(std::make_unique<session::impl>(over, std::move(setup), now));
  if (auto done = opened.impl_->state->open(); !done) return done.failure();
  actions::hold_nominated(*opened.impl_->state);
  return opened;
}

std::shared_ptr<const framework::policy_setup> trial_world::setup_of(const session& of) {
  return of.impl_->state->setup;
}

result<session> trial_world::open(const snapshot& over, std::int64_t now) const {
  session opened(std::make_unique<session::impl>(over, decided_->state->setup, now));
  opened.impl_->follow(*decided_);
  if (auto done = opened.impl_->state->open(); !done) return done.failure();
  actions::hold_nominated(*opened.impl_->state);
  return opened;
}

result<trial> trial_world::start(std::span<const table> delta, group_row group) {
  const result<snapshot> over = world_.preview(delta);
  if (!over) return trial{};
  result<session> then = open(*over, decided_->state->now);
  if (!then) return then.failure();
  if (auto done = then->run("allocate", group); !done) return done.failure();
  trial made;
  for (const decision& d : then->decisions()) {
    made.starts += d.kind == decision_kind::bind && d.group == group ? 1U : 0U;
  }
  if (made.starts == 0) made.reasons = reasons_in(*then, group);
  return made;
}

std::vector<reason> trial_world::reasons_in(const session& then, group_row group) {
  decision waits;
  waits.kind = decision_kind::unschedulable;
  waits.group = group;
  return reasons_of(*then.impl_->state, std::span(&waits, 1));
}

std::uint32_t places_of(std::span<const decision> made, group_row group) {
  return static_cast<std::uint32_t>(std::count_if(made.begin(), made.end(), [&](const decision& d) {
    return d.group == group && (d.kind == decision_kind::bind || d.kind == decision_kind::pipeline);
  }));
}

}  // namespace kaisched::session_detail

namespace kaisched {

result<std::unique_ptr<kept_world>> session::impl::take_world(const session& self) {
  std::unique_ptr<kept_world> kept = worlds.take();
  if (kept != nullptr && kept->changes == state->changes()) return kept;
  result<session_detail::trial_world> made = session_detail::trial_world::of(self);
  if (!made) return made.failure();
  kept = std::make_unique<kept_world>(kept_world{std::move(made).value(), {}, state->changes()});
  kept->now = kept->world.world().take_snapshot();
  return kept;
}

void session::impl::put_world(std::unique_ptr<kept_world> kept, std::size_t questions) {
  constexpr std::size_t most_questions = 256;  // each leaves names behind that were tried
  kept->questions += questions;
  if (kept->questions < most_questions) worlds.put(std::move(kept));
}

}  // namespace kaisched
