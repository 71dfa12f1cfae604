#pragma once
/// @file
/// Options of the engine in a configuration.

#include <kaisched/abi.hpp>

#include "fields.hpp"

namespace shim {

/// Those of the map, after these. Errors: bad_input for what the engine refuses.
[[nodiscard]] kaisched::abi::options engine_options(const YAML::Node& value, kaisched::abi::options options);

}  // namespace shim
