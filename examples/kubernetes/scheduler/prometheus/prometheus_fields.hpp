#pragma once
/// @file
/// Where a Prometheus is and who asks it.

#include <chrono>
#include <filesystem>
#include <string>

namespace shim {

struct prometheus_settings {
  std::string url;                   ///< empty: there is none
  std::filesystem::path token_file;  ///< read again for every request
  std::filesystem::path ca;          ///< PEM; empty: what the system trusts
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
};

}  // namespace shim
