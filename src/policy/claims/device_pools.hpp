#pragma once
/// @file
/// Devices that drivers offer in pools, and what claims hold of them (Kubernetes' dynamic resource allocation).

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/device_claims.hpp"

namespace kaisched::policy {

using model::counter_amount;
using model::device_reach;
using model::offered_device;

/// A part of a pool. A pool has changed when a slice of a higher generation is there; it is complete when there are as
/// many slices of that generation as each of them says.
struct device_slice {
  std::string driver;
  std::string pool;
  std::int64_t generation = 0;
  std::int64_t slices = 1;
  std::vector<offered_device> devices{};
  std::vector<counter_amount> counters{};
};

/// The newest generation of all pools, in a fixed order: by driver and pool, then as slices and devices are given.
class device_pools {
 public:
  struct pool_entry {
    std::string_view driver;
    std::string_view name;
    std::int64_t generation = 0;
    bool usable = true;  ///< complete, and nothing in it contradicts itself
    std::string why{};   ///< it is not usable
  };
  struct device_entry {
    const offered_device* offered = nullptr;
    std::uint32_t pool = 0;
    std::vector<std::pair<std::uint32_t, model::exact_quantity>> counters{};  ///< that it consumes, by number
  };

  device_pools() = default;
  /// The slices must live as long as this.
  explicit device_pools(std::span<const device_slice* const> slices);

  [[nodiscard]] const std::vector<pool_entry>& pools() const { return pools_; }
  [[nodiscard]] const std::vector<device_entry>& devices() const { return devices_; }
  [[nodiscard]] const std::vector<model::exact_quantity>& counters() const { return counters_; }
  [[nodiscard]] const pool_entry& pool_of(std::uint32_t device) const { return pools_[devices_[device].pool]; }
  [[nodiscard]] model::device_facts facts_of(std::uint32_t device) const;
  /// `driver/pool/device`.
  [[nodiscard]] std::string name_of(std::uint32_t device) const;
  /// Number of a device by that name, or `no_device`.
  [[nodiscard]] std::uint32_t find(std::string_view name) const;
  /// Devices that can be used from a node, in order; those of pools that are not usable as well.
  [[nodiscard]] std::vector<std::uint32_t> reachable(std::string_view node, const model::label_list& labels) const;

  static constexpr std::uint32_t no_device = static_cast<std::uint32_t>(-1);

 private:
  void add_pool(std::span<const device_slice* const> slices);

  std::vector<pool_entry> pools_;
  std::vector<device_entry> devices_;
  std::vector<model::exact_quantity> counters_;  ///< what there is of each
  std::map<std::string, std::uint32_t, std::less<>> by_name_;
  std::map<std::string, std::vector<std::uint32_t>, std::less<>> by_node_;  ///< devices of one node
  std::vector<std::uint32_t> elsewhere_;                                    ///< devices that several nodes can reach
};

/// A device that a request has been given.
struct device_share {
  std::uint32_t device = 0;
  bool admin = false;                             ///< access beside all others, which takes nothing
  std::vector<model::exact_quantity> consumed{};  ///< by capacity of a device that several share
  friend bool operator==(const device_share&, const device_share&) = default;
};

/// Shares that a search tries, beside what is taken. Small, so that searches can look at one usage at the same time.
class wanted_shares {
 public:
  void add(const device_share& share) { shares_.push_back(share); }
  void drop_last() { shares_.pop_back(); }
  [[nodiscard]] std::span<const device_share> all() const { return shares_; }

 private:
  std::vector<device_share> shares_;
};

/// What is taken of all devices. Amounts are integers, so that giving back is exact.
class device_usage {
 public:
  device_usage() = default;
  explicit device_usage(const device_pools& pools);

  void take(const device_pools& pools, const device_share& share);
  /// The inverse, of a share that was taken.
  void give_back(const device_pools& pools, const device_share& share);
  /// The share can be taken beside what is taken already, here and in what somebody wants besides.
  [[nodiscard]] bool can_take(const device_pools& pools, const device_share& share, const wanted_shares& besides) const;

  /// Requests that have the device without admin access.
  [[nodiscard]] std::int64_t users(std::uint32_t device) const { return users_[device]; }
  [[nodiscard]] std::span<const model::exact_quantity> consumed(std::uint32_t device) const {
    return consumed_[device];
  }
  friend bool operator==(const device_usage&, const device_usage&) = default;

 private:
  std::vector<std::int64_t> users_;
  std::vector<std::vector<model::exact_quantity>> consumed_;  ///< by device and capacity
  std::vector<model::exact_quantity> counters_;
};

}  // namespace kaisched::policy
