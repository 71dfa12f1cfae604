#pragma once
/// @file
/// What tables and columns mean. The schema describes itself: validation, JSON, Python, the C header's enumerations and
/// the documentation all come from the lists here. Numbers are part of the ABI: lists only grow at their ends.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <kaisched/columns.hpp>
#include <kaisched/table.hpp>

namespace kaisched {

/// Kinds of tables.
enum class table_kind : std::uint32_t {
  resource = 1,
  topology = 2,
  queue = 3,
  node = 4,
  device = 5,
  pod_group = 6,
  sub_group = 7,
  pod = 8,
  numa_zone = 9,
  resource_claim = 10,
  device_quota = 11,
  device_class = 12,
  resource_slice = 13,
  slice_device = 14,
  claim_request = 15,
  disruption_budget = 16,
  reservation = 17,
  decision = 32,         ///< output of a session
  reason = 33,           ///< output of a session: why pods wait
  queue_share = 34,      ///< output of a session: quota, fair share and allocation per queue
  placement = 35,        ///< output of a session: where every pod is at the end
  statistic = 36,        ///< output of a session: counters per action
  quarantine = 37,       ///< output of a snapshot: rows of the input that were left out, and why
  attempt = 38,          ///< output of a session: what the actions that evict did for groups that waited
  sharing_group = 39,    ///< output of a session: devices that pods share, and what opened and closed them
  assumption = 40,       ///< output of a cluster: decisions that it has taken in and nobody has reported on
  conflict = 41,         ///< output of a cluster: what stood in the way of decisions that it was to take in
  candidate = 42,        ///< answer of a session: how the nodes stand for one pod
  remedy = 43,           ///< answer of a session: what would let groups that wait start
  certificate = 44,      ///< answer of a session: why a group cannot start, as a proof
  share_step = 45,       ///< answer of a session: how the fair share of a queue came about
  choice = 46,           ///< answer of a session: why a pod was put where it is
  victim = 47,           ///< answer of a session: why a pod had to leave or move
  forecast = 48,         ///< answer of a session: what would become of groups if the cluster had changed
  gap = 49,              ///< answer of a session: how far decisions are from the best possible
  scaling = 50,          ///< answer to kaisched::scale: what to add costs, what to give back saves
  node_addition = 51,    ///< answer to kaisched::scale: nodes to add
  scaled_group = 52,     ///< answer to kaisched::scale: what becomes of groups with the nodes
  returned_node = 53,    ///< answer to kaisched::scale: nodes that can be given back
  federated_place = 54,  ///< decision of a federation: who got a member
  federated_wait = 55,   ///< decision of a federation: who waits
  federated_queue = 56,  ///< output of a federation: queues over all members
  member_session = 57,   ///< decision of a federation: what members decided
  outcome = 58,          ///< output of a session: the net decision on each pod
};

/// What an input table does. Within one `apply` tables take effect in order, all of them or none.
enum class table_op : std::uint32_t {
  none = 0,    ///< output tables
  add = 1,     ///< every row is a new entity; columns that are absent take their defaults
  change = 2,  ///< every row names an entity; only the columns that are present change
  remove = 3,  ///< every row names an entity; only the naming columns are read
};

/// Life of a pod. Values are part of the ABI.
enum class pod_status : std::uint8_t {
  pending = 0,    ///< wants to be placed
  gated = 1,      ///< waits for something outside; asks for nothing
  allocated = 2,  ///< placed in this session, not reported
  pipelined = 3,  ///< holds a claim on resources that are being released
  binding = 4,    ///< decided, the host is binding it
  bound = 5,      ///< bound, not running
  running = 6,
  releasing = 7,           ///< terminating; its resources come free
  stuck_in_releasing = 8,  ///< terminating for too long: its resources do not count as coming free
  succeeded = 9,
  failed = 10,
  unknown = 11,
};
inline constexpr std::uint8_t pod_status_count = 12;
[[nodiscard]] std::string_view pod_status_name(pod_status s) noexcept;

/// Most bytes of a name. Longer ones are refused.
inline constexpr std::size_t max_name_size = 4096;

/// How many values a row of a column has.
enum class column_shape : std::uint8_t {
  one,         ///< one value
  dimensions,  ///< one value per resource dimension, in order of registration; fewer are padded with zero
  quotas,      ///< three values: cpu, memory, gpu
  ragged,      ///< a string or a list
};

/// Describes one column.
struct column_info {
  std::uint32_t id;
  std::string_view name;
  column_type type;  ///< for references: string; input may also give u64 ids
  column_shape shape;
  bool required;              ///< must be present in `add`
  entity_kind refers_to;      ///< the kind of entity that the values name, or none
  std::string_view unit;      ///< unit, or the form of the text
  std::string_view fallback;  ///< default, as text
  std::string_view doc;
};

/// Describes one kind of table.
struct table_info {
  table_kind kind;
  std::string_view name;
  bool input;
  std::string_view doc;
  std::span<const column_info> columns;
};

/// All kinds, in the order in which a cluster must be built up (and in which snapshots are written).
[[nodiscard]] std::span<const table_info> schema() noexcept;
/// One kind, or nullptr.
[[nodiscard]] const table_info* schema_of(std::uint32_t kind) noexcept;
/// One kind by name, or nullptr.
[[nodiscard]] const table_info* schema_of(std::string_view name) noexcept;

}  // namespace kaisched
