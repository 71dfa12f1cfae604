#include <algorithm>
#include <array>

#include <kaisched/schema.hpp>

#include "model/column_entry.hpp"
#include "model/input_columns.hpp"
#include "model/output_columns.hpp"

namespace kaisched {

namespace {

using model::column_entry;
namespace columns = model::columns;

template <const auto& Entries>
constexpr std::array columns_of = [] {
  std::array<column_info, Entries.size()> columns{};
  for (std::size_t i = 0; i < columns.size(); ++i) columns[i] = Entries[i].info;
  return columns;
}();

/// A kind of table, and what its texts are.
struct table_entry {
  table_info info;
  std::span<const column_entry> columns;
};
template <const auto& Entries>
constexpr table_entry described(bool input, table_kind kind, std::string_view name, std::string_view doc) {
  return {{kind, name, input, doc, columns_of<Entries>}, Entries};
}
template <const auto& Entries>
constexpr table_entry input(table_kind kind, std::string_view name, std::string_view doc) {
  return described<Entries>(true, kind, name, doc);
}
template <const auto& Entries>
constexpr table_entry output(table_kind kind, std::string_view name, std::string_view doc) {
  return described<Entries>(false, kind, name, doc);
}

constexpr std::array entries{
    input<columns::resource_columns>(table_kind::resource, "resource", "Resource dimensions beyond the built-in ones."),
    input<columns::topology_columns>(table_kind::topology, "topology", "Trees of domains over node labels."),
    input<columns::queue_columns>(table_kind::queue, "queue", "Queues: a forest with quotas, limits and weights."),
    input<columns::node_columns>(table_kind::node, "node", "Nodes."),
    input<columns::device_columns>(table_kind::device, "device", "Devices of nodes."),
    input<columns::pod_group_columns>(table_kind::pod_group, "pod_group", "Pod groups: the unit of scheduling."),
    input<columns::sub_group_columns>(table_kind::sub_group, "sub_group", "Trees of sub-groups inside pod groups."),
    input<columns::pod_columns>(table_kind::pod, "pod", "Pods."),
    input<columns::numa_zone_columns>(table_kind::numa_zone, "numa_zone", "NUMA zones of nodes."),
    input<columns::resource_claim_columns>(table_kind::resource_claim, "resource_claim",
                                           "Claims of devices that pods share or bring along."),
    input<columns::device_quota_columns>(table_kind::device_quota, "device_quota",
                                         "What pods of a namespace may hold of vendor_devices."),
    input<columns::device_class_columns>(table_kind::device_class, "device_class",
                                         "Classes of devices that claims ask for."),
    input<columns::resource_slice_columns>(table_kind::resource_slice, "resource_slice",
                                           "Parts of the pools in which drivers offer devices."),
    input<columns::slice_device_columns>(table_kind::slice_device, "slice_device", "Devices of slices."),
    input<columns::claim_request_columns>(table_kind::claim_request, "claim_request", "Requests of resource claims."),
    input<columns::disruption_budget_columns>(table_kind::disruption_budget, "disruption_budget",
                                              "How many pods that belong together may leave or move at once."),
    input<columns::reservation_columns>(table_kind::reservation, "reservation",
                                        "Nodes that are kept for somebody, or for nobody, at times."),
    output<columns::decision_columns>(table_kind::decision, "decision", "Decisions of a session."),
    output<columns::reason_columns>(table_kind::reason, "reason", "Why pod groups wait."),
    output<columns::queue_share_columns>(table_kind::queue_share, "queue_share", "Shares of queues."),
    output<columns::placement_columns>(table_kind::placement, "placement", "Where pods are at the end."),
    output<columns::statistic_columns>(table_kind::statistic, "statistic", "Counters per action."),
    output<columns::quarantine_columns>(table_kind::quarantine, "quarantine",
                                        "Rows of the input that a snapshot lacks, and why."),
    output<columns::attempt_columns>(table_kind::attempt, "attempt",
                                     "What actions that evict did for groups that waited."),
    output<columns::sharing_group_columns>(table_kind::sharing_group, "sharing_group",
                                           "Devices that pods share, and which decisions opened and closed them."),
    output<columns::assumption_columns>(table_kind::assumption, "assumption",
                                        "Decisions that a cluster has taken in and nobody has reported on."),
    output<columns::conflict_columns>(table_kind::conflict, "conflict",
                                      "What stood in the way of decisions that a cluster refused."),
    output<columns::candidate_columns>(
        table_kind::candidate, "candidate",
        "How the nodes stand for one pod: those that can take it, best first, then the others by name."),
    output<columns::remedy_columns>(
        table_kind::remedy, "remedy",
        "What would let pod groups that wait start now: a row for each change, those of one remedy together let "
        "the group start."),
    output<columns::certificate_columns>(
        table_kind::certificate, "certificate",
        "Why a pod group cannot start, as a proof: a row for each bound over nodes, at least one."),
    output<columns::share_step_columns>(
        table_kind::share_step, "share_step",
        "How the fair share of a queue came about: the divisions above it step by step, siblings included."),
    output<columns::choice_columns>(
        table_kind::choice, "choice",
        "Why a pod was put where it is: the choice, what gave the two nodes different scores, what would have "
        "turned it."),
    output<columns::victim_columns>(
        table_kind::victim, "victim",
        "Why a pod had to leave or move: by which rules, for whom, who else lost pods, who was left alone."),
    output<columns::forecast_columns>(
        table_kind::forecast, "forecast",
        "What would become of pod groups if the cluster had changed: a row for each, asked about alone."),
    output<columns::gap_columns>(
        table_kind::gap, "gap",
        "How far decisions are from the best that any scheduler could have made: a row for each bound that "
        "proves it, at least one."),
    output<columns::scaling_columns>(
        table_kind::scaling, "scaling",
        "What nodes that are added cost, and what nodes that are given back save: one row."),
    output<columns::node_addition_columns>(table_kind::node_addition, "node_addition",
                                           "Nodes to add, by type in the order of the offers."),
    output<columns::scaled_group_columns>(
        table_kind::scaled_group, "scaled_group",
        "What becomes of the pod groups that were asked about, with the nodes that are added: a row for each, "
        "in the order in which they wait."),
    output<columns::returned_node_columns>(
        table_kind::returned_node, "returned_node",
        "Nodes that can be given back, or why they stay: in the order in which they were looked at, each closed "
        "when what ran there has moved."),
    output<columns::federated_place_columns>(
        table_kind::federated_place, "federated_place",
        "Pod groups that got a member of a federation: in the order of rounds, then of the line."),
    output<columns::federated_wait_columns>(table_kind::federated_wait, "federated_wait",
                                            "Pod groups that wait in the line of a federation, in its order."),
    output<columns::federated_queue_columns>(table_kind::federated_queue, "federated_queue",
                                             "Queues over all members of a federation, by name."),
    output<columns::member_session_columns>(
        table_kind::member_session, "member_session",
        "What members of a federation decided, by round and member, and then members that failed, by name."),
    output<columns::decision_columns>(
        table_kind::outcome, "outcome",
        "What a session comes to: one decision for each pod, the net one, in every mode."),
};

constexpr std::array tables = [] {
  std::array<table_info, entries.size()> all{};
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = entries[i].info;
  return all;
}();

}  // namespace

std::span<const table_info> schema() noexcept { return tables; }

const table_info* schema_of(std::uint32_t kind) noexcept {
  for (const table_info& t : tables) {
    if (static_cast<std::uint32_t>(t.kind) == kind) return &t;
  }
  return nullptr;
}

const table_info* schema_of(std::string_view name) noexcept {
  for (const table_info& t : tables) {
    if (t.name == name) return &t;
  }
  return nullptr;
}

model::text_role model::text_role_of(table_kind kind, std::uint32_t column) noexcept {
  const auto* const of = std::ranges::find(entries, kind, [](const table_entry& e) { return e.info.kind; });
  if (of == entries.end()) return text_role::prose;
  const auto found = std::ranges::find(of->columns, column, [](const column_entry& e) { return e.info.id; });
  return found == of->columns.end() ? text_role::prose : found->role;
}

std::string_view pod_status_name(pod_status s) noexcept {
  constexpr std::array<std::string_view, pod_status_count> names{
      "pending", "gated",     "allocated",          "pipelined", "binding", "bound",
      "running", "releasing", "stuck_in_releasing", "succeeded", "failed",  "unknown"};
  const auto i = static_cast<std::size_t>(s);
  return i < names.size() ? names[i] : "invalid";
}

}  // namespace kaisched
