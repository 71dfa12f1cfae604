#pragma once
/// @file
/// What all sections of the configuration say that listen.

#include <string>

#include "configuration/fields.hpp"
#include "server/http_server.hpp"

namespace shim {

/// Fields of every section that listens.
[[nodiscard]] const fields<server_options>& listener_fields();
/// Those and the section's own.
template <class To>
[[nodiscard]] fields<To> with_listener(fields<To> own) {
  for (const auto& [name, set] : listener_fields()) {
    own.emplace(name, [&into = set](To& to, const YAML::Node& value) { into(to, value); });
  }
  return own;
}
/// Errors: bad_input for what is missing.
void check_listener(const server_options& of);
/// Errors: bad_input for what is no address and port.
void read_listen(const std::string& text, server_options& to);

}  // namespace shim
