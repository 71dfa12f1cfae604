#include "io/scenario/settle.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <string_view>

#include <kaisched/schema.hpp>

#include "io/scenario/output.hpp"

namespace kaisched::io::scenario_text {

namespace {

/// What becomes of one pod.
enum class fate : std::uint8_t { runs, waits, releases, goes };

struct pod_fate {
  fate what = fate::waits;
  std::string node;
  std::vector<std::int64_t> devices;
  std::vector<std::int64_t> zones;
  std::vector<std::string> grants;  ///< of vendor devices
  std::string nominated;            ///< node on which it has been promised a place; empty: none
  bool is_held = false;             ///< somebody outside has not agreed that it may start
};

table change_of(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::change));
}

/// Pods that the last decision about them puts on a node or takes from one.
struct fates {
  std::map<std::string, pod_fate> pods;
  std::map<std::pair<std::string, std::int64_t>, std::vector<std::string>> divided;  ///< layouts by node and device
  std::set<std::string> started;  ///< groups with a pod that was bound
  std::set<std::string> evicted;  ///< groups with a pod that was evicted
};

result<output_rows> rows_of(const session& of, table_kind kind) {
  result<table> rows = of.to_table(kind);
  if (!rows) return rows.take_failure();
  return output_rows(std::move(*rows), {});
}

fate fate_of(decision_kind kind, scenario_settle::evicted_pods evicted) {
  if (kind == decision_kind::bind || kind == decision_kind::migrate) return fate::runs;
  if (kind == decision_kind::pipeline) return fate::waits;
  if (evicted == scenario_settle::evicted_pods::releasing) return fate::releases;
  return evicted == scenario_settle::evicted_pods::gone ? fate::goes : fate::waits;
}

fates fates_of(const output_rows& decisions, const scenario_settle& how, const std::set<std::string>& settled) {
  fates found;
  for (std::size_t row = 0; row < decisions.size(); ++row) {
    const auto kind = static_cast<decision_kind>(decisions.integer("kind", row));
    const std::string group = decisions.text("group", row);
    const bool asked = how.groups.empty() || std::find(how.groups.begin(), how.groups.end(), group) != how.groups.end();
    if (kind == decision_kind::unschedulable || !asked || settled.contains(group)) continue;
    if (kind == decision_kind::repartition) {
      found.divided[{decisions.text("node", row), decisions.at(*decisions.column("devices"), row).integers.front()}] =
          decisions.at(*decisions.column("layout"), row).texts;
      continue;
    }
    const bool leaves = kind == decision_kind::evict || kind == decision_kind::move;
    pod_fate& pod = found.pods[decisions.text("pod", row)];
    const bool was_bound_here = pod.what == fate::runs && !pod.node.empty();
    pod.what = leaves && was_bound_here ? fate::waits : fate_of(kind, how.evicted);
    pod.node = decisions.text("node", row);
    pod.nominated = kind == decision_kind::pipeline || kind == decision_kind::move ? pod.node : std::string();
    pod.devices = decisions.at(*decisions.column("devices"), row).integers;
    pod.zones = decisions.at(*decisions.column("numa_zones"), row).integers;
    pod.grants = decisions.at(*decisions.column("device_grants"), row).texts;
    pod.is_held = !decisions.at(*decisions.column("checks"), row).texts.empty();
    if (kind == decision_kind::bind) found.started.insert(group);
    if (leaves) found.evicted.insert(group);
  }
  return found;
}

/// Groups that had a pod on a node when the session opened.
result<std::set<std::string>> running_before(const session& of) {
  std::set<std::string> running;
  const result<table> pods = of.base().to_table(table_kind::pod);
  if (!pods) return pods.failure();
  const table_view view = pods->view();
  const column_view* status = view.find(col::pod_status_column);
  const column_view* group = view.find(col::pod_group_ref);
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    const auto is = static_cast<pod_status>(status->values<std::uint8_t>(view.rows)[row]);
    const bool on = is == pod_status::allocated || is == pod_status::binding || is == pod_status::bound ||
                    is == pod_status::running;
    if (on) running.emplace(group->string(row));
  }
  return running;
}

void add_times(std::vector<table>& to, const std::set<std::string>& groups, std::uint32_t column, std::int64_t now) {
  if (groups.empty()) return;
  table changed = change_of(table_kind::pod_group);
  table::column& name = changed.add(col::pod_group_name, column_type::string, 0);
  table::column& time = changed.add(column, column_type::i64);
  for (const std::string& group : groups) {
    name.push(std::string_view(group));
    time.push(now);
  }
  to.push_back(std::move(changed));
}

/// Counts one eviction more for each group.
result<void> add_evictions(std::vector<table>& to, const session& of, const std::set<std::string>& groups) {
  if (groups.empty()) return {};
  const result<table> before = of.base().to_table(table_kind::pod_group);
  if (!before) return before.failure();
  const table_view view = before->view();
  const column_view* names = view.find(col::pod_group_name);
  const std::span<const std::int64_t> counts = view.find(col::pod_group_evictions)->values<std::int64_t>(view.rows);
  table changed = change_of(table_kind::pod_group);
  table::column& name = changed.add(col::pod_group_name, column_type::string, 0);
  table::column& evictions = changed.add(col::pod_group_evictions, column_type::i64);
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    if (!groups.contains(std::string(names->string(row)))) continue;
    name.push(names->string(row));
    evictions.push(counts[row] + 1);
  }
  to.push_back(std::move(changed));
  return {};
}

/// Pods are told where a place is kept for them, or that none is.
void add_nominations(std::vector<table>& to, const fates& found, std::int64_t now) {
  table changed = change_of(table_kind::pod);
  table::column& name = changed.add(col::pod_name, column_type::string, 0);
  table::column& node = changed.add(col::pod_nominated_node, column_type::string, 0);
  table::column& since = changed.add(col::pod_nominated_since, column_type::i64);
  for (const auto& [pod, becomes] : found.pods) {
    if (becomes.what == fate::goes) continue;
    name.push(std::string_view(pod));
    node.push(std::string_view(becomes.nominated));
    since.push(becomes.nominated.empty() ? unset : now);
  }
  if (changed.rows() > 0) to.push_back(std::move(changed));
}

/// Claims have the users that run now; one without users has no devices.
result<void> add_claims(std::vector<table>& to, const session& of, const fates& found) {
  const result<table> after = of.to_table(table_kind::resource_claim);
  if (!after) return after.failure();
  const table_view view = after->view();
  if (view.rows == 0) return {};
  table changed = change_of(table_kind::resource_claim);
  table::column& name = changed.add(col::resource_claim_name, column_type::string, 0);
  table::column& devices = changed.add(col::resource_claim_devices, column_type::string_list, 0);
  table::column& users = changed.add(col::resource_claim_reserved_for, column_type::string_list, 0);
  table::column& node = changed.add(col::resource_claim_node, column_type::string, 0);
  table::column& results = changed.add(col::resource_claim_results, column_type::string_list, 0);
  for (std::uint64_t row = 0; row < view.rows; ++row) {
    std::vector<std::string_view> keeps;
    const std::vector<std::string_view> had = split_list(view.find(col::resource_claim_reserved_for)->string(row));
    std::copy_if(had.begin(), had.end(), std::back_inserter(keeps), [&](std::string_view user) {
      const auto fate_of_user = found.pods.find(std::string(user));
      return fate_of_user == found.pods.end() || fate_of_user->second.what == fate::runs;
    });
    const bool keeps_devices = !keeps.empty() || had.empty();
    name.push(view.find(col::resource_claim_name)->string(row));
    devices.push_list(keeps_devices ? split_list(view.find(col::resource_claim_devices)->string(row))
                                    : std::vector<std::string_view>{});
    users.push_list(keeps);
    node.push(keeps_devices ? view.find(col::resource_claim_node)->string(row) : std::string_view{});
    results.push_list(keeps_devices ? split_list(view.find(col::resource_claim_results)->string(row))
                                    : std::vector<std::string_view>{});
  }
  to.push_back(std::move(changed));
  return {};
}

/// What a node has before and after its devices are divided anew.
struct divided_node {
  std::vector<std::int64_t> capacity;
  std::map<std::int64_t, std::vector<std::string>> layouts;  ///< by device, before
  std::int64_t devices = 0;                                  ///< that are listed
  std::set<std::int64_t> divided;                            ///< of these, before
};

/// Divided devices have their new instances, and their nodes the resources for them.
result<void> add_divisions(std::vector<table>& to, const session& of, const fates& found) {
  if (found.divided.empty()) return {};
  const result<table> nodes = of.base().to_table(table_kind::node);
  if (!nodes) return nodes.failure();
  const result<table> devices = of.base().to_table(table_kind::device);
  if (!devices) return devices.failure();
  std::map<std::string, divided_node> known;
  const table_view node_rows = nodes->view();
  const column_view* capacity = node_rows.find(col::node_capacity);
  for (std::uint64_t row = 0; row < node_rows.rows; ++row) {
    const auto amounts = capacity->values<std::int64_t>(node_rows.rows).subspan(row * capacity->width, capacity->width);
    known[std::string(node_rows.find(col::node_name)->string(row))].capacity.assign(amounts.begin(), amounts.end());
  }
  const table_view device_rows = devices->view();
  for (std::uint64_t row = 0; row < device_rows.rows; ++row) {
    divided_node& node = known[std::string(device_rows.find(col::device_node)->string(row))];
    const std::int64_t index = device_rows.find(col::device_index)->values<std::uint32_t>(device_rows.rows)[row];
    ++node.devices;
    if (device_rows.find(col::device_sharing)->string(row) == "mig") node.divided.insert(index);
    for (const std::string_view one : split_list(device_rows.find(col::device_instances)->string(row)))
      node.layouts[index].emplace_back(one);
  }
  const std::vector<std::string_view> dimensions = of.base().dimension_names();
  const auto count = [&](std::vector<std::int64_t>& amounts, std::string_view instance, std::int64_t more) {
    const std::string resource = "nvidia.com/mig-" + std::string(instance.substr(0, instance.rfind('@')));
    const auto at = std::find(dimensions.begin(), dimensions.end(), resource);
    if (at != dimensions.end()) amounts[static_cast<std::size_t>(at - dimensions.begin())] += more;
  };
  table fresh(table_kind::device, table_op::add);
  table::column& fresh_node = fresh.add(col::device_node, column_type::string, 0);
  table::column& fresh_index = fresh.add(col::device_index, column_type::u32);
  table changed = change_of(table_kind::device);
  table::column& node_of_device = changed.add(col::device_node, column_type::string, 0);
  table::column& index_of_device = changed.add(col::device_index, column_type::u32);
  table::column& sharing = changed.add(col::device_sharing, column_type::string, 0);
  table::column& instances = changed.add(col::device_instances, column_type::string_list, 0);
  std::set<std::string> nodes_changed;
  for (const auto& [where, layout] : found.divided) {
    divided_node& node = known[where.first];
    if (nodes_changed.insert(where.first).second && node.devices == 0) {
      for (std::int64_t i = 0; i < node.capacity[dim_gpu] / whole_device; ++i) {
        fresh_node.push(std::string_view(where.first));
        fresh_index.push(static_cast<std::uint32_t>(i));
      }
    }
    for (const std::string& one : node.layouts[where.second]) count(node.capacity, one, -1);
    for (const std::string& one : layout) count(node.capacity, one, 1);
    if (!node.divided.contains(where.second)) node.capacity[dim_gpu] -= whole_device;
    node_of_device.push(std::string_view(where.first));
    index_of_device.push(static_cast<std::uint32_t>(where.second));
    sharing.push(std::string_view("mig"));
    instances.push_list(std::vector<std::string_view>(layout.begin(), layout.end()));
  }
  table amounts = change_of(table_kind::node);
  table::column& node_name = amounts.add(col::node_name, column_type::string, 0);
  table::column& node_capacity =
      amounts.add(col::node_capacity, column_type::i64, static_cast<std::uint32_t>(dimensions.size()));
  for (const std::string& node : nodes_changed) {
    node_name.push(std::string_view(node));
    for (const std::int64_t amount : known[node].capacity) node_capacity.push(amount);
  }
  if (fresh.rows() > 0) to.push_back(std::move(fresh));
  to.push_back(std::move(changed));
  to.push_back(std::move(amounts));
  return {};
}

}  // namespace

result<std::vector<table>> settle_tables(const session& of, const scenario_settle& how, std::int64_t now,
                                         std::set<std::string>& settled) {
  const result<output_rows> decisions = rows_of(of, table_kind::decision);
  if (!decisions) return decisions.failure();
  fates found = fates_of(*decisions, how, settled);
  const result<std::set<std::string>> before = running_before(of);
  if (!before) return before.failure();

  table changed = change_of(table_kind::pod);
  table::column& name = changed.add(col::pod_name, column_type::string, 0);
  table::column& status = changed.add(col::pod_status_column, column_type::u8);
  table::column& node = changed.add(col::pod_node, column_type::string, 0);
  table::column& devices = changed.add(col::pod_devices, column_type::i64_list, 0);
  table::column& zones = changed.add(col::pod_numa_zones, column_type::i64_list, 0);
  table::column& grants = changed.add(col::pod_device_grants, column_type::string_list, 0);
  table removed(table_kind::pod, table_op::remove);
  table::column& removed_name = removed.add(col::pod_name, column_type::string, 0);
  const auto change = [&](const std::string& pod, pod_status to, std::string_view on, const pod_fate& holds) {
    name.push(std::string_view(pod));
    status.push(static_cast<std::uint8_t>(to));
    node.push(on);
    devices.push_list(holds.devices);
    zones.push_list(holds.zones);
    const std::vector<std::string_view> held(holds.grants.begin(), holds.grants.end());
    grants.push_list(held);
  };
  // What leaves a node goes first: its devices may have a new owner.
  for (const auto& [pod, becomes] : found.pods) {
    if (becomes.what == fate::goes) removed_name.push(std::string_view(pod));
    if (becomes.what == fate::waits) change(pod, pod_status::pending, {}, {});
  }
  for (const auto& [pod, becomes] : found.pods) {
    if (becomes.what != fate::runs) continue;
    change(pod, becomes.is_held ? pod_status::binding : pod_status::running, becomes.node, becomes);
  }
  std::vector<table> made;
  table releasing = change_of(table_kind::pod);
  table::column& releasing_name = releasing.add(col::pod_name, column_type::string, 0);
  table::column& releasing_status = releasing.add(col::pod_status_column, column_type::u8);
  for (const auto& [pod, becomes] : found.pods) {
    if (becomes.what != fate::releases) continue;
    releasing_name.push(std::string_view(pod));
    releasing_status.push(static_cast<std::uint8_t>(pod_status::releasing));
  }
  if (removed.rows() > 0) made.push_back(std::move(removed));
  if (releasing.rows() > 0) made.push_back(std::move(releasing));
  if (changed.rows() > 0) made.push_back(std::move(changed));

  if (how.keeps_nominations) add_nominations(made, found, now);
  result<table> searched = of.to_table(table_kind::pod_group);
  if (!searched) return searched.failure();
  if (searched->rows() > 0) made.push_back(std::move(*searched));
  if (auto done = add_divisions(made, of, found); !done) return done.failure();
  if (auto done = add_claims(made, of, found); !done) return done.failure();

  std::set<std::string> fresh;
  std::set_difference(found.started.begin(), found.started.end(), before->begin(), before->end(),
                      std::inserter(fresh, fresh.end()));
  add_times(made, fresh, col::pod_group_last_start, now);
  add_times(made, found.evicted, col::pod_group_last_eviction, now);
  if (auto done = add_evictions(made, of, found.evicted); !done) return done.failure();
  for (std::size_t row = 0; row < decisions->size(); ++row) {
    const std::string group = decisions->text("group", row);
    if (how.groups.empty() || std::find(how.groups.begin(), how.groups.end(), group) != how.groups.end())
      settled.insert(group);
  }
  return made;
}

}  // namespace kaisched::io::scenario_text
