#include "conformance/hami_records.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstdint>
#include <optional>
#include <stdexcept>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "io/vendors/vendor_reader.hpp"
#include "policy/devices/vendor/words.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

constexpr std::int64_t mib = devices::mebibyte;

std::int64_t number(const json& of, std::string_view key) { return value_or(of, key, std::int64_t{0}); }

struct backend_key {
  std::string_view backend;
  std::string_view key;
};
constexpr std::array backend_keys{
    backend_key{"NvidiaGPUDevices", "NVIDIA"},  backend_key{"AMDDevices", "AMD"},
    backend_key{"CambriconDevices", "MLU"},     backend_key{"DCUDevices", "DCU"},
    backend_key{"BirenDevices", "Biren"},       backend_key{"VastaiDevices", "Vastai"},
    backend_key{"MthreadsDevices", "Mthreads"}, backend_key{"MetaxDevices", "Metax-GPU"},
    backend_key{"MetaxSDevices", "Metax-SGPU"}, backend_key{"KunlunDevices", "kunlun"},
    backend_key{"KunlunVDevices", "XPU"},       backend_key{"GCUDevices", "GCU"},
    backend_key{"EnflameDevices", "Enflame"},   backend_key{"AWSNeuronDevices", "AWSNeuron"},
};

void rename(std::string& name, std::string_view from, std::string_view to) {
  if (name == from) name = to;
}

/// A resource has another name in the recording.
void rename_resource(devices::vendor_template& vendor, const std::string& from, const std::string& to) {
  for (std::string* name : {&vendor.count_name, &vendor.memory_name, &vendor.memory_percent_name, &vendor.core_name}) {
    rename(*name, from, to);
  }
  for (devices::admission_step& step : vendor.admission) {
    rename(step.name, from, to);
    for (std::string& name : step.names) rename(name, from, to);
    for (std::string& name : step.texts) rename(name, from, to);
  }
}

void rename_from(devices::vendor_template& vendor, const json& config, std::string_view key, std::string from) {
  if (!from.empty()) rename_resource(vendor, from, text_or_empty(config, key));
}

void apply_ascend(devices::vendor_template& vendor, const json& config) {
  rename_from(vendor, config, "resource_name", vendor.count_name);
  vendor.whole_memory = number(config, "memory_allocatable") * mib;
  vendor.memory_capacity = number(config, "memory_capacity") * mib;
  vendor.memory_steps.clear();
  for (const json& one : items(config, "templates")) {
    vendor.memory_steps.push_back({text_or_empty(one, "name"), number(one, "memory") * mib, number(one, "ai_core"), 0});
  }
  vendor.requests.memory_unit = std::max<std::int64_t>(number(config, "memory_factor"), 1) * mib;
  if (!value_or(config, "super_pod", false)) {
    std::erase_if(vendor.admission, [](const auto& step) { return step.kind == devices::admission_kind::groups; });
  }
}

void apply_config(devices::vendor_template& vendor, const std::string& backend, const json& outer) {
  const json& inner = member(outer, "config");
  const json& config = inner.is_null() ? outer : inner;
  if (backend == "CambriconDevices") rename_resource(vendor, "cambricon.com/vmlu", "cambricon.com/mlu");
  if (config.empty()) return;
  rename_from(vendor, config, "resource_memory_name", vendor.memory_name);
  rename_from(vendor, config, "resource_core_name", vendor.core_name);
  if (backend == "Devices") {
    apply_ascend(vendor, config);
    vendor.soft->allowed = value_or(outer, "hami_vnpu_core", false);
    for (devices::list_keys& keys : vendor.ids) {
      keys = {text_or_empty(outer, "use_uuid_anno"), text_or_empty(outer, "no_use_uuid_anno")};
    }
    return;
  }
  rename_from(vendor, config, "resource_count_name", vendor.count_name);
  rename_from(vendor, config, "resource_memory_percentage_name", vendor.memory_percent_name);
  if (backend == "NvidiaGPUDevices") {
    vendor.requests.memory_unit = std::max<std::int64_t>(number(config, "memory_factor"), 1) * mib;
    vendor.requests.default_memory = number(config, "default_memory") * mib;
    vendor.requests.default_cores = number(config, "default_cores");
    for (devices::admission_step& step : vendor.admission) {
      if (step.kind == devices::admission_kind::default_count) step.low = number(config, "default_gpu_num");
    }
  }
}

void apply_neuron(devices::vendor_template& vendor, const json& config) {
  const std::int64_t cores = number(config, "cores_per_aws_neuron");
  vendor.requests.default_cores = cores;
  vendor.requests.most_cores_per_device = cores > 0 ? std::min<std::int64_t>(cores, 2) : 2;
}

std::int64_t text_number(const json& value) {
  if (value.is_number()) return value.get<std::int64_t>();
  return value.is_string() ? std::strtoll(value.get<std::string>().c_str(), nullptr, 10) : 0;
}

/// "2g.20gb": slices and GiB.
void read_profiles(const json& profiles, devices::device& made) {
  for (const auto& [name, id] : profiles.items()) {
    devices::slice_profile profile;
    profile.name = name;
    profile.id = id.get<std::string>();
    profile.slices = std::strtoll(name.c_str(), nullptr, 10);
    const std::size_t dot = name.find('.');
    if (dot != std::string::npos) {
      profile.memory = std::strtoll(name.c_str() + dot + 1, nullptr, 10) * 1024 * mib;
    }
    made.profiles.push_back(std::move(profile));
  }
}

void read_custom_info(const json& info, devices::device& made) {
  for (const auto& [name, value] : info.items()) {
    if (name == "profiles" && value.is_object()) {
      read_profiles(value, made);
    } else if (name == "maxSlice") {
      made.slices = text_number(value);
    } else if (value.is_string()) {
      devices::set_attribute(made.attributes, name, value.get<std::string>());
    } else if (value.is_number()) {
      devices::set_attribute(made.attributes, name, value.get<std::int64_t>());
    }
  }
}

devices::slice_range range_of(const json& record) { return {number(record, "start"), number(record, "size")}; }

void read_instances(const json& record, devices::device& made) {
  for (const json& one : items(record, "mig_profiles")) {
    devices::slice_profile profile;
    profile.name = text_or_empty(one, "name");
    profile.memory = number(one, "memory_mb") * mib;
    profile.cores = number(one, "core");
    profile.slices = number(one, "slice_count");
    for (const json& place : items(one, "placements")) profile.placements.push_back(range_of(place));
    made.profiles.push_back(std::move(profile));
  }
  for (const json& one : items(record, "mig_allocations_in_use")) {
    made.instances.push_back({text_or_empty(one, "profile"), range_of(member(one, "placement"))});
  }
}

void read_node_words(const json& object, devices::node& made) {
  const std::string cordoned = annotation_of(object, "hami.io/device-cordon");
  for (const std::string_view part : devices::split(cordoned, ',')) {
    for (devices::device& of : made.devices) {
      if (!devices::trimmed(part).empty() && of.id == devices::trimmed(part)) of.cordoned = true;
    }
  }
  const std::string soft = annotation_of(object, "hami-vnpu-core");
  if (!soft.empty()) made.soft_division = soft == "true";
  for (const char* name : {"metax-tech.com/gpu.topology.losses", "metax-tech.com/gpu.topology.scores"}) {
    const std::string text = annotation_of(object, name);
    if (text.empty()) continue;
    devices::size_table table{name, {}};
    const json values = json::parse(text, nullptr, false);
    if (values.is_object()) {
      for (const auto& [size, value] : values.items())
        table.values.emplace_back(std::stoll(size), value.get<std::int64_t>());
    }
    made.tables.push_back(std::move(table));
  }
}

/// Pair scores, and attributes that only the registered device has.
void read_registered(const json& registered, devices::node& made) {
  made.links = devices::link_scores(made.devices.size());
  const auto position_of = [&](const std::string& id) {
    const auto at = std::find_if(made.devices.begin(), made.devices.end(), [&](const auto& of) { return of.id == id; });
    return static_cast<std::size_t>(at - made.devices.begin());
  };
  for (const auto& [vendor, records] : registered.items()) {
    for (const json& one : records) {
      const std::size_t from = position_of(text_or_empty(one, "id"));
      if (from >= made.devices.size()) continue;
      for (const auto& [id, score] : items(member(one, "device_pair_score"), "scores").items()) {
        const std::size_t to = position_of(id);
        if (to < made.devices.size()) made.links.set(from, to, score.get<std::int64_t>());
      }
    }
  }
}

json attribute_record(const devices::attributes& attributes) {
  json made = json::object();
  for (const devices::attribute& one : attributes) {
    if (const auto* text = std::get_if<std::string>(&one.value)) {
      made[one.name] = *text;
    } else {
      made[one.name] = std::get<std::int64_t>(one.value);
    }
  }
  return made;
}

bool has_null(const json& list) {
  return std::any_of(list.begin(), list.end(), [](const json& one) {
    return one.is_object() && std::any_of(one.begin(), one.end(), [](const json& value) { return value.is_null(); });
  });
}

/// What a grant of a profile of Enflame tells about it.
void add_profile_record(const devices::grant& made, const devices::node& where, json& info) {
  const devices::device& of = where.devices[made.position];
  info["profileName"] = made.instance->profile;
  info["drsSlice"] = made.slots;
  for (const devices::slice_profile& profile : of.profiles) {
    if (profile.name == made.instance->profile) info["profileID"] = profile.id;
  }
  for (const char* name : {"index", "minor"}) {
    if (const std::string* text = devices::text_attribute(of.attributes, name)) info[name] = *text;
  }
}

}  // namespace

const devices::vendor_catalog& hami_vendors() {
  static const devices::vendor_catalog vendors = [] {
    result<io::shipped_devices> read = io::read_shipped_devices();
    if (!read) throw std::runtime_error(read.failure().message);
    return read->vendors;
  }();
  return vendors;
}

devices::vendor_template hami_vendor(const json& call_input) {
  const std::string backend = call_input.at("backend").get<std::string>();
  const json& config = member(call_input, "config");
  std::string key;
  for (const backend_key& one : backend_keys) {
    if (one.backend == backend) key = one.key;
  }
  if (backend == "Devices" || backend == "IluvatarDevices") {
    key = text_or_empty(member(config, "config"), "common_word");
    if (devices::find_vendor(hami_vendors(), key) == nullptr) {
      devices::vendor_template other =
          *devices::find_vendor(hami_vendors(), backend == "Devices" ? "Ascend910A" : "MR-V100");
      other.key = key;
      apply_config(other, backend, config);
      return other;
    }
  }
  const devices::vendor_template* found = devices::find_vendor(hami_vendors(), key);
  if (found == nullptr) throw unsupported("backend " + backend);
  devices::vendor_template vendor = *found;
  apply_config(vendor, backend, config);
  if (backend == "AWSNeuronDevices") apply_neuron(vendor, config);
  return vendor;
}

std::string annotation_of(const json& object, std::string_view key) {
  return text_or_empty(member(member(object, "metadata"), "annotations"), key);
}

devices::device hami_device(const json& record) {
  devices::device made;
  made.id = text_or_empty(record, "id");
  made.type = text_or_empty(record, "type");
  made.mode = text_or_empty(record, "mode");
  made.index = number(record, "index");
  made.numa = number(record, "numa");
  made.healthy = value_or(record, "health", false);
  made.slots = number(record, "count");
  made.memory = number(record, "totalmem") * mib;
  made.cores = number(record, "totalcore");
  made.used_slots = number(record, "used");
  made.used_memory = number(record, "usedmem") * mib;
  made.used_cores = number(record, "usedcores");
  read_instances(record, made);
  if (has(record, "custom_info")) read_custom_info(member(record, "custom_info"), made);
  for (const json& one : items(record, "pod_infos")) {
    made.tenants.push_back(annotation_of(one, "metax-tech.com/sgpu-app-class"));
  }
  return made;
}

devices::node hami_node(const json& records, const json& node) {
  devices::node made;
  made.name = text_or_empty(node, "id");
  for (const json& one : records) made.devices.push_back(hami_device(one));
  read_node_words(member(node, "node"), made);
  read_registered(items(node, "devices"), made);
  return made;
}

devices::node hami_usage_node(const json& usage) {
  json records = json::array();
  for (const json& one : items(member(usage, "devices"), "device_lists")) records.push_back(member(one, "device"));
  json info = member(usage, "node_info");
  if (!has(info, "node")) info["node"] = member(usage, "node");
  devices::node made = hami_node(records, info);
  read_node_words(member(usage, "node"), made);
  return made;
}

devices::pod hami_pod(const json& record) {
  devices::pod made;
  made.space = text_or_empty(member(record, "metadata"), "namespace");
  for (const auto& [key, value] : items(member(record, "metadata"), "annotations").items()) {
    made.annotations.emplace_back(key, value.get<std::string>());
  }
  made.init_containers = items(member(record, "spec"), "initContainers").size();
  return made;
}

devices::request hami_request(const json& record, const devices::vendor_template& vendor) {
  constexpr std::int64_t unset = 101;
  devices::request made;
  made.vendor = text_or_empty(record, "type");
  made.count = number(record, "nums");
  made.cores = number(record, "coresreq");
  const std::int64_t memory = number(record, "memreq");
  const std::int64_t percent = number(record, "mem_percentagereq");
  if (vendor.requests.count_is_slices) {
    (percent == 0 ? made.slices : made.amount) = memory;
    return made;
  }
  made.memory = memory * mib;
  if (percent != unset) made.memory_permille = percent * 10;
  return made;
}

devices::grant hami_grant(const json& record, const devices::node& where) {
  devices::grant made;
  made.id = text_or_empty(record, "uuid");
  made.index = number(record, "idx");
  made.type = text_or_empty(record, "type");
  made.memory = number(record, "usedmem") * mib;
  made.cores = number(record, "usedcores");
  const auto at =
      std::find_if(where.devices.begin(), where.devices.end(), [&](const auto& of) { return of.id == made.id; });
  made.position = static_cast<std::size_t>(at - where.devices.begin());
  devices::device holder;
  if (has(record, "custom_info")) read_custom_info(member(record, "custom_info"), holder);
  made.attributes = std::move(holder.attributes);
  if (const auto slices = devices::integer_attribute(made.attributes, "drsSlice"))
    made.slots = std::max<std::int64_t>(*slices, 1);
  return made;
}

devices::pod_grants hami_grants(const json& record, const devices::node& where) {
  devices::pod_grants made;
  for (const auto& [key, containers] : record.items()) {
    devices::vendor_grants& of = devices::grants_of(made, key);
    for (const json& container : containers) {
      of.emplace_back();
      for (const json& one : container) of.back().push_back(hami_grant(one, where));
    }
  }
  return made;
}

devices::quantity hami_quantity(const json& written) {
  const std::string text = written.is_string() ? written.get<std::string>() : written.dump();
  std::size_t end = 0;
  const long double mantissa = std::stold(text, &end);
  const std::string suffix = text.substr(end);
  constexpr std::array<std::pair<std::string_view, long double>, 14> units{{{"", 1.0L},
                                                                            {"m", 1e-3L},
                                                                            {"u", 1e-6L},
                                                                            {"n", 1e-9L},
                                                                            {"k", 1e3L},
                                                                            {"M", 1e6L},
                                                                            {"G", 1e9L},
                                                                            {"T", 1e12L},
                                                                            {"P", 1e15L},
                                                                            {"Ki", 0x1p10L},
                                                                            {"Mi", 0x1p20L},
                                                                            {"Gi", 0x1p30L},
                                                                            {"Ti", 0x1p40L},
                                                                            {"Pi", 0x1p50L}}};
  const auto unit = std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == suffix; });
  if (unit == units.end()) throw unsupported("quantity " + text);
  const long double value = mantissa * unit->second;
  devices::quantity made;
  made.integer = std::floor(value) == value && std::fabs(value) < 9.2e18L;
  made.negative = value < 0;
  const long double away = value < 0 ? std::floor(value) : std::ceil(value);
  made.value = std::fabs(away) < 9.2e18L ? static_cast<std::int64_t>(away) : value < 0 ? INT64_MIN : INT64_MAX;
  made.suffix = std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::isalpha(c) != 0; });
  return made;
}

devices::container_resources hami_resources(const json& container) {
  devices::container_resources made;
  const json& resources = member(container, "resources");
  for (const auto& [name, text] : items(resources, "limits").items()) {
    made.limits.emplace_back(name, hami_quantity(text));
  }
  for (const auto& [name, text] : items(resources, "requests").items()) {
    made.requests.emplace_back(name, hami_quantity(text));
  }
  return made;
}

json request_record(const devices::vendor_template& vendor, const std::optional<devices::request>& made) {
  if (!made) return json::object();
  const bool nvidia = vendor.key == "NVIDIA";
  json record{{"nums", made->count}, {"type", made->vendor}, {"coresreq", made->cores}};
  if (vendor.requests.count_is_slices) {
    record["memreq"] = made->slices > 0 ? made->slices : made->amount;
    record["mem_percentagereq"] = made->slices > 0 ? 0 : -1;
    return record;
  }
  record["memreq"] = made->memory / mib;
  record["mem_percentagereq"] = made->memory_permille ? *made->memory_permille / 10 : nvidia ? 101 : 0;
  return record;
}

json grant_record(const devices::grant& made, const devices::node& where) {
  json record{{"idx", made.index},
              {"uuid", made.id},
              {"type", made.type},
              {"usedmem", made.memory / mib},
              {"usedcores", made.cores}};
  json info = attribute_record(made.attributes);
  if (made.instance && made.instance->placement.size > 0) {
    info["migProfile"] = made.instance->profile;
    info["migPlacement"] = {{"start", made.instance->placement.start}, {"size", made.instance->placement.size}};
  } else if (made.instance) {
    add_profile_record(made, where, info);
  }
  record["custom_info"] = std::move(info);
  return record;
}

json grants_record(const devices::container_grants& made, const devices::node& where) {
  json record = json::array();
  for (const devices::grant& one : made) record.push_back(grant_record(one, where));
  return record;
}

json pod_grants_record(const devices::pod_grants& made, const devices::node& where) {
  json record = json::object();
  for (const auto& [key, containers] : made) {
    json lists = json::array();
    for (const devices::container_grants& one : containers) lists.push_back(grants_record(one, where));
    record[key] = std::move(lists);
  }
  return record;
}

json normal(const json& record) {
  if (record.is_object()) {
    json made = json::object();
    for (const auto& [key, value] : record.items()) {
      // Requests that a grant repeats, and the whole pod, are not part of what is granted.
      if (key == "Pod.Annotations" || key == "requestMem" || key == "requestCore") continue;
      json inner = normal(value);
      const bool nothing = inner.is_null() || (inner.is_structured() && inner.empty() && !value.is_array()) ||
                           (inner.is_string() && inner.get_ref<const std::string&>().empty()) ||
                           (inner.is_number() && inner == 0) || (inner.is_boolean() && inner == false) ||
                           (inner.is_array() && inner.empty());
      if (!nothing) made[key] = std::move(inner);
    }
    return made;
  }
  if (!record.is_array()) return record;
  json made = json::array();
  for (const json& one : record) made.push_back(normal(one));
  return made;
}

bool is_cut(const json& record) {
  if (record.is_array()) return std::any_of(record.begin(), record.end(), is_cut);
  if (!record.is_object()) return false;
  for (const auto& [key, value] : record.items()) {
    if (key == "mig_profiles" && value.is_array() && has_null(value)) return true;
    if (key == "placements" && std::any_of(value.begin(), value.end(), [](const json& v) { return v.is_null(); }))
      return true;
    if (key == "placement" && value.is_object() && value.contains("size") && value.at("size").is_null()) return true;
    if (key == "pod_infos") continue;
    if (is_cut(value)) return true;
  }
  return false;
}

}  // namespace kaisched::conformance
