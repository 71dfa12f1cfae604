#pragma once
/// @file
/// Pod classes: everything that a pod asks for. Pods that ask for the same share a class, and so one filter result and
/// one order of candidates.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "model/figures.hpp"
#include "model/selector.hpp"
#include "model/sharing_mode.hpp"
#include "model/vendor_devices.hpp"

namespace kaisched::model {

/// Quality of service of a pod. `unknown`: not given.
enum class qos_class : std::uint8_t { unknown, guaranteed, burstable, best_effort };
[[nodiscard]] std::string_view qos_name(qos_class q) noexcept;  ///< empty for `unknown`

/// When a container runs. `sidecar`: an init container that stays.
enum class container_kind : std::uint8_t { container, init, sidecar };

/// What one container asks for.
struct container_ask {
  container_kind kind = container_kind::container;
  std::vector<std::pair<std::string, std::int64_t>> request;  ///< by name of dimension
};

/// What a pod asks for, as given. The texts are rows of `string_list` columns.
struct pod_ask {
  std::vector<std::int64_t> request;  ///< per dimension
  std::uint32_t device_count = 0;
  std::string node_selector;
  std::string node_affinity;
  std::string tolerations;
  std::string affinity;
  std::string anti_affinity;
  std::string host_ports;
  std::string obstacle;
  std::int64_t gpu_memory = 0;  ///< bytes of each device
  std::string claims;
  std::string containers;
  std::uint32_t claimed_gpus = 0;
  qos_class qos = qos_class::unknown;
  sharing_mode sharing = sharing_mode::unknown;
  std::string device_requests;
  std::string annotations;
  std::string node_preferences;
  std::string spread;
  std::string preferences;
  std::string load;

  /// Byte string that is equal exactly for equal asks.
  [[nodiscard]] std::string key() const;
};

/// A pod class, parsed.
struct pod_class {
  pod_ask ask;
  std::int64_t whole_devices = 0;    ///< devices asked for as a whole
  std::int64_t shared_devices = 0;   ///< devices asked for in part; at most one of the two is not zero
  std::int64_t device_share = 0;     ///< milli-GPU of each device: 1000 for whole ones
  std::int64_t memory_devices = 0;   ///< devices of which memory is asked for, instead of the two above
  std::int64_t claimed_devices = 0;  ///< GPUs of its claims
  std::int64_t mig_share = 0;        ///< milli-GPU of the MIG instances asked for
  std::int64_t mig_slices = 0;       ///< their compute slices
  std::int64_t mig_memory_gb = 0;    ///< their memory
  label_list node_selector;
  std::vector<selector> node_affinity;  ///< alternatives; empty: no requirement
  std::vector<toleration> tolerations;  ///< in the order of keys, each once
  std::vector<affinity_term> affinity;
  std::vector<affinity_term> anti_affinity;
  std::vector<host_port> host_ports;
  std::vector<container_ask> containers;        ///< in their order; empty: one with the request of the pod
  std::vector<vendor_request> device_requests;  ///< by container
  std::vector<std::pair<std::string, std::string>> annotations;
  std::vector<node_preference> node_preferences;
  std::vector<spread_constraint> spread;
  std::vector<pod_preference> preferences;  ///< of other pods
  std::vector<named_amount> load;           ///< of its devices, in thousandths

  [[nodiscard]] std::int64_t requests(std::uint32_t d) const { return d < ask.request.size() ? ask.request[d] : 0; }
  /// Devices, as a whole or in part.
  [[nodiscard]] bool wants_gpu() const { return whole_devices + shared_devices + memory_devices + claimed_devices > 0; }
  /// It names vendors: the GPUs in its request are an amount and no devices.
  [[nodiscard]] bool asks_vendors() const { return !device_requests.empty(); }
  /// Parts of devices, by share or by memory.
  [[nodiscard]] bool is_shared() const { return shared_devices + memory_devices > 0; }
  /// Number of devices that it gets parts of.
  [[nodiscard]] std::int64_t shared_count() const { return shared_devices + memory_devices; }
  [[nodiscard]] bool has_pod_affinity() const { return !affinity.empty() || !anti_affinity.empty(); }

  /// Node selector and required node affinity.
  [[nodiscard]] bool matches_labels(const label_list& labels) const;
  /// True if every taint that keeps pods away is tolerated.
  [[nodiscard]] bool tolerates(const std::vector<taint>& taints) const;
  /// The weights of its preferences that labels match.
  [[nodiscard]] std::int64_t preference_for(const label_list& labels) const;
  /// How many taints that keep nobody away it does not tolerate.
  [[nodiscard]] std::int64_t soft_taints(const std::vector<taint>& taints) const;
};

/// Why an ask makes no sense, and the column that says so.
struct ask_fault {
  std::uint32_t column = 0;  ///< of table `pod`
  error why;
};
/// Parses and checks an ask. If it makes no sense, `fault` tells why.
[[nodiscard]] std::optional<pod_class> make_pod_class(pod_ask ask, ask_fault& fault);

}  // namespace kaisched::model
