#include "policy/devices/fit/reasons.hpp"

#include <algorithm>
#include <vector>

namespace kaisched::devices {

namespace {

constexpr std::array<std::string_view, reason_count> names{
    "CardNotHealth",
    "CardUnhealthy",
    "CardCordoned",
    "CardTypeMismatch",
    "NumaNotFit",
    "CardUuidMismatch",
    "CardTimeSlicingExhausted",
    "ExclusiveDeviceAllocateConflict",
    "ResourceQuotaNotFit",
    "CardInsufficientMemory",
    "CardInsufficientCore",
    "CardComputeUnitsExhausted",
    "CardMigTopologyInfeasible",
    "CardNotFoundCustomFilterRule",
    "CardQosPolicyMismatch",
    "CardAppClassMismatch",
    "ModeNotFit",
    "AllocatedCardsInsufficientRequest",
    "NodeInsufficientDevice",
    "ContainersConflict",
    "Device type not found",
};

bool is_of_node(reason why) {
  return why == reason::node_insufficient_device || why == reason::unknown_vendor || why == reason::no_assignment;
}

}  // namespace

std::string_view reason_name(reason why) { return names[static_cast<std::size_t>(why)]; }

bool find_reason(std::string_view name, reason& found) {
  const auto at = std::find(names.begin(), names.end(), name);
  if (at == names.end()) return false;
  found = static_cast<reason>(at - names.begin());
  return true;
}

bool reason_counts::empty() const {
  return std::all_of(counts_.begin(), counts_.end(), [](std::int64_t count) { return count == 0; });
}

std::string reason_counts::text(std::int64_t candidates) const {
  std::vector<std::string> items;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] == 0 && !stated_[i]) continue;
    const auto why = static_cast<reason>(i);
    if (is_of_node(why)) return std::string(names[i]);
    items.push_back(std::to_string(counts_[i]) + "/" + std::to_string(candidates) + " " + std::string(names[i]));
  }
  std::sort(items.begin(), items.end());
  std::string text;
  for (const std::string& item : items) {
    if (!text.empty()) text += ", ";
    text += item;
  }
  return text;
}

}  // namespace kaisched::devices
