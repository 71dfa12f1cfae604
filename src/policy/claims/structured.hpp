#pragma once
/// @file
/// What a session knows of claims with requests: the pools of devices, and what every claim asks for.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/state.hpp"
#include "policy/claims/allocator.hpp"

namespace kaisched::policy {

/// Made when a session opens and never changed.
struct structured_claims {
  /// A claim that has rows in `claim_request`.
  struct one {
    bool structured = false;
    claim_request request{};
    std::string broken{};     ///< why it can have no devices, such as a class that does not exist
    std::uint32_t shape = 0;  ///< equal for claims that ask for the same
  };

  std::vector<device_slice> slices;
  device_pools pools;
  std::vector<one> claims;  ///< as they are given
  selector_answers answers;
};

/// Claims by number; null if none of them has requests.
[[nodiscard]] std::shared_ptr<const structured_claims> structured_claims_of(
    const model::cluster_state& s, const std::vector<const model::claim_info*>& claims);

/// What a claim has been given, as its rows say it; devices that no pool offers are left out.
[[nodiscard]] std::vector<given_device> given_of(const structured_claims& of, std::uint32_t claim,
                                                 const std::vector<model::claim_result>& results);
/// The inverse.
[[nodiscard]] model::claim_result result_of(const structured_claims& of, std::uint32_t claim, const given_device& one);

}  // namespace kaisched::policy
