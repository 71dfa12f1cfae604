#pragma once
/// @file
/// What a pod needs that asks for parts of GPUs in KAI's way (`gpu-fraction`, `gpu-memory`): its container has to learn
/// from config maps which devices it has got, and these get their names before the pod is created.

#include <string>

#include <nlohmann/json.hpp>

#include "webhook/webhook_fields.hpp"

namespace shim {

/// Why the pod asks for what nobody can have; empty: it does not.
[[nodiscard]] std::string fault_of_sharer(const nlohmann::json& pod);

/// Adds the references and the run-time class. What is there already stays, so that it may be asked again.
/// @return the config map with the limits of the container. Errors: bad_input that names the field.
std::string admit_sharer(const share_admission& by, nlohmann::json& pod);

}  // namespace shim
