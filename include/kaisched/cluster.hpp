#pragma once
/// @file
/// The mutable model of a cluster, fed by deltas.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/snapshot.hpp>
#include <kaisched/table.hpp>

namespace kaisched {

/// Nodes, devices, topologies, queues, pod groups and pods, kept as columns with copy-on-write pages.
///
/// Every index that a session needs (free amounts of nodes and devices, sums of queues, counts of gangs, classes of
/// pods, orders) is kept by deltas. One writer: const functions may run concurrently with each other, others need
/// exclusive use. Snapshots taken before stay valid and unchanged.
class cluster {
 public:
  cluster();
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

  /// The present version. Cost: what changed since the last snapshot.
  [[nodiscard]] snapshot take_snapshot();

  /// The entity of a name, or a `not_found` error. Kinds: resource, queue, node, pod group, pod.
  [[nodiscard]] result<entity_id> find(entity_kind kind, std::string_view name) const;

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace kaisched
