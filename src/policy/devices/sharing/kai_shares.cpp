#include "policy/devices/sharing/kai_shares.hpp"

#include <algorithm>
#include <cmath>

#include <kaisched/quantity.hpp>

namespace kaisched::policy {

namespace {

constexpr std::int64_t mib = std::int64_t{1} << 20U;
constexpr std::int64_t memory_step_mib = 100;
constexpr std::int64_t hundredth = whole_device / 100;

/// Portions count with two decimals.
std::int64_t in_hundredths(std::int64_t milli) {
  return std::llrint(static_cast<double>(milli) / static_cast<double>(whole_device) * 100);
}

}  // namespace

std::int64_t kai_gpu_memory(std::int64_t bytes) {
  return std::max(memory_step_mib, bytes / mib - bytes / mib % memory_step_mib);
}

std::int64_t kai_hundredths(std::int64_t part_mib, std::int64_t gpu_mib) {
  if (gpu_mib == 0) return 0;
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(part_mib) / static_cast<double>(gpu_mib) * 100));
}

std::int64_t kai_requested_mib(const model::pod_class& c) { return (c.ask.gpu_memory + mib - 1) / mib; }

std::int64_t kai_memory(const model::pod_class& c, std::int64_t gpu_mib) {
  if (c.memory_devices > 0) return kai_requested_mib(c);
  const double portion = static_cast<double>(c.device_share) / static_cast<double>(whole_device);
  return static_cast<std::int64_t>(portion * static_cast<double>(gpu_mib));
}

std::int64_t kai_gpus_held(const model::pod_class& c, std::int64_t gpu_mib) {
  const std::int64_t slices = c.mig_slices * whole_device;
  if (c.memory_devices > 0)
    return slices + c.memory_devices * kai_hundredths(kai_requested_mib(c), gpu_mib) * hundredth;
  if (c.shared_devices > 0) return slices + c.shared_devices * in_hundredths(c.device_share) * hundredth;
  return slices + c.requests(dim_gpu);
}

std::int64_t kai_gpus_asked_on(const model::pod_class& c, std::int64_t gpu_mib) {
  if (!c.is_shared()) return c.mig_slices * whole_device + c.requests(dim_gpu);
  return c.mig_slices * whole_device + c.shared_count() * kai_hundredths(kai_memory(c, gpu_mib), gpu_mib) * hundredth;
}

std::int64_t kai_gpus_asked(const model::pod_class& c, std::int64_t gpu_mib) {
  if (c.memory_devices == 0) return kai_gpus_held(c, gpu_mib);
  return std::llround(kai_gpus_of_memory(c, gpu_mib) * static_cast<double>(whole_device));
}

double kai_gpus_of_memory(const model::pod_class& c, std::int64_t gpu_mib) {
  if (gpu_mib == 0) return 0;
  return static_cast<double>(c.memory_devices) *
         (static_cast<double>(kai_requested_mib(c)) / static_cast<double>(gpu_mib));
}

}  // namespace kaisched::policy
