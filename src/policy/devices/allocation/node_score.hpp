#pragma once
/// @file
/// Scores of nodes: HAMi's use of all devices before a pod, and what rules of vendors add to it.

#include <span>
#include <string_view>
#include <vector>

#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::devices {

/// Ten times the sum of the used parts of slots, cores and memory, of all devices together; 0 if one of them is
/// missing.
[[nodiscard]] float use_score(std::span<const device> devices);

/// One grant and the device that it is of.
struct granted_device {
  const grant* taken = nullptr;
  const device* of = nullptr;
};

/// What a vendor's rule is asked.
struct score_question {
  const vendor_template& vendor;
  const node& where;                                        ///< devices as they were before
  const std::vector<std::vector<granted_device>>& granted;  ///< container by container
  const pod& asking;
  std::string_view policy;  ///< of nodes
};
/// What the rule adds. Rules that do not look at the policy count ten thousand times, and are turned around for
/// `spread`.
[[nodiscard]] float vendor_score(const score_question& question);

/// The answer of the rule alone.
[[nodiscard]] float plain_vendor_score(const score_question& question);

/// True if the zones of the granted devices count: a whole device is among them, and the pod or the template says so.
[[nodiscard]] bool zones_count(const score_question& question);

/// How much a set of taken devices splits islands of four: 0 for a full or empty one beside an untouched one, ...
[[nodiscard]] int island_gaps(std::span<const std::int64_t> taken, std::int64_t island_size);
/// The score of taking `more` after `taken`.
[[nodiscard]] float island_gap_score(std::span<const std::int64_t> taken, std::span<const std::int64_t> more,
                                     std::int64_t island_size);

}  // namespace kaisched::devices
