#include "io/kubernetes/found_devices.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "base/int128.hpp"
#include "io/kubernetes/quantity.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::io::kubernetes {

namespace {

using devices::found_devices;
using devices::found_number;
using devices::mebibyte;

constexpr std::int64_t most_bits = 52;  // of amounts in tables

/// a * b * c / d, at most `max_amount`. What 63 bits do not hold is too much for any device, as there are few of them.
std::int64_t scaled(std::int64_t a, std::int64_t b, std::int64_t c, std::int64_t d) {
  const base::int128 most = std::numeric_limits<std::int64_t>::max();
  const base::int128 all = std::min(static_cast<base::int128>(a) * b, most);
  return static_cast<std::int64_t>(std::min<base::int128>(all * c / d, max_amount));
}

std::int64_t finished(const found_number& of, std::int64_t value) {
  value = std::min(value, of.most);
  return of.bits ? (std::int64_t{1} << std::min(value, most_bits)) - 1 : value;
}

/// A member of a record: an integer, or a text of one.
std::optional<std::int64_t> number_in(json_value record, std::string_view name) {
  const member found = find(record, name);
  if (!found) return std::nullopt;
  if (found->is(json_kind::integer)) return found->integer();
  return found->is(json_kind::string) ? whole_number(devices::trimmed(found->text())) : std::nullopt;
}

/// The same as a text, without white space around it.
std::string text_in(json_value record, std::string_view name) {
  const member found = find(record, name);
  if (found && found->is(json_kind::string)) return std::string(devices::trimmed(found->text()));
  return found && found->is(json_kind::integer) ? std::to_string(found->integer()) : std::string();
}

/// Devices of one vendor on one node.
class device_finder {
 public:
  device_finder(object& node, const devices::vendor_template& vendor)
      : node_(node), vendor_(vendor), rules_(*vendor.found) {}

  std::optional<found_on_node> counted() {
    const member amounts = resources();
    const member at = find(amounts, rules_.resource);
    if (!at) return std::nullopt;
    all_ = node_.amount(*at, 0);
    if (all_ == 0 || node_.failed()) return std::nullopt;
    origin_ = at;
    const std::int64_t count = all_ / rules_.per_device + (all_ % rules_.per_device == 0 ? 0 : 1);
    if (count > static_cast<std::int64_t>(model::max_vendor_devices)) {
      fail(fmt::format("expected at most {} devices of {}", model::max_vendor_devices, vendor_.key));
      return std::nullopt;
    }
    const std::int64_t slots = share_of(rules_.slots, amounts);
    const std::int64_t memory = share_of(rules_.memory, amounts);
    const std::int64_t cores = share_of(rules_.cores, amounts);
    found_on_node made{*at, {}};
    for (std::int64_t i = 0; i < count && !node_.failed(); ++i) {
      registered_device one = device_at(i, std::nullopt);
      one.what.slots = slots;
      set_memory(memory, one);
      one.what.cores = cores;
      // As many to each, those that are left over to the last one.
      const std::int64_t each = count / rules_.numa_nodes;
      one.what.numa = each == 0 ? rules_.numa_nodes - 1 : std::min(i / each, rules_.numa_nodes - 1);
      made.devices.push_back(std::move(one));
    }
    return made;
  }

  std::optional<found_on_node> listed() {
    const member at = find(node_.annotations(), rules_.annotation);
    if (!at) return std::nullopt;
    origin_ = at;
    const result<json_document> read = json_document::parse(node_.text(node_.annotations(), rules_.annotation), "");
    const member whole = read ? member(read->root()) : std::nullopt;
    const member list = rules_.list.empty() ? whole : find(whole, rules_.list);
    if (!list || !list->is(json_kind::array)) {
      fail(fmt::format("expected JSON with a list of devices, found {}", at->shown()));
      return std::nullopt;
    }
    if (list->size() > model::max_vendor_devices) {
      fail(fmt::format("expected at most {} devices of {}", model::max_vendor_devices, vendor_.key));
      return std::nullopt;
    }
    if (!rules_.profiles.empty()) read_sizes(find(whole, rules_.profiles));
    found_on_node made{*at, {}};
    std::int64_t position = 0;
    for (const json_value record : *list) {
      if (node_.failed()) break;
      made.devices.push_back(record_at(position++, record));
    }
    return made;
  }

 private:
  void fail(std::string_view what) { node_.fail(origin_.value_or(node_.root()), what); }

  /// What the node has for pods, as the column `capacity` takes it.
  [[nodiscard]] member resources() {
    const member status = node_.section(node_.root(), "status");
    const member allocatable = node_.section(status, "allocatable");
    return allocatable ? allocatable : node_.section(status, "capacity");
  }

  /// What one device has of an amount of the node.
  std::int64_t share_of(const found_number& of, member amounts) {
    if (of.resource.empty()) return finished(of, of.fixed);
    const member at = find(amounts, of.resource);
    return finished(of, at ? scaled(node_.amount(*at, 0), of.unit, rules_.per_device, all_) : 0);
  }

  std::int64_t value_of(const found_number& of, json_value record, std::string_view what) {
    if (of.member.empty()) return finished(of, of.fixed);
    if (!find(record, of.member)) return 0;
    const std::optional<std::int64_t> number = number_in(record, of.member);
    if (!number || *number < 0) {
      fail(fmt::format("expected \"{}\" of a device ({}) to be an integer that is not negative", of.member, what));
      return 0;
    }
    return finished(of, scaled(*number, of.unit, 1, 1));
  }

  void set_memory(std::int64_t mebibytes, registered_device& of) {
    if (mebibytes > max_amount / mebibyte) return fail("a device has too much memory");
    of.what.memory = mebibytes * mebibyte;
  }

  /// Names and attributes; `record` is what is said about the device alone.
  registered_device device_at(std::int64_t index, member record) {
    const auto said = [&](std::string_view name) { return record ? text_in(*record, name) : std::string(); };
    const auto value = [&](std::string_view name) {
      if (name == "node") return std::string(node_.name());
      if (name == "index") return std::to_string(index);
      return said(name);
    };
    registered_device made;
    made.vendor = vendor_.key;
    made.what.id = text_of(rules_.id, value);
    made.what.type = vendor_.key;
    made.what.index = index;
    for (const devices::found_attribute& one : rules_.attributes) {
      std::string text = one.label.empty() ? said(one.member) : std::string(node_.label(one.label).value_or(""));
      if (text.empty()) text = text_of(one.otherwise, value);
      made.properties.emplace_back(one.name, std::move(text));
    }
    return made;
  }

  registered_device record_at(std::int64_t position, json_value record) {
    const std::int64_t named = rules_.index.empty() ? position : number_in(record, rules_.index).value_or(position);
    registered_device made = device_at(named, record);
    if (!record.is(json_kind::object)) fail(fmt::format("expected devices as objects, found {}", record.shown()));
    made.what.slots = value_of(rules_.slots, record, "slots");
    set_memory(value_of(rules_.memory, record, "memory"), made);
    made.what.cores = value_of(rules_.cores, record, "cores");
    // Devices of no NUMA node say -1.
    const bool unknown = number_in(record, rules_.numa.member).value_or(0) < 0;
    made.what.numa = unknown ? 0 : value_of(rules_.numa, record, "numa");
    if (!rules_.healthy.empty()) {
      const member healthy = find(record, rules_.healthy);
      made.what.healthy = healthy && healthy->is(json_kind::boolean) && healthy->boolean();
    }
    if (rules_.profiles.empty()) return made;
    if (made.what.slots < 1) fail("expected a device to have at least one slot");
    made.what.profiles = sizes_;
    made.profile_ids = size_ids_;
    for (const model::vendor_profile& one : sizes_) made.what.memory = std::max(made.what.memory, one.memory);
    return made;
  }

  /// Sizes are `<slices>g.<memory>gb`, in any case; what has no such name is no size of a device.
  void read_sizes(member given) {
    if (!given || !given->is(json_kind::object)) return fail("expected profiles of the devices");
    for (const json_value one : *given) {
      const std::string name = devices::upper(devices::trimmed(one.key()));
      const std::size_t dot = name.find('.');
      if (dot == std::string::npos || name.find_first_of(",:/") != std::string::npos) continue;
      const auto before = [](std::string_view text, std::string_view unit) {
        if (text.ends_with(unit)) text.remove_suffix(unit.size());
        return whole_number(devices::trimmed(text)).value_or(0);
      };
      const std::string_view all(name);
      const std::string_view behind = all.substr(dot + 1);
      const std::int64_t slices = before(all.substr(0, dot), "G");
      const std::int64_t gibibytes = before(behind.substr(0, behind.find('.')), "GB");
      if (slices < 1 || gibibytes < 1) continue;
      if (gibibytes > max_amount / mebibyte / 1024) return fail("a profile has too much memory");
      sizes_.push_back({std::string(one.key()), slices, gibibytes * 1024 * mebibyte});
      size_ids_.emplace_back(one.key(), one.is(json_kind::string) ? std::string(one.text()) : std::string());
    }
    if (sizes_.empty()) return fail("expected a profile such as 2g.12gb");
    std::sort(sizes_.begin(), sizes_.end(), [](const auto& a, const auto& b) {
      return std::tie(a.slices, a.memory, a.name) < std::tie(b.slices, b.memory, b.name);
    });
  }

  object& node_;
  const devices::vendor_template& vendor_;
  const found_devices& rules_;
  member origin_{};
  std::int64_t all_ = 0;  ///< of the resource that counts
  std::vector<model::vendor_profile> sizes_{};
  std::vector<std::pair<std::string, std::string>> size_ids_{};
};

}  // namespace

std::optional<found_on_node> find_devices(object& node, const devices::vendor_template& vendor) {
  if (!vendor.found) return std::nullopt;
  device_finder finder(node, vendor);
  return vendor.found->annotation.empty() ? finder.counted() : finder.listed();
}

}  // namespace kaisched::io::kubernetes
