#pragma once
/// @file
/// The devices of a node, what containers ask of them and what they get, as plain data. One model for every vendor:
/// what differs between vendors is in their template (vendor.hpp).
///
/// Memory is in bytes. Cores are in the unit in which the device registers them: percent, per mille, compute units, or
/// one bit per core, as the template says.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace kaisched::devices {

inline constexpr std::int64_t mebibyte = std::int64_t{1} << 20;

/// A property that only rules of one vendor read: a network, a card, a class of service.
struct attribute {
  std::string name;
  std::variant<std::int64_t, std::string> value;

  friend bool operator==(const attribute&, const attribute&) = default;
};
using attributes = std::vector<attribute>;

/// The attribute with a name, or null.
[[nodiscard]] const attribute* find_attribute(const attributes& among, std::string_view name);
/// Its value, if it is there and an integer.
[[nodiscard]] std::optional<std::int64_t> integer_attribute(const attributes& among, std::string_view name);
/// Its value if it is there and a text, else nothing.
[[nodiscard]] const std::string* text_attribute(const attributes& among, std::string_view name);
/// Adds the attribute or replaces its value.
void set_attribute(attributes& among, std::string_view name, std::variant<std::int64_t, std::string> value);

/// A range of slices of a device that is divided in hardware.
struct slice_range {
  std::int64_t start = 0;
  std::int64_t size = 0;

  [[nodiscard]] bool overlaps(const slice_range& other) const {
    return start < other.start + other.size && other.start < start + size;
  }
  friend bool operator==(const slice_range&, const slice_range&) = default;
};

/// A size in which a device can be divided.
struct slice_profile {
  std::string name;  ///< "1g.10gb"
  std::string id{};  ///< by which the vendor knows it; may be empty
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  std::int64_t slices = 0;
  /// Where instances may lie. Empty: anywhere, only the sums count.
  std::vector<slice_range> placements{};

  friend bool operator==(const slice_profile&, const slice_profile&) = default;
};

/// A part of a divided device that is taken.
struct slice_instance {
  std::string profile;
  slice_range placement{};

  friend bool operator==(const slice_instance&, const slice_instance&) = default;
};

/// One physical device.
struct device {
  std::string id;
  std::string type;    ///< model, contains the key of the vendor
  std::string mode{};  ///< how it is shared: "hami-core", "mig", "mps", empty
  std::int64_t index = 0;
  std::int64_t numa = 0;
  bool healthy = true;
  bool cordoned = false;  ///< nothing new is placed there

  std::int64_t slots = 0;  ///< most sharers
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  std::int64_t used_slots = 0;
  std::int64_t used_memory = 0;
  std::int64_t used_cores = 0;

  std::vector<slice_profile> profiles{};
  std::vector<slice_instance> instances{};
  std::int64_t slices = 0;  ///< slices that are the whole device; 0: the largest profile
  devices::attributes attributes{};
  std::vector<std::string> tenants{};  ///< one class per pod that runs there; empty: of no class

  friend bool operator==(const device&, const device&) = default;
};

/// What one container asks of one vendor.
struct request {
  std::string vendor;                             ///< key of the template
  std::int64_t count = 0;                         ///< devices
  std::int64_t memory = 0;                        ///< of each, in bytes; 0: none is stated
  std::optional<std::int64_t> memory_permille{};  ///< of each, of its memory, where no amount is stated
  std::int64_t cores = 0;                         ///< of each, in the unit of requests of the vendor
  std::int64_t slices = 0;                        ///< asks for the profile of exactly this size
  std::int64_t amount = 0;                        ///< memory as it was written, where only the devices tell its unit

  friend bool operator==(const request&, const request&) = default;
};

/// What one container gets of one device.
struct grant {
  std::size_t position = 0;  ///< of the device in the list of its node
  std::int64_t index = 0;
  std::string id;
  std::string type;
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  std::int64_t slots = 1;
  std::optional<slice_instance> instance{};
  devices::attributes attributes{};  ///< of the device, where rules of the vendor look at them afterwards

  friend bool operator==(const grant&, const grant&) = default;
};

using container_grants = std::vector<grant>;
/// Grants of one vendor, container by container; what this counts from is said where it is used.
using vendor_grants = std::vector<container_grants>;
/// Grants of a pod by vendor, ordered by key.
using pod_grants = std::vector<std::pair<std::string, vendor_grants>>;

/// Those of one key, or null.
[[nodiscard]] const vendor_grants* find_grants(const pod_grants& among, std::string_view key);
/// Those of one key, added at their place if they are not there.
[[nodiscard]] vendor_grants& grants_of(pod_grants& among, std::string_view key);

/// How well pairs of devices of one node are linked, by position; what is not written is 0.
class link_scores {
 public:
  link_scores() = default;
  explicit link_scores(std::size_t devices) : devices_(devices), scores_(devices * devices) {}

  [[nodiscard]] std::int64_t operator()(std::size_t from, std::size_t to) const {
    return from < devices_ && to < devices_ ? scores_[from * devices_ + to] : 0;
  }
  void set(std::size_t from, std::size_t to, std::int64_t score) { scores_[from * devices_ + to] = score; }
  [[nodiscard]] bool empty() const { return devices_ == 0; }

 private:
  std::size_t devices_ = 0;
  std::vector<std::int64_t> scores_;
};

/// What a node says about requests of n devices: a table of its vendor's tools.
struct size_table {
  std::string name;
  std::vector<std::pair<std::int64_t, std::int64_t>> values;  ///< number of devices, value
};

/// The devices of one node.
struct node {
  std::string name;
  std::vector<device> devices;
  link_scores links{};
  std::vector<size_table> tables{};
  std::optional<bool>
      soft_division{};  ///< whether devices are divided in software; unset: as the vendor's template says
};

/// A pod that wants devices.
struct pod {
  std::string space{};  ///< namespace, whose quota counts
  std::vector<std::pair<std::string, std::string>> annotations{};
  std::size_t init_containers = 0;                 ///< run one after another before the others
  std::vector<std::vector<request>> containers{};  ///< what each asks for, by key; those that run first come first

  /// The value of an annotation, or null.
  [[nodiscard]] const std::string* annotation(std::string_view key) const;
};

}  // namespace kaisched::devices
