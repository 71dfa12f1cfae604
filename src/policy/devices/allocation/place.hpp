#pragma once
/// @file
/// Pods on nodes in HAMi's order: containers one after another, vendors of a container one after another, no way back.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "policy/devices/fit/fit.hpp"
#include "policy/devices/fit/order.hpp"
#include "policy/devices/fit/quota.hpp"
#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::devices {

/// How nodes and devices are chosen for one pod.
struct place_policies {
  std::string_view nodes = "binpack";      ///< or "spread"
  std::string_view devices = "spread";     ///< of the pod, or the default
  std::optional<std::string_view> sort{};  ///< by which devices are sorted; unset: as `devices`
  bool bind_numa = false;                  ///< devices of a NUMA node stay together in the order
  score_weights weights{};
};

/// The policies that a pod asks for; the given ones where it says nothing.
struct pod_policy_keys {
  std::string nodes;
  std::string devices;
  std::string weights;
};
[[nodiscard]] result<place_policies> policies_of(const pod& asking, const pod_policy_keys& keys,
                                                 const vendor_catalog& vendors, const place_policies& otherwise);

/// What a device would be used once the pod runs.
struct device_use {
  std::size_t position = 0;
  std::int64_t slots = 0;
  std::int64_t cores = 0;
  std::int64_t memory = 0;
};

struct node_placement {
  bool fits = false;
  std::string reason{};            ///< of the first container that does not fit
  pod_grants grants{};             ///< those of containers that run first come first
  float score = 0;                 ///< of the node before the pod, and what vendors add
  std::vector<device_use> uses{};  ///< of the devices that the pod gets
};

/// The devices of a node while a pod is tried: changes are taken back at the end.
class node_trial {
 public:
  explicit node_trial(node& where) : where_(&where) {}
  node_trial(const node_trial&) = delete;
  node_trial& operator=(const node_trial&) = delete;
  node_trial(node_trial&&) = delete;
  node_trial& operator=(node_trial&&) = delete;
  ~node_trial() { take_back(); }

  [[nodiscard]] const node& where() const { return *where_; }
  /// A device for writing.
  [[nodiscard]] device& change(std::size_t position);
  /// Devices that were changed and what they are now, in ascending order.
  [[nodiscard]] std::vector<device_use> uses() const;
  void take_back();

 private:
  node* where_;
  std::vector<std::pair<std::size_t, device>> before_;
};

/// What containers of a pod are tried with.
struct container_trial {
  const vendor_catalog& vendors;
  const pod& asking;
  const place_policies& policies;
  const space_quotas& quotas;
  /// The order of the devices, as the last vendor has left it; all of them in the beginning.
  std::vector<std::size_t> order{};
  std::vector<float> scores{};
};

/// Places one container: adds its grants to `grants` and its use to the devices. The reason if it does not fit.
[[nodiscard]] std::optional<std::string> place_container(container_trial& trial, node_trial& devices,
                                                         const std::vector<request>& requests, pod_grants& grants);

/// Places a pod on a node, which is afterwards as it was before.
[[nodiscard]] node_placement place_in_order(const vendor_catalog& vendors, node& where, const pod& asking,
                                            const place_policies& policies, const space_quotas& quotas);

/// Raises uses to those that are larger.
void raise_uses(std::vector<device_use>& peaks, const std::vector<device_use>& uses);

/// True if the request is for instances of divided devices, which may lie on one device.
[[nodiscard]] bool may_repeat(const vendor_template& vendor, const pod& asking, std::span<const device> devices,
                              std::span<const std::size_t> candidates);

}  // namespace kaisched::devices
