#pragma once
/// @file
/// Names that a cluster can choose, with the defaults of KAI. Objects of the kinds `Config` and `SchedulingShard`
/// change them.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <kaisched/vendors.hpp>

#include "io/kubernetes/hyper_nodes.hpp"
#include "io/kubernetes/object.hpp"

namespace kaisched::io::kubernetes {

struct queue_rules;

struct settings {
  /// Schedulers whose pods are decided; pods of others only use their nodes.
  std::vector<std::string> schedulers{"kai-scheduler", "hami-scheduler"};
  std::string queue_key = "kai.scheduler/queue";
  std::string node_pool_key = "kai.scheduler/node-pool";
  /// Nodes, queues and pod groups of this pool take part; the empty name stands for those without the label. Not set:
  /// that of the `SchedulingShard` if there is one, else the empty one.
  std::optional<std::string> node_pool;
  std::string reservation_app = "kai-resource-reservation";  ///< label `app` of pods that keep shared devices
  std::string scaling_app = "scaling-pod";                   ///< label `app` of pods that ask an autoscaler for nodes
  /// The time at which the cluster was looked at, ns since 1970. Not set: the latest time that an object names.
  std::optional<std::int64_t> now;
  /// Vendors whose devices are known by name. Not set: those that the library comes with.
  std::shared_ptr<const device_catalog> vendors;
  /// Whether devices that nobody registers are found by what nodes say. Not set: in clusters of HAMi.
  std::optional<bool> find_devices;
  /// Which queue a group belongs to (queue_rules.hpp). Not set: the one that it names.
  std::shared_ptr<const queue_rules> rules;
  /// Pods in no sub-group of a group that has some start when they come, and nobody waits for them. Else they wait, as
  /// under KAI, unless an annotation says so of them or of their group.
  bool later_members = false;
  bool gang_revisions = true;                   ///< pods of a revision of Knative start together
  std::string kind_defaults;                    ///< name of the `ConfigMap` with priority classes of kinds of workloads
  std::string kind_defaults_space;              ///< and its namespace
  network_tiers tiers;                          ///< those of the `HyperNode` objects
  std::string default_queue = "default-queue";  ///< of groups that name none
  std::set<std::string, std::less<>> closed_queues;  ///< where nobody starts: of the `Queue` objects of Volcano
};

/// Sets one of them by name, as text: `scheduler` adds a name, `node_pool`, `node_pool_label`, `queue_label` and `now`
/// replace theirs, `vendors` adds those of a file of vendors (docs/vendors.md), `find_devices` is true or false,
/// `queue_rules` is a file of rules (docs/kubernetes-hooks.md), `later_members` is true or false. Errors: an unknown
/// name, a time that is no integer, what is wrong with the file.
result<void> set(settings& of, std::string_view name, std::string_view value);

/// What objects of a cluster say about its settings. Several shards leave the choice of the pool open.
void read_settings(std::vector<object>& objects, settings& to);

/// Whether an object belongs to the pool.
[[nodiscard]] bool is_in_pool(const object& of, const settings& chosen);

}  // namespace kaisched::io::kubernetes
