#include "schedulers/yunikorn/rules/state.hpp"

#include <algorithm>

#include <kaisched/quantity.hpp>

#include "base/int128.hpp"

namespace kaisched::yunikorn {

std::int64_t cluster_state::age(row ask) const {
  std::int64_t age = 0;
  if (!__builtin_sub_overflow(now, asks[ask].created, &age)) return age;
  return now > 0 ? std::numeric_limits<std::int64_t>::max() : std::numeric_limits<std::int64_t>::min();
}

bool leaves_enough(const kind_state& kind, const amounts& available) {
  const base::int128 gpus = kind.leaves.empty() ? 0 : std::max<std::int64_t>(available[dim_gpu], 0);
  for (std::size_t d = 0; gpus > 0 && d < kind.leaves.size(); ++d) {
    const base::int128 left = base::int128{available[d]} - kind.request[d];
    if (kind.request[d] > 0 && left * whole_device < kind.leaves[d] * gpus) return false;
  }
  return true;
}

bool fits(const amounts& request, const amounts& available) {
  for (std::size_t d = 0; d < request.size(); ++d) {
    if (request[d] > std::max<std::int64_t>(available[d], 0)) return false;
  }
  return true;
}

void add(amounts& to, const amounts& what) {
  for (std::size_t d = 0; d < what.size(); ++d) to[d] += what[d];
}

void subtract(amounts& from, const amounts& what) {
  for (std::size_t d = 0; d < what.size(); ++d) from[d] -= what[d];
}

bool says_nothing(const bounds& of) {
  return std::ranges::all_of(of, [](std::int64_t one) { return one == undefined; });
}

bounds least_of(bounds one, const bounds& other) {
  for (std::size_t d = 0; d < one.size(); ++d) {
    if (one[d] == undefined) {
      one[d] = other[d];
    } else if (other[d] != undefined) {
      one[d] = std::min(one[d], other[d]);
    }
  }
  return one;
}

}  // namespace kaisched::yunikorn
