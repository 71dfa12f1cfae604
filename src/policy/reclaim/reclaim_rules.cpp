#include "policy/reclaim/reclaim_rules.hpp"

#include <limits>

namespace kaisched::policy::reclaim {

namespace {

double saturation(double held, double share) {
  if (share == 0) return held > 0 ? std::numeric_limits<double>::infinity() : 0;
  return share == -1 ? 0 : held / share;
}

}  // namespace

bool less_saturated(double share, double held, double sibling_share, double left, double multiplier) {
  const double above = saturation(held, share);
  if (above <= 1 || sibling_share <= 0) return true;
  return above * multiplier < saturation(left, sibling_share);
}

bool less_saturated(std::int64_t share, std::int64_t held, std::int64_t sibling_share, std::int64_t left,
                    std::int64_t multiplier) {
  if (share == unlimited || held <= share || sibling_share <= 0) return true;
  if (share == 0 || left <= 0) return false;
  return fraction_below(static_cast<base::int128>(held) * multiplier, static_cast<base::int128>(share) * 1000, left,
                        sibling_share);
}

}  // namespace kaisched::policy::reclaim
