// Whose eviction would cost the most GPU time comes first, and so loses pods last: work since the last checkpoint, and
// what a start costs (Gandiva, OSDI 2018; CheckFreq, FAST 2021).
#include "policy/access.hpp"
#include "policy/ordering/key_part.hpp"
#include "policy/ordering/service.hpp"

namespace kaisched::policy {

namespace {

order_key most_to_lose(const session_view& view, group_row group) {
  const order_key least = key_of_amount(lost_if_evicted(inside(view), group));
  return {-least.first, -least.second};
}

}  // namespace

std::unique_ptr<policy_part> make_lost_work(const policy_options&) {
  return std::make_unique<key_part<most_to_lose>>("lost_work");
}

}  // namespace kaisched::policy
