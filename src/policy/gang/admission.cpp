#include "policy/gang/admission.hpp"

namespace kaisched::policy {

resource_list promisable(const resource_list& total, const resource_list& used, double factor) {
  constexpr double fallback = 1.2;
  resource_list left = total;
  left.multiply(factor < 1.0 ? fallback : factor);
  left.subtract(used);
  return left;
}

resource_names overcommitted(const resource_list& promisable, const resource_list& promised,
                             const resource_list& minimum) {
  resource_list together = promised;
  together.add(minimum);
  return exceeding_of(together, promisable, minimum);
}

}  // namespace kaisched::policy
