#pragma once
/// @file
/// The tables of GPUs that MIG divides, for sessions.

#include <cstdint>
#include <span>
#include <string_view>

#include "policy/devices/mig.hpp"

namespace kaisched::devices {

/// The tables of data/vendors/mig.json.
[[nodiscard]] std::span<const divided_model> divided_models();

/// The table of a device by the name of its model and its memory in bytes; where that is not known (0), by what the
/// name says of it. Null: no table, or several and nothing tells which.
[[nodiscard]] const divided_model* divided_model_of(std::string_view model, std::int64_t memory);

}  // namespace kaisched::devices
