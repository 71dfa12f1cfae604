#include "io/kubernetes/translation.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <kaisched/vendors.hpp>

#include "io/kubernetes/bind_request.hpp"
#include "io/kubernetes/claim.hpp"
#include "io/kubernetes/claimable_gpus.hpp"
#include "io/kubernetes/clock_text.hpp"
#include "io/kubernetes/constraints.hpp"
#include "io/kubernetes/device_pools.hpp"
#include "io/kubernetes/disruption_budgets.hpp"
#include "io/kubernetes/hami.hpp"
#include "io/kubernetes/hyper_nodes.hpp"
#include "io/kubernetes/kai_snapshot.hpp"
#include "io/kubernetes/known_pods.hpp"
#include "io/kubernetes/node.hpp"
#include "io/kubernetes/object.hpp"
#include "io/kubernetes/object_kind.hpp"
#include "io/kubernetes/pod.hpp"
#include "io/kubernetes/pod_group.hpp"
#include "io/kubernetes/queue.hpp"
#include "io/kubernetes/queue_rules.hpp"
#include "io/kubernetes/records.hpp"
#include "io/kubernetes/shared_devices.hpp"
#include "io/kubernetes/volcano_queue.hpp"
#include "io/kubernetes/volumes.hpp"

namespace kaisched::io::kubernetes {

namespace {

/// The latest time that objects name: texts of clusters do not say when they were taken.
std::int64_t latest_time(const std::vector<object>& objects) {
  std::int64_t latest = 0;
  for (const object& one : objects) {
    latest = std::max(latest, one.created());
    const member conditions = find(find(one.root(), "status"), "conditions");
    if (!conditions || !conditions->is(json_kind::array)) continue;
    for (const json_value condition : *conditions) {
      for (const std::string_view key : {"lastTransitionTime", "lastHeartbeatTime", "lastProbeTime"}) {
        latest = std::max(latest, parse_time(text_if_any(condition, key)).value_or(0));
      }
    }
  }
  return latest;
}

/// With the one that Kubernetes gives every namespace.
model::label_list labels_of_namespace(object& of) {
  std::map<std::string, std::string> labels{{"kubernetes.io/metadata.name", std::string(of.name())}};
  const std::vector<std::string> texts = label_texts_of(of, find(of.root(), "metadata"), "labels");
  for (std::size_t i = 0; i + 1 < texts.size(); i += 2) labels.insert_or_assign(texts[i], texts[i + 1]);
  return {labels.begin(), labels.end()};
}

class translator {
 public:
  /// @param memories of the objects, by index; none: nothing is remembered.
  translator(std::vector<object> objects, std::span<pod_memory* const> memories, settings chosen,
             std::shared_ptr<const device_catalog> vendors)
      : objects_(std::move(objects)), memories_(memories), settings_(std::move(chosen)), vendors_(std::move(vendors)) {}

  translated_rows translate() {
    read_settings(objects_, settings_);
    sort_objects();
    for (object* one : all(object_kind::priority_class)) classes_.read(*one);
    classes_.finish();
    for (object* one : all(object_kind::topology)) read_topology(*one, rows_, aliases_);
    for (object* one : all(object_kind::queue)) {
      if (is_in_pool(*one, settings_)) read_queue(*one, rows_);
    }
    read_queues_of_volcano();
    read_nodes();
    for (object* one : all(object_kind::resource_quota)) shared_.read_quota(*one, rows_.device_quotas);
    for (object* one : all(object_kind::device_class)) read_device_class(*one, rows_);
    for (object* one : all(object_kind::resource_slice)) read_resource_slice(*one, rows_);
    // Without slices a host says itself which devices there are.
    const bool has_pools = !all(object_kind::resource_slice).empty();
    claim_book claims(has_pools, rows_);
    for (object* one : all(object_kind::claim)) claims.read_claim(*one);
    for (object* one : all(object_kind::claim_template)) claims.read_template(*one);
    read_pods(claims);
    if (!has_queues()) make_queues();

    translated_rows made{std::move(rows_), std::move(names_), {}, settings_.now.value_or(0)};
    for (const object& one : objects_) {
      if (one.failed()) made.faults.push_back(one.fault());
    }
    return made;
  }

 private:
  [[nodiscard]] const std::vector<object*>& all(object_kind kind) const {
    return by_kind_[static_cast<std::size_t>(kind)];
  }

  /// Objects by kind. Of those that appear twice the last one counts: it is the newest.
  void sort_objects() {
    using place_key = std::tuple<object_kind, std::string_view, std::string_view, std::string_view, std::string_view>;
    std::map<place_key, std::size_t> places;
    for (object& one : objects_) {
      const object_kind kind = kind_of(one);
      std::vector<object*>& list = by_kind_[static_cast<std::size_t>(kind)];
      // Of what is only an owner, there are kinds of the same name in several groups.
      const bool other = kind == object_kind::other;
      const auto [place, is_new] =
          places.try_emplace({kind, other ? one.kind() : std::string_view{}, other ? one.group() : std::string_view{},
                              one.name_space(), one.name()},
                             list.size());
      if (is_new) {
        list.push_back(&one);
      } else {
        list[place->second] = &one;
      }
    }
    if (!settings_.now) settings_.now = latest_time(objects_);
  }

  /// Whether HAMi runs there. Elsewhere resources of the same plugins are amounts like any other.
  [[nodiscard]] bool is_of_hami() {
    const auto annotated = [](const object* one) {
      const member annotations = one->annotations();
      return annotations && std::any_of(annotations->begin(), annotations->end(),
                                        [](const json_value pair) { return pair.key().starts_with("hami.io/"); });
    };
    const auto scheduled = [](object* one) {
      return text_if_any(find(one->root(), "spec"), "schedulerName") == hami_scheduler;
    };
    const std::vector<object*>& pods = all(object_kind::pod);
    const std::vector<object*>& nodes = all(object_kind::node);
    return std::any_of(nodes.begin(), nodes.end(), annotated) || std::any_of(pods.begin(), pods.end(), annotated) ||
           std::any_of(pods.begin(), pods.end(), scheduled);
  }

  [[nodiscard]] bool has_queues() const {
    return !all(object_kind::queue).empty() || !all(object_kind::volcano_queue).empty();
  }

  void read_queues_of_volcano() {
    std::vector<object*> ours;
    for (object* one : all(object_kind::volcano_queue)) {
      if (is_in_pool(*one, settings_)) ours.push_back(one);
    }
    settings_.closed_queues = read_volcano_queues(ours, rows_);
    if (all(object_kind::queue).empty() && !all(object_kind::volcano_queue).empty())
      settings_.default_queue = "default";
  }

  void read_nodes() {
    const bool find = settings_.find_devices.value_or(is_of_hami());
    for (object* one : all(object_kind::node)) {
      if (is_in_pool(*one, settings_)) read_node(*one, *vendors_, find, rows_);
    }
    settings_.tiers = read_hyper_nodes(all(object_kind::hyper_node), rows_);
    shared_.note_nodes(rows_.nodes);
    std::map<std::string, node_record*, std::less<>> by_name;
    for (node_record& node : rows_.nodes) by_name.emplace(node.name, &node);
    for (object* one : all(object_kind::node_topology)) {
      const auto node = by_name.find(one->name());
      if (node != by_name.end()) read_node_topology(*one, *node->second, rows_);
    }
  }

  void read_pods(claim_book& claims) {
    bind_requests bindings;
    for (object* one : all(object_kind::bind_request)) read_bind_request(*one, bindings);
    std::optional<queue_chooser> queues;
    if (settings_.rules != nullptr) queues.emplace(*settings_.rules, rows_.queues, !has_queues());
    pod_groups groups(settings_, classes_, aliases_, queues ? &*queues : nullptr, rows_);
    for (const object_kind kind :
         {object_kind::other, object_kind::pod, object_kind::config_map, object_kind::name_space}) {
      for (object* one : all(kind)) groups.read_owner(*one);
    }
    for (object* one : all(object_kind::pod_group)) groups.read(*one);
    if (!all(object_kind::volcano_group).empty()) {
      for (object* one : all(object_kind::pod)) groups.note_pod(*one);
    }
    for (object* one : all(object_kind::volcano_group)) groups.read_volcano(*one);
    volume_book volumes;
    for (object* one : all(object_kind::storage_class)) volumes.read_class(*one);
    for (object* one : all(object_kind::volume)) volumes.read_volume(*one);
    for (object* one : all(object_kind::volume_claim)) volumes.read_claim(*one);
    for (object* one : all(object_kind::csi_node)) volumes.read_csi_node(*one);
    for (const object* one : all(object_kind::config_map)) volumes.read_config_map(*one);
    for (node_record& node : rows_.nodes) volumes.add_limits(node);
    namespace_labels spaces;
    for (object* one : all(object_kind::name_space)) spaces.emplace(one->name(), labels_of_namespace(*one));
    budget_book budgets;
    for (object* one : all(object_kind::disruption_budget)) budgets.read(*one);
    for (const object* one : all(object_kind::pod)) budgets.count(*one);
    budgets.finish(rows_.disruption_budgets);
    pod_context context{settings_,
                        bindings,
                        groups,
                        shared_,
                        claims,
                        volumes,
                        budgets,
                        spaces,
                        {},
                        {},
                        {},
                        settings_.now.value_or(0),
                        volumes.asks_node_names(),
                        false,
                        false,
                        {},
                        {}};
    for (const node_record& node : rows_.nodes) context.nodes.insert(node.name);
    for (const numa_zone_record& zone : rows_.zones) context.zones[zone.node].push_back(zone.name);
    for (const node_record& node : rows_.nodes) {
      for (const registered_device& one : node.registered) {
        context.device_indices[{node.name, one.what.id}] = &one - node.registered.data();
      }
    }
    // Claims and pools are of all pods together.
    const bool remembers = all(object_kind::claim).empty() && all(object_kind::claim_template).empty() &&
                           all(object_kind::resource_slice).empty();
    for (object* one : all(object_kind::pod)) {
      pod_memory* const memory =
          memories_.empty() ? nullptr : memories_[static_cast<std::size_t>(one - objects_.data())];
      read_known_pod(*one, memory, remembers, context, rows_);
    }
    if (queues) queues->finish(rows_.groups, rows_.queues);
    shared_.count_devices(rows_.nodes);
    names_.gpu_groups = place_on_shared_devices(context, rows_);
    names_.claims = claims.take_references();
    names_.unmade_claims = claims.take_unmade();
    for (const claim_record& one : rows_.claims) {
      if (!one.config.empty()) names_.claim_configs.emplace(one.name, one.config);
    }
    for (const device_class_record& one : rows_.device_classes) {
      if (!one.config.empty()) names_.class_configs.emplace(one.name, one.config);
    }
    names_.vendors = vendors_;
    names_.devices = shared_.take_identities();
    names_.containers = shared_.take_places();
    for (const object* one : all(object_kind::pod)) {
      names_.pod_uids.emplace_hint(names_.pod_uids.end(), one->full_name(), one->uid());
    }
    if (context.asks_node_names || rows_.asks_node_names) {
      for (node_record& node : rows_.nodes) set_label(node, node_name_label, node.name);
    }
    for (node_record& node : rows_.nodes) {
      if (context.avoids_other_devices && node.other_devices) set_label(node, other_devices_label, "true");
    }
    add_claimable_gpus(rows_);
  }

  /// Without any queue in the text, those that groups name have no limits.
  void make_queues() {
    std::set<std::string, std::less<>> names;
    for (const pod_group_record& group : rows_.groups) names.insert(group.queue);
    for (const queue_record& one : rows_.queues) names.erase(one.name);
    for (const std::string& name : names) {
      queue_record row;
      row.name = name;
      row.priority = 100;
      row.quota.fill(unlimited);
      row.limit.fill(unlimited);
      row.weight.fill(1);
      rows_.queues.push_back(std::move(row));
    }
  }

  std::vector<object> objects_;
  std::span<pod_memory* const> memories_;
  settings settings_;
  std::shared_ptr<const device_catalog> vendors_;
  shared_devices shared_{vendors_};
  priority_classes classes_;
  level_aliases aliases_;
  cluster_records rows_;
  object_names names_;
  std::array<std::vector<object*>, object_kinds> by_kind_;
};

}  // namespace

translated_rows translate_objects(std::vector<object> objects, std::span<pod_memory* const> memories,
                                  const settings& chosen, std::shared_ptr<const device_catalog> vendors) {
  return translator(std::move(objects), memories, chosen, std::move(vendors)).translate();
}

result<translation> translate(const json_document& texts, std::string_view source, const settings& chosen) {
  result<std::vector<object>> objects = collect_objects(texts, source);
  if (!objects) return objects.take_failure();
  std::shared_ptr<const device_catalog> vendors = chosen.vendors;
  if (vendors == nullptr) {
    result<std::shared_ptr<const device_catalog>> shipped = shipped_device_catalog();
    if (!shipped) return shipped.take_failure();
    vendors = std::move(*shipped);
  }
  settings known = chosen;
  for (const json_value text : texts.root()) read_snapshot_parameters(text, known);
  translated_rows rows = translate_objects(std::move(*objects), {}, known, std::move(vendors));
  translation made{tables_of(std::move(rows.rows), source), std::move(rows.names)};
  made.input.now = rows.now;
  made.input.faults = std::move(rows.faults);
  // What runs holds objects that nobody can schedule; they must not stop the others.
  made.input.on_invalid = "quarantine";
  return made;
}

result<translation> translate_json(std::string_view text, std::string_view source, const settings& chosen) {
  const result<json_document> texts = json_document::parse_stream(text, source);
  if (!texts) return texts.failure();
  return translate(*texts, source, chosen);
}

}  // namespace kaisched::io::kubernetes
