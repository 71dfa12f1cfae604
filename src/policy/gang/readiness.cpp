#include "policy/gang/readiness.hpp"

namespace kaisched::policy {

std::int64_t role_minimums::total() const {
  std::int64_t sum = 0;
  for (const auto& [role, least] : by_role) sum += least;
  return sum;
}

}  // namespace kaisched::policy
