#pragma once
/// @file
/// Which devices claims get at a node: an exact search in a fixed order. Pure functions of pools, claims and usage.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "model/cel.hpp"
#include "policy/claims/device_pools.hpp"

namespace kaisched::policy {

/// Devices that one claim can have, as many as Kubernetes allows.
inline constexpr std::uint32_t most_devices_of_claim = 32;
/// Devices that one search tries before it gives up and says so.
inline constexpr std::uint64_t most_allocation_steps = 100'000;

/// An amount of a capacity; without a domain it is that of the driver of the device.
struct capacity_ask {
  std::string domain{};
  std::string name;
  model::exact_quantity amount{};
};

/// What a request asks for, or one of its alternatives.
struct device_ask {
  std::string name{};                            ///< of an alternative
  std::vector<model::cel_expression> selectors;  ///< those of the class first
  bool all = false;                              ///< every device that matches; else `count` of them
  std::int64_t count = 1;
  bool admin = false;  ///< access beside all others
  std::vector<model::toleration> tolerations{};
  std::vector<capacity_ask> capacities{};
};

/// A request: its alternatives, best first. What asks for exactly one thing has one.
struct device_request {
  std::string name;
  std::vector<device_ask> alternatives;
};

/// All devices of some requests have the same value of an attribute, or no two of them have.
struct attribute_constraint {
  std::vector<std::string> requests{};  ///< `request` or `request/alternative`; empty: all of the claim
  std::string domain;
  std::string name;
  bool distinct = false;
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
  too_many_devices,      ///< all devices are more than a claim can have
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

/// Answers of selectors, which do not depend on who holds what. One object serves all searches with the same asks.
class selector_answers {
 public:
  struct one {
    bool known = false;
    model::cel_answer::kind is = model::cel_answer::kind::no;
    std::string message{};
  };
  /// Whether all selectors of an ask choose a device; the first that does not decides.
  const one& of(const device_pools& pools, const device_ask& ask, std::uint32_t device);

 private:
  std::map<std::pair<const device_ask*, std::uint32_t>, one> known_;
};

/// What all searches of one state have in common.
struct allocation_scene {
  const device_pools& pools;
  std::span<const std::uint32_t> reachable;  ///< devices of the node, ascending
  std::uint64_t most_steps = most_allocation_steps;
};

/// The amounts that a device gives to a request, by capacity; empty: it has not what is asked for. Devices that are not
/// shared give nothing away, but must have it.
[[nodiscard]] std::optional<std::vector<model::exact_quantity>> amounts_for(const device_ask& ask,
                                                                            const offered_device& device,
                                                                            std::string_view driver);

/// Devices for all claims together, the first in lexicographic order of: alternative of the first request, its devices,
/// alternative of the second request ... `usage` is changed during the search and is as before when it ends.
[[nodiscard]] allocation_answer allocate(const allocation_scene& scene, std::span<const claim_request* const> claims,
                                         device_usage& usage, selector_answers& answers);

}  // namespace kaisched::policy
