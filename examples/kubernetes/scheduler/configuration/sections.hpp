#pragma once
/// @file
/// The sections of the configuration: which fields each has, and what has to be there together.

#include <string>

#include "configuration/configuration.hpp"

namespace YAML {
class Node;
}

namespace shim {

// Errors: bad_input, bad_field. Options of the engine are checked by the engine.
void read_section(const YAML::Node& value, election_settings& to);
void read_section(const YAML::Node& value, extender_settings& to);
void read_section(const YAML::Node& value, load_settings& to);
void read_section(const YAML::Node& value, recording_settings& to);
void read_section(const YAML::Node& value, scaling_settings& to);
void read_section(const YAML::Node& value, server_settings& to);
void read_section(const YAML::Node& value, sharing_settings& to);
void read_section(const YAML::Node& value, usage_settings& to);
void read_section(const YAML::Node& value, webhook_settings& to);

/// The list of programs that are asked. Errors: bad_input, bad_field.
void read_extenders(const YAML::Node& value, extenders_settings& to);

/// A map with `time`, `requests`, `keep`. Errors: bad_input, bad_field.
void read_extender_limits(const YAML::Node& value, extenders_settings& to);

/// What `--extender` says. Errors: bad_input.
void read_extender_argument(const std::string& text, extender_settings& to);

}  // namespace shim
