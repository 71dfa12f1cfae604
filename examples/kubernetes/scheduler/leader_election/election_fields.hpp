#pragma once
/// @file
/// The section `leader_election` of the configuration.

#include <chrono>
#include <string>

namespace shim {

/// Who decides where several processes run, see election.hpp.
struct election_settings {
  bool enabled = true;
  std::string name_space;  ///< of the lease; empty: that of the credentials, else kube-system
  std::string name;        ///< of the lease; empty: the name of the scheduler, with the pool behind it
  std::chrono::milliseconds lease_duration = std::chrono::seconds(15);  ///< whole seconds, as leases have them
  std::chrono::milliseconds renew_deadline = std::chrono::seconds(10);
  std::chrono::milliseconds retry_period = std::chrono::seconds(2);
};

}  // namespace shim
