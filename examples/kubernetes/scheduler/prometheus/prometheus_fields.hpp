#pragma once
/// @file
/// Where a Prometheus is and who asks it.

#include <chrono>
#include <filesystem>
#include <string>

#include "api_server/credentials.hpp"

namespace YAML {
class Node;
}

namespace shim {

struct prometheus_settings {
  std::string url;                   ///< empty: there is none
  std::filesystem::path token_file;  ///< read again for every request
  std::filesystem::path ca;          ///< PEM; empty: what the system trusts
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

/// An address alone, or a map with `url`, `token_file`, `ca`, `timeout`. Errors: bad_input, bad_field.
void read_prometheus(const YAML::Node& value, prometheus_settings& to);

/// Paths that are not absolute are those of the configuration's folder.
void resolve_paths(prometheus_settings& of, const std::filesystem::path& folder);

/// Where requests go and how they prove who asks. @param url is http or https. Errors: bad_input that names the part.
[[nodiscard]] credentials credentials_for(const std::string& url);
[[nodiscard]] credentials credentials_for(const prometheus_settings& of);

}  // namespace shim
