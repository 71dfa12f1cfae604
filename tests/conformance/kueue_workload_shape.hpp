#pragma once
/// @file
/// What queues compare recorded workloads by.

#include <string>

#include <nlohmann/json.hpp>

namespace kaisched::conformance::kueue {

/// What makes two workloads alike for a queue.
[[nodiscard]] nlohmann::json shape_of(const nlohmann::json& workload, const nlohmann::json& input);
/// "namespace/name"
[[nodiscard]] std::string local_queue_of(const nlohmann::json& workload);
/// Whether an error of the API server says that the object is gone.
[[nodiscard]] bool is_not_found(const std::string& error);

}  // namespace kaisched::conformance::kueue
