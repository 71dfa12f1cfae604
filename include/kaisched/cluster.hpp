#pragma once
/// @file
/// The mutable model of a cluster, fed by deltas.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/assumption.hpp>
#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>

namespace kaisched {

class session;

/// Nodes, devices, topologies, queues, pod groups and pods, kept as columns with copy-on-write pages.
///
/// Every index that a session needs (free amounts of nodes and devices, sums of queues, counts of gangs, classes of
/// pods, orders) is kept by deltas. One writer: const functions may run concurrently with each other, others need
/// exclusive use. Snapshots taken before stay valid and unchanged.
class cluster {
 public:
  cluster();
  /// Goes on from a version of a cluster, one that was loaded as well: identifiers stay what they are, open decisions
  /// are not taken over (pods are what the version says). The cluster that the version came from is another one from
  /// then on. Cost: the whole cluster.
  explicit cluster(const snapshot& from);
  ~cluster();
  cluster(cluster&&) noexcept;
  cluster& operator=(cluster&&) noexcept;
  cluster(const cluster&) = delete;
  cluster& operator=(const cluster&) = delete;

  /// Sets an option of clusters (see `option_list`). `on_invalid` says what `apply` does about a bad row: `reject`
  /// applies nothing, `quarantine` leaves the row and what depends on it out and keeps the reason as data (table
  /// `quarantine` of the snapshot; docs/bad-input.md has the rules). It holds for the deltas that follow. Errors:
  /// `not_found` for an unknown option, `argument` for one of an engine or a bad value.
  result<void> set(std::string_view option, std::string_view value);
  [[nodiscard]] result<std::string> get(std::string_view option) const;

  /// Applies tables in order: all of them, or none if any row is bad. The error names table, row, column and entity.
  /// With `on_invalid` = `quarantine` only a table that is wrong as a whole (a column that is missing or has another
  /// type, offsets that descend), or a bad row of a `resource` table, is an error. Input is copied. Cost: what the
  /// tables touch.
  result<void> apply(std::span<const table_view> tables);
  result<void> apply(std::initializer_list<table_view> tables) {
    return apply(std::span<const table_view>(tables.begin(), tables.size()));
  }
  result<void> apply(const table& one) { return apply({one.view()}); }
  result<void> apply(std::span<const table> tables);

  /// The present version. Cost: what changed since the last snapshot.
  [[nodiscard]] snapshot take_snapshot();
  /// What the version would be with these tables: what-if questions about nodes that are not there, other quotas, groups
  /// that do not exist yet. The cluster stays as it is, names and identifiers that came up are free again. Errors and
  /// cost: as `apply`.
  [[nodiscard]] result<snapshot> preview(std::span<const table_view> tables);
  [[nodiscard]] result<snapshot> preview(std::span<const table> tables);

  /// The entity of a name, or a `not_found` error. Kinds: resource, queue, node, pod group, pod.
  [[nodiscard]] result<entity_id> find(entity_kind kind, std::string_view name) const;

  // ---- decisions that are being carried out

  /// Takes the decisions of a session in, each commit as a whole or not at all: pods that start hold their places
  /// (`binding`), pods that have to go are `releasing`, a migrating pod holds its new place beside the old one through
  /// a stand-in named `NAME~copy`, and groups know when they started or were evicted. Claims on what comes free
  /// (`pipeline`) and devices to divide (`repartition`) change nothing here: later sessions decide them again until the
  /// host tells what has become of the devices.
  ///
  /// The cluster may have changed since the snapshot, through deltas or other sessions. A commit is refused if one of
  /// its pods, groups, queues, nodes or claims is no longer what the session saw, if its evictions rest on shares that
  /// have moved, or if a place is no longer free, allowed or within limits. The answer has a row for each object that
  /// is to blame; commits that have none are in the cluster. Finding conflicts at the level of objects, and all or
  /// nothing for a gang, are those of Omega (Schwarzkopf et al., EuroSys 2013). Cost: what is decided, if nothing has
  /// changed since the snapshot; else that of opening a session as well. Errors: those of a plug-in that is asked
  /// again, `no_memory`; nothing is taken in then.
  result<std::vector<conflict>> assume(const session& decided);
  /// The host has carried out what was decided on these pods: what starts is `bound`, what goes stays `releasing` until
  /// a delta removes it, and a migrated pod is on its new node. Pods without an open decision are passed over: a delta
  /// may have come before the report. Errors: `wrong_kind` for what is no pod.
  result<void> confirm(std::span<const entity_id> pods);
  /// What was decided on these pods did not happen (`failed`): they are what they were before, and so are the times of
  /// their groups if nothing of what was decided on these happened. Or nobody knows (`lost`): a pod that was to start
  /// keeps its place and its decision stays open, one that was to go is taken for running. Others as above.
  result<void> forget(std::span<const entity_id> pods, forget_reason why);
  /// Decisions that nobody has reported on, in the order of identifiers. A delta that gives a pod another state or
  /// place than was decided ends its decision: the host knows better.
  [[nodiscard]] std::vector<assumption> assumed() const;
  /// Open decisions (`assumption`), or what stood in the way of the last session that was taken in (`conflict`).
  [[nodiscard]] result<table> to_table(table_kind kind) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace kaisched
