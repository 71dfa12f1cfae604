#include "io/kubernetes/pod.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "base/utf8.hpp"
#include "io/fault_log.hpp"
#include "io/kubernetes/claim.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/extender_answers.hpp"
#include "io/kubernetes/hami.hpp"
#include "io/kubernetes/quantity.hpp"
#include "io/kubernetes/resources.hpp"
#include "model/cell_place.hpp"
#include "policy/devices/vendor/device.hpp"

namespace kaisched::io::kubernetes {

namespace {

using devices::mebibyte;

constexpr std::int64_t stuck_after = 120 * second;

bool is_finished(std::string_view phase) { return phase == "Succeeded" || phase == "Failed"; }

pod_status status_of(object& of, bool binding, std::int64_t now) {
  const member spec = of.section(of.root(), "spec");
  const std::string_view phase = of.text(of.section(of.root(), "status"), "phase");
  const std::optional<std::int64_t> deleted = of.time(of.section(of.root(), "metadata"), "deletionTimestamp");
  if (phase == "Running") {
    if (!deleted) return pod_status::running;
    return now - *deleted > stuck_after ? pod_status::stuck_in_releasing : pod_status::releasing;
  }
  if (phase == "Succeeded") return pod_status::succeeded;
  if (phase == "Failed") return pod_status::failed;
  if (!phase.empty() && phase != "Pending") return pod_status::unknown;
  if (deleted) return pod_status::releasing;
  if (!of.text(spec, "nodeName").empty()) return pod_status::bound;
  if (binding) return pod_status::binding;
  return of.items(spec, "schedulingGates").empty() ? pod_status::pending : pod_status::gated;
}

bool holds_node(pod_status status) {
  return status >= pod_status::allocated && status <= pod_status::stuck_in_releasing;
}

/// Devices that the annotations of KAI ask for, instead of whole ones. What KAI cannot read it passes over.
void read_sharing(const object& of, pod_record& row) {
  const std::optional<std::int64_t> memory = whole_number(of.annotation("gpu-memory").value_or(""));
  const std::optional<std::int64_t> portion = parse_thousandths(of.annotation("gpu-fraction").value_or(""));
  const bool by_portion = portion && *portion > 0 && *portion <= whole_device;
  const bool by_memory = !by_portion && memory && *memory > 0 && *memory <= max_amount / mebibyte;
  if (!by_portion && !by_memory) return;
  const std::int64_t asked = whole_number(of.annotation("gpu-fraction-num-devices").value_or("")).value_or(1);
  const std::int64_t devices = std::clamp<std::int64_t>(asked, 1, max_devices_per_node);
  row.device_count = static_cast<std::uint32_t>(devices);
  row.request[std::string(gpu)] = by_portion ? devices * *portion : 0;
  row.gpu_memory = by_memory ? *memory * mebibyte : 0;
}

/// Takes an amount off a request; 0 if it is not there.
std::int64_t take(amounts& from, std::string_view name) {
  const auto known = from.find(name);
  if (known == from.end()) return 0;
  const std::int64_t amount = known->second;
  from.erase(known);
  return amount;
}

/// Parts of devices that the resources of HAMi ask for. No node has them: they say how a device is divided.
void read_hami_request(object& of, member spec, pod_record& row) {
  constexpr std::string_view memory_name = "nvidia.com/gpumem";
  constexpr std::string_view percentage_name = "nvidia.com/gpumem-percentage";
  constexpr std::string_view cores_name = "nvidia.com/gpucores";
  constexpr std::string_view priority_name = "nvidia.com/priority";
  bool any = false;
  for (const std::string_view name : {memory_name, percentage_name, cores_name, priority_name}) {
    any = any || row.request.find(name) != row.request.end();
    take(row.request, name);
  }
  if (!any) return;
  int asking = 0;
  std::int64_t devices = 0;
  std::int64_t memory = 0;
  std::int64_t percentage = 0;
  for (const std::string_view list : {"initContainers", "containers"}) {
    for (const json_value one : of.items(spec, list)) {
      amounts asked = container_requests(of, one);
      const std::int64_t wanted = take(asked, gpu) / whole_device;
      const std::int64_t part = take(asked, memory_name);
      const std::int64_t percent = take(asked, percentage_name);
      if (wanted == 0 && part == 0 && percent == 0 && take(asked, cores_name) == 0) continue;
      ++asking;
      devices = std::clamp<std::int64_t>(wanted, 1, max_devices_per_node);  // a part alone is a part of one device
      memory = std::min(part, max_amount / mebibyte);
      percentage = std::min<std::int64_t>(percent, 100);
    }
  }
  if (asking > 1) row.obstacle = "parts of devices for several containers cannot be expressed";
  if (memory > 0) {
    row.device_count = static_cast<std::uint32_t>(devices);
    row.gpu_memory = memory * mebibyte;
    row.request.erase(std::string(gpu));
  } else if (percentage > 0 && percentage < 100) {
    row.device_count = static_cast<std::uint32_t>(devices);
    row.request[std::string(gpu)] = devices * percentage * whole_device / 100;
  } else if (devices > 0) {
    row.request[std::string(gpu)] = devices * whole_device;
  }
}

bool is_leader(const object& of) {
  const std::string_view role = of.label("training.kubeflow.org/job-role").value_or("");
  return role == "master" || role == "launcher" || of.label("ray.io/node-type").value_or("") == "head";
}

/// Names of the shared devices that a pod is on: a binding under way knows best.
std::vector<std::string> gpu_groups_of(const object& of, const bind_request* binding) {
  constexpr std::string_view key = "runai-gpu-group";
  if (binding != nullptr && !binding->gpu_groups.empty()) return binding->gpu_groups;
  std::vector<std::string> groups;
  if (const member labels = of.labels()) {
    for (const json_value one : *labels) {
      const bool plain = one.key() == key;
      const bool of_several = one.key().starts_with(key) && one.key().substr(key.size()).starts_with('/');
      if ((plain || of_several) && one.is(json_kind::string)) groups.emplace_back(one.text());
    }
  }
  std::sort(groups.begin(), groups.end());
  groups.erase(std::unique(groups.begin(), groups.end()), groups.end());
  return groups;
}

/// Zones by name, from the annotation that says where the node has put the pod.
std::vector<std::int64_t> zones_of(const object& of, const std::vector<std::string>& names) {
  std::string_view text = of.annotation("kai.scheduler/numa-placement-observed").value_or("");
  if (text.empty()) text = of.annotation("kai.scheduler/numa-placement-predicted").value_or("");
  const result<json_document> read = json_document::parse(text, "");
  if (!read || !read->root().is(json_kind::array)) return {};
  std::vector<std::int64_t> zones;
  for (const json_value one : read->root()) {
    const member zone = find(one, "zone");
    if (!zone || !zone->is(json_kind::string)) return {};
    const auto known = std::find(names.begin(), names.end(), zone->text());
    if (known == names.end()) return {};
    zones.push_back(known - names.begin());
  }
  std::sort(zones.begin(), zones.end());
  return zones;
}

void read_constraints(object& of, member spec, pod_context& context, pod_record& row) {
  const member affinity = of.section(spec, "affinity");
  row.node_selector = label_texts_of(of, spec, "nodeSelector");
  row.node_affinity = node_affinity_texts(of, affinity, context.asks_node_names);
  row.node_preferences = node_preference_texts(of, affinity, context.asks_node_names);
  for (const json_value one : of.items(spec, "tolerations")) {
    if (std::string text = toleration_text(of, one); !text.empty()) row.tolerations.push_back(std::move(text));
  }
  pod_affinity_terms others = pod_affinity_of(of, affinity, context.spaces);
  if (others.asks_namespaces && context.spaces.empty()) {
    row.obstacle = "affinity to pods of namespaces by their labels needs these namespaces";
    others = {};
    others.asks_namespaces = true;
  }
  context.asks_namespaces = context.asks_namespaces || others.asks_namespaces;
  row.affinity = std::move(others.near);
  row.anti_affinity = std::move(others.apart);
  row.preferences = std::move(others.preferences);
  row.spread = spread_texts(of, spec);
  row.host_ports = host_port_texts(of, spec);
}

/// Volumes hold a pod to nodes wherever it goes; what is missing is in the way of who waits.
void read_volumes(object& of, const volume_book& volumes, pod_record& row) {
  const volume_needs needs = volumes.of(of);
  const std::string crowded = restrict_nodes(needs.selectors, row.node_affinity);
  for (const auto& [name, count] : needs.attached) row.request[name] += count;
  const bool waits = row.status == pod_status::pending || row.status == pod_status::gated;
  if (!waits || !row.obstacle.empty()) return;
  row.obstacle = base::printable(needs.obstacle.empty() ? crowded : needs.obstacle, longest_message);
}

/// What the pod claims is part of what it asks for.
void read_claims(object& of, const bind_request* binding, claim_book& claims, pod_record& row) {
  const bool waits = row.status == pod_status::pending || row.status == pod_status::gated;
  claims_of_pod has = claims.of(of, waits, row.status == pod_status::binding ? binding : nullptr);
  row.claims = std::move(has.names);
  if (!has.obstacle.empty()) row.obstacle = std::move(has.obstacle);
  if (has.gpus == 0) return;
  if (!row.device_requests.empty()) {
    row.obstacle = "claims of GPUs beside devices of vendors cannot be expressed";
    return;
  }
  row.claimed_gpus = has.gpus;
  row.request[std::string(gpu)] += has.gpus * whole_device;
}

}  // namespace

void read_pod(object& of, std::optional<membership>& known_group, pod_context& context, cluster_records& to) {
  const member spec = of.section(of.root(), "spec");
  const member metadata = of.section(of.root(), "metadata");
  const member status = of.section(of.root(), "status");
  const bool finished = is_finished(of.text(status, "phase"));
  const auto binding = context.bindings.find(of.full_name());
  const bind_request* request = binding == context.bindings.end() ? nullptr : &binding->second;

  pod_record row;
  row.line = of.line();
  row.name = of.full_name();
  row.node = of.text(spec, "nodeName");
  if (row.node.empty() && request != nullptr) row.node = request->node;
  const bool on_its_way = row.node.empty() && !finished;
  if (on_its_way) row.node = context.shared.binding_node(of, context.now);
  const bool has_place = context.nodes.contains(row.node);
  row.status = status_of(of, (request != nullptr || on_its_way) && has_place, context.now);
  if (!known_group) known_group = context.groups.of(of, finished);
  membership group = *known_group;
  if (group.group.empty() && (!has_place || finished)) return;
  // A pod that holds something on a node that is not there is for the cluster to refuse.
  if (!has_place && !holds_node(row.status)) row.node.clear();
  row.group = std::move(group.group);
  row.sub_group = std::move(group.sub_group);
  row.annotations = std::move(group.roles);
  row.request = effective_requests(of, spec);
  const bool hami = of.text(spec, "schedulerName") == hami_scheduler;
  context.shared.read_pod(of, spec, hami, row);
  if (const std::string_view cell = of.annotation(cell_annotation).value_or("");
      holds_node(row.status) && model::parse_cell_place(cell)) {
    row.device_grants.emplace_back(cell);
  }
  if (row.device_requests.empty()) {
    read_hami_request(of, spec, row);
    read_sharing(of, row);
  }
  const std::vector<std::string> groups = gpu_groups_of(of, request);
  if (of.label("app").value_or("") == context.chosen.reservation_app) {
    // It keeps a device for those that share it; they are who uses it.
    row.request.erase(std::string(gpu));
    row.device_requests.clear();
    row.device_grants.clear();
    const std::string_view uuid = of.annotation("run.ai/reserve_for_gpu_index").value_or("");
    for (const std::string& name : groups) context.group_uuids[{row.node, name}] = uuid;
  } else if (!groups.empty() && row.device_count > 0 && !row.node.empty()) {
    context.gpu_groups[to.pods.size()] = groups;
  }
  row.created = of.created();
  row.priority = whole_number(of.label("kai.scheduler/task-priority").value_or("")).value_or(group.priority);
  row.leader = is_leader(of);
  read_constraints(of, spec, context, row);
  read_volumes(of, context.volumes, row);
  if (row.status == pod_status::pending || row.status == pod_status::gated)
    read_extender_answers(of, row, context.asks_node_names);
  if (context.shared.avoids_other_devices(row)) {
    context.avoids_other_devices = true;
    if (row.node_affinity.empty()) row.node_affinity.emplace_back();
    for (std::string& term : row.node_affinity) {
      term += fmt::format("{}!{}", term.empty() ? "" : ",", other_devices_label);
    }
  }
  row.labels = label_texts_of(of, metadata, "labels");
  row.nominated_node = of.text(status, "nominatedNodeName");
  if (!context.nodes.contains(row.nominated_node)) row.nominated_node.clear();
  if (!of.failed()) read_claims(of, request, context.claims, row);
  if (const auto zones = context.zones.find(row.node); zones != context.zones.end()) {
    row.numa_zones = zones_of(of, zones->second);
  }
  row.qos = of.text(status, "qosClass");
  if (row.qos.empty()) row.qos = qos_of(of, spec);
  row.disruption_budget = context.budgets.of(of);
  if (!group.obstacle.empty()) row.obstacle = base::printable(group.obstacle, longest_message);
  if (of.failed()) {
    context.gpu_groups.erase(to.pods.size());
    return;
  }
  to.pods.push_back(std::move(row));
}

std::map<std::pair<std::string, std::int64_t>, std::string> place_on_shared_devices(const pod_context& context,
                                                                                    cluster_records& rows) {
  std::map<std::string, std::int64_t, std::less<>> device_counts;
  for (const node_record& node : rows.nodes) {
    const auto known = node.capacity.find(gpu);
    if (known != node.capacity.end()) device_counts[node.name] = known->second / whole_device;
  }
  const auto& by_uuid = context.device_indices;
  // Names in their own order, so that the order of the pods does not count.
  std::map<std::string, std::map<std::string, std::int64_t>> index_of;
  for (const auto& [row, names] : context.gpu_groups) {
    for (const std::string& name : names) index_of[rows.pods[row].node].emplace(name, unknown_devices);
  }
  for (auto& [node, names] : index_of) {
    std::set<std::int64_t> taken;
    for (auto& [name, index] : names) {
      const auto uuid = context.group_uuids.find({node, name});
      const auto known = uuid == context.group_uuids.end() ? by_uuid.end() : by_uuid.find({node, uuid->second});
      if (known != by_uuid.end() && known->second < device_counts[node]) index = *taken.insert(known->second).first;
    }
    std::int64_t next = std::min<std::int64_t>(device_counts[node], max_devices_per_node) - 1;
    for (auto& [name, index] : names) {
      while (taken.contains(next)) --next;
      if (index == unknown_devices && next >= 0) index = next--;
    }
  }
  for (const auto& [row, names] : context.gpu_groups) {
    pod_record& pod = rows.pods[row];
    for (const std::string& name : names) pod.devices.push_back(index_of[pod.node][name]);
    std::sort(pod.devices.begin(), pod.devices.end());
    if (pod.devices.front() < 0 || pod.devices.size() != pod.device_count) pod.devices = {unknown_devices};
  }
  std::map<std::pair<std::string, std::int64_t>, std::string> known_names;
  for (const auto& [node, names] : index_of) {
    for (const auto& [name, index] : names) {
      if (index != unknown_devices) known_names[{node, index}] = name;
    }
  }
  return known_names;
}

}  // namespace kaisched::io::kubernetes
