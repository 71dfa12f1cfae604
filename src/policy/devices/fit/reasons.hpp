#pragma once
/// @file
/// Why devices of a node do not serve a request: counts of devices by reason, in HAMi's names.

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace kaisched::devices {

enum class reason : std::uint8_t {
  card_not_health,
  card_unhealthy,
  card_cordoned,
  card_type_mismatch,
  numa_not_fit,
  card_uuid_mismatch,
  card_time_slicing_exhausted,
  exclusive_device_allocate_conflict,
  resource_quota_not_fit,
  card_insufficient_memory,
  card_insufficient_core,
  card_compute_units_exhausted,
  card_mig_topology_infeasible,
  card_not_found_custom_filter_rule,
  card_qos_policy_mismatch,
  card_app_class_mismatch,
  mode_not_fit,
  allocated_cards_insufficient_request,
  node_insufficient_device,
  no_assignment,  ///< every container fits alone, all of them together do not
  unknown_vendor
};
inline constexpr std::size_t reason_count = 21;

/// "CardInsufficientMemory".
[[nodiscard]] std::string_view reason_name(reason why);
/// The reason with a name; false if there is none.
[[nodiscard]] bool find_reason(std::string_view name, reason& found);

/// How many devices a request did not get, and why.
class reason_counts {
 public:
  void add(reason why, std::int64_t devices = 1) { counts_[static_cast<std::size_t>(why)] += devices; }
  /// Counts are shown from then on even if they are 0.
  void set(reason why, std::int64_t devices) {
    counts_[static_cast<std::size_t>(why)] = devices;
    stated_[static_cast<std::size_t>(why)] = true;
  }
  /// True if a count was stated with `set`.
  [[nodiscard]] bool stated(reason why) const { return stated_[static_cast<std::size_t>(why)]; }
  [[nodiscard]] std::int64_t operator[](reason why) const { return counts_[static_cast<std::size_t>(why)]; }
  [[nodiscard]] bool empty() const;
  /// "2/4 CardInsufficientMemory, 1/4 CardUuidMismatch": items in the order of their text. A reason of the whole node
  /// stands alone and without a count.
  [[nodiscard]] std::string text(std::int64_t candidates) const;

  friend bool operator==(const reason_counts&, const reason_counts&) = default;

 private:
  std::array<std::int64_t, reason_count> counts_{};
  std::array<bool, reason_count> stated_{};
};

}  // namespace kaisched::devices
