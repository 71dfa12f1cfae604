#include "schedulers/kueue/rules/scan_memory.hpp"

#include <algorithm>

namespace kaisched::kueue {

bool has_flavors_left(const scan_progress& progress) {
  return std::ranges::any_of(progress, [](const auto& of_set) {
    return std::ranges::any_of(of_set, [](const auto& one) { return one.second != -1; });
  });
}

bool is_outdated(const scan_memory& memory, const scan_memory& now, bool lasts_a_cycle) {
  if (lasts_a_cycle) {
    if (!memory.shape.empty() && !now.shape.empty() && memory.shape != now.shape) return true;
    if (now.cycle - memory.cycle <= 1) return false;
  }
  return now.generation > memory.generation;
}

}  // namespace kaisched::kueue
