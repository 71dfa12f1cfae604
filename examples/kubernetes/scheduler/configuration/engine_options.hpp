#pragma once
/// @file
/// Options of the engine in a configuration.

#include <functional>
#include <string>
#include <string_view>

#include <kaisched/abi.hpp>

#include "configuration/fields.hpp"

namespace shim {

/// Those of the map, after these. Errors: bad_input for what the engine refuses.
[[nodiscard]] kaisched::abi::options engine_options(const YAML::Node& value, kaisched::abi::options options);

/// Logs what the engine says of options that have names of the version before.
/// @param where field of the configuration that has these options.
void log_warnings(std::string_view where, const kaisched::abi::options& options,
                  const std::function<void(const std::string&)>& log);

}  // namespace shim
