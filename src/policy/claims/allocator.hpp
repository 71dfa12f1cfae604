#pragma once
/// @file
/// Which devices claims get at a node: an exact search in a fixed order. Pure functions of pools, claims and usage.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "policy/claims/device_pools.hpp"

namespace kaisched::policy {

/// Devices that one claim can have, as many as Kubernetes allows.
inline constexpr std::uint32_t most_devices_of_claim = 32;
/// Devices that one search tries before it gives up and says so.
inline constexpr std::uint64_t most_allocation_steps = 100'000;

using model::attribute_constraint;
using model::capacity_ask;
using model::device_ask;

/// A request: its alternatives, best first. What asks for exactly one thing has one.
struct device_request {
  std::string name;
  std::vector<device_ask> alternatives;
};

/// A claim.
struct claim_request {
  std::vector<device_request> requests;
  std::vector<attribute_constraint> constraints{};
};

/// A device that a claim gets.
struct given_device {
  std::uint32_t claim = 0;  ///< by position, as the next two
  std::uint32_t request = 0;
  std::uint32_t alternative = 0;
  device_share share{};
  friend bool operator==(const given_device&, const given_device&) = default;
};

/// How a search ended.
enum class allocation_outcome : std::uint8_t {
  found,
  none,                  ///< no devices satisfy the claims
  selector_failed,       ///< a selector has no answer for a device: it gets nothing rather than a guess
  pool_changing,         ///< all devices are asked for and a pool is not usable
  too_many_devices,      ///< what is asked for is more than a claim can have
  not_searched_further,  ///< the work was used up: there may be devices, or none
};

struct allocation_answer {
  allocation_outcome outcome = allocation_outcome::none;
  std::vector<given_device> given{};  ///< by claim, request and device
  std::uint32_t claim = 0;            ///< that failed
  std::uint32_t request = 0;
  std::string message{};  ///< why, for a person
  std::uint64_t steps = 0;
};

/// Answers of selectors, which do not depend on who holds what. Searches may run at the same time: whoever asks first
/// stores an answer, and all come to the same one.
class selector_answers {
 public:
  struct one {
    model::cel_answer::kind is = model::cel_answer::kind::no;
    std::string message{};
  };
  selector_answers() = default;
  /// Remembers answers for an ask, together with those of all asks of the same key. Others are answered anew each time.
  void remember(const device_ask& ask, const std::string& key, const device_pools& pools);
  /// Whether all selectors of an ask choose a device; the first that does not decides.
  [[nodiscard]] one of(const device_pools& pools, const device_ask& ask, std::uint32_t device) const;

 private:
  using known_answers = std::vector<std::atomic<std::uint8_t>>;  ///< by device; 0: not asked yet
  std::map<std::string, std::shared_ptr<known_answers>> by_key_;
  std::map<const device_ask*, known_answers*> by_ask_;
};

/// What all searches of one state have in common.
struct allocation_scene {
  const device_pools& pools;
  const device_usage& usage;
  const selector_answers& answers;
  std::span<const std::uint32_t> reachable;  ///< devices of the node, ascending
  wanted_shares besides{};                   ///< what others want at the same time, and get first
  std::uint64_t most_steps = most_allocation_steps;
};

/// Devices for all claims together, the first in lexicographic order of: alternative of the first request, its devices,
/// alternative of the second request ...
[[nodiscard]] allocation_answer allocate(const allocation_scene& scene, std::span<const claim_request* const> claims);

}  // namespace kaisched::policy
