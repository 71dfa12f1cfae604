#pragma once
/// @file
/// Devices that a session gives to claims -> what the API server has to hear of them.

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <kaisched/result.hpp>
#include <kaisched/session.hpp>

#include "io/kubernetes/translation.hpp"
#include "model/device_claims.hpp"

namespace kaisched::io::kubernetes {

/// What was decided about the claims of pods that start.
class claim_actions {
 public:
  explicit claim_actions(const object_names& names) : names_(names) {}
  [[nodiscard]] result<void> read(const session& from);

  /// `resourceClaimAllocations` of a `BindRequest`: claims that have got devices, by the names under which the pod has
  /// them.
  [[nodiscard]] nlohmann::ordered_json allocations(std::string_view pod, std::string_view node) const;
  /// A `ResourceClaim` for each claim of the pod that does not name it as a user yet: the part of its status to patch,
  /// and all that it takes to make it if Kubernetes has not.
  [[nodiscard]] std::vector<nlohmann::ordered_json> claims(std::string_view pod, std::string_view node) const;

 private:
  struct claim_facts {
    bool had_devices = false;
    std::set<std::string, std::less<>> users;  ///< before the session
    std::vector<model::claim_result> results;
  };

  [[nodiscard]] const std::vector<named_claim>& claims_of(std::string_view pod) const;
  [[nodiscard]] nlohmann::ordered_json allocation(const named_claim& one, const claim_facts& facts,
                                                  std::string_view node) const;

  const object_names& names_;
  std::map<std::string, claim_facts, std::less<>> claims_;
  std::set<std::string, std::less<>> open_pools_;  ///< `driver/pool`, which every node can use
  /// Device classes by claim and `request[/alternative]`.
  std::map<std::pair<std::string, std::string>, std::string> classes_;
};

/// A UUID (version 8) that follows from a text.
[[nodiscard]] std::string uuid_of(std::string_view text);

}  // namespace kaisched::io::kubernetes
