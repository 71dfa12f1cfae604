// Earliest deadline first (Liu and Layland, 1973); groups without a deadline last.
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"

namespace kaisched::policy {

namespace {

order_key deadline_of(const session_view& view, group_row group) {
  const std::int64_t deadline = inside(view).state->group_extras[group].deadline;
  if (deadline == unset) return {1, 0};
  return {0, deadline};
}

}  // namespace

std::unique_ptr<policy_part> make_deadline(const policy_options&) {
  return std::make_unique<key_part<deadline_of>>("deadline");
}

}  // namespace kaisched::policy
