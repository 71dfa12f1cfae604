// Rows of pod tables: read and checked as a whole before anything changes.
#include <algorithm>
#include <array>
#include <bit>

#include "base/text.hpp"
#include "model/account.hpp"
#include "model/cell_place.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

constexpr std::array text_columns{
    std::pair{std::uint32_t{col::pod_node_selector}, &pod_ask::node_selector},
    std::pair{std::uint32_t{col::pod_node_affinity}, &pod_ask::node_affinity},
    std::pair{std::uint32_t{col::pod_tolerations}, &pod_ask::tolerations},
    std::pair{std::uint32_t{col::pod_affinity}, &pod_ask::affinity},
    std::pair{std::uint32_t{col::pod_anti_affinity}, &pod_ask::anti_affinity},
    std::pair{std::uint32_t{col::pod_host_ports}, &pod_ask::host_ports},
    std::pair{std::uint32_t{col::pod_obstacle}, &pod_ask::obstacle},
    std::pair{std::uint32_t{col::pod_claims}, &pod_ask::claims},
    std::pair{std::uint32_t{col::pod_containers}, &pod_ask::containers},
    std::pair{std::uint32_t{col::pod_device_requests}, &pod_ask::device_requests},
    std::pair{std::uint32_t{col::pod_annotations}, &pod_ask::annotations},
    std::pair{std::uint32_t{col::pod_node_preferences}, &pod_ask::node_preferences},
    std::pair{std::uint32_t{col::pod_spread}, &pod_ask::spread},
    std::pair{std::uint32_t{col::pod_preferences}, &pod_ask::preferences},
    std::pair{std::uint32_t{col::pod_load}, &pod_ask::load},
};

bool gives_ask(const table_reader& t) {
  return t.has(col::pod_request) || t.has(col::pod_device_count) || t.has(col::pod_gpu_memory) || t.has(col::pod_qos) ||
         t.has(col::pod_claimed_gpus) || t.has(col::pod_sharing) ||
         std::any_of(text_columns.begin(), text_columns.end(), [&](const auto& c) { return t.has(c.first); });
}

/// The column holds no reference: an empty name or the id 0.
bool is_none(const table_reader& t, std::uint32_t column, std::uint64_t row) {
  return t.is_id(column) ? t.id(column, row) == 0 : t.text(column, row).empty();
}

error fail_pod(const table_reader& t, std::uint64_t row, std::uint32_t column, status code, std::string_view what) {
  return t.fail(code, row, column, "pod '" + base::shown(t.text(col::pod_name, row)) + "': " + std::string(what));
}

}  // namespace

pod_plan edit::present_plan(pod_row p) const {
  pod_plan plan;
  plan.group = s_.pods[p].group;
  plan.sub_name = s_.pod_extras[p].sub_name;
  plan.labels = s_.pod_extras[p].labels;
  plan.created = s_.pod_extras[p].created;
  plan.priority = s_.pod_extras[p].priority;
  plan.nominated = s_.pod_extras[p].nominated;
  plan.nominated_since = s_.told_of(p).nominated_since;
  plan.zones = s_.told_of(p).numa_zones;
  plan.device_grants = s_.told_of(p).device_grants;
  plan.instances = s_.told_of(p).mig_instances;
  plan.budget = s_.told_of(p).budget;
  plan.leader = s_.pods[p].leader;
  plan.outdated = s_.pods[p].outdated;
  plan.known_class = s_.pods[p].pod_class;
  plan.status = static_cast<pod_status>(s_.live.pod_state[p]);
  plan.node = s_.live.pod_node[p];
  plan.devices = s_.live.pod_devices[p];
  return plan;
}

result<pod_plan> edit::plan_pod(const table_reader& t, std::uint64_t row, pod_row p) {
  pod_plan plan = p == no_row ? pod_plan{} : present_plan(p);
  if (t.has(col::pod_group_ref)) {
    plan.group = no_row;
    if (!is_none(t, col::pod_group_ref, row)) {
      result<std::uint32_t> group = slot_of(t, row, col::pod_group_ref, entity_kind::pod_group);
      if (!group) return group.failure();
      plan.group = *group;
    }
  }
  if (auto done = plan_details(t, row, plan); !done) return done.failure();
  if (auto done = plan_class(t, row, plan); !done) return done.failure();
  if (auto done = plan_place(t, row, plan); !done) return done.failure();
  return plan;
}

result<void> edit::plan_details(const table_reader& t, std::uint64_t row, pod_plan& plan) {
  if (t.has(col::pod_sub_group)) {
    const std::string_view name = t.text(col::pod_sub_group, row);
    plan.sub_name = name.empty() ? implied_pod_set : name;
  }
  if (t.has(col::pod_created)) plan.created = t.i64(col::pod_created, row);
  if (t.has(col::pod_priority)) plan.priority = t.i64(col::pod_priority, row);
  if (t.has(col::pod_labels)) {
    plan.labels = t.text(col::pod_labels, row);
    if (auto labels = parse_labels(plan.labels); !labels) {
      return fail_pod(t, row, col::pod_labels, status::argument, labels.failure().message);
    }
  }
  if (t.has(col::pod_nominated_node)) {
    plan.nominated = no_row;
    if (!is_none(t, col::pod_nominated_node, row)) {
      result<std::uint32_t> node = slot_of(t, row, col::pod_nominated_node, entity_kind::node);
      if (!node) return node.failure();
      plan.nominated = *node;
    }
  }
  if (t.has(col::pod_nominated_since)) plan.nominated_since = t.i64(col::pod_nominated_since, row);
  if (t.has(col::pod_leader)) {
    if (t.u8(col::pod_leader, row) > 1) return fail_pod(t, row, col::pod_leader, status::argument, "must be 0 or 1");
    plan.leader = t.u8(col::pod_leader, row) != 0;
  }
  if (t.has(col::pod_disruption_budget)) {
    plan.budget = t.text(col::pod_disruption_budget, row);
    if (!plan.budget.empty()) {
      if (auto good = check_name(t, row, col::pod_disruption_budget); !good) return good;
    }
  }
  if (t.has(col::pod_outdated)) {
    if (t.u8(col::pod_outdated, row) > 1)
      return fail_pod(t, row, col::pod_outdated, status::argument, "must be 0 or 1");
    plan.outdated = t.u8(col::pod_outdated, row) != 0;
  }
  return {};
}

result<void> edit::plan_class(const table_reader& t, std::uint64_t row, pod_plan& plan) const {
  if (plan.known_class != no_row && !gives_ask(t)) return {};
  pod_ask ask = plan.known_class == no_row ? pod_ask{} : s_.classes[plan.known_class]->ask;
  if (auto done = read_ask(t, row, ask); !done) return done;
  if (auto done = check_total(t, row, plan.known_class, ask); !done) return done;
  const class_row known = names_.classes.find(ask.key());
  if (known != base::name_map::none) {
    if (known != plan.known_class) plan.devices = {};
    plan.known_class = known;
    return {};
  }
  ask_fault fault;
  std::optional<pod_class> parsed = make_pod_class(std::move(ask), fault);
  if (!parsed) return fail_pod(t, row, fault.column, fault.why.code, fault.why.message);
  choose_class(plan, std::move(*parsed));
  return {};
}

/// The class of pods that ask for this, or a new one.
void edit::choose_class(pod_plan& plan, pod_class parsed) const {
  const class_row known = names_.classes.find(parsed.ask.key());
  if (known != plan.known_class || known == base::name_map::none) plan.devices = {};
  if (known != base::name_map::none) {
    plan.known_class = known;
  } else {
    plan.fresh_class = std::move(parsed);
  }
}

result<void> edit::read_ask(const table_reader& t, std::uint64_t row, pod_ask& ask) const {
  if (t.has(col::pod_request)) {
    const auto values = t.row_values<std::int64_t>(col::pod_request, row);
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (values[d] < 0 || values[d] > max_amount) {
        return fail_pod(t, row, col::pod_request, values[d] < 0 ? status::argument : status::limit,
                        (*s_.dimensions)[d].name + " " + std::to_string(values[d]) + " is not in 0 .. 2^52");
      }
    }
    ask.request.assign(values.begin(), values.end());
  }
  if (ask.request.size() <= dim_pods) ask.request.resize(dim_pods + 1, 0);
  if (ask.request[dim_pods] == 0) ask.request[dim_pods] = 1;
  if (t.has(col::pod_device_count)) ask.device_count = t.u32(col::pod_device_count, row);
  for (const auto& [column, target] : text_columns) {
    if (t.has(column)) ask.*target = t.text(column, row);
  }
  if (t.has(col::pod_claimed_gpus)) ask.claimed_gpus = t.u32(col::pod_claimed_gpus, row);
  if (t.has(col::pod_gpu_memory)) {
    auto v = bounded(t, row, col::pod_gpu_memory, 0, max_amount);
    if (!v) return v.failure();
    ask.gpu_memory = *v;
  }
  if (t.has(col::pod_qos)) {
    constexpr std::array all{qos_class::unknown, qos_class::guaranteed, qos_class::burstable, qos_class::best_effort};
    auto v = one_of(t, row, col::pod_qos, all, qos_name);
    if (!v) return v.failure();
    ask.qos = *v;
  }
  if (t.has(col::pod_sharing)) {
    constexpr std::array all{sharing_mode::unknown, sharing_mode::time_slicing, sharing_mode::mps,
                             sharing_mode::hard_isolation};
    auto v = one_of(t, row, col::pod_sharing, all, sharing_name);
    if (!v) return v.failure();
    ask.sharing = *v;
  }
  return {};
}

/// All requests of a dimension together stay below what can be represented.
result<void> edit::check_total(const table_reader& t, std::uint64_t row, class_row before, const pod_ask& ask) const {
  const std::vector<std::int64_t>& sums = *w_.total_request;
  for (std::uint32_t d = 0; d < ask.request.size(); ++d) {
    const std::int64_t others =
        (d < sums.size() ? sums[d] : 0) - (before == no_row ? 0 : s_.classes[before]->requests(d));
    if (others + ask.request[d] > max_sum) {
      return fail_pod(t, row, col::pod_request, status::limit,
                      "with it the sum of all requests of " + (*s_.dimensions)[d].name + " exceeds 2^62");
    }
  }
  return {};
}

result<void> edit::plan_place(const table_reader& t, std::uint64_t row, pod_plan& plan) {
  if (t.has(col::pod_status_column)) {
    const std::uint8_t number = t.u8(col::pod_status_column, row);
    if (number >= pod_status_count) {
      return fail_pod(t, row, col::pod_status_column, status::argument, std::to_string(number) + " is no pod status");
    }
    plan.status = static_cast<pod_status>(number);
  }
  if (t.has(col::pod_node)) {
    std::uint32_t slot = no_row;
    if (!is_none(t, col::pod_node, row)) {
      result<std::uint32_t> node = slot_of(t, row, col::pod_node, entity_kind::node);
      if (!node) return node.failure();
      slot = *node;
    }
    if (slot != plan.node) {
      plan.devices = {};
      plan.zones = 0;
      plan.device_grants = {};
      plan.instances = {};
    }
    plan.node = slot;
  }
  const auto say = [&](std::uint32_t column, std::string_view what) {
    return fail_pod(t, row, column, status::argument,
                    "status " + std::string(pod_status_name(plan.status)) + std::string(what));
  };
  const bool waits = plan.status == pod_status::pending || plan.status == pod_status::gated;
  if (is_in(plan.status, active_allocated) && plan.node == no_row) return say(col::pod_node, " needs a node");
  if (waits && plan.group == no_row) return say(col::pod_group_ref, " needs a pod group");
  if (waits && plan.node != no_row) {
    if (t.has(col::pod_node)) return say(col::pod_node, " cannot have a node");
    plan.node = no_row;  // a pod that goes back to pending leaves its node
  }
  if (auto done = plan_zones(t, row, plan); !done) return done;
  return plan_devices(t, row, plan);
}

result<void> edit::plan_zones(const table_reader& t, std::uint64_t row, pod_plan& plan) const {
  if (t.has(col::pod_numa_zones)) {
    plan.zones = 0;
    for (const std::int64_t zone : t.list(col::pod_numa_zones, row)) {
      if (zone < 0 || zone >= max_zones_per_node || (plan.zones >> zone & 1U) != 0) {
        return fail_pod(t, row, col::pod_numa_zones, status::argument,
                        "zone " + std::to_string(zone) + " is given twice or not in 0 .. 63");
      }
      plan.zones |= std::uint64_t{1} << zone;
    }
  }
  if (t.has(col::pod_device_grants)) {
    for (const std::string_view text : split_list(t.text(col::pod_device_grants, row))) {
      if (parse_cell_place(text)) continue;
      const result<vendor_grant> one = parse_vendor_grant(text);
      if (!one) return fail_pod(t, row, col::pod_device_grants, status::argument, one.failure().message);
    }
    plan.device_grants = t.text(col::pod_device_grants, row);
  }
  if (plan.node == no_row || !is_in(plan.status, active_used)) {
    plan.zones = 0;
    plan.device_grants = {};
  }
  return plan_instances(t, row, plan);
}

/// Only what is written is checked: which instances there are the host may tell later than who uses them.
result<void> edit::plan_instances(const table_reader& t, std::uint64_t row, pod_plan& plan) const {
  if (t.has(col::pod_mig_instances)) {
    plan.instances = t.text(col::pod_mig_instances, row);
    std::vector<placed_instance> seen;
    for (const std::string_view one : split_list(plan.instances)) {
      std::optional<placed_instance> parsed = parse_placed_instance(one);
      if (!parsed) {
        return fail_pod(t, row, col::pod_mig_instances, status::argument,
                        "'" + base::shown(one) + "' is no instance: device/profile@start, such as 0/3g.40gb@4");
      }
      if (std::find(seen.begin(), seen.end(), *parsed) != seen.end()) {
        return fail_pod(t, row, col::pod_mig_instances, status::argument,
                        "instance '" + base::shown(one) + "' is given twice");
      }
      seen.push_back(std::move(*parsed));
    }
  }
  if (plan.node == no_row || !is_in(plan.status, active_used) || plan.status == pod_status::pipelined)
    plan.instances = {};
  return {};
}

result<void> edit::plan_devices(const table_reader& t, std::uint64_t row, pod_plan& plan) const {
  const pod_class& c = plan.fresh_class ? *plan.fresh_class : *s_.classes[plan.known_class];
  const bool claims_any = plan.status == pod_status::pipelined && c.whole_devices > 0;
  // A node that goes with this delta has no row; the delta is refused if the pod stays there.
  const node_row at = plan.node == no_row ? no_row : (*s_.node_row_of_slot)[plan.node];
  if (at == no_row || !is_in(plan.status, active_used) || claims_any) {
    plan.devices = {};
    return {};
  }
  const auto given = t.has(col::pod_devices) ? t.list(col::pod_devices, row) : std::span<const std::int64_t>{};
  if (given.empty()) {
    const bool moves = t.op() == table_op::add || t.has(col::pod_status_column) || t.has(col::pod_node) ||
                       t.has(col::pod_request) || t.has(col::pod_device_count);
    plan.chooses_devices = plan.devices.mask == 0 && moves;  // else it keeps what it holds, known or not
    return {};
  }
  plan.devices = {};
  if (given.size() == 1 && given.front() == unknown_devices) return {};
  const device_row count = (*s_.first_device)[at + 1] - (*s_.first_device)[at];
  std::uint64_t mask = 0;
  for (const std::int64_t index : given) {
    if (index < 0 || index >= count || (mask >> index & 1U) != 0) {
      return fail_pod(t, row, col::pod_devices, status::argument,
                      "device " + std::to_string(index) + " is given twice or the node does not have it");
    }
    mask |= std::uint64_t{1} << index;
  }
  const std::int64_t asked = c.whole_devices + c.shared_devices + c.memory_devices;
  if (std::popcount(mask) != asked) {
    return fail_pod(t, row, col::pod_devices, status::argument, "it asks for " + std::to_string(asked) + " devices");
  }
  plan.devices = devices_of(s_, c, at, mask);
  return {};
}

}  // namespace kaisched::model
