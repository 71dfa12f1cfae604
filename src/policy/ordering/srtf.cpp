// Shortest remaining time first; groups without an estimate last.
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"
#include "policy/ordering/service.hpp"

namespace kaisched::policy {

namespace {

order_key shortest_remaining_time(const session_view& view, group_row group) {
  const remaining_work left = remaining_of(inside(view), group);
  return left.known ? key_of_amount(left.time) : key_of_unknown();
}

}  // namespace

std::unique_ptr<policy_part> make_srtf(const policy_options&) {
  return std::make_unique<key_part<shortest_remaining_time>>("srtf");
}

}  // namespace kaisched::policy
