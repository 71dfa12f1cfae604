// Fair shares, order of queues, limits and quotas (KAI plugin "proportion"). Queues are ordered against the group that
// would be served next, which no key per queue can express, so the actions ask the functions beside this file directly;
// the part switches them on.
#include "policy/parts.hpp"

namespace kaisched::policy {

namespace {

class proportion_part final : public policy_part {
 public:
  [[nodiscard]] std::string_view name() const noexcept override { return "proportion"; }
  [[nodiscard]] std::uint32_t capabilities() const noexcept override { return 0; }
};

}  // namespace

std::unique_ptr<policy_part> make_proportion(const policy_options&) { return std::make_unique<proportion_part>(); }

}  // namespace kaisched::policy
