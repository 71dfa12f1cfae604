#include "io/kubernetes/node_devices.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <set>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "io/kubernetes/found_devices.hpp"
#include "io/kubernetes/hami.hpp"
#include "io/kubernetes/resources.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::io::kubernetes {

namespace {

using devices::mebibyte;

/// Attributes of devices that rules of a vendor read.
std::set<std::string> attribute_names(const devices::vendor_template& of) {
  std::set<std::string> names{of.exclusive_group, of.usage_attribute, of.score.attribute};
  if (of.score.only_if) names.insert(of.score.only_if->attribute);
  if (of.service) names.insert(of.service->attribute);
  for (const devices::set_rule& rule : of.sets) {
    names.insert(rule.attribute);
    if (rule.if_first) names.insert(rule.if_first->attribute);
    if (rule.any_run_if) names.insert(rule.any_run_if->attribute);
  }
  names.erase("");
  return names;
}

std::string row_of(const model::vendor_device& one) {
  std::string row = fmt::format("id={},type={}", one.id, one.type);
  const auto put = [&](std::string_view name, const auto& value) { row += fmt::format(",{}={}", name, value); };
  if (!one.mode.empty()) put("mode", one.mode);
  put("index", one.index);
  put("numa", one.numa);
  put("slots", one.slots);
  put("memory", one.memory);
  put("cores", one.cores);
  if (!one.healthy) put("healthy", 0);
  if (one.cordoned) put("cordoned", 1);
  for (std::size_t i = 0; i < one.links.size(); ++i) {
    row += fmt::format("{}{}", i == 0 ? ",links=" : ":", one.links[i]);
  }
  for (std::size_t i = 0; i < one.profiles.size(); ++i) {
    const model::vendor_profile& profile = one.profiles[i];
    row += fmt::format("{}{}/{}/{}", i == 0 ? ",profiles=" : ":", profile.name, profile.slices, profile.memory);
  }
  for (const auto& [name, value] : one.attributes) put(fmt::format("attribute.{}", name), value);
  return row;
}

/// Scores of pairs of devices: `[{"uuid": ..., "score": {<uuid>: number}}]`. False if the text is something else.
bool read_links(std::string_view text, std::vector<model::vendor_device>& of) {
  const result<json_document> read = json_document::parse(text, "");
  if (!read || !read->root().is(json_kind::array)) return false;
  const auto position = [&](std::string_view id) {
    return static_cast<std::size_t>(std::find_if(of.begin(), of.end(), [&](const auto& one) { return one.id == id; }) -
                                    of.begin());
  };
  for (const json_value one : read->root()) {
    const member id = find(one, "uuid");
    const member scores = find(one, "score");
    if (!id || !id->is(json_kind::string)) return false;
    if (!scores) continue;
    if (!scores->is(json_kind::object)) return false;
    const std::size_t from = position(id->text());
    for (const json_value score : *scores) {
      if (!score.is(json_kind::integer)) return false;
      const std::size_t to = position(score.key());
      if (from == of.size() || to == of.size()) continue;
      of[from].links.resize(of.size());
      of[from].links[to] = score.integer();
    }
  }
  return true;
}

/// The devices that the plugin of a vendor has registered.
void read_registered(object& of, json_value text, const devices::vendor_template& rules, node_record& row) {
  const std::optional<std::vector<hami_device>> read = decode_hami_devices(of.text(of.annotations(), text.key()));
  if (!read) {
    of.fail(text, fmt::format("expected devices as HAMi registers them, found {}", text.shown()));
    return;
  }
  const bool given_up = decode_hami_handshake(of.annotation(rules.exchange.handshake).value_or("")).state ==
                        hami_handshake_state::deleted;
  for (const hami_device& one : *read) {
    if (one.memory < 0 && !of.failed()) of.fail(text, "expected memory that is not negative");
    if (of.failed()) return;
    registered_device made{rules.key, {}};
    made.what.id = one.id;
    made.what.type = one.type;
    made.what.mode = one.mode;
    made.what.index = one.index;
    made.what.numa = std::max<std::int64_t>(one.numa, 0);
    made.what.slots = one.count;
    made.what.memory = one.memory * mebibyte;
    made.what.cores = one.cores;
    made.what.healthy = one.healthy && !given_up;
    made.properties = one.attributes;
    row.registered.push_back(std::move(made));
  }
}

/// Rows of all devices, and what is wrong with them.
void write_rows(object& of, const std::vector<json_value>& origins, node_record& row) {
  std::set<std::string_view> ids;
  for (std::size_t i = 0; i < row.registered.size() && !of.failed(); ++i) {
    const model::vendor_device& one = row.registered[i].what;
    const std::string text = row_of(one);
    const result<model::vendor_device> again = model::parse_vendor_device(text);
    if (!again) of.fail(origins[i], again.failure().message);
    // Rows are texts with this character between them.
    if (text.find('\0') != std::string::npos) of.fail(origins[i], "the character U+0000 is not allowed");
    // A comma would make two fields of one.
    if (again && row_of(*again) != text) {
      of.fail(origins[i], fmt::format("device \"{}\" has a text with a comma", one.id));
    }
    if (!ids.insert(one.id).second) of.fail(origins[i], fmt::format("device \"{}\" is registered twice", one.id));
    row.vendor_devices.push_back(text);
  }
}

/// What is the same for registered and found devices.
void finish_devices(object& of, const device_catalog& catalog, node_record& row) {
  const std::string_view cordoned = of.annotation(hami_cordoned).value_or("");
  for (registered_device& one : row.registered) {
    for (const std::string_view id : devices::split(cordoned, ',')) {
      one.what.cordoned = one.what.cordoned || devices::trimmed(id) == one.what.id;
    }
    const std::set<std::string> names = attribute_names(*devices::find_vendor(catalog.vendors, one.vendor));
    for (const auto& property : one.properties) {
      if (names.contains(property.first)) one.what.attributes.push_back(property);
    }
    std::sort(one.what.attributes.begin(), one.what.attributes.end());
  }
}

void read_all_links(object& of, const std::vector<const devices::vendor_template*>& vendors, node_record& row) {
  std::vector<model::vendor_device> all;
  for (const registered_device& one : row.registered) all.push_back(one.what);
  for (const devices::vendor_template* vendor : vendors) {
    const member scores = find(of.annotations(), vendor->exchange.links);
    if (vendor->exchange.links.empty() || !scores || of.failed()) continue;
    if (!read_links(of.text(of.annotations(), vendor->exchange.links), all)) {
      of.fail(*scores, fmt::format("expected scores of pairs of devices, found {}", scores->shown()));
    }
  }
  for (std::size_t i = 0; i < all.size(); ++i) row.registered[i].what.links = std::move(all[i].links);
}

}  // namespace

std::vector<std::string> resource_names(const devices::vendor_template& of) {
  std::vector<std::string> names{of.count_name, of.memory_name, of.memory_percent_name, of.core_name};
  for (const devices::admission_step& step : of.admission) {
    if (step.kind == devices::admission_kind::environment_of) names.push_back(step.name);
  }
  names.erase(std::remove(names.begin(), names.end(), std::string()), names.end());
  return names;
}

void take_resources(const devices::vendor_template& of, amounts& from) {
  std::vector<std::string> names = resource_names(of);
  if (of.found) names.push_back(of.found->resource);
  for (const std::string& name : names) {
    const auto found = from.find(dimension_of(name));
    if (found != from.end()) from.erase(found);
  }
}

void read_node_devices(object& of, const device_catalog& catalog, bool find, node_record& row) {
  std::vector<const devices::vendor_template*> vendors;
  std::vector<json_value> origins;  // of devices
  for (const devices::vendor_template& vendor : catalog.vendors) {
    const member text = kubernetes::find(of.annotations(), vendor.exchange.registered);
    if (text && !vendor.exchange.registered.empty()) {
      read_registered(of, *text, vendor, row);
      origins.resize(row.registered.size(), *text);
    } else if (std::optional<found_on_node> found = find ? find_devices(of, vendor) : std::nullopt) {
      std::move(found->devices.begin(), found->devices.end(), std::back_inserter(row.registered));
      origins.resize(row.registered.size(), found->origin);
    } else {
      continue;
    }
    vendors.push_back(&vendor);
    if (row.registered.size() > model::max_vendor_devices) {
      of.fail(origins.back(), fmt::format("expected at most {} devices", model::max_vendor_devices));
    }
    if (of.failed()) return;
    if (!vendor.soft || vendor.soft->node.empty()) continue;
    if (const auto says = of.annotation(vendor.soft->node)) {
      row.device_settings = {fmt::format("soft_division={}", *says == "true" ? 1 : 0)};
    }
  }
  if (vendors.empty()) return;
  for (const devices::vendor_template* vendor : vendors) take_resources(*vendor, row.capacity);
  finish_devices(of, catalog, row);
  read_all_links(of, vendors, row);
  write_rows(of, origins, row);
  row.registers = true;
  row.other_devices = std::none_of(vendors.begin(), vendors.end(), [](const devices::vendor_template* vendor) {
    return dimension_of(vendor->count_name) == gpu;
  });
  const bool equal = std::all_of(row.registered.begin(), row.registered.end(), [&](const registered_device& one) {
    return one.what.memory == row.registered.front().what.memory;
  });
  if (row.gpu_memory == 0 && equal && !row.registered.empty()) row.gpu_memory = row.registered.front().what.memory;
}

}  // namespace kaisched::io::kubernetes
