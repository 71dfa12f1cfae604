#pragma once
/// @file
/// Times as the API server writes them.

#include <chrono>
#include <string>

namespace shim {

/// RFC 3339 in UTC: to the second, or to the microsecond as events and leases have it.
[[nodiscard]] std::string clock_text(std::chrono::system_clock::time_point at, bool micro = false);

}  // namespace shim
