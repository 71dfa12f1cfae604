#pragma once
/// @file
/// The section `server` of the configuration.

#include <filesystem>
#include <string>

#include "server/http_server.hpp"

namespace YAML {
class Node;
}

namespace shim {

struct server_settings : server_options {
  std::string metrics_prefix = "kai_";                               ///< of the metrics that KAI has as well
  std::chrono::milliseconds stuck_after = std::chrono::minutes(10);  ///< so long without a step is no health
};

/// Errors: bad_input, bad_field.
void read_server(const YAML::Node& value, server_settings& to);

/// Paths that are not absolute are those of the configuration's folder.
void resolve_paths(server_options& of, const std::filesystem::path& folder);

}  // namespace shim
