#include "io/kubernetes/actions.hpp"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <kaisched/decisions.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "io/kubernetes/claim_actions.hpp"
#include "io/kubernetes/grant_annotations.hpp"
#include "io/kubernetes/hami.hpp"
#include "model/cell_place.hpp"
#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "model/vendor_devices.hpp"

namespace kaisched::io::kubernetes {

namespace {

using json = nlohmann::ordered_json;

/// `namespace/name`.
std::pair<std::string, std::string> split_name(std::string_view full) {
  const std::size_t slash = full.find('/');
  if (slash == std::string_view::npos) return {{}, std::string(full)};
  return {std::string(full.substr(0, slash)), std::string(full.substr(slash + 1))};
}

json metadata_of(std::string_view full) {
  auto [name_space, name] = split_name(full);
  json metadata = json::object();
  if (!name_space.empty()) metadata["namespace"] = std::move(name_space);
  metadata["name"] = std::move(name);
  return metadata;
}

/// A pod with what changes of it.
json pod_of(json metadata) { return {{"apiVersion", "v1"}, {"kind", "Pod"}, {"metadata", std::move(metadata)}}; }

json pod_of(std::string_view full, json status) {
  json pod = pod_of(metadata_of(full));
  pod["status"] = std::move(status);
  return pod;
}

/// What a pod asks for in devices.
struct device_request {
  std::int64_t whole = 0;  ///< milli-GPU
  bool shared = false;
  bool mig = false;
};

/// Requests of all pods by name.
std::map<std::string, device_request, std::less<>> requests_of(const table_view& pods,
                                                               const std::vector<std::string_view>& dimensions) {
  std::map<std::string, device_request, std::less<>> requests;
  const column_view& names = *pods.find(col::pod_name);
  const column_view& amounts = *pods.find(col::pod_request);
  const column_view& counts = *pods.find(col::pod_device_count);
  const column_view& memory = *pods.find(col::pod_gpu_memory);
  for (std::uint64_t row = 0; row < pods.rows; ++row) {
    device_request request;
    const auto of_row = amounts.values<std::int64_t>(pods.rows).subspan(row * amounts.width, amounts.width);
    request.whole = of_row[dim_gpu];
    request.shared =
        counts.values<std::uint32_t>(pods.rows)[row] > 0 || memory.values<std::int64_t>(pods.rows)[row] > 0;
    for (std::size_t i = built_in_dimensions; i < dimensions.size(); ++i) {
      request.mig = request.mig || (of_row[i] > 0 && dimensions[i].starts_with("nvidia.com/mig-"));
    }
    requests.emplace(names.string(row), request);
  }
  return requests;
}

class action_list {
 public:
  action_list(const object_names& names, const claim_actions& claims, binding_form form,
              std::map<std::string, device_request, std::less<>> requests)
      : names_(names), claims_(claims), form_(form), requests_(std::move(requests)) {}

  /// `granted`: devices that vendors' rules give.
  void bind(std::string_view pod, std::string_view node, std::span<const std::int64_t> devices, std::int64_t share,
            std::int64_t granted) {
    if (form_ == binding_form::kai) {
      add(bind_request(pod, node, devices, share, granted));
    } else {
      for (json& one : claims_.claims(pod, node)) add(std::move(one));
      if (!devices.empty() && asked_by(pod).shared) add(shared_devices(pod, node, devices, share));
      json metadata = metadata_of(pod);
      if (!cell_.empty()) metadata["annotations"] = {{cell_annotation, cell_}};
      add({{"apiVersion", "v1"},
           {"kind", "Binding"},
           {"metadata", std::move(metadata)},
           {"target", {{"apiVersion", "v1"}, {"kind", "Node"}, {"name", node}}}});
    }
  }
  /// What the plugins of the node have to find when the pod gets there.
  result<void> grant(std::string_view pod, std::string_view node, std::span<const std::string_view> grants) {
    const result<std::map<std::string, std::string>> read = grant_annotations(names_, pod, node, grants);
    if (!read) return read.failure();
    json metadata = metadata_of(pod);
    metadata["labels"] = {{hami_assigned_node, node}};
    metadata["annotations"] = {{hami_assigned_node, node}, {hami_bind_phase, "allocating"}};
    for (const auto& [key, text] : *read) metadata["annotations"][key] = text;
    add(pod_of(std::move(metadata)));
    return {};
  }
  /// Where the pod that is bound next is in the cells of its queue: the next session has to know. A binding hands its
  /// annotations on to the pod.
  void tell_cell(std::string_view pod, std::string_view place) {
    cell_ = place;
    if (place.empty() || form_ != binding_form::kai) return;
    json metadata = metadata_of(pod);
    metadata["annotations"] = {{cell_annotation, place}};
    add(pod_of(std::move(metadata)));
  }
  void evict(std::string_view pod) {
    add({{"apiVersion", "policy/v1"}, {"kind", "Eviction"}, {"metadata", metadata_of(pod)}});
  }
  void nominate(std::string_view pod, std::string_view node) { add(pod_of(pod, {{"nominatedNodeName", node}})); }
  void explain(std::string_view pod, std::string_view message) {
    json condition{{"type", "PodScheduled"}, {"status", "False"}, {"reason", "Unschedulable"}, {"message", message}};
    add(pod_of(pod, {{"conditions", json::array({std::move(condition)})}}));
  }

  [[nodiscard]] std::string text() const {
    const json list{{"apiVersion", "v1"}, {"kind", "List"}, {"items", items_}};
    return list.dump(2, ' ', false, json::error_handler_t::replace) + "\n";
  }

 private:
  void add(json one) { items_.push_back(std::move(one)); }

  [[nodiscard]] json bind_request(std::string_view pod, std::string_view node, std::span<const std::int64_t> devices,
                                  std::int64_t share, std::int64_t granted) const {
    const device_request asked = asked_by(pod);
    json metadata = metadata_of(pod);
    metadata["labels"] = {{"selected-node", node}};
    const std::string name = metadata["name"];
    json owner{{"apiVersion", "v1"}, {"kind", "Pod"}, {"name", name}};
    if (const auto uid = names_.pod_uids.find(pod); uid != names_.pod_uids.end()) owner["uid"] = uid->second;
    metadata["ownerReferences"] = json::array({std::move(owner)});

    json spec{{"podName", name}, {"selectedNode", node}};
    spec["receivedResourceType"] = asked.shared ? "Fraction" : asked.mig ? "MigInstance" : "Regular";
    const std::int64_t count = asked.shared  ? static_cast<std::int64_t>(devices.size())
                               : granted > 0 ? granted
                                             : asked.whole / whole_device;
    const std::int64_t hundredths = asked.shared  ? hundredths_of(share)
                                    : granted > 0 ? std::min<std::int64_t>((asked.whole / granted + 5) / 10, 100)
                                                  : (count > 0 ? 100 : 0);
    spec["receivedGPU"] = {{"count", count}, {"portion", portion_text(hundredths)}};
    if (asked.shared) {
      json groups = json::array();
      for (const std::int64_t device : devices) groups.push_back(group_of(node, device));
      spec["selectedGPUGroups"] = std::move(groups);
    }
    if (json given = claims_.allocations(pod, node); !given.empty()) {
      spec["resourceClaimAllocations"] = std::move(given);
    }
    return {{"apiVersion", "scheduling.run.ai/v1alpha2"},
            {"kind", "BindRequest"},
            {"metadata", std::move(metadata)},
            {"spec", std::move(spec)}};
  }

  [[nodiscard]] device_request asked_by(std::string_view pod) const {
    const auto known = requests_.find(pod);
    return known == requests_.end() ? device_request{} : known->second;
  }

  static std::int64_t hundredths_of(std::int64_t share) { return (share + 5) / 10; }
  static std::string portion_text(std::int64_t hundredths) {
    return fmt::format("{}.{:02}", hundredths / 100, hundredths % 100);
  }

  /// What a pod has to say before it is bound: which devices it shares, and how much of each it has.
  [[nodiscard]] json shared_devices(std::string_view pod, std::string_view node, std::span<const std::int64_t> devices,
                                    std::int64_t share) const {
    json metadata = metadata_of(pod);
    for (const std::int64_t device : devices) {
      const std::string group = group_of(node, device);
      metadata["labels"][devices.size() == 1 ? "runai-gpu-group" : "runai-gpu-group/" + group] = group;
    }
    metadata["annotations"] = {{"received-resource-type", "Fraction"},
                               {"kaisched.io/gpu-portion", portion_text(hundredths_of(share))}};
    return pod_of(std::move(metadata));
  }

  [[nodiscard]] std::string group_of(std::string_view node, std::int64_t device) const {
    const auto known = names_.gpu_groups.find({std::string(node), device});
    if (known != names_.gpu_groups.end()) return known->second;
    // Nobody knows which device of the node an older group is on, so the name for this index may be taken.
    for (int attempt = 0;; ++attempt) {
      std::string name = gpu_group_name(node, device, attempt);
      if (!is_in_use(node, name)) return name;
    }
  }

  [[nodiscard]] bool is_in_use(std::string_view node, const std::string& name) const {
    const auto& groups = names_.gpu_groups;
    for (auto one = groups.lower_bound({std::string(node), 0}); one != groups.end() && one->first.first == node;
         ++one) {
      if (one->second == name) return true;
    }
    return false;
  }

  const object_names& names_;
  const claim_actions& claims_;
  binding_form form_;
  std::map<std::string, device_request, std::less<>> requests_;
  std::string_view cell_;
  json items_ = json::array();
};

}  // namespace

std::string gpu_group_name(std::string_view node, std::int64_t index, int attempt) {
  // No name of a node has a slash.
  return uuid_of(attempt == 0 ? fmt::format("{}/{}", node, index) : fmt::format("{}/{}/{}", node, index, attempt));
}

result<std::string> format_actions(const session& from, const object_names& names, binding_form form) {
  const result<table> pods = from.base().to_table(table_kind::pod);
  if (!pods) return pods.failure();
  const result<table> decisions = from.to_table(table_kind::outcome);
  if (!decisions) return decisions.failure();

  for (const decision& d : from.decisions()) {
    if (d.kind != decision_kind::repartition) continue;
    return error{status::unsupported,
                 fmt::format("node {}: how its devices are divided is set by its operator, not by actions on pods",
                             from.base().node_name(d.node)),
                 {}};
  }
  claim_actions claims(names);
  if (auto done = claims.read(from); !done) return done.take_failure();
  action_list list(names, claims, form, requests_of(pods->view(), from.base().dimension_names()));
  const table_view rows = decisions->view();
  const model::cluster_state& before = model::state_of(from.base());
  for (std::uint64_t row = 0; row < rows.rows; ++row) {
    const std::string_view pod = rows.find(col::decision_pod_name)->string(row);
    const std::string_view node = rows.find(col::decision_node_name)->string(row);
    const auto kind = static_cast<decision_kind>(rows.find(col::decision_kind)->values<std::uint8_t>(rows.rows)[row]);
    switch (kind) {
      case decision_kind::bind: {
        std::vector<std::string_view> grants = split_list(rows.find(col::decision_device_grants)->string(row));
        const auto cell = std::ranges::find_if(
            grants, [](std::string_view text) { return model::parse_cell_place(text).has_value(); });
        list.tell_cell(pod, cell == grants.end() ? std::string_view() : *cell);
        std::erase_if(grants, [](std::string_view text) { return model::parse_cell_place(text).has_value(); });
        std::set<std::string> granted;
        for (const std::string_view text : grants) {
          result<model::vendor_grant> one = model::parse_vendor_grant(text);
          if (!one) return one.take_failure();
          granted.insert(std::move(one->device));
        }
        if (!grants.empty()) {
          if (auto done = list.grant(pod, node, grants); !done) return done.take_failure();
        }
        list.bind(pod, node, rows.find(col::decision_devices)->list(row),
                  rows.find(col::decision_device_share)->values<std::int64_t>(rows.rows)[row],
                  static_cast<std::int64_t>(granted.size()));
        break;
      }
      case decision_kind::pipeline:
        list.nominate(pod, node);
        break;
      case decision_kind::evict:
      case decision_kind::move: {  // its controller makes another pod, which has no name yet
        const entity_id id(rows.find(col::decision_pod)->values<std::uint64_t>(rows.rows)[row]);
        const auto was = static_cast<pod_status>(before.live.pod_state[id.slot()]);
        if (model::is_in(was, model::stoppable)) {
          list.evict(pod);
        } else {  // it had a claim only
          list.nominate(pod, kind == decision_kind::move ? node : std::string_view{});
        }
        break;
      }
      case decision_kind::migrate:
        return error{
            status::unsupported, fmt::format("pod {}: a migration starts a pod that does not exist yet", pod), {}};
      case decision_kind::repartition:
      case decision_kind::unschedulable:
        break;
    }
  }
  // All that is said about a pod is one condition.
  std::vector<std::pair<kaisched::pod_row, std::string>> waiting;
  for (const reason& why : from.reasons()) {
    if (why.pod == no_row) continue;
    if (waiting.empty() || waiting.back().first != why.pod) {
      waiting.emplace_back(why.pod, from.text(why));
    } else {
      waiting.back().second += "; " + from.text(why);
    }
  }
  for (const auto& [pod, message] : waiting) list.explain(from.base().pod_name(pod), message);
  return list.text();
}

}  // namespace kaisched::io::kubernetes
