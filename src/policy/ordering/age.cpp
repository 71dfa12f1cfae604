// The group that has waited longest first. A group that was evicted waits since then.
#include <algorithm>

#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"

namespace kaisched::policy {

namespace {

/// Waiting times are told apart by when they began: no difference that could overflow.
order_key wait_of(const session_view& view, group_row group) {
  const session_access& a = inside(view);
  // `unset` is smaller than every time.
  return {std::max(a.state->groups[group].created, a.state->group_extras[group].last_eviction), 0};
}

}  // namespace

std::unique_ptr<policy_part> make_age(const policy_options&) { return std::make_unique<key_part<wait_of>>("age"); }

}  // namespace kaisched::policy
