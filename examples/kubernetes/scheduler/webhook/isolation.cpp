#include "webhook/isolation.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <limits>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "api_server/object_fields.hpp"
#include "api_server/text_parts.hpp"
#include "hami/hami_grants.hpp"
#include "sharing/shared_pod.hpp"

namespace shim {

namespace {

using nlohmann::json;

constexpr const char* gpu_count = "nvidia.com/gpu";
constexpr const char* library_place = "/usr/lib/kaisched";
constexpr const char* guard_library = "/usr/lib/kaisched/libkaisched_guard_dlsym.so";
constexpr const char* ledger_place = "/run/kaisched/ledger";
constexpr const char* shared_place = "/run/kaisched/shared";
/// Names of volumes of the pod.
constexpr const char* library_volume = "kaisched-library";
constexpr const char* ledger_volume = "kaisched-ledgers";
constexpr const char* shared_volume = "kaisched-shared";
/// Variable with what was granted; another one makes an amount of it.
constexpr const char* granted_variable = "KAISCHED_GRANTED_MEMORY";

/// What a suffix of a quantity stands for; none: it is no suffix, or one of something else than whole numbers.
std::optional<std::int64_t> factor_of(std::string_view suffix) {
  constexpr std::array<std::pair<std::string_view, std::int64_t>, 7> units{{{"", 1},
                                                                            {"k", 1000},
                                                                            {"M", 1'000'000},
                                                                            {"G", 1'000'000'000},
                                                                            {"Ki", 1 << 10},
                                                                            {"Mi", 1 << 20},
                                                                            {"Gi", 1 << 30}}};
  const auto* const known =
      std::find_if(units.begin(), units.end(), [&](const auto& one) { return one.first == suffix; });
  if (known != units.end()) return known->second;
  if (suffix.front() != 'e' && suffix.front() != 'E') return std::nullopt;
  const auto exponent = read_number<unsigned>(suffix.substr(1));
  constexpr unsigned most = 9;  // ten digits are too many anyway
  if (!exponent || *exponent > most) return std::nullopt;
  std::int64_t factor = 1;
  for (unsigned i = 0; i < *exponent; ++i) factor *= 10;
  return factor;
}

std::int64_t amount_of(const std::string& text) {
  std::int64_t number = 0;
  const auto [end, failed] = std::from_chars(text.data(), text.data() + text.size(), number);
  const auto factor = factor_of({end, static_cast<std::size_t>(text.data() + text.size() - end)});
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();  // as HAMi counts
  if (failed != std::errc{} || !factor || number < 0 || number > most / *factor) {
    throw bad_input(fmt::format("expected a whole number up to {}, found \"{}\"", most, text));
  }
  return number * *factor;
}

/// Of the limits, else of the requests.
std::optional<std::int64_t> resource_of_container(const json& container, const char* name) {
  for (const char* part : {"limits", "requests"}) {
    const json::json_pointer path(fmt::format("/resources/{}", part));
    if (!container.contains(path) || !container[path].is_object() || !container[path].contains(name)) continue;
    const json& amount = container[path][name];
    try {
      return amount_of(amount.is_string() ? amount.get<std::string>() : amount.dump());
    } catch (const bad_input& fault) {
      throw bad_input(
          fmt::format("container {}: resources.{}.{}: {}", container.value("name", ""), part, name, fault.what()));
    }
  }
  return std::nullopt;
}

json* variable_of(json& container, std::string_view name) {
  if (!container.contains("env") || !container["env"].is_array()) return nullptr;
  for (json& one : container["env"]) {
    if (one.is_object() && one.value("name", "") == name) return &one;
  }
  return nullptr;
}

void drop_variable(json& container, std::string_view name) {
  if (!container.contains("env") || !container["env"].is_array()) return;
  json kept = json::array();
  for (json& one : container["env"]) {
    if (!one.is_object() || one.value("name", "") != name) kept.push_back(std::move(one));
  }
  container["env"] = std::move(kept);
}

void set_variable(json& container, const std::string& name, const json& value) {
  if (variable_of(container, name) != nullptr) return;
  json one{{"name", name}};
  one.update(value);
  container["env"].push_back(std::move(one));
}

void set_text(json& container, const std::string& name, const std::string& value) {
  set_variable(container, name, {{"value", value}});
}

void set_field(json& container, const std::string& name, const std::string& path) {
  set_variable(container, name, {{"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
}

bool has_path(const json& container, const std::string& path) {
  return std::ranges::any_of(list_at(container, "/volumeMounts"),
                             [&](const json& one) { return one.is_object() && one.value("mountPath", "") == path; });
}

void mount(json& container, json what) {
  if (!has_path(container, what["mountPath"])) container["volumeMounts"].push_back(std::move(what));
}

void add_volume(json& pod, json what) {
  json& volumes = pod["spec"]["volumes"];
  if (volumes.is_null()) volumes = json::array();
  const std::string name = what.value("name", "");
  const bool there = std::any_of(volumes.begin(), volumes.end(),
                                 [&](const json& one) { return one.is_object() && one.value("name", "") == name; });
  if (!there) volumes.push_back(std::move(what));
}

void set_limits(json& container, std::size_t place, const gpu_part& part) {
  if (!part.config_map.empty()) {
    for (const char* name : {cuda_memory_limit, memory_limit}) {
      set_variable(container, name, {{"valueFrom", {{"configMapKeyRef", {{"name", part.config_map}, {"key", name}}}}}});
    }
  } else if (part.memory) {
    set_text(container, cuda_memory_limit, fmt::format("{}m", *part.memory));
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() >> 20U;
    set_text(container, memory_limit, std::to_string(std::min(*part.memory, most) << 20U));
  } else if (part.is_percent) {
    // Nobody knows the card yet. If the scheduler says nothing either, "m" is no amount, and the guard starts nothing.
    set_field(container, granted_variable, fmt::format("metadata.annotations['{}']", granted_memory_key(place)));
    for (const char* name : {cuda_memory_limit, memory_limit}) {
      set_text(container, name, fmt::format("$({})m", granted_variable));
    }
  }
  if (part.cores) set_text(container, "CUDA_DEVICE_SM_LIMIT", std::to_string(std::min<std::int64_t>(*part.cores, 100)));
  if (part.priority) set_text(container, "CUDA_TASK_PRIORITY", std::to_string(*part.priority));
}

/// The guard stands in front of what is preloaded already. @return false if nobody knows what that is.
bool preload(json& container) {
  json* const there = variable_of(container, "LD_PRELOAD");
  if (there == nullptr) {
    set_text(container, "LD_PRELOAD", guard_library);
    return true;
  }
  if (there->contains("valueFrom")) return false;
  const std::string others = there->value("value", "");
  if (others.find(guard_library) == std::string::npos) {
    (*there)["value"] = others.empty() ? guard_library : fmt::format("{}:{}", guard_library, others);
  }
  return true;
}

}  // namespace

std::optional<gpu_part> read_gpu_part(const json& container) {
  gpu_part made;
  const auto count = resource_of_container(container, gpu_count);
  made.memory = resource_of_container(container, "nvidia.com/gpumem");
  const auto percent = resource_of_container(container, "nvidia.com/gpumem-percentage");
  made.cores = resource_of_container(container, "nvidia.com/gpucores");
  made.priority = resource_of_container(container, "nvidia.com/priority");
  if (percent && *percent > 100) {
    throw bad_input(
        fmt::format("container {}: nvidia.com/gpumem-percentage: at most 100", container.value("name", "")));
  }
  made.counted = count && *count > 0;
  if (made.memory == 0) made.memory.reset();
  made.is_percent = !made.memory && percent && *percent > 0 && *percent < 100;
  const bool asks = made.counted || made.memory || percent || made.cores;
  return asks ? std::optional(made) : std::nullopt;
}

void ask_for_device(json& container, const gpu_part& part) {
  if (part.counted) return;
  for (const char* list : {"limits", "requests"}) container["resources"][list][gpu_count] = "1";
}

std::string granted_memory_key(std::size_t place) { return fmt::format("kaisched.io/granted-memory-{}", place); }

json granted_memory(const std::string& grants) {
  json made = json::object();
  std::size_t place = 0;
  for (const std::vector<hami::device_grant>& of : hami::read_grants(grants).value_or(hami::container_grants())) {
    const auto least = std::min_element(
        of.begin(), of.end(), [](const auto& one, const auto& other) { return one.memory_mib < other.memory_mib; });
    if (least != of.end()) made[granted_memory_key(place)] = std::to_string(least->memory_mib);
    ++place;
  }
  return made;
}

void isolation::add_to(json& container, std::size_t place, const gpu_part& part, std::vector<std::string>& warnings) {
  if (!part.is_limited()) return;
  const json* const opted_out = variable_of(container, "CUDA_DISABLE_CONTROL");
  if (opted_out != nullptr && opted_out->value("value", "") == "true") return;
  if (!preload(container)) {
    warnings.push_back(
        fmt::format("container {}: LD_PRELOAD is not known yet: no limits are kept", container.value("name", "")));
    return;
  }
  guards_ = true;
  set_limits(container, place, part);
  mount(container, {{"name", library_volume}, {"mountPath", library_place}, {"readOnly", true}});
  const std::string name = container.value("name", "");
  if (by_.ledgers.empty()) {
    mount(container, {{"name", shared_volume}, {"mountPath", shared_place}, {"subPath", name}});
    set_text(container, "CUDA_DEVICE_MEMORY_SHARED_CACHE", fmt::format("{}/limits", shared_place));
  } else {
    // A variable in a path of a volume has to stand before all that use it, and says whose folder it is: nobody else
    // may.
    drop_variable(container, "KAISCHED_POD_UID");
    set_field(container, "KAISCHED_POD_UID", "metadata.uid");
    mount(container, {{"name", ledger_volume},
                      {"mountPath", ledger_place},
                      {"subPathExpr", fmt::format("$(KAISCHED_POD_UID)_{}", name)}});
    set_text(container, "KAISCHED_LEDGER", ledger_place);
  }
}

void isolation::add_volumes() {
  if (!guards_) return;
  add_volume(pod_, {{"name", library_volume}, {"hostPath", {{"path", by_.library}, {"type", "Directory"}}}});
  if (by_.ledgers.empty()) {
    add_volume(pod_, {{"name", shared_volume}, {"emptyDir", {{"sizeLimit", "16Mi"}}}});
  } else {
    add_volume(pod_, {{"name", ledger_volume}, {"hostPath", {{"path", by_.ledgers}, {"type", "DirectoryOrCreate"}}}});
  }
}

}  // namespace shim
