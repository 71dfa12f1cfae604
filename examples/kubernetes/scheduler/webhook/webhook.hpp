#pragma once
/// @file
/// A mutating admission webhook (admission.k8s.io/v1): pods that ask for parts of GPUs get their scheduler, and each of
/// their containers that does gets its limits and the guard that keeps it to them.

#include <functional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "server/http_server.hpp"
#include "webhook/webhook_fields.hpp"

namespace shim {

/// What becomes of a pod.
struct admission {
  std::string denied;                 ///< why it may not be created; empty: it may
  nlohmann::json pod;                 ///< as it is to be created
  std::vector<std::string> warnings;  ///< that whoever creates it sees
};

/// Errors: bad_input that names the field; nlohmann::json::exception for a field of another type.
[[nodiscard]] admission admit(const webhook_settings& by, const nlohmann::json& pod);

/// Adds `/webhook`: an AdmissionReview in, one out. What is no review, or a pod that cannot be read, is answered with
/// 400, so that the API server does as its `failurePolicy` says. Before the server starts.
void serve_webhook(const webhook_settings& by, http_server& on, std::function<void(const std::string&)> log);

}  // namespace shim
