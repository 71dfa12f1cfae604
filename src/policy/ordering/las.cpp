// Least attained service first: the group that has had the least GPU time (Tiresias, NSDI 2019).
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"
#include "policy/ordering/service.hpp"

namespace kaisched::policy {

namespace {

order_key least_service(const session_view& view, group_row group) {
  return key_of_amount(service_of(inside(view), group));
}

}  // namespace

std::unique_ptr<policy_part> make_las(const policy_options&) {
  return std::make_unique<key_part<least_service>>("las");
}

}  // namespace kaisched::policy
