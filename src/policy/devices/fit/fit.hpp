#pragma once
/// @file
/// Whether devices of a node serve a request of one container, and which: every device is asked the checks of the
/// vendor's template in turn, then a set is chosen among those that would do.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "policy/devices/fit/quota.hpp"
#include "policy/devices/fit/reasons.hpp"
#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/vendor.hpp"
#include "policy/devices/vendor/wishes.hpp"

namespace kaisched::devices {

/// One request at one node.
struct fit_question {
  const vendor_template& vendor;
  const node& where;
  std::span<const std::size_t> candidates;  ///< positions of devices; tried from the end
  const request& asked;
  const wishes& wanted;
  const pod_grants& earlier;        ///< of earlier containers
  std::size_t init_containers = 0;  ///< how many of these run one after another
  const space_quota* quota = nullptr;
};

struct fit_answer {
  bool fits = false;
  /// In the order in which they were tried. If the request does not fit: what there was of it.
  container_grants grants{};
  reason_counts reasons{};
  std::int64_t counted_of = 0;  ///< candidates that the reasons count

  [[nodiscard]] std::string reason_text() const { return fits ? std::string() : reasons.text(counted_of); }
};

[[nodiscard]] fit_answer fit(const fit_question& question);

/// What a request would take of a device.
struct taken_amounts {
  std::int64_t memory = 0;
  std::int64_t cores = 0;
};
[[nodiscard]] taken_amounts amounts_on(const vendor_template& vendor, const request& asked, const device& of);

/// The reason why a device cannot serve a request, or nothing. `gathered` are grants that the container has already.
/// The check of NUMA nodes is not part of it: it is about the collection.
[[nodiscard]] std::optional<reason> refusal(const fit_question& question, const device& of,
                                            const container_grants& gathered);

/// The smallest profile of any of the candidates that serves a request by slices, memory or cores.
struct slice_choice {
  slice_profile profile;
  std::int64_t percent = 0;  ///< of the cores of a device
};
[[nodiscard]] std::optional<slice_choice> choose_slices(const fit_question& question);

/// The lowest free bits of a mask; all of them for a count of 0.
[[nodiscard]] std::int64_t free_bits(std::int64_t mask, std::int64_t used, std::int64_t count);

/// Grant of a device in full: identity, amounts, and attributes where the template keeps them.
[[nodiscard]] grant grant_of(const fit_question& question, std::size_t position, taken_amounts amounts);

}  // namespace kaisched::devices
