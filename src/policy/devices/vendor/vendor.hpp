#pragma once
/// @file
/// What a vendor's devices are like, as data: names, units, defaults, and which rules apply with which tables. No code
/// knows a vendor; a new one is a new template (docs/vendors.md, data/vendors).

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "policy/devices/fit/reasons.hpp"
#include "policy/devices/vendor/device.hpp"
#include "policy/devices/vendor/exchange.hpp"

namespace kaisched::devices {

/// What a device is asked, in the order of the template; the first refusal is the one that is counted.
enum class check : std::uint8_t {
  health,
  cordon,
  type,       ///< the pod's lists of models and modes
  model,      ///< the model contains the key of the vendor
  numa,       ///< pods that bind to a NUMA node: another node starts the collection anew
  id,         ///< the pod's lists of ids
  slots,      ///< a sharer more
  exclusive,  ///< pods that ask for idle devices
  idle,       ///< only idle devices at all
  quota,      ///< of the namespace
  memory,
  cores,
  whole_exclusive,  ///< all cores of a device that counts 100 are only for its first sharer
  exhausted,        ///< who asks for no cores gets none of a device whose cores are all taken
  equal_slices,     ///< sharers of a device have equal memory
  same_device,      ///< what earlier containers of the pod have is the device for all
  profile,          ///< a profile and a place on a divided device
  tenant_class,
  service_class
};

struct check_step {
  check what = check::health;
  reason why = reason::card_not_health;
};

/// How much memory of a device a request takes.
enum class memory_rule : std::uint8_t {
  amount_or_share,  ///< the amount, else the share of the device
  amount_or_whole,  ///< the amount, else all
  none,
  profile  ///< what the smallest profile that serves has
};

/// How many cores of a device a request takes.
enum class cores_rule : std::uint8_t {
  as_asked,
  percent_of_device,  ///< at least 1
  bits,               ///< the lowest free bits; `cores` of a device is a mask
  profile
};

/// What a grant adds to the use of its device.
enum class usage_rule : std::uint8_t { all, slots_only, slices, bits };

/// Which of the devices that would do are taken.
enum class set_kind : std::uint8_t {
  first,           ///< as many as needed, in the order in which they are tried
  best_links,      ///< most linked set; a single one is the least linked; only for pods that ask for it
  largest_groups,  ///< devices with equal values of an attribute; the group with most candidates first
  full_groups,     ///< groups of neighbours by index, whole ones only, if more than one device is wanted
  islands,         ///< islands of positions, then listed sets across them
  runs,            ///< neighbours by position, if more than one device is wanted
  zones            ///< the smallest zone that suffices
};

/// A condition on an attribute.
struct attribute_is {
  std::string attribute;
  std::string value;
};

/// One way to choose a set. The first rule of a template that applies is used.
struct set_rule {
  set_kind kind = set_kind::first;
  std::string attribute{};
  std::optional<attribute_is> if_first{};            ///< applies only if the first device has this
  std::int64_t group_size = 0;                       ///< full_groups
  std::vector<std::int64_t> counts{};                ///< allowed numbers of devices; empty: any
  std::vector<std::vector<std::int64_t>> islands{};  ///< positions
  /// By number of devices: how many an island should have free, the most welcome first.
  std::vector<std::pair<std::int64_t, std::vector<std::int64_t>>> prefer_free{};
  std::vector<std::vector<std::int64_t>> across{};  ///< sets of indices that are linked across islands
  std::optional<attribute_is> any_run_if{};         ///< runs may start anywhere if the attribute contains this
  bool take_whole = false;                          ///< grants are of all memory and cores of the device
  bool equal_slices = false;                        ///< devices are shared by requests of equal memory
};

/// What a vendor adds to the score of a node.
enum class score_kind : std::uint8_t { none, largest_group, island_gaps, size_table, tenants_and_zones };
struct score_rule {
  score_kind kind = score_kind::none;
  std::string attribute{};
  std::optional<attribute_is> only_if{};
  std::int64_t weight = 1;
  std::string pack_table{};    ///< size_table: lower is better
  std::string spread_table{};  ///< size_table: higher is better
  std::string wish{};          ///< tenants_and_zones: annotation that switches zones on or off
  bool on = false;             ///< without the annotation
};

/// Pods of two classes that avoid each other, and those of neither: the classes yield or not.
struct tenant_classes {
  std::string annotation;
  std::string first;   ///< its cores are not counted
  std::string second;  ///< stops while the first runs
};
/// A class that devices take over from their pods.
struct service_classes {
  std::string annotation;
  std::string attribute;
  std::string fallback{};  ///< what admission writes
};

/// Devices divided in software instead of by templates, if the pod asks for it.
struct soft_division {
  std::string annotation;
  std::string value;
  std::int64_t cores = 0;  ///< that a device then counts
  bool allowed = false;    ///< on nodes that do not say
  std::string node{};      ///< annotation with which a node says: "true" or anything else
};

/// Keys of a pair of annotations: what to use and what to avoid.
struct list_keys {
  std::string use;
  std::string avoid;
};

/// A size to which requests for memory are rounded up, and what comes with it.
struct memory_step {
  std::string name;
  std::int64_t memory = 0;
  std::int64_t cores = 0;
  std::int64_t cpus = 0;
};

/// What a number that is no integer, or is out of range, means.
enum class bad_number : std::uint8_t { refuse, ignore };
/// Which column of a container's resources is read.
enum class columns : std::uint8_t { limits, limits_then_requests };

/// How resources of a container become a request.
struct request_rules {
  columns from = columns::limits_then_requests;
  bool positive_count = false;          ///< other counts ask for nothing
  std::int64_t memory_unit = mebibyte;  ///< bytes per unit; 0: the devices tell (GiB or MiB)
  bool suffixes_are_bytes = false;      ///< an amount with a suffix is in bytes whatever the unit
  bad_number memory_fraction = bad_number::refuse;
  bool negative_memory_refused = true;             ///< of fractions too
  std::vector<std::int64_t> memory_steps{};        ///< amounts are rounded up to one of these, the largest at most
  bool whole_by_amount = false;                    ///< without memory the largest step is asked, besides the share
  bool fixed_amounts = false;                      ///< `default_memory` and `default_cores` whatever is written
  std::int64_t default_memory = 0;                 ///< bytes
  std::optional<std::int64_t> default_permille{};  ///< if no memory is stated
  std::int64_t default_cores = 0;
  bad_number core_fraction = bad_number::ignore;
  std::optional<std::pair<std::int64_t, std::int64_t>> core_range{};  ///< other values refuse
  bool cores_rounded_up = false;                                      ///< fractions count as the next integer
  bool cores_of_memory = false;                                       ///< in proportion to the largest step
  bool divided_by_count = false;           ///< memory and cores are written for all devices together
  bool count_is_slices = false;            ///< one device, of which this many slices; or memory and cores
  std::int64_t most_cores_per_device = 0;  ///< if not 0, cores alone ask for devices
};

/// One thing that admission does to a container.
enum class admission_kind : std::uint8_t {
  claim,            ///< by `names`; ends if none is there
  range,            ///< `name` within low..high; only beside one of `names`, and not beside any of `texts`
  environment_of,   ///< variable `text` gets the value of `name`
  environment,      ///< variable `text` gets `value`, if that is not empty
  default_count,    ///< other resources alone ask for `low` devices
  exclusive_cores,  ///< the count alone asks for `low` cores
  runtime_class,
  unclaimed_environment,
  groups,  ///< 1 becomes `low`, other counts are multiples of it
  no_cores_unless_soft,
  round_memory,
  scale_by_count,       ///< resources of `names` become count times `values`
  scale_single,         ///< the same for one device that asks for no memory
  allowed_memory,       ///< of a single device: one of `values`
  choice,               ///< annotation `name`, if it is there, is one of `texts`
  default_annotation,   ///< annotation `name` is `value` where it is missing, for pods of no or the second class
  single_if_annotated,  ///< pods with annotation `name` ask for one device
  both_columns,         ///< what is in one column is in both
  container_name,       ///< variable `text` gets the name of the container
  split_cores           ///< cores alone ask for devices, in whole ones if for several
};
struct admission_step {
  admission_kind kind = admission_kind::claim;
  columns from = columns::limits;
  std::string name{};
  std::vector<std::string> names{};
  std::string text{};
  std::string value{};
  std::int64_t low = 0;
  std::int64_t high = 0;
  std::vector<std::int64_t> values{};
  std::vector<std::string> texts{};
  bool claimed_on_error = false;
};

/// Everything about one vendor.
struct vendor_template {
  std::string key;  ///< "NVIDIA"; part of the type of its devices, in any case
  std::string description{};
  std::string count_name{};
  std::string memory_name{};
  std::string memory_percent_name{};
  std::string core_name{};
  list_keys types{};
  std::string modes{};      ///< annotation with the modes that a pod accepts
  std::string bind_numa{};  ///< annotation that keeps the devices of a container on one NUMA node
  std::vector<list_keys> ids{};
  exchange_keys exchange{};
  std::optional<found_devices> found{};  ///< where nothing is registered
  std::vector<told_annotation> tells{};

  request_rules requests{};
  std::vector<admission_step> admission{};
  std::vector<memory_step> memory_steps{};  ///< sizes that admission rounds to
  std::int64_t whole_memory = 0;            ///< bytes that a whole device offers, beyond the steps
  std::int64_t memory_capacity = 0;         ///< bytes up to which a request is for a whole device

  std::vector<check_step> checks{};
  memory_rule memory = memory_rule::amount_or_share;
  cores_rule cores = cores_rule::as_asked;
  std::int64_t core_cap = 0;  ///< larger requests are for this many; 0: no cap
  std::vector<set_rule> sets{};
  std::string exclusive_group{};  ///< attribute: who asks for an idle device wants its whole group idle
  usage_rule usage = usage_rule::all;
  std::string usage_attribute{};  ///< bits that are taken
  bool repeat_divided = false;    ///< a divided device may serve a container more than once
  bool grants_carry_attributes = false;
  bool grants_name_model = false;  ///< `type` of a grant is that of the device
  score_rule score{};
  std::optional<tenant_classes> tenants{};
  std::optional<service_classes> service{};
  std::optional<soft_division> soft{};
};

/// Templates by key, in ascending order.
using vendor_catalog = std::vector<vendor_template>;
/// The template with a key, or null.
[[nodiscard]] const vendor_template* find_vendor(const vendor_catalog& among, std::string_view key);

}  // namespace kaisched::devices
