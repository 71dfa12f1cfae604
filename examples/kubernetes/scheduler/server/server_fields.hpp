#pragma once
/// @file
/// The section `server` of the configuration.

#include <filesystem>
#include <string>

#include "server/http_server.hpp"

namespace shim {

struct server_settings : server_options {
  std::string metrics_prefix = "kai_";                               ///< of the metrics that KAI has as well
  std::chrono::milliseconds stuck_after = std::chrono::minutes(10);  ///< so long without a step is no health
};

}  // namespace shim
