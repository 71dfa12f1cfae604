// Shortest remaining service first: remaining time times GPUs (Tiresias, NSDI 2019); groups without an estimate last.
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"
#include "policy/ordering/service.hpp"

namespace kaisched::policy {

namespace {

order_key shortest_remaining_service(const session_view& view, group_row group) {
  const remaining_work left = remaining_of(inside(view), group);
  return left.known ? key_of_amount(left.service) : key_of_unknown();
}

}  // namespace

std::unique_ptr<policy_part> make_srsf(const policy_options&) {
  return std::make_unique<key_part<shortest_remaining_service>>("srsf");
}

}  // namespace kaisched::policy
