#pragma once
/// @file
/// What is known about a cluster without its nodes: the first of two levels on which a federation decides
/// (federation.hpp). A summary has one row for nodes that are alike and have alike free, one for domains with as much
/// room, one for a queue; its size follows from how different nodes are, not from how many there are.
///
/// A summary may say that something fits which does not, and never the other way round. Every figure says in which of
/// the two ways it may be wrong: *exact*, or *at most*: the truth is no larger.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/engine.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched {

/// Nodes with the same labels, taints and number of GPUs.
struct node_kind {
  std::vector<std::pair<std::string, std::string>> labels;  ///< by key; without those of `unknown_labels`
  std::vector<std::string> taints;                          ///< as in the column `taints` of nodes
  std::vector<std::int64_t> capacity;                       ///< per dimension, at most
  std::int64_t devices = 0;                                 ///< GPUs as a whole, of one node, at most
  std::int64_t nodes = 0;                                   ///< exact; nodes that no pod may be placed on do not count

  friend bool operator==(const node_kind&, const node_kind&) = default;
};

/// Nodes of a kind that have alike free. What is being released counts as free.
struct free_nodes {
  std::uint32_t kind = 0;          ///< of `cluster_summary::kinds`
  std::int64_t nodes = 0;          ///< exact
  std::int64_t devices = 0;        ///< GPUs that nobody has a part of, of one node, at most
  std::vector<std::int64_t> most;  ///< per dimension: no node of these has more free

  friend bool operator==(const free_nodes&, const free_nodes&) = default;
};

/// Room in the domains of one level of a topology for pods with so many whole GPUs, each on one node. Labels, taints
/// and other dimensions are not looked at, so that the counts are at most.
struct domain_room {
  std::string topology;
  std::string level;         ///< label key
  std::int64_t devices = 1;  ///< of one pod: 1, 2, 4, 8, ...
  /// Pods that have room in a domain, and number of such domains; by pods, none with 0.
  std::vector<std::pair<std::int64_t, std::int64_t>> free;
  std::vector<std::pair<std::int64_t, std::int64_t>> empty;  ///< the same if nothing ran

  friend bool operator==(const domain_room&, const domain_room&) = default;
};

/// A queue. Amounts are those of quotas: milli-cores, bytes, milli-GPU; exact.
struct queue_summary {
  std::string name;
  std::string parent;  ///< empty: none
  std::int64_t quota[quota_dimensions] = {unlimited, unlimited, unlimited};
  std::int64_t limit[quota_dimensions] = {unlimited, unlimited, unlimited};
  std::int64_t allocated[quota_dimensions] = {};   ///< with the queues below
  std::int64_t request[quota_dimensions] = {};     ///< what is allocated and what waits
  std::int64_t fair_share[quota_dimensions] = {};  ///< as a session of the engine divides

  friend bool operator==(const queue_summary&, const queue_summary&) = default;
};

/// GPUs that come free.
struct expected_release {
  std::int64_t at = 0;   ///< nanoseconds, the clock of the host: start and `runtime_estimate` of groups
  std::int64_t gpu = 0;  ///< milli-GPU, since the one before

  friend bool operator==(const expected_release&, const expected_release&) = default;
};

/// Which rules the policy of a cluster has, so that breaking them rules a start out. A rule that is not known to hold
/// is not judged by.
struct summary_rules {
  bool whole_gangs = false;  ///< fewer pods than gangs need never start
  bool labels = false;       ///< node selectors, required node affinity, taints and the state of nodes
  bool domains = false;      ///< required levels of topologies
  bool shares = false;       ///< parts of GPUs are taken of the amount of GPUs that nodes have
  bool makes_room = true;    ///< somebody may be made to leave or move for a group: what is free rules nothing out

  friend bool operator==(const summary_rules&, const summary_rules&) = default;
};

/// A cluster as the first level sees it. A value; threads: as any value.
struct cluster_summary {
  std::uint64_t version = 0;                ///< of the snapshot
  std::int64_t taken = 0;                   ///< the time that was told, nanoseconds
  std::string preset;                       ///< of the engine
  summary_rules rules;                      ///< of the engine's options
  std::vector<std::string> dimensions;      ///< names, in the order of the amounts of kinds and free nodes
  std::vector<std::string> unknown_labels;  ///< keys with too many values to tell; by name
  std::vector<node_kind> kinds;
  std::vector<free_nodes> free;           ///< by kind, then by GPUs
  std::vector<domain_room> domains;       ///< by topology and level, then by `devices`
  std::vector<queue_summary> queues;      ///< by name
  std::vector<expected_release> ends;     ///< by time; groups whose end nobody knows are not there
  std::int64_t nodes = 0;                 ///< that pods may be placed on
  std::int64_t gpu = 0;                   ///< milli-GPU of these, exact
  std::int64_t free_gpu = 0;              ///< milli-GPU of these, free or coming free, exact
  std::int64_t largest_node_devices = 0;  ///< GPUs of the largest
  std::int64_t waiting_gpu = 0;           ///< milli-GPU that pending pods ask for
  std::int64_t waiting_pods = 0;

  friend bool operator==(const cluster_summary&, const cluster_summary&) = default;
};

/// How much a summary may say.
struct summary_limits {
  std::uint32_t label_values = 32;  ///< keys with more values are left out: host names, racks
  std::uint32_t kinds = 256;        ///< keys are left out until there are no more, those with most values first
  std::uint32_t parts = 4;          ///< free CPU and memory of alike nodes are told apart in so many parts of a node
  std::uint32_t ends = 32;          ///< points in time; later ends are told at the last one
};

/// The summary of a version of a cluster. Opens a session for fair shares and runs no action. Cost: nodes, queues and
/// groups once. Errors: those of `engine::open`; `argument` for a limit of 0.
[[nodiscard]] result<cluster_summary> summarise(const engine& with, const snapshot& of, std::int64_t now,
                                                const summary_limits& limits = {});

/// Text in the format `kaisched-cluster-summary/1`, JSON (docs/schema): for members that are elsewhere. In the library
/// io, as reading it.
[[nodiscard]] std::string summary_to_json(const cluster_summary& of);
/// Reads what `summary_to_json` wrote; checks every member, count and reference. `source` names the text in messages.
/// Errors name line and member.
[[nodiscard]] result<cluster_summary> summary_from_json(std::string_view json, std::string_view source);

}  // namespace kaisched
