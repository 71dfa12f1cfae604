#include "simulation/quota_meter.hpp"

#include <algorithm>

namespace kaisched::simulation {

quota_meter::quota_meter(const std::vector<queue_share>& shares, const std::vector<std::string_view>& queues) {
  std::map<std::string_view, std::int64_t> quotas;
  for (const queue_share& one : shares) quotas[one.queue] = one.quota;
  for (const std::string_view name : queues) {
    entry& made = queues_.emplace_back();
    made.told.queue = std::string(name);
    const auto found = quotas.find(name);
    made.told.quota = found == quotas.end() ? unlimited : found->second;
  }
}

void quota_meter::wait(std::uint32_t queue, std::int64_t need, int sign) {
  std::map<std::int64_t, std::uint64_t>& needs = queues_[queue].needs;
  if (sign > 0) {
    ++needs[need];
  } else if (const auto of = needs.find(need); --of->second == 0) {
    needs.erase(of);
  }
}

void quota_meter::close(quota_claim& of, std::int64_t lasted) {
  if (of.claims == 1) of.first = lasted;
  of.longest = std::max(of.longest, lasted);
  of.total += lasted;
}

void quota_meter::note(std::int64_t now) {
  for (entry& one : queues_) {
    // Without a quota there is no claim.
    const bool is_open =
        one.told.quota > 0 && !one.needs.empty() && one.needs.begin()->first <= one.told.quota - one.held;
    if (is_open == (one.since != never)) continue;
    if (is_open) {
      ++one.told.claims;
      one.since = now;
    } else {
      close(one.told, now - one.since);
      one.since = never;
    }
  }
}

std::vector<quota_claim> quota_meter::until(std::int64_t end) const {
  std::vector<quota_claim> made;
  for (const entry& one : queues_) {
    if (one.told.quota <= 0) continue;
    quota_claim& told = made.emplace_back(one.told);
    told.is_open = one.since != never;
    if (told.is_open) close(told, std::max<std::int64_t>(0, end - one.since));
  }
  return made;
}

}  // namespace kaisched::simulation
