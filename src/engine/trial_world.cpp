#include "engine/trial_world.hpp"

#include <algorithm>

#include "actions/actions.hpp"
#include "engine/session_impl.hpp"

namespace kaisched::engine_detail {

result<trial_world> trial_world::of(const session& decided, const work::core& c) {
  if (!c.log.empty()) return error{status::state, "the statement is open: commit it or roll it back", {}};
  cluster world(decided.base());
  if (auto done = world.assume(decided); !done) return done.failure();
  return trial_world(c, std::move(world));
}

result<trial> trial_world::start(std::span<const table> delta, group_row group) {
  const result<snapshot> over = world_.preview(delta);
  if (!over) return trial{};
  work::core then(*over, c_.options, c_.now, c_.factories, c_.catalog);
  if (auto done = then.open(); !done) return done.failure();
  then.action = action_kind::allocate;
  then.only_group = group;
  then.statistics.push_back({});
  then.prepare_classes();
  if (auto done = actions::allocate(then); !done) return done.failure();
  then.renew_survey();
  trial made;
  made.starts =
      static_cast<std::uint32_t>(std::count_if(then.decisions.begin(), then.decisions.end(), [&](const decision& d) {
        return d.kind == decision_kind::bind && d.group == group;
      }));
  if (made.starts > 0) return made;
  decision waits;
  waits.kind = decision_kind::unschedulable;
  waits.group = group;
  made.reasons = reasons_of(then, std::span(&waits, 1));
  return made;
}

}  // namespace kaisched::engine_detail
