#pragma once
/// @file
/// The section `webhook` of the configuration.

#include <string>

#include "server/http_server.hpp"

namespace shim {

enum class privileged_pods { skip, deny };  ///< left as they are, or refused as HAMi 2.10 does it

/// Pods that get parts of GPUs in KAI's way.
struct share_admission {
  std::string scheduler;      ///< their schedulerName; empty: there are none
  std::string runtime_class;  ///< that they get if they name none
};

/// Without an address there is no webhook.
struct webhook_settings : server_options {
  webhook_settings() { most_body = 8U << 20U; }
  std::string scheduler;  ///< schedulerName of pods that ask for parts of GPUs; empty: it stays
  bool isolation = true;  ///< put the guard in front of the driver
  std::string library = "/usr/local/lib/kaisched";  ///< folder of nodes that has the guard
  std::string ledgers;  ///< folder of nodes in which the agent keeps ledgers; empty: limits by variables
  privileged_pods privileged = privileged_pods::skip;
  share_admission shares;  ///< follows from the section `sharing`
};

}  // namespace shim
