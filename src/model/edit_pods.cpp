// Deltas of pods, and the order of pods inside their pod sets.
#include <algorithm>
#include <array>
#include <bit>

#include "model/account.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

entity_id id_of_pod(const cluster_state& s, pod_row p) { return {entity_kind::pod, s.pods[p].generation, p}; }

}  // namespace

// ---- pods --------------------------------------------------------------------------------------------------------

result<void> edit::pods(const table_reader& t) {
  settle_nodes();
  if (recount_) {  // devices are chosen by what is free
    recount(s_);
    recount_ = false;
  }
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    auto done = t.op() == table_op::add      ? add_pod(t, row)
                : t.op() == table_op::change ? change_pod(t, row)
                                             : remove_pod(t, row);
    if (!done) return done;
  }
  settle_links();
  return {};
}

result<void> edit::add_pod(const table_reader& t, std::uint64_t row) {
  result<std::string_view> name = new_name(t, row, col::pod_name, &name_maps::pods);
  if (!name) return name.failure();
  pod_row p = s_.pod_slots;
  if (w_.free_pods->empty()) {
    ++s_.pod_slots;
    s_.pods.grow(s_.pod_slots);
    s_.pod_extras.grow(s_.pod_slots);
    s_.pod_names.grow(s_.pod_slots);
    s_.live.pod_state.grow(s_.pod_slots);
    s_.live.pod_node.grow(s_.pod_slots);
    s_.live.pod_devices.grow(s_.pod_slots);
  } else {
    p = w_.free_pods->back();
    w_.free_pods.write().pop_back();
  }
  const std::uint32_t generation = s_.pods[p].generation;
  s_.pods.write(p) = {};
  s_.pods.write(p).generation = generation;
  s_.pods.write(p).live = true;
  s_.pod_extras.write(p) = {};
  s_.pod_extras.write(p).sub_name = implied_pod_set;
  s_.pod_names.write(p) = *name;
  s_.live.pod_state.write(p) = static_cast<std::uint8_t>(pod_status::pending);
  s_.live.pod_node.write(p) = no_row;
  s_.live.pod_devices.write(p) = {};
  ++s_.live_pods;
  add_name(&name_maps::pods, *name, p);
  result<std::uint32_t> group = slot_of(t, row, col::pod_group_ref, entity_kind::pod_group);
  if (!group) return group.failure();
  s_.pods.write(p).group = *group;
  if (auto done = read_pod_details(t, row, p); !done) return done;
  pod_ask ask;
  if (auto done = read_pod_ask(t, row, ask); !done) return done;
  if (auto done = join_class(t, row, p, std::move(ask)); !done) return done;
  if (auto done = read_pod_place(t, row, p); !done) return done;
  enter(p);
  relink(no_row, p);
  return {};
}

result<void> edit::change_pod(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_name, entity_kind::pod);
  if (!found) return found.failure();
  const pod_row p = *found;
  leave(p);
  const bool reorders = t.has(col::pod_sub_group) || t.has(col::pod_priority) || t.has(col::pod_leader) ||
                        t.has(col::pod_group_ref) || t.has(col::pod_created);
  const sub_group_row old_sub = s_.pods[p].sub;
  if (reorders && old_sub == no_row) {  // strays hang on their group
    settle_links();
    unlink_all(no_row, {p});
  }
  if (t.has(col::pod_group_ref)) {
    result<std::uint32_t> group = slot_of(t, row, col::pod_group_ref, entity_kind::pod_group);
    if (!group) return group.failure();
    s_.pods.write(p).group = *group;
  }
  if (auto done = read_pod_details(t, row, p); !done) return done;
  pod_ask ask = s_.class_of(p).ask;
  const std::string before = ask.key();
  if (auto done = read_pod_ask(t, row, ask); !done) return done;
  if (ask.key() != before) {
    leave_class(p);
    if (auto done = join_class(t, row, p, std::move(ask)); !done) return done;
    s_.live.pod_devices.write(p) = {};
  }
  if (auto done = read_pod_place(t, row, p); !done) return done;
  enter(p);
  if (reorders) relink(old_sub, p);
  return {};
}

result<void> edit::remove_pod(const table_reader& t, std::uint64_t row) {
  result<std::uint32_t> found = slot_of(t, row, col::pod_name, entity_kind::pod);
  if (!found) return found.failure();
  const pod_row p = *found;
  leave(p);
  leave_class(p);
  pod_core& pod = s_.pods.write(p);
  if (pod.sub == no_row) {
    settle_links();
    unlink_all(no_row, {p});
  } else {
    relink(pod.sub, p);
  }
  pod.live = false;
  ++pod.generation;
  --s_.live_pods;
  discard(s_.pod_extras[p].labels);
  if (s_.pod_extras[p].sub_name != implied_pod_set) discard(s_.pod_extras[p].sub_name);
  drop_name(&name_maps::pods, s_.pod_names[p], p);
  w_.free_pods.write().push_back(p);
  return {};
}

result<void> edit::read_pod_details(const table_reader& t, std::uint64_t row, pod_row p) {
  pod_extra& extra = s_.pod_extras.write(p);
  if (t.has(col::pod_sub_group)) {
    const std::string_view name = t.text(col::pod_sub_group, row);
    if (extra.sub_name != implied_pod_set) discard(extra.sub_name);
    extra.sub_name = name.empty() || name == implied_pod_set ? implied_pod_set : s_.names->add(name);
  }
  if (t.has(col::pod_created)) extra.created = t.i64(col::pod_created, row);
  if (t.has(col::pod_priority)) extra.priority = t.i64(col::pod_priority, row);
  if (t.has(col::pod_labels)) {
    if (auto labels = parse_labels(t.text(col::pod_labels, row)); !labels) {
      return t.fail(status::argument, row, col::pod_labels, labels.failure().message, id_of_pod(s_, p));
    }
    discard(extra.labels);
    extra.labels = s_.names->add(t.text(col::pod_labels, row));
  }
  if (t.has(col::pod_nominated_node)) {
    const bool none = t.is_id(col::pod_nominated_node) ? t.id(col::pod_nominated_node, row) == 0
                                                       : t.text(col::pod_nominated_node, row).empty();
    extra.nominated = no_row;
    if (!none) {
      result<std::uint32_t> node = slot_of(t, row, col::pod_nominated_node, entity_kind::node);
      if (!node) return node.failure();
      extra.nominated = *node;
    }
  }
  pod_core& pod = s_.pods.write(p);
  if (t.has(col::pod_leader)) {
    if (t.u8(col::pod_leader, row) > 1)
      return t.fail(status::argument, row, col::pod_leader, "must be 0 or 1", id_of_pod(s_, p));
    pod.leader = t.u8(col::pod_leader, row) != 0;
  }
  const sub_group_row sub = find_sub(pod.group, extra.sub_name);
  pod.sub = sub != no_row && !s_.subs[sub].is_set ? sub : no_row;
  return {};
}

result<void> edit::read_pod_ask(const table_reader& t, std::uint64_t row, pod_ask& ask) {
  if (t.has(col::pod_request)) {
    const auto values = t.row_values<std::int64_t>(col::pod_request, row);
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (values[d] < 0 || values[d] > max_amount) {
        return t.fail(values[d] < 0 ? status::argument : status::limit, row, col::pod_request,
                      (*s_.dimensions)[d].name + " " + std::to_string(values[d]) + " is not in 0 .. 2^52");
      }
    }
    ask.request.assign(values.begin(), values.end());
    if (ask.request.size() <= dim_pods) ask.request.resize(dim_pods + 1, 0);
    if (ask.request[dim_pods] == 0) ask.request[dim_pods] = 1;
  }
  if (t.has(col::pod_device_count)) ask.device_count = t.u32(col::pod_device_count, row);
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::pod_node_selector}, &ask.node_selector},
                                       std::pair{std::uint32_t{col::pod_node_affinity}, &ask.node_affinity},
                                       std::pair{std::uint32_t{col::pod_tolerations}, &ask.tolerations},
                                       std::pair{std::uint32_t{col::pod_affinity}, &ask.affinity},
                                       std::pair{std::uint32_t{col::pod_anti_affinity}, &ask.anti_affinity},
                                       std::pair{std::uint32_t{col::pod_host_ports}, &ask.host_ports},
                                       std::pair{std::uint32_t{col::pod_obstacle}, &ask.obstacle}}) {
    if (t.has(column)) *target = t.text(column, row);
  }
  if (t.has(col::pod_gpu_memory)) {
    auto v = bounded(t, row, col::pod_gpu_memory, 0, max_amount);
    if (!v) return v.failure();
    ask.gpu_memory = *v;
  }
  if (t.has(col::pod_claims)) ask.claims = t.text(col::pod_claims, row);
  if (t.has(col::pod_qos)) {
    constexpr std::array all{qos_class::unknown, qos_class::guaranteed, qos_class::burstable, qos_class::best_effort};
    auto v = one_of(t, row, col::pod_qos, all, qos_name);
    if (!v) return v.failure();
    ask.qos = *v;
  }
  return {};
}

result<void> edit::join_class(const table_reader& t, std::uint64_t row, pod_row p, pod_ask ask) {
  const std::string key = ask.key();
  class_row c = names_.classes.find(key);
  if (c == base::name_map::none) {
    result<pod_class> parsed = make_pod_class(std::move(ask));
    if (!parsed) {
      return t.fail(parsed.failure().code, row, col::pod_name,
                    "pod '" + std::string(s_.pod_names[p]) + "': " + parsed.failure().message, id_of_pod(s_, p));
    }
    if (w_.free_classes->empty()) {
      c = s_.class_slots++;
      s_.classes.grow(s_.class_slots);
      w_.class_users.grow(s_.class_slots);
      w_.class_keys.grow(s_.class_slots);
    } else {
      c = w_.free_classes->back();
      w_.free_classes.write().pop_back();
    }
    s_.classes.write(c) = std::make_shared<const pod_class>(std::move(*parsed));
    w_.class_keys.write(c) = s_.names->add(key);
    w_.class_users.write(c) = 0;
    add_name(&name_maps::classes, w_.class_keys[c], c);
  }
  ++w_.class_users.write(c);
  s_.pods.write(p).pod_class = c;
  const pod_class& joined = *s_.classes[c];
  s_.pods_with_affinity += joined.has_pod_affinity() ? 1U : 0U;
  s_.pods_with_ports += joined.host_ports.empty() ? 0U : 1U;
  s_.pods_with_gpu_memory += joined.ask.gpu_memory == 0 ? 0U : 1U;
  s_.pods_with_claims += joined.ask.claims.empty() ? 0U : 1U;
  std::vector<std::int64_t>& sums = w_.total_request.write();
  sums.resize(std::max<std::size_t>(sums.size(), s_.dims()), 0);
  for (std::size_t d = 0; d < joined.ask.request.size(); ++d) {
    sums[d] += joined.ask.request[d];
    if (sums[d] > max_sum) {
      return t.fail(status::limit, row, col::pod_request,
                    "the sum of all requests of " + (*s_.dimensions)[d].name + " exceeds 2^62", id_of_pod(s_, p));
    }
  }
  return {};
}

void edit::leave_class(pod_row p) {
  const class_row c = s_.pods[p].pod_class;
  const pod_class& left = *s_.classes[c];
  s_.pods_with_affinity -= left.has_pod_affinity() ? 1U : 0U;
  s_.pods_with_ports -= left.host_ports.empty() ? 0U : 1U;
  s_.pods_with_gpu_memory -= left.ask.gpu_memory == 0 ? 0U : 1U;
  s_.pods_with_claims -= left.ask.claims.empty() ? 0U : 1U;
  std::vector<std::int64_t>& sums = w_.total_request.write();
  for (std::size_t d = 0; d < left.ask.request.size(); ++d) sums[d] -= left.ask.request[d];
  if (--w_.class_users.write(c) > 0) return;
  drop_name(&name_maps::classes, w_.class_keys[c], c);
  s_.classes.write(c) = nullptr;
  w_.free_classes.write().push_back(c);
}

result<void> edit::read_pod_place(const table_reader& t, std::uint64_t row, pod_row p) {
  if (t.has(col::pod_status_column)) {
    const std::uint8_t status_number = t.u8(col::pod_status_column, row);
    if (status_number >= pod_status_count) {
      return t.fail(status::argument, row, col::pod_status_column, std::to_string(status_number) + " is no pod status",
                    id_of_pod(s_, p));
    }
    s_.live.pod_state.write(p) = status_number;
  }
  if (t.has(col::pod_node)) {
    const bool none = t.is_id(col::pod_node) ? t.id(col::pod_node, row) == 0 : t.text(col::pod_node, row).empty();
    std::uint32_t slot = no_row;
    if (!none) {
      result<std::uint32_t> node = slot_of(t, row, col::pod_node, entity_kind::node);
      if (!node) return node.failure();
      slot = *node;
    }
    if (slot != s_.live.pod_node[p]) {
      s_.live.pod_devices.write(p) = {};
      s_.pod_extras.write(p).numa_zones = 0;
    }
    s_.live.pod_node.write(p) = slot;
  }
  if (auto done = check_pod_place(t, row, p); !done) return done;
  if (auto done = read_pod_zones(t, row, p); !done) return done;
  return read_pod_devices(t, row, p);
}

result<void> edit::read_pod_zones(const table_reader& t, std::uint64_t row, pod_row p) {
  std::uint64_t zones = s_.pod_extras[p].numa_zones;
  if (t.has(col::pod_numa_zones)) {
    zones = 0;
    for (const std::int64_t zone : t.list(col::pod_numa_zones, row)) {
      if (zone < 0 || zone >= max_zones_per_node || (zones >> zone & 1U) != 0) {
        return t.fail(status::argument, row, col::pod_numa_zones,
                      "pod '" + std::string(s_.pod_names[p]) + "': zone " + std::to_string(zone) +
                          " is given twice or not in 0 .. 63",
                      id_of_pod(s_, p));
      }
      zones |= std::uint64_t{1} << zone;
    }
  }
  if (!is_on_node(p)) zones = 0;
  if (zones != s_.pod_extras[p].numa_zones) s_.pod_extras.write(p).numa_zones = zones;
  return {};
}

result<void> edit::check_pod_place(const table_reader& t, std::uint64_t row, pod_row p) {
  const auto state = static_cast<pod_status>(s_.live.pod_state[p]);
  const bool placed = s_.live.pod_node[p] != no_row;
  const auto say = [&](std::string_view what) {
    return t.fail(
        status::argument, row, col::pod_node,
        "pod '" + std::string(s_.pod_names[p]) + "': status " + std::string(pod_status_name(state)) + std::string(what),
        id_of_pod(s_, p));
  };
  if (is_in(state, active_allocated) && !placed) return say(" needs a node");
  if ((state == pod_status::pending || state == pod_status::gated) && placed) {
    if (t.has(col::pod_node)) return say(" cannot have a node");
    s_.live.pod_node.write(p) = no_row;  // a pod that goes back to pending leaves its node
    s_.live.pod_devices.write(p) = {};
  }
  return {};
}

result<void> edit::read_pod_devices(const table_reader& t, std::uint64_t row, pod_row p) {
  const std::uint32_t slot = s_.live.pod_node[p];
  const auto state = static_cast<pod_status>(s_.live.pod_state[p]);
  const pod_class& c = s_.class_of(p);
  const bool claims_any = state == pod_status::pipelined && c.whole_devices > 0;
  if (slot == no_row || !is_in(state, active_used) || claims_any) {
    s_.live.pod_devices.write(p) = {};
    return {};
  }
  const node_row at = (*s_.node_row_of_slot)[slot];
  if (at == no_row) {  // the node goes with this delta, which is refused if the pod stays there
    s_.live.pod_devices.write(p) = {};
    return {};
  }
  const auto given = t.has(col::pod_devices) ? t.list(col::pod_devices, row) : std::span<const std::int64_t>{};
  if (given.empty()) {
    const bool moves = t.op() == table_op::add || t.has(col::pod_status_column) || t.has(col::pod_node) ||
                       t.has(col::pod_request) || t.has(col::pod_device_count);
    if (s_.live.pod_devices[p].mask != 0 || !moves) return {};  // keeps what it holds, known or not
    device_set chosen;
    // An overcommitted node may have no device left: then only the amounts are charged.
    const bool found = choose_devices(s_, s_.live, c, at, device_amount::free_now, chosen) ||
                       (state == pod_status::pipelined &&
                        choose_devices(s_, s_.live, c, at, device_amount::free_or_releasing, chosen));
    if (found) s_.live.pod_devices.write(p) = chosen;
    return {};
  }
  if (given.size() == 1 && given.front() == unknown_devices) {
    s_.live.pod_devices.write(p) = {};
    return {};
  }
  const device_row count = (*s_.first_device)[at + 1] - (*s_.first_device)[at];
  device_set set{0, c.device_share};
  for (const std::int64_t index : given) {
    if (index < 0 || index >= count || (set.mask >> index & 1U) != 0) {
      return t.fail(status::argument, row, col::pod_devices,
                    "pod '" + std::string(s_.pod_names[p]) + "': device " + std::to_string(index) +
                        " is given twice or the node does not have it",
                    id_of_pod(s_, p));
    }
    set.mask |= std::uint64_t{1} << index;
  }
  const std::int64_t asked = c.whole_devices + c.shared_devices + c.memory_devices;
  if (std::popcount(set.mask) != asked) {
    return t.fail(status::argument, row, col::pod_devices,
                  "pod '" + std::string(s_.pod_names[p]) + "': it asks for " + std::to_string(asked) + " devices",
                  id_of_pod(s_, p));
  }
  s_.live.pod_devices.write(p) = set;
  return {};
}

bool edit::is_on_node(pod_row p) const {
  return s_.live.pod_node[p] != no_row && is_in(static_cast<pod_status>(s_.live.pod_state[p]), active_used);
}

void edit::enter(pod_row p) {
  account_pod(s_, s_.live, p, 1);
  if (is_on_node(p)) ++w_.pods_on_node.write()[s_.live.pod_node[p]];
  touch(s_.pods[p].group);
}

void edit::leave(pod_row p) {
  account_pod(s_, s_.live, p, -1);
  if (is_on_node(p)) --w_.pods_on_node.write()[s_.live.pod_node[p]];
  touch(s_.pods[p].group);
}

// ---- pods of a pod set, in task order ----------------------------------------------------------------------------

bool edit::task_before(pod_row a, pod_row b) const {
  const bool a_leads = s_.pods[a].leader;
  const bool b_leads = s_.pods[b].leader;
  if (a_leads != b_leads) return a_leads;
  const std::int64_t x = s_.pod_extras[a].priority;  // unset is the smallest
  const std::int64_t y = s_.pod_extras[b].priority;
  if (x != y) return x > y;
  if (s_.pod_extras[a].created != s_.pod_extras[b].created) return s_.pod_extras[a].created < s_.pod_extras[b].created;
  return s_.pod_names[a] < s_.pod_names[b];
}

void edit::settle_links() {
  if (relinks_.empty()) return;
  std::vector<std::pair<sub_group_row, pod_row>> changes = std::move(relinks_);
  relinks_.clear();
  std::sort(changes.begin(), changes.end());
  changes.erase(std::unique(changes.begin(), changes.end()), changes.end());
  std::vector<pod_row> all;
  for (std::size_t i = 0; i < changes.size();) {
    const sub_group_row sub = changes[i].first;
    std::vector<pod_row> gone;
    for (; i < changes.size() && changes[i].first == sub; ++i) gone.push_back(changes[i].second);
    all.insert(all.end(), gone.begin(), gone.end());
    if (sub != no_row) unlink_all(sub, gone);
  }
  std::sort(all.begin(), all.end());
  all.erase(std::unique(all.begin(), all.end()), all.end());
  std::erase_if(all, [&](pod_row p) { return !s_.pods[p].live; });
  std::sort(all.begin(), all.end(), [&](pod_row a, pod_row b) {
    const auto place = [&](pod_row p) {
      return std::pair(s_.pods[p].sub, s_.pods[p].sub == no_row ? s_.pods[p].group : 0);
    };
    if (place(a) != place(b)) return place(a) < place(b);
    return task_before(a, b);
  });
  for (std::size_t i = 0; i < all.size();) {
    std::size_t end = i + 1;
    while (end < all.size() && s_.pods[all[end]].sub == s_.pods[all[i]].sub &&
           (s_.pods[all[i]].sub != no_row || s_.pods[all[end]].group == s_.pods[all[i]].group)) {
      ++end;
    }
    link_all(s_.pods[all[i]].sub, std::span(all).subspan(i, end - i));
    i = end;
  }
}

void edit::unlink_all(sub_group_row sub, const std::vector<pod_row>& gone) {
  // Strays (no_row) hang on the group of the pod; `gone` is sorted.
  const group_row stray_group = sub == no_row ? s_.pods[gone.front()].group : no_row;
  pod_row previous = no_row;
  pod_row p = sub == no_row ? s_.group_extras[stray_group].first_stray : s_.subs[sub].first_pod;
  const auto set_first = [&](pod_row first) {
    (sub == no_row ? s_.group_extras.write(stray_group).first_stray : s_.subs.write(sub).first_pod) = first;
  };
  while (p != no_row) {
    const pod_row next = s_.pods[p].next;
    if (std::binary_search(gone.begin(), gone.end(), p)) {
      if (previous == no_row)
        set_first(next);
      else
        s_.pods.write(previous).next = next;
      s_.pods.write(p).next = no_row;
    } else {
      previous = p;
    }
    p = next;
  }
  if (sub != no_row) s_.subs.write(sub).last_pod = previous;
}

void edit::link_all(sub_group_row sub, std::span<const pod_row> added) {
  if (sub == no_row) {
    const group_row g = s_.pods[added.front()].group;
    for (const pod_row p : added) {
      s_.pods.write(p).next = s_.group_extras[g].first_stray;
      s_.group_extras.write(g).first_stray = p;
    }
    return;
  }
  const pod_row last = s_.subs[sub].last_pod;
  // The usual case appends; else both sorted runs are merged from the start.
  pod_row previous = last != no_row && task_before(last, added.front()) ? last : no_row;
  pod_row next = previous == last && last != no_row ? no_row : s_.subs[sub].first_pod;
  for (const pod_row p : added) {
    while (next != no_row && task_before(next, p)) {
      previous = next;
      next = s_.pods[next].next;
    }
    if (previous == no_row)
      s_.subs.write(sub).first_pod = p;
    else
      s_.pods.write(previous).next = p;
    s_.pods.write(p).next = next;
    if (next == no_row) s_.subs.write(sub).last_pod = p;
    previous = p;
  }
}

std::vector<pod_row> edit::pods_of(group_row g) const {
  std::vector<pod_row> all;
  const group_core& group = s_.groups[g];
  for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
    for (pod_row p = s_.subs[sub].first_pod; p != no_row; p = s_.pods[p].next) all.push_back(p);
  }
  for (pod_row p = s_.group_extras[g].first_stray; p != no_row; p = s_.pods[p].next) all.push_back(p);
  return all;
}

}  // namespace kaisched::model
