#pragma once
/// @file
/// An immutable version of a cluster.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>
#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/table.hpp>

namespace kaisched {

class snapshot_access;  // for the library itself

/// A value type: copying shares the immutable body, pages of columns are shared with the cluster and other snapshots.
/// Threads: all const functions may run concurrently, also while the cluster that it came from changes.
class snapshot {
 public:
  snapshot();  ///< an empty cluster

  /// Number of live entities of a kind (devices: of all nodes).
  [[nodiscard]] std::uint64_t count(entity_kind kind) const;
  /// Number of the version: grows with every delta that the cluster took.
  [[nodiscard]] std::uint64_t version() const;

  /// All entities of one input kind as an `add` table with every column of the schema, ordered by name (devices by
  /// node and index, sub-groups by group, parents first). Applying the tables of all kinds in schema order to an empty
  /// cluster gives a snapshot with the same digest and the same decisions. Of the output kinds only `quarantine`: the
  /// rows of the input that were left out, and why.
  [[nodiscard]] result<table> to_table(table_kind kind) const;

  /// SHA-256 over the tables of all input kinds, as 64 hexadecimal digits. Two snapshots with the same digest lead to
  /// the same decisions; the history of deltas and the order of their rows do not matter.
  [[nodiscard]] std::string digest() const;

  /// All tables, the quarantine included, as bytes with a checksum (format `kaisched-snapshot/2`, docs/recordings.md).
  [[nodiscard]] std::string save() const;
  /// Reads what `save` wrote, in version 0.1 too; checks all of it. Errors: `argument` for damage; those of tables.
  [[nodiscard]] static result<snapshot> load(std::string_view bytes);

  /// Empty for what this version does not have.
  [[nodiscard]] std::string_view name(entity_id id) const;
  /// Row of a queue, node, pod group or pod of this version. Errors: `wrong_kind` if the identifier names something
  /// else, `stale_id` if it names something that has gone or come since, `not_found` for 0.
  [[nodiscard]] result<std::uint32_t> row_of(entity_id id, entity_kind kind) const;
  [[nodiscard]] std::string_view node_name(node_row row) const;
  [[nodiscard]] std::string_view pod_name(pod_row row) const;
  [[nodiscard]] std::string_view group_name(group_row row) const;
  [[nodiscard]] std::string_view queue_name(queue_row row) const;
  /// Names of the resource dimensions, in order.
  [[nodiscard]] std::vector<std::string_view> dimension_names() const;

 private:
  friend class snapshot_access;
  struct body;
  explicit snapshot(std::shared_ptr<const body> made);

  std::shared_ptr<const body> body_;
};

}  // namespace kaisched
