#include "conformance/volcano_pods.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_records.hpp"
#include "policy/claims/allocator.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;

constexpr std::string_view device_gate = "DynamicResourceAllocation";
constexpr std::string_view class_prefix = "deviceclass/";
constexpr const char* preferred = "preferredDuringSchedulingIgnoredDuringExecution";
constexpr const char* required = "requiredDuringSchedulingIgnoredDuringExecution";

const json* plugin_named(const json& one, std::string_view name) {
  for (const json& tier : items(one, "tiers")) {
    for (const json& plugin : items(tier, "plugins")) {
      if (name_of(plugin) == name) return &plugin;
    }
  }
  return nullptr;
}

/// Whether a plug-in looks at claims: by its argument, else by the gate.
bool looks_at_claims(const json& one, std::string_view plugin, std::string_view argument) {
  const json* const found = plugin_named(one, plugin);
  if (found == nullptr) return false;
  const json& gates = items(member(one, "settings"), "feature_gates");
  const bool open = std::ranges::find(gates, json(device_gate)) != gates.end();
  return value_or(member(*found, "arguments"), argument, open);
}

bool limits_devices(const json& one) {
  return looks_at_claims(one, "capacity", "capacity.DynamicResourceAllocationEnable");
}

const json* object_of(const json& one, std::string_view list, const std::string& space, const std::string& name) {
  for (const json& object : items(one.at("input"), list)) {
    const json& about = member(object, "metadata");
    if (text_or_empty(about, "namespace") == space && text_or_empty(about, "name") == name) return &object;
  }
  return nullptr;
}

kaisched::volcano::devices_by_class devices_of(const json& claim) {
  kaisched::volcano::devices_by_class made;
  for (const json& request : items(member(member(claim, "spec"), "devices"), "requests")) {
    const json& exactly = member(request, "exactly");
    const std::string mode = text_or_empty(exactly, "allocationMode");
    if (exactly.is_null() || (!mode.empty() && mode != "ExactCount")) throw unsupported("claims of any devices");
    made[text_or_empty(exactly, "deviceClassName")] += value_or<std::int64_t>(exactly, "count", 1);
  }
  return made;
}

std::string space_of(const json& object) { return text_or_empty(member(object, "metadata"), "namespace"); }
std::vector<model::cel_expression> selectors_of(const json& of) {
  std::vector<model::cel_expression> made;
  for (const json& one : items(of, "selectors")) {
    result<model::cel_expression> read = model::cel_expression::parse(text_or_empty(member(one, "cel"), "expression"));
    if (!read) throw unsupported("selector of devices: " + read.failure().message);
    made.push_back(std::move(*read));
  }
  return made;
}

policy::device_request request_of(const json& one, const json& request) {
  const json& exactly = member(request, "exactly");
  if (exactly.is_null() || has(exactly, "tolerations") || has(exactly, "capacity"))
    throw unsupported("claims of any devices");
  policy::device_ask ask;
  ask.all = text_or_empty(exactly, "allocationMode") == "All";
  ask.count = value_or<std::int64_t>(exactly, "count", 1);
  const json* const of_class = object_of(one, "device_classes", "", text_or_empty(exactly, "deviceClassName"));
  if (of_class == nullptr) throw unsupported("a class of devices that there is not");
  ask.selectors = selectors_of(member(*of_class, "spec"));
  for (model::cel_expression& own : selectors_of(exactly)) ask.selectors.push_back(std::move(own));
  return {text_or_empty(request, "name"), {std::move(ask)}};
}

/// What all claims of some pods ask for, each once.
std::vector<policy::claim_request> claims_of(const json& one, const std::vector<const json*>& pods) {
  std::vector<policy::claim_request> made;
  std::vector<const json*> seen;
  for (const json* pod : pods) {
    for (const json& record : items(member(*pod, "spec"), "resourceClaims")) {
      const json* const claim =
          object_of(one, "resource_claims", space_of(*pod), text_or_empty(record, "resourceClaimName"));
      if (claim == nullptr) throw unsupported("claims of devices by a template");
      if (std::ranges::find(seen, claim) != seen.end()) continue;
      seen.push_back(claim);
      const json& devices = member(member(*claim, "spec"), "devices");
      if (has(member(*claim, "status"), "allocation") || !items(devices, "constraints").empty())
        throw unsupported("claims of devices that are allocated or constrained");
      policy::claim_request& to = made.emplace_back();
      for (const json& request : items(devices, "requests")) to.requests.push_back(request_of(one, request));
    }
  }
  return made;
}

std::vector<policy::device_slice> slices_of(const json& one) {
  std::vector<policy::device_slice> made;
  for (const json& object : items(one.at("input"), "resource_slices")) {
    const json& spec = member(object, "spec");
    if (has(spec, "nodeSelector")) throw unsupported("devices of selected nodes");
    policy::device_slice& to = made.emplace_back();
    to.driver = text_or_empty(spec, "driver");
    to.pool = text_or_empty(member(spec, "pool"), "name");
    to.generation = value_or<std::int64_t>(member(spec, "pool"), "generation", 0);
    to.slices = value_or<std::int64_t>(member(spec, "pool"), "resourceSliceCount", 1);
    for (const json& device : items(spec, "devices")) {
      if (device.size() > 1) throw unsupported("devices with attributes");
      policy::offered_device& offered = to.devices.emplace_back();
      offered.name = text_or_empty(device, "name");
      offered.reach.node = text_or_empty(spec, "nodeName");
      offered.reach.all_nodes = value_or(spec, "allNodes", false);
    }
  }
  return made;
}

bool finds_devices(const policy::device_pools& pools, const json& node, const std::vector<policy::claim_request>& of) {
  std::vector<const policy::claim_request*> claims;
  for (const policy::claim_request& one : of) claims.push_back(&one);
  const policy::device_usage usage(pools);
  const policy::selector_answers answers;
  const std::vector<std::uint32_t> there =
      pools.reachable(text_or_empty(member(node, "metadata"), "name"), volcano_labels(node));
  return policy::allocate({pools, usage, answers, there}, claims).outcome == policy::allocation_outcome::found;
}

std::string phase_of(const json& object) { return text_or_empty(member(object, "status"), "phase"); }

std::vector<const json*> volume_claims_of(const json& one, const json& pod) {
  std::vector<const json*> made;
  for (const json& volume : items(member(pod, "spec"), "volumes")) {
    if (!has(volume, "persistentVolumeClaim")) continue;
    const std::string name = text_or_empty(member(volume, "persistentVolumeClaim"), "claimName");
    const json* const claim = object_of(one, "pvcs", space_of(pod), name);
    if (claim == nullptr) throw unsupported("claims of volumes that there are not");
    made.push_back(claim);
  }
  return made;
}

/// Bytes.
double storage_of(const json& amounts) {
  const std::string text = text_or_empty(amounts, "storage");
  return volcano_quantities({{"memory", text.empty() ? "0" : text}}).memory;
}

bool is_bound(const json& claim) { return !text_or_empty(member(claim, "spec"), "volumeName").empty(); }

/// Whether a volume that nodes reach alike is free for a claim.
bool satisfies(const json& volume, const json& claim) {
  const json& has_spec = member(volume, "spec");
  const json& wants = member(claim, "spec");
  if (has(wants, "selector")) throw unsupported("claims of volumes by labels");
  if (phase_of(volume) != "Available" || has(has_spec, "nodeAffinity") || has(has_spec, "claimRef")) return false;
  if (text_or_empty(has_spec, "storageClassName") != text_or_empty(wants, "storageClassName")) return false;
  const json& modes = items(has_spec, "accessModes");
  for (const json& mode : items(wants, "accessModes")) {
    if (std::ranges::find(modes, mode) == modes.end()) return false;
  }
  return storage_of(items(member(wants, "resources"), "requests")) <= storage_of(items(has_spec, "capacity"));
}

struct pod_term {
  model::selector pods;
  std::vector<std::string> spaces;
  std::string key;
  std::int64_t weight;
};

/// Wishes of a pod about others; those to be apart count against a node.
std::vector<pod_term> terms_of(const json& pod) {
  std::vector<pod_term> made;
  const json& affinity = member(member(pod, "spec"), "affinity");
  for (const auto& [kind, sign] : {std::pair{"podAffinity", 1}, std::pair{"podAntiAffinity", -1}}) {
    if (!items(member(affinity, kind), required).empty()) throw unsupported("affinity of pods that is required");
    for (const json& wish : items(member(affinity, kind), preferred)) {
      const json& term = member(wish, "podAffinityTerm");
      for (const char* const more : {"namespaceSelector", "matchLabelKeys", "mismatchLabelKeys"}) {
        if (has(term, more)) throw unsupported("affinity of pods by more than labels");
      }
      if (!has(term, "labelSelector")) continue;
      std::vector<std::string> spaces = items(term, "namespaces").get<std::vector<std::string>>();
      if (spaces.empty()) spaces.push_back(space_of(pod));
      made.push_back({volcano_selector(member(term, "labelSelector")), std::move(spaces),
                      text_or_empty(term, "topologyKey"), sign * value_or<std::int64_t>(wish, "weight", 0)});
    }
  }
  return made;
}

bool is_about(const pod_term& term, const json& pod) {
  return std::ranges::find(term.spaces, space_of(pod)) != term.spaces.end() && term.pods.matches(volcano_labels(pod));
}

std::string label_of(const json& node, const std::string& key) {
  return text_or_empty(items(member(node, "metadata"), "labels"), key);
}

}  // namespace

std::vector<kaisched::volcano::device_claim> volcano_device_claims(const json& one, const json& pod) {
  std::vector<kaisched::volcano::device_claim> made;
  const json& claims = items(member(pod, "spec"), "resourceClaims");
  if (!limits_devices(one)) return made;
  for (const json& record : claims) {
    const std::string name = text_or_empty(record, "resourceClaimName");
    const json* const claim = object_of(one, "resource_claims", space_of(pod), name);
    if (claim == nullptr) throw unsupported("claims of devices by a template");
    made.push_back({space_of(pod) + "/" + name, devices_of(*claim)});
  }
  return made;
}

kaisched::volcano::devices_by_class volcano_device_limits(const json& one, const json& capability) {
  kaisched::volcano::devices_by_class made;
  if (!limits_devices(one)) return made;
  for (const auto& [name, amount] : capability.items()) {
    if (name.find(".deviceclass/") != std::string::npos) throw unsupported("parts of devices of a queue");
    if (!name.starts_with(class_prefix)) continue;
    made[name.substr(class_prefix.size())] =
        static_cast<std::int64_t>(volcano_quantities({{"pods", amount}}).get("pods"));
  }
  return made;
}

std::vector<bool> volcano_lacks_devices(const json& one, const json& pod, const std::vector<const json*>& nodes) {
  std::vector<bool> lacks(nodes.size(), false);
  if (items(member(pod, "spec"), "resourceClaims").empty() ||
      !looks_at_claims(one, "predicates", "predicate.DynamicResourceAllocationEnable"))
    return lacks;
  const std::vector<policy::device_slice> slices = slices_of(one);
  std::vector<const policy::device_slice*> all;
  for (const policy::device_slice& slice : slices) all.push_back(&slice);
  const policy::device_pools pools(all);
  std::vector<const json*> pods;
  for (const json& other : items(one.at("input"), "pods")) pods.push_back(&other);
  const std::vector<policy::claim_request> own = claims_of(one, {&pod});
  const std::vector<policy::claim_request> everybody = claims_of(one, pods);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    lacks[i] = !finds_devices(pools, *nodes[i], own);
    if (!lacks[i] && !finds_devices(pools, *nodes[i], everybody)) throw unsupported("devices that are scarce");
  }
  return lacks;
}

bool waits_for_volume(const json& one, const json& pod) {
  return std::ranges::any_of(volume_claims_of(one, pod), [](const json* claim) { return !is_bound(*claim); });
}

void check_volcano_volumes(const json& one) {
  std::vector<const json*> free;
  for (const json& volume : items(one.at("input"), "pvs")) free.push_back(&volume);
  std::ranges::stable_sort(free, {},
                           [](const json* volume) { return storage_of(items(member(*volume, "spec"), "capacity")); });
  std::vector<const json*> seen;
  for (const json& pod : items(one.at("input"), "pods")) {
    for (const json* claim : volume_claims_of(one, pod)) {
      if (std::ranges::find(seen, claim) != seen.end()) continue;
      seen.push_back(claim);
      if (is_bound(*claim)) throw unsupported("volumes that are bound");
      const auto found = std::ranges::find_if(free, [&](const json* volume) { return satisfies(*volume, *claim); });
      if (found == free.end()) throw unsupported("too few volumes");
      free.erase(found);
    }
  }
}

std::vector<std::int64_t> volcano_pull(const json& one, const json& pod, const std::vector<const json*>& nodes) {
  std::vector<std::int64_t> pull(nodes.size(), 0);
  const std::vector<pod_term> own = terms_of(pod);
  for (const json& other : items(one.at("input"), "pods")) {
    if (&other == &pod || phase_of(other) == "Succeeded" || phase_of(other) == "Failed") continue;
    std::vector<pod_term> between;
    for (const pod_term& term : own) {
      if (is_about(term, other)) between.push_back(term);
    }
    for (const pod_term& term : terms_of(other)) {
      if (is_about(term, pod)) between.push_back(term);
    }
    if (between.empty()) continue;
    const std::string name = text_or_empty(member(other, "spec"), "nodeName");
    if (name.empty()) throw unsupported("affinity of pods that are placed together");
    const auto at = std::ranges::find_if(
        nodes, [&](const json* node) { return text_or_empty(member(*node, "metadata"), "name") == name; });
    if (at == nodes.end()) continue;
    for (const pod_term& term : between) {
      const std::string where = label_of(**at, term.key);
      for (std::size_t i = 0; !where.empty() && i < nodes.size(); ++i) {
        if (label_of(*nodes[i], term.key) == where) pull[i] += term.weight;
      }
    }
  }
  return pull;
}

}  // namespace kaisched::conformance
