#pragma once
/// @file
/// KAI's arithmetic of parts of GPUs: MiB and hundredths of a GPU, its floating-point expressions in their order. Only
/// `compat` counts like this; `strict` counts bytes (`model/account.hpp`).

#include <cstdint>

#include "model/pod_class.hpp"

namespace kaisched::policy {

/// Memory of each GPU of a node in MiB as KAI reads it: rounded down to a multiple of 100, at least 100.
[[nodiscard]] std::int64_t kai_gpu_memory(std::int64_t bytes);
/// A part of a GPU in hundredths, rounded up.
[[nodiscard]] std::int64_t kai_hundredths(std::int64_t mib, std::int64_t gpu_mib);
/// Memory that a pod gets of each of its GPUs on a node, in MiB: what it asks for, or its share rounded down.
[[nodiscard]] std::int64_t kai_memory(const model::pod_class& c, std::int64_t gpu_mib);
/// A request for memory in MiB.
[[nodiscard]] std::int64_t kai_requested_mib(const model::pod_class& c);

/// GPUs in milli-GPU that a pod holds on a node: whole ones, hundredths of shared ones, slices of MIG instances.
[[nodiscard]] std::int64_t kai_gpus_held(const model::pod_class& c, std::int64_t gpu_mib);
/// GPUs that queues are asked for before a pod is placed there: parts once more from their memory, and rounded up.
[[nodiscard]] std::int64_t kai_gpus_asked_on(const model::pod_class& c, std::int64_t gpu_mib);
/// GPUs that queues are asked for where the node is not known: memory in parts of a GPU of this size.
[[nodiscard]] std::int64_t kai_gpus_asked(const model::pod_class& c, std::int64_t gpu_mib);

/// A request for memory in GPUs of this size, not rounded.
[[nodiscard]] double kai_gpus_of_memory(const model::pod_class& c, std::int64_t gpu_mib);

}  // namespace kaisched::policy
