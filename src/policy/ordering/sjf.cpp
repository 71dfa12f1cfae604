// Shortest job first: the group that is expected to run for the shortest time; groups without an estimate last.
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"
#include "policy/ordering/service.hpp"

namespace kaisched::policy {

namespace {

order_key shortest_estimate(const session_view& view, group_row group) {
  const std::int64_t estimate = inside(view).state->group_extras[group].runtime_estimate;
  return estimate < 0 ? key_of_unknown() : key_of_amount(estimate);
}

}  // namespace

std::unique_ptr<policy_part> make_sjf(const policy_options&) {
  return std::make_unique<key_part<shortest_estimate>>("sjf");
}

}  // namespace kaisched::policy
