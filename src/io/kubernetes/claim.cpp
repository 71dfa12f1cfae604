#include "io/kubernetes/claim.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/device_pools.hpp"

namespace kaisched::io::kubernetes {

namespace {

std::string in_namespace(const object& of, std::string_view name) {
  return of.name_space().empty() ? std::string(name) : fmt::format("{}/{}", of.name_space(), name);
}

/// Whether KAI takes the devices of a class for GPUs.
bool is_gpu_class(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return lower.find("gpu") != std::string::npos;
}

}  // namespace

void read_claim(object& of, bool has_pools, cluster_records& to) {
  const member devices = of.section(of.section(of.root(), "spec"), "devices");
  const member status = of.section(of.root(), "status");
  claim_record row;
  row.line = of.line();
  row.name = of.full_name();
  row.labels = label_texts_of(of, of.section(of.root(), "metadata"), "labels");
  bool has_gpu = false;
  for (const json_value request : of.items(devices, "requests")) {
    // Newer versions of the API wrap what is asked for; the first of alternatives stands for all of them.
    member asked = of.section(request, "exactly");
    if (!asked) {
      const std::vector<json_value> alternatives = of.items(request, "firstAvailable");
      asked = alternatives.empty() ? request : alternatives.front();
    }
    const std::string_view device_class = of.text(asked, "deviceClassName");
    const bool all = of.text(asked, "allocationMode") == "All";
    const std::int64_t count =
        all ? 1 : std::clamp<std::int64_t>(of.integer(asked, "count").value_or(1), 0, max_amount);
    const bool is_gpu = is_gpu_class(device_class);
    // A row has one class: that of the GPUs, which are what queues are charged for, if there are any.
    if (row.device_class.empty() || (is_gpu && !has_gpu)) {
      row.device_class = device_class;
      row.count = 0;
    }
    if (is_gpu || !has_gpu) row.count = std::min(row.count + count, max_amount);
    has_gpu = has_gpu || is_gpu;
  }
  const member allocation = of.section(status, "allocation");
  for (const json_value one : of.items(of.section(allocation, "devices"), "results")) {
    row.devices.push_back(
        fmt::format("{}/{}/{}", of.text(one, "driver"), of.text(one, "pool"), of.text(one, "device")));
  }
  for (const json_value one : of.items(status, "reservedFor")) {
    if (of.text(one, "resource") == "pods") row.reserved_for.push_back(in_namespace(of, of.text(one, "name")));
  }
  if (has_pools) read_claim_requests(of, row, to);
  if (!of.failed()) to.claims.push_back(std::move(row));
}

std::vector<std::string> claims_of(object& pod) {
  const member status = pod.section(pod.root(), "status");
  const std::vector<json_value> made = pod.items(status, "resourceClaimStatuses");
  std::vector<std::string> names;
  for (const json_value one : pod.items(pod.section(pod.root(), "spec"), "resourceClaims")) {
    const std::string_view reference = pod.text(one, "name");
    std::string_view claim = pod.text(one, "resourceClaimName");
    for (const json_value known : made) {
      if (claim.empty() && pod.text(known, "name") == reference) claim = pod.text(known, "resourceClaimName");
    }
    // A colon is in no name of Kubernetes.
    names.push_back(
        in_namespace(pod, claim.empty() ? fmt::format("{}:{}", pod.name(), reference) : std::string(claim)));
  }
  return names;
}

}  // namespace kaisched::io::kubernetes
