// Pods that were left out of the model but are on a node: what they hold is not free. A pod without a group holds it in
// their place.
#include <algorithm>
#include <optional>

#include "base/text.hpp"
#include "base/utf8.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

/// The class of an ask, less and less of it until it can be understood. What stays holds at least as many devices.
std::optional<pod_class> understand(pod_ask ask) {
  const auto lose = [&](int step) {
    if (step == 1) ask.host_ports.clear();
    if (step == 2) ask.claims.clear();
    if (step == 3 && dim_gpu < ask.request.size() && ask.request[dim_gpu] > 0) ask.gpu_memory = 0;
    if (step == 4) {
      ask.device_count = 0;
      if (dim_gpu < ask.request.size()) {
        std::int64_t& gpu = ask.request[dim_gpu];
        gpu = (gpu + whole_device - 1) / whole_device * whole_device;
      }
    }
  };
  ask_fault ignored;
  for (int step = 0; step <= 4; ++step) {
    lose(step);
    if (auto parsed = make_pod_class(ask, ignored)) return parsed;
  }
  return std::nullopt;
}

bool is_utf8(std::string_view text) { return base::find_invalid_utf8(text) == std::string_view::npos; }

}  // namespace

/// The pod that stands in for one of this name, or no_row.
pod_row edit::stand_in_of(std::string_view name) const {
  if (s_.quarantine->empty()) return no_row;
  const auto it = s_.quarantine->find({table_kind::pod, {}, clean_name(name)});
  if (it == s_.quarantine->end() || !it->second->stands_in) return no_row;
  return names_.pods.find(it->first.name);
}

/// After a bad row: whatever it says about the place of the pod still counts, as far as it can be understood.
void edit::keep_place(const table_reader& t, std::uint64_t row) {
  if (t.op() == table_op::remove) return;
  const quarantine_key key = key_of(t, row);
  if (t.op() == table_op::add) {  // what the first row says holds
    const auto first = refused_adds_.find(key);
    if (first != refused_adds_.end() && first->second.place != row_place{t.number(), row}) return;
  }
  const pod_row p = names_.pods.find(key.name);
  const pod_row stand_in = stand_in_of(key.name);
  if (p != base::name_map::none && stand_in == no_row) {
    if (t.op() == table_op::change) keep_place_of(t, row, p);
    return;
  }
  if (stand_in != no_row && t.op() == table_op::change) return change_stand_in(t, row, stand_in);
  pod_plan plan;
  const hold found = key.name.empty() ? hold::unclear : plan_stand_in(t, row, plan);
  if (found == hold::unclear) return;  // a stand-in that is there stays where it is
  if (stand_in != no_row) {
    erase_pod(stand_in);
    mark_stand_in(key, false);
    plan = {};
    if (found == hold::place) (void)plan_stand_in(t, row, plan);  // the class that was chosen may have gone with it
  }
  if (found == hold::nothing) return;
  const pod_row fresh = new_pod(key.name);
  put_pod(std::move(plan), fresh);
  mark_stand_in(key, true);
}

/// Status, node and devices of a pod that otherwise stays as it was.
void edit::keep_place_of(const table_reader& t, std::uint64_t row, pod_row p) {
  if (!t.has(col::pod_status_column) && !t.has(col::pod_node)) return;
  pod_plan plan = present_plan(p);
  const hold found = read_held(t, row, plan);
  if (found == hold::unclear) return;
  if (found == hold::place) {
    hold_devices(t, row, plan);
  } else {
    plan = present_plan(p);
    if (!plan_place(t, row, plan)) return;
  }
  leave(p);
  put_pod(std::move(plan), p);
}

void edit::change_stand_in(const table_reader& t, std::uint64_t row, pod_row p) {
  const quarantine_key key = key_of(t, row);
  pod_plan plan = present_plan(p);
  const hold found = plan_stand_in(t, row, plan);
  if (found == hold::unclear) return;
  if (found == hold::nothing) {
    erase_pod(p);
    mark_stand_in(key, false);
    return;
  }
  leave(p);
  put_pod(std::move(plan), p);
}

/// A pod without a group that holds what the row says; `plan` comes with what it held before, if anything.
edit::hold edit::plan_stand_in(const table_reader& t, std::uint64_t row, pod_plan& plan) {
  const hold found = read_held(t, row, plan);
  if (found != hold::place) return found;
  if (plan.known_class == no_row && !t.has(col::pod_request)) return hold::unclear;
  std::optional<pod_class> held = understand(held_ask(t, row, plan));
  if (!held || !check_total(t, row, plan.known_class, held->ask)) return hold::unclear;
  choose_class(plan, std::move(*held));
  hold_devices(t, row, plan);
  return hold::place;
}

/// Whether the pod is on a node, after status and node of the row.
edit::hold edit::read_held(const table_reader& t, std::uint64_t row, pod_plan& plan) const {
  if (t.has(col::pod_status_column)) {
    if (t.u8(col::pod_status_column, row) >= pod_status_count) return hold::unclear;
    plan.status = static_cast<pod_status>(t.u8(col::pod_status_column, row));
  }
  if (t.has(col::pod_node)) {
    std::uint32_t slot = no_row;
    if (t.is_id(col::pod_node)) {
      const entity_id id(t.id(col::pod_node, row));
      if (id.value != 0) {
        result<std::uint32_t> found = slot_of_id(t, row, col::pod_node, entity_kind::node, id);
        if (!found) return hold::unclear;
        slot = *found;
      }
    } else if (const std::string_view name = t.text(col::pod_node, row); !name.empty()) {
      slot = names_.nodes.find(name);
      if (slot == base::name_map::none) return hold::unclear;
    }
    if (slot != plan.node) {
      plan.devices = {};
      plan.zones = 0;
    }
    plan.node = slot;
  }
  if (plan.node == no_row || !is_in(plan.status, active_used)) return hold::nothing;
  return (*s_.node_row_of_slot)[plan.node] == no_row ? hold::unclear : hold::place;
}

/// What the pod asks for and thereby holds. Amounts that make no sense count as what they were before, or nothing.
pod_ask edit::held_ask(const table_reader& t, std::uint64_t row, const pod_plan& plan) const {
  pod_ask ask = plan.known_class == no_row ? pod_ask{} : s_.classes[plan.known_class]->ask;
  if (t.has(col::pod_request)) {
    const auto values = t.row_values<std::int64_t>(col::pod_request, row);
    ask.request.resize(std::max({ask.request.size(), values.size(), std::size_t{dim_pods} + 1}), 0);
    for (std::size_t d = 0; d < ask.request.size(); ++d) {
      const std::int64_t value = d < values.size() ? values[d] : 0;
      if (value >= 0 && value <= max_amount) ask.request[d] = value;
    }
    if (ask.request[dim_pods] == 0) ask.request[dim_pods] = 1;
  }
  if (t.has(col::pod_device_count)) ask.device_count = t.u32(col::pod_device_count, row);
  if (t.has(col::pod_gpu_memory)) {
    const std::int64_t memory = t.i64(col::pod_gpu_memory, row);
    if (memory >= 0 && memory <= max_amount) ask.gpu_memory = memory;
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::pod_host_ports}, &ask.host_ports},
                                       std::pair{std::uint32_t{col::pod_claims}, &ask.claims}}) {
    if (t.has(column) && is_utf8(t.text(column, row))) *target = t.text(column, row);
  }
  return ask;
}

/// Devices and zones as the row gives them, else as the library chooses.
void edit::hold_devices(const table_reader& t, std::uint64_t row, pod_plan& plan) const {
  if (!plan_zones(t, row, plan)) plan.zones = 0;
  if (plan_devices(t, row, plan)) return;
  plan.devices = {};
  plan.chooses_devices = true;
}

void edit::mark_stand_in(const quarantine_key& key, bool stands_in) {
  const auto it = s_.quarantine->find(key);
  if (it == s_.quarantine->end()) return;
  quarantine_entry entry = *it->second;
  entry.present = stands_in;
  entry.stands_in = stands_in;
  s_.quarantine.write().insert_or_assign(key, std::make_shared<const quarantine_entry>(std::move(entry)));
}

}  // namespace kaisched::model
