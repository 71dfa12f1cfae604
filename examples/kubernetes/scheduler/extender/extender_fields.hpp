#pragma once
/// @file
/// The section `extender` of the configuration.

#include <chrono>
#include <set>
#include <string>

#include <kaisched/abi.hpp>

#include "server/http_server.hpp"

namespace YAML {
class Node;
}

namespace shim {

/// Without an address there is no extender.
struct extender_settings : server_options {
  extender_settings() {
    most_body = 64U << 20U;  // nodes may come as a whole
    workers = 8;             // some of them wait for locks of nodes
  }
  std::set<std::string, std::less<>> resources{
      ///< pods that ask for these need devices that somebody registers
      "nvidia.com/gpu", "nvidia.com/gpumem", "nvidia.com/gpumem-percentage", "nvidia.com/gpucores"};
  std::chrono::milliseconds lock_wait = std::chrono::seconds(3);   ///< for the lock of a node
  std::chrono::milliseconds handshake = std::chrono::seconds(15);  ///< how often nodes are looked at; 0: never
  kaisched::abi::options engine{{"preset", "hami"}, {"actions", "allocate"}};
};

/// Errors: bad_input, bad_field. Options of the engine are checked by the engine.
void read_extender(const YAML::Node& value, extender_settings& to);

/// What `--extender` says. Errors: bad_input.
void read_extender_argument(const std::string& text, extender_settings& to);

}  // namespace shim
