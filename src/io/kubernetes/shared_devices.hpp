#pragma once
/// @file
/// Devices of nodes that are shared by the rules of their vendors (node_devices.hpp): what containers ask of them and
/// what they have, annotations and resources -> rows. Which names mean what is in the templates of the vendors
/// (docs/vendors.md).

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"
#include "model/vendor_devices.hpp"
#include "policy/devices/allocation/catalog.hpp"
#include "policy/devices/vendor/admission.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::io::kubernetes {

/// What devices are to the annotations of pods, by node and id.
using device_identities = std::map<std::pair<std::string, std::string>, registered_device>;

/// Containers of a pod, as annotations count them: all init containers, then the others.
struct container_places {
  std::size_t count = 0;
  /// By number of the container in the tables, where those that run before the others come first.
  std::vector<std::size_t> places;
  std::vector<std::string> names;  ///< by place
  /// Place and vendor, where cores alone ask for devices.
  std::set<std::pair<std::size_t, std::string>> by_cores;
};

/// Reads what is said about devices of vendors; all nodes first, then pods and quotas.
class shared_devices {
 public:
  explicit shared_devices(std::shared_ptr<const device_catalog> catalog) : catalog_(std::move(catalog)) {}

  /// Takes note of the vendors, once all nodes are read.
  void note_nodes(const std::vector<node_record>& nodes);
  /// Whether there are devices of any vendor.
  [[nodiscard]] bool any() const { return !vendors_.empty(); }
  /// Whether no row of a pod depends on what is read here.
  [[nodiscard]] bool is_idle() const { return vendors_.empty() && !other_devices_; }

  /// The node that a waiting pod has been given devices of, while it is being bound; else empty.
  [[nodiscard]] std::string_view binding_node(const object& of, std::int64_t now) const;
  /// Turns the resources of such vendors into requests, and grants on the node of the pod into those of the tables.
  /// `hami`: only nodes with registered devices serve the pod.
  void read_pod(object& of, member spec, bool hami, pod_record& row);
  /// Whether a pod must be kept off nodes that have devices, but no GPUs: it asks for GPUs as a whole, in amounts that
  /// do not say of which vendor.
  [[nodiscard]] bool avoids_other_devices(const pod_record& row) const;
  /// A `ResourceQuota`: what a namespace may hold.
  void read_quota(object& of, std::vector<device_quota_record>& rows) const;
  /// GPUs that nodes have: devices that are in order, or held.
  void count_devices(std::vector<node_record>& nodes) const;

  /// Of the devices of all nodes, and of the pods that may get some.
  [[nodiscard]] device_identities take_identities() { return std::move(identities_); }
  [[nodiscard]] std::map<std::string, container_places, std::less<>> take_places() { return std::move(places_); }

 private:
  /// A vendor of which some node has devices.
  struct known_vendor {
    const devices::vendor_template* rules = nullptr;
    std::vector<std::string> names;  ///< resources
    std::int64_t most_memory = 0;    ///< of any of its devices
    std::int64_t most_slots = 1;
    std::int64_t most_cores = 0;
  };
  struct container {
    json_value of;
    std::size_t place = 0;
    bool init = false;  ///< it runs before the others
  };
  /// What one container asks of one vendor.
  struct asked {
    std::size_t number = 0;
    bool init = false;
    devices::request what;
    bool count_only = false;
    bool by_cores = false;  ///< no number of devices is written
  };

  [[nodiscard]] const known_vendor* known(std::string_view key) const;
  [[nodiscard]] static std::vector<container> containers_of(object& of, member spec);
  /// Whether it has resources of such vendors.
  [[nodiscard]] bool asks_any(const container& one) const;
  /// Whether some have GPUs whose vendor registers none.
  [[nodiscard]] bool asks_other_gpus(const std::vector<container>& containers) const;
  void ask(object& of, const container& one, std::size_t number, devices::admitted_container& state,
           std::vector<asked>& to, pod_record& row) const;
  /// The pod can have whole GPUs wherever there are some.
  [[nodiscard]] bool is_plain(const std::vector<asked>& all) const;
  [[nodiscard]] std::int64_t charge_of(const asked& one) const;
  [[nodiscard]] static std::int64_t share_of(const asked& one, const known_vendor& vendor);
  [[nodiscard]] std::int64_t charge_of(const std::vector<asked>& all) const;
  /// What annotations say that the pod has, by vendor; requests that are missing for it are added.
  [[nodiscard]] std::vector<std::string> grants_of(object& of, const std::string& node, const container_places& places,
                                                   const std::vector<container>& containers, std::vector<asked>& all,
                                                   bool plain);
  [[nodiscard]] bool is_of_one_vendor(const std::string& node) const;

  std::shared_ptr<const device_catalog> catalog_;
  std::vector<known_vendor> vendors_;
  std::set<std::string, std::less<>> names_;  ///< resources of these vendors
  bool plain_gpus_ = false;                   ///< some nodes have GPUs that nobody registers
  bool other_devices_ = false;                ///< some nodes have devices, but no GPUs
  device_identities identities_;
  std::map<std::string, container_places, std::less<>> places_;
  std::set<std::pair<std::string, std::string>> held_;  ///< devices of pods, by node and id
};

}  // namespace kaisched::io::kubernetes
