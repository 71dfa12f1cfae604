#include "io/kubernetes/grant_annotations.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "io/kubernetes/found_devices.hpp"
#include "io/kubernetes/hami.hpp"
#include "model/vendor_devices.hpp"
#include "policy/devices/vendor/vendor.hpp"

namespace kaisched::io::kubernetes {

namespace {

using json_text = nlohmann::ordered_json;

/// A grant in its place.
struct placed_grant {
  std::size_t place = 0;  ///< of its container
  const registered_device* of = nullptr;
  model::vendor_grant what;
};

/// What a pod has of one vendor; grants are in the order of the containers.
struct vendor_part {
  const devices::vendor_template* vendor = nullptr;
  const container_places* containers = nullptr;
  std::string_view node;
  std::vector<placed_grant> grants;
};

hami_grants lists_of(const vendor_part& part) {
  hami_grants lists(part.containers->count);
  for (const placed_grant& one : part.grants) {
    const std::string& type = part.vendor->grants_name_model ? one.of->what.type : part.vendor->key;
    lists[one.place].push_back({one.what.device, type, one.what.memory / devices::mebibyte, one.what.cores});
  }
  return lists;
}

json_text instances_of(const vendor_part& part) {
  json_text made = json_text::array();
  std::map<std::size_t, std::size_t> counts;
  for (const placed_grant& one : part.grants) {
    const std::size_t number = counts[one.place]++;
    if (one.what.profile.empty()) continue;
    made.push_back({{"containerIndex", one.place},
                    {"deviceIndex", number},
                    {"gpuUUID", one.what.device},
                    {"profile", one.what.profile},
                    {"placement", {{"start", one.what.start}, {"size", one.what.size}}}});
  }
  return made;
}

std::string property_of(const std::vector<std::pair<std::string, std::string>>& among, std::string_view name) {
  const auto found = std::find_if(among.begin(), among.end(), [&](const auto& one) { return one.first == name; });
  return found == among.end() ? std::string() : found->second;
}

/// What a name stands for. `core`: number of a core of the device.
json_text value_of(const devices::told_annotation& told, std::string_view node, const placed_grant* of,
                   std::int64_t core, std::string_view name) {
  if (name == "node") return node;
  if (of == nullptr) return "";
  if (name == "device") return of->what.device;
  if (name == "type") return of->of->what.type;
  if (name == "index") return of->of->what.index;
  if (name == "slots") return of->what.slots;
  if (name == "memory") return of->what.memory / told.memory_unit;
  if (name == "cores") return of->what.cores;
  // Cores are counted over all devices of the node.
  if (name == "core") return of->of->what.index * of->of->what.slots + core;
  if (name == "profile") return of->what.profile;
  if (name == "profile_id") return property_of(of->of->profile_ids, of->what.profile);
  return property_of(of->of->properties, name);
}

json_text record_of(const devices::told_annotation& told, std::string_view node, const placed_grant& of) {
  json_text made = json_text::object();
  for (const devices::told_member& one : told.record) {
    if (const auto* flag = std::get_if<bool>(&one.value)) {
      made[one.name] = *flag;
    } else if (const auto* number = std::get_if<std::int64_t>(&one.value)) {
      made[one.name] = *number;
    } else {
      made[one.name] = value_of(told, node, &of, 0, std::get<std::string>(one.value));
    }
  }
  return made;
}

std::string told_text(const devices::told_annotation& told, std::string_view node, const placed_grant* of,
                      std::int64_t core = 0) {
  return text_of(told.text, [&](std::string_view name) {
    const json_text value = value_of(told, node, of, core, name);
    return value.is_string() ? value.get<std::string>() : value.dump();
  });
}

std::string dumped(const json_text& value) { return value.dump(-1, ' ', false, json_text::error_handler_t::replace); }

/// The grants that an annotation speaks of.
std::vector<const placed_grant*> grants_for(const devices::told_annotation& told, const vendor_part& part) {
  std::vector<const placed_grant*> made;
  for (const placed_grant& one : part.grants) {
    const bool by_cores = part.containers->by_cores.contains({one.place, part.vendor->key});
    if (told.by != devices::told_containers::all && by_cores != (told.by == devices::told_containers::by_cores))
      continue;
    const bool fresh = made.empty() || made.back()->place != one.place;
    if (told.of == devices::told_grants::first_device && !made.empty()) break;
    if (told.of == devices::told_grants::containers && !fresh) continue;
    if (told.of == devices::told_grants::last_container && fresh) made.clear();
    made.push_back(&one);
  }
  return made;
}

/// Empty: there is nothing to tell.
std::string text_for(const devices::told_annotation& told, const vendor_part& part) {
  using devices::told_grants;
  const std::vector<const placed_grant*> grants = grants_for(told, part);
  if (grants.empty()) return {};
  if (told.of == told_grants::pod) return told_text(told, part.node, nullptr);
  if (told.of == told_grants::containers) {
    json_text made = json_text::object();
    for (const placed_grant* one : grants) {
      made[part.containers->names[one->place]] = record_of(told, part.node, *one);
    }
    return dumped(made);
  }
  if (!told.record.empty()) {
    json_text made(part.containers->count, json_text::array());
    for (const placed_grant* one : grants) made[one->place].push_back(record_of(told, part.node, *one));
    return dumped(made);
  }
  std::string made;
  const auto add = [&](std::string_view text) { made.append(made.empty() ? "" : ",").append(text); };
  for (const placed_grant* one : grants) {
    if (told.of != told_grants::cores) {
      add(told_text(told, part.node, one));
      continue;
    }
    for (std::int64_t core = 0; core < 63; ++core) {
      if ((one->what.cores >> core & 1) != 0) add(told_text(told, part.node, one, core));
    }
  }
  return made;
}

result<void> tell(const vendor_part& part, std::map<std::string, std::string>& to) {
  const devices::exchange_keys& keys = part.vendor->exchange;
  const result<std::string> text = encode_hami_grants(lists_of(part));
  if (!text) return text.failure();
  for (const std::string* name : {&keys.to_allocate, &keys.allocated}) {
    if (!name->empty()) to[*name] = *text;
  }
  if (!keys.instances.empty()) {
    if (const json_text instances = instances_of(part); !instances.empty()) to[keys.instances] = instances.dump();
  }
  for (const devices::told_annotation& told : part.vendor->tells) {
    const std::string more = text_for(told, part);
    if (more.empty()) continue;
    std::string& made = to[told.key];
    made.append(made.empty() ? "" : ",").append(more);
  }
  return {};
}

}  // namespace

result<std::map<std::string, std::string>> grant_annotations(const object_names& names, std::string_view pod,
                                                             std::string_view node,
                                                             std::span<const std::string_view> grants) {
  const auto fail = [&](std::string_view what) {
    return error{status::argument, fmt::format("pod {}: device_grants: {}", pod, what), {}};
  };
  const auto known = names.containers.find(pod);
  std::map<std::string, vendor_part> by_vendor;
  for (const std::string_view text : grants) {
    result<model::vendor_grant> one = model::parse_vendor_grant(text);
    if (!one) return one.failure();
    const auto device = names.devices.find({std::string(node), one->device});
    if (device == names.devices.end()) return fail(fmt::format("node {} has no device {}", node, one->device));
    const auto number = static_cast<std::size_t>(one->container);
    if (known == names.containers.end() || number >= known->second.places.size()) {
      return fail(fmt::format("the pod has no container {}", one->container));
    }
    if (one->memory % devices::mebibyte != 0) return fail(fmt::format("{} bytes are no whole MiB", one->memory));
    vendor_part& part = by_vendor[device->second.vendor];
    part.vendor = devices::find_vendor(names.vendors->vendors, device->second.vendor);
    part.containers = &known->second;
    part.node = node;
    part.grants.push_back({known->second.places[number], &device->second, std::move(*one)});
  }
  std::map<std::string, std::string> annotations;
  for (auto& [key, part] : by_vendor) {
    std::stable_sort(part.grants.begin(), part.grants.end(),
                     [](const placed_grant& a, const placed_grant& b) { return a.place < b.place; });
    if (auto done = tell(part, annotations); !done) return done.take_failure();
  }
  return annotations;
}

}  // namespace kaisched::io::kubernetes
