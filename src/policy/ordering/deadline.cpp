// Earliest deadline first (Liu and Layland, 1973); groups without a deadline last.
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"
#include "policy/ordering/service.hpp"

namespace kaisched::policy {

namespace {

/// What is left of the group, as far as it is known, ends before its deadline if it goes on from now on.
bool can_keep(const session_access& a, group_row group, std::int64_t deadline) {
  const remaining_work left = remaining_of(a, group);
  return base::int128{a.now} + (left.known ? left.time : 0) <= deadline;
}

order_key deadline_of(const session_view& view, group_row group) {
  const session_access& a = inside(view);
  const std::int64_t deadline = a.state->group_extras[group].deadline;
  const bool counts = deadline != unset && (!a.options->realistic_deadlines || can_keep(a, group, deadline));
  return counts ? order_key{0, deadline} : order_key{1, 0};
}

}  // namespace

std::unique_ptr<policy_part> make_deadline(const policy_options&) {
  return std::make_unique<key_part<deadline_of>>("deadline");
}

}  // namespace kaisched::policy
