#pragma once
/// @file
/// Which of the kinds that a cluster may have or not are served.

#include <set>
#include <span>
#include <string>

#include "api_server/http_client.hpp"
#include "api_server/resources.hpp"

namespace shim {

/// Asks the API server: what groups there are, then each group of these kinds that is there.
/// @param of kinds that are not required. @return keys of those that are served; if the server does not say, because
/// the program may not ask, all of them. Errors: std::runtime_error for other answers, those of the client.
[[nodiscard]] std::set<std::string> served_kinds(http_client& client, std::span<const resource> of);

}  // namespace shim
