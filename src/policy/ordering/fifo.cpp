// First in, first out: groups by creation time.
#include "policy/ordering/key_part.hpp"

namespace kaisched::policy {

namespace {

order_key creation_of(const session_view& view, group_row group) { return {view.group_created(group), 0}; }

}  // namespace

std::unique_ptr<policy_part> make_fifo(const policy_options&) {
  return std::make_unique<key_part<creation_of>>("fifo");
}

}  // namespace kaisched::policy
