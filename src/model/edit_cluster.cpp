// Deltas of resources, topologies, queues, nodes and devices.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "model/account.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

bool is_flag(std::uint8_t value) { return value <= 1; }

std::int64_t gpu_of(const node_info& node) { return dim_gpu < node.capacity.size() ? node.capacity[dim_gpu] : 0; }

}  // namespace

// ---- resources and topologies ------------------------------------------------------------------------------------

result<void> edit::resources(const table_reader& t) {
  if (t.op() != table_op::add) {
    return error{
        status::unsupported, "resource dimensions can only be added: their indices are columns of matrices", {}};
  }
  settle_nodes();
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    const std::string_view name = t.text(col::resource_name, row);
    if (name.empty()) return t.fail(status::argument, row, col::resource_name, "a name must not be empty");
    for (const dimension_info& d : *s_.dimensions) {
      if (d.name == name) {
        return t.fail(status::duplicate, row, col::resource_name, "'" + std::string(name) + "' exists already");
      }
    }
    if (s_.dims() >= max_dimensions) {
      return t.fail(status::limit, row, col::resource_name,
                    "more than " + std::to_string(max_dimensions) + " resource dimensions");
    }
    const std::string unit(t.has(col::resource_unit) ? t.text(col::resource_unit, row) : std::string_view("count"));
    s_.dimensions.write().push_back({std::string(name), unit});
  }
  widen(s_.dims());
  return {};
}

void edit::widen(std::uint32_t dims) {
  const std::uint32_t rows = s_.node_count();
  if (rows == 0) return;
  const auto old_dims = static_cast<std::uint32_t>(s_.capacity->size() / rows);
  for (base::cow<std::vector<std::int64_t>>* matrix : {&s_.capacity, &s_.live.idle, &s_.live.releasing}) {
    std::vector<std::int64_t> wide(static_cast<std::size_t>(rows) * dims, 0);
    for (std::uint32_t row = 0; row < rows; ++row) {
      std::copy_n((*matrix)->begin() + static_cast<std::ptrdiff_t>(row) * old_dims, old_dims,
                  wide.begin() + static_cast<std::ptrdiff_t>(row) * dims);
    }
    *matrix = base::cow(std::move(wide));
  }
}

result<void> edit::topologies(const table_reader& t) {
  std::vector<topology_info>& all = s_.topologies.write();
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    const std::string_view name = t.text(col::topology_name, row);
    const auto it = std::find_if(all.begin(), all.end(), [&](const topology_info& x) { return x.name == name; });
    if (t.op() == table_op::add ? it != all.end() : it == all.end()) {
      return t.fail(it == all.end() ? status::not_found : status::duplicate, row, col::topology_name,
                    "'" + std::string(name) + (it == all.end() ? "' does not exist" : "' exists already"));
    }
    nodes_unsettled_ = true;
    topologies_changed_ = topologies_changed_ || t.op() != table_op::add;
    if (t.op() == table_op::remove) {
      all.erase(it);
      continue;
    }
    if (name.empty()) return t.fail(status::argument, row, col::topology_name, "a name must not be empty");
    topology_info& info = it == all.end() ? all.emplace_back() : *it;
    info.name = name;
    if (t.has(col::topology_levels)) {
      info.levels.clear();
      for (const std::string_view level : split_list(t.text(col::topology_levels, row)))
        info.levels.emplace_back(level);
      if (info.levels.empty()) return t.fail(status::argument, row, col::topology_levels, "needs at least one level");
    }
    if (t.has(col::topology_primary)) info.primary = t.u8(col::topology_primary, row) != 0;
  }
  std::sort(all.begin(), all.end(), [](const topology_info& a, const topology_info& b) { return a.name < b.name; });
  if (std::count_if(all.begin(), all.end(), [](const topology_info& x) { return x.primary; }) > 1) {
    return error{status::argument, "more than one topology is marked primary", {}};
  }
  return {};
}

// ---- queues ------------------------------------------------------------------------------------------------------

result<void> edit::queues(const table_reader& t) {
  std::vector<queue_row> rows;
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    std::uint32_t slot = no_row;
    if (t.op() == table_op::add) {
      result<std::string_view> name = new_name(t, row, col::queue_name, &name_maps::queues);
      if (!name) return name.failure();
      std::vector<queue_info>& all = s_.queues.write();
      if (w_.free_queues->empty()) {
        slot = static_cast<std::uint32_t>(all.size());
        all.emplace_back();
        for (auto* sums : {&s_.live.queue_allocated, &s_.live.queue_nonpreemptible, &s_.live.queue_request}) {
          sums->write().emplace_back();
        }
      } else {
        slot = w_.free_queues->back();
        w_.free_queues.write().pop_back();
        const std::uint32_t generation = all[slot].generation;
        all[slot] = {};
        all[slot].generation = generation + 1;
      }
      all[slot].live = true;
      all[slot].name = *name;
      add_name(&name_maps::queues, *name, slot);
    } else {
      result<std::uint32_t> found = slot_of(t, row, col::queue_name, entity_kind::queue);
      if (!found) return found.failure();
      slot = *found;
    }
    rows.push_back(slot);
    if (t.op() == table_op::remove) {
      if (auto done = remove_queue(t, row, slot); !done) return done;
    } else if (auto done = read_queue(t, row, s_.queues.write()[slot]); !done) {
      return done;
    }
  }
  if (t.op() == table_op::remove || !t.has(col::queue_parent)) return {};
  for (std::uint64_t row = 0; row < t.rows(); ++row) {  // parents may come after their children
    if (auto done = link_queue(t, row, rows[row]); !done) return done;
  }
  return check_queue_tree();  // now: sums are kept along the path to the root
}

result<void> edit::read_queue(const table_reader& t, std::uint64_t row, queue_info& q) {
  if (t.has(col::queue_priority)) {
    auto v = bounded(t, row, col::queue_priority, -max_amount, max_amount);
    if (!v) return v.failure();
    q.priority = *v;
  }
  if (t.has(col::queue_created)) q.created = t.i64(col::queue_created, row);
  for (const auto& [column, target] :
       {std::pair{std::uint32_t{col::queue_quota}, &q.quota}, std::pair{std::uint32_t{col::queue_limit}, &q.limit}}) {
    if (!t.has(column)) continue;
    const auto values = t.row_values<std::int64_t>(column, row);
    for (std::size_t r = 0; r < values.size(); ++r) {
      if (values[r] < unlimited || values[r] > max_sum) {
        return t.fail(
            status::argument, row, column,
            "queue '" + q.name + "': " + std::to_string(values[r]) + " is neither an amount nor -1 (unlimited)");
      }
      (*target)[r] = values[r];
    }
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::queue_over_quota_weight}, &q.weight},
                                       std::pair{std::uint32_t{col::queue_usage}, &q.usage}}) {
    if (!t.has(column)) continue;
    const auto values = t.row_values<double>(column, row);
    for (std::size_t r = 0; r < values.size(); ++r) {
      // -1 is what KAI gives departments without a quota; it only matters beside siblings.
      const bool good = std::isfinite(values[r]) && values[r] <= 1e12 &&
                        (values[r] >= 0 || (values[r] == -1 && column == col::queue_over_quota_weight));
      if (!good)
        return t.fail(status::argument, row, column, "queue '" + q.name + "': must be finite and not negative");
      (*target)[r] = values[r] == 0 ? 0 : values[r];  // no -0: what is equal has equal digests
    }
  }
  if (t.has(col::queue_reclaim_min_runtime)) q.reclaim_min_runtime = t.i64(col::queue_reclaim_min_runtime, row);
  if (t.has(col::queue_preempt_min_runtime)) q.preempt_min_runtime = t.i64(col::queue_preempt_min_runtime, row);
  return {};
}

result<void> edit::link_queue(const table_reader& t, std::uint64_t row, queue_row q) {
  queue_row parent = no_row;
  const bool none =
      t.is_id(col::queue_parent) ? t.id(col::queue_parent, row) == 0 : t.text(col::queue_parent, row).empty();
  if (!none) {
    result<std::uint32_t> found = slot_of(t, row, col::queue_parent, entity_kind::queue);
    if (!found) return found.failure();
    parent = *found;
  }
  std::vector<queue_info>& all = s_.queues.write();
  if (all[q].parent == parent) return {};
  if (all[q].parent != no_row) --all[all[q].parent].children;
  all[q].parent = parent;
  if (parent != no_row) ++all[parent].children;
  queue_tree_changed_ = true;
  recount_ = recount_ || all[q].groups > 0 || all[q].children > 0;
  return {};
}

result<void> edit::remove_queue(const table_reader& t, std::uint64_t row, queue_row q) {
  std::vector<queue_info>& all = s_.queues.write();
  if (!all[q].live) return t.fail(status::not_found, row, col::queue_name, "is removed twice");
  all[q].live = false;
  recount_ = recount_ || all[q].groups > 0 || all[q].children > 0;  // what moves away later has lost its path
  if (all[q].parent != no_row) --all[all[q].parent].children;
  all[q].parent = no_row;
  discard(all[q].name);  // as it came; the copy is for going back
  drop_name(&name_maps::queues, s_.names->add(all[q].name), q);
  removed_queues_.push_back(q);
  return {};
}

result<void> edit::check_queues() const {
  const std::vector<queue_info>& all = *s_.queues;
  for (const queue_row q : removed_queues_) {
    if (all[q].children > 0 || all[q].groups > 0) {
      return error{status::state,
                   "queue '" + all[q].name + "' cannot be removed: it has " + std::to_string(all[q].children) +
                       " child queues and " + std::to_string(all[q].groups) + " pod groups",
                   entity_id(entity_kind::queue, all[q].generation, q)};
    }
    w_.free_queues.write().push_back(q);
  }
  return {};
}

result<void> edit::check_queue_tree() {
  if (!queue_tree_changed_) return {};
  queue_tree_changed_ = false;
  const std::vector<queue_info>& all = *s_.queues;
  for (queue_row q = 0; q < all.size(); ++q) {
    std::size_t steps = 0;
    for (queue_row up = q; up != no_row && steps <= all.size(); up = all[up].parent) ++steps;
    if (steps <= max_tree_depth && steps <= all.size()) continue;
    const bool cycle = steps > all.size();
    return error{cycle ? status::argument : status::limit,
                 "queue '" + all[q].name + "', column parent: the parents form " +
                     (cycle ? "a cycle" : "more than " + std::to_string(max_tree_depth) + " levels"),
                 entity_id(entity_kind::queue, all[q].generation, q)};
  }
  return {};
}

// ---- nodes -------------------------------------------------------------------------------------------------------

result<void> edit::nodes(const table_reader& t) {
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    std::uint32_t slot = no_row;
    if (t.op() == table_op::add) {
      result<std::uint32_t> fresh = new_node(t, row);
      if (!fresh) return fresh.failure();
      slot = *fresh;
    } else {
      result<std::uint32_t> found = slot_of(t, row, col::node_name, entity_kind::node);
      if (!found) return found.failure();
      slot = *found;
    }
    const node_row at = (*s_.node_row_of_slot)[slot];
    if (t.op() == table_op::remove) {
      discard((*s_.nodes)[at]->name);  // as it came; the copy is for going back
      drop_name(&name_maps::nodes, s_.names->add((*s_.nodes)[at]->name), slot);
      s_.nodes_with_alignment -= (*s_.nodes)[at]->aligns() ? 1U : 0U;
      s_.nodes.write()[at] = nullptr;
      s_.node_row_of_slot.write()[slot] = no_row;
      removed_nodes_.push_back(slot);
      nodes_unsettled_ = true;
      continue;
    }
    auto node = std::make_shared<node_info>(*(*s_.nodes)[at]);
    s_.nodes_with_alignment -= node->aligns() ? 1U : 0U;
    if (auto done = read_node(t, row, *node); !done) return done;
    s_.nodes_with_alignment += node->aligns() ? 1U : 0U;
    s_.nodes.write()[at] = std::move(node);
  }
  return {};
}

result<std::uint32_t> edit::new_node(const table_reader& t, std::uint64_t row) {
  result<std::string_view> name = new_name(t, row, col::node_name, &name_maps::nodes);
  if (!name) return name.failure();
  std::uint32_t slot = no_row;
  if (w_.free_nodes->empty()) {
    slot = static_cast<std::uint32_t>(s_.node_row_of_slot->size());
    s_.node_row_of_slot.write().push_back(no_row);
    s_.node_generation.write().push_back(0);
    w_.pods_on_node.write().push_back(0);
  } else {
    slot = w_.free_nodes->back();
    w_.free_nodes.write().pop_back();
    ++s_.node_generation.write()[slot];
  }
  s_.node_row_of_slot.write()[slot] = s_.node_count();
  auto node = std::make_shared<node_info>();
  node->name = *name;
  node->slot = slot;
  s_.nodes.write().push_back(std::move(node));
  add_name(&name_maps::nodes, *name, slot);
  nodes_unsettled_ = true;
  return slot;
}

void edit::node_changed(std::uint32_t slot) {
  nodes_unsettled_ = true;
  checked_nodes_.push_back(slot);
  recount_ = recount_ || (*w_.pods_on_node)[slot] > 0;
}

result<void> edit::read_node(const table_reader& t, std::uint64_t row, node_info& node) {
  if (t.has(col::node_capacity)) {
    const auto values = t.row_values<std::int64_t>(col::node_capacity, row);
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (values[d] < 0 || values[d] > max_amount) {
        return t.fail(values[d] < 0 ? status::argument : status::limit, row, col::node_capacity,
                      "node '" + node.name + "': " + (*s_.dimensions)[d].name + " " + std::to_string(values[d]) +
                          " is not in 0 .. 2^52");
      }
    }
    node.capacity.assign(values.begin(), values.end());
    node_changed(node.slot);
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::node_ready}, &node.ready},
                                       std::pair{std::uint32_t{col::node_unschedulable}, &node.unschedulable}}) {
    if (!t.has(column)) continue;
    if (!is_flag(t.u8(column, row))) return t.fail(status::argument, row, column, "must be 0 or 1");
    *target = t.u8(column, row) != 0;
    nodes_unsettled_ = true;
  }
  if (t.has(col::node_labels)) {
    result<label_list> labels = parse_labels(t.text(col::node_labels, row));
    if (!labels)
      return t.fail(status::argument, row, col::node_labels, "node '" + node.name + "': " + labels.failure().message);
    node.labels = std::move(*labels);
    node.labels_text = t.text(col::node_labels, row);
    nodes_unsettled_ = true;
  }
  if (t.has(col::node_taints)) {
    node.taints.clear();
    for (const std::string_view one : split_list(t.text(col::node_taints, row))) {
      result<taint> parsed = parse_taint(one);
      if (!parsed)
        return t.fail(status::argument, row, col::node_taints, "node '" + node.name + "': " + parsed.failure().message);
      node.taints.push_back(std::move(*parsed));
    }
    node.taints_text = t.text(col::node_taints, row);
    nodes_unsettled_ = true;
  }
  if (t.has(col::node_gpu_memory)) {
    auto v = bounded(t, row, col::node_gpu_memory, 0, max_amount);
    if (!v) return v.failure();
    node.gpu_memory = *v;
  }
  return read_alignment(t, row, node);
}

// ---- devices -----------------------------------------------------------------------------------------------------

result<void> edit::devices(const table_reader& t) {
  if (!t.has(col::device_node) || !t.has(col::device_index)) {
    return error{status::argument, "device tables need the columns node and index", {}};
  }
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    result<std::uint32_t> slot = slot_of(t, row, col::device_node, entity_kind::node);
    if (!slot) return slot.failure();
    const node_row at = (*s_.node_row_of_slot)[*slot];
    auto node = std::make_shared<node_info>(*(*s_.nodes)[at]);
    if (auto done = one_device(t, row, *node); !done) return done;
    s_.nodes.write()[at] = std::move(node);
    node_changed(*slot);
  }
  return {};
}

result<void> edit::one_device(const table_reader& t, std::uint64_t row, node_info& node) {
  const std::uint32_t index = t.u32(col::device_index, row);
  if (index >= max_devices_per_node) {
    return t.fail(status::limit, row, col::device_index,
                  "node '" + node.name + "': index " + std::to_string(index) + " is not in 0 .. 63");
  }
  const auto it =
      std::find_if(node.devices.begin(), node.devices.end(), [&](const device_info& d) { return d.index == index; });
  const bool exists = it != node.devices.end();
  if (exists == (t.op() == table_op::add)) {
    return t.fail(exists ? status::duplicate : status::not_found, row, col::device_index,
                  "node '" + node.name + "' has " + (exists ? "a" : "no") + " device " + std::to_string(index));
  }
  if (t.op() == table_op::remove) {
    node.devices.erase(it);
    return {};
  }
  device_info fresh;
  fresh.index = index;
  device_info& d = exists ? *it : fresh;
  if (t.has(col::device_uuid)) d.uuid = t.text(col::device_uuid, row);
  if (t.has(col::device_model)) d.model = t.text(col::device_model, row);
  if (t.has(col::device_memory)) {
    auto v = bounded(t, row, col::device_memory, 0, max_amount);
    if (!v) return v.failure();
    d.memory = *v;
  }
  if (t.has(col::device_share)) {
    auto v = bounded(t, row, col::device_share, 1, whole_device);
    if (!v) return v.failure();
    d.share = *v;
  }
  if (t.has(col::device_numa)) {
    auto v = bounded(t, row, col::device_numa, -1, 1023);
    if (!v) return v.failure();
    d.numa = *v;
  }
  if (t.has(col::device_healthy)) {
    if (!is_flag(t.u8(col::device_healthy, row)))
      return t.fail(status::argument, row, col::device_healthy, "must be 0 or 1");
    d.healthy = t.u8(col::device_healthy, row) != 0;
  }
  if (t.has(col::device_links)) {
    const auto links = t.list(col::device_links, row);
    d.links.assign(links.begin(), links.end());
  }
  if (!exists) node.devices.push_back(std::move(fresh));
  std::sort(node.devices.begin(), node.devices.end(),
            [](const device_info& a, const device_info& b) { return a.index < b.index; });
  return {};
}

result<void> edit::check_nodes() const {
  for (const std::uint32_t slot : removed_nodes_) {
    if ((*w_.pods_on_node)[slot] > 0) {
      return error{status::state,
                   "a node cannot be removed while " + std::to_string((*w_.pods_on_node)[slot]) +
                       " pods are on it: remove or move them in the same delta",
                   entity_id(entity_kind::node, (*s_.node_generation)[slot], slot)};
    }
    w_.free_nodes.write().push_back(slot);
  }
  if (!removed_nodes_.empty()) {
    const auto is_gone = [&](std::uint32_t slot) { return slot != no_row && (*s_.node_row_of_slot)[slot] == no_row; };
    for (pod_row p = 0; p < s_.pod_slots; ++p) {  // promises of nodes that are gone, and where pods have ended
      if (is_gone(s_.pod_extras[p].nominated)) s_.pod_extras.write(p).nominated = no_row;
      if (is_gone(s_.live.pod_node[p])) s_.live.pod_node.write(p) = no_row;
    }
  }
  for (dimension d = 0; !checked_nodes_.empty() && d < s_.dims(); ++d) {
    std::int64_t sum = 0;
    for (std::size_t i = d; i < s_.capacity->size(); i += s_.dims()) {
      sum += (*s_.capacity)[i];
      if (sum > max_sum) {
        return error{status::limit, "the sum of the capacities of " + (*s_.dimensions)[d].name + " exceeds 2^62", {}};
      }
    }
  }
  for (const std::uint32_t slot : checked_nodes_) {
    const node_row at = (*s_.node_row_of_slot)[slot];
    if (at == no_row) continue;
    const node_info& node = *(*s_.nodes)[at];
    if (node.devices.empty()) continue;
    std::int64_t offered = 0;
    for (std::size_t i = 0; i < node.devices.size(); ++i) {
      if (node.devices[i].index != i) {
        return error{
            status::argument, "node '" + node.name + "': device indices must be 0, 1, 2, ... without gaps", {}};
      }
      if (node.devices[i].healthy) offered += node.devices[i].share;
    }
    if (offered != gpu_of(node)) {
      return error{status::argument,
                   "node '" + node.name + "', column capacity: gpu is " + std::to_string(gpu_of(node)) +
                       " milli-GPU, but its healthy devices offer " + std::to_string(offered),
                   entity_id(entity_kind::node, (*s_.node_generation)[slot], slot)};
    }
  }
  return {};
}

// ---- numbering ---------------------------------------------------------------------------------------------------

/// Depth-first along the primary topology: by the domain at each level, then by name. Nodes outside come last.
void edit::number_nodes(std::vector<std::shared_ptr<const node_info>>& all) const {
  const topology_info* primary = nullptr;
  for (const topology_info& x : *s_.topologies) {
    if (x.primary) primary = &x;
  }
  std::stable_sort(all.begin(), all.end(), [&](const auto& a, const auto& b) {
    for (std::size_t level = 0; primary != nullptr && level < primary->levels.size(); ++level) {
      const std::string* x = find_label(a->labels, primary->levels[level]);
      const std::string* y = find_label(b->labels, primary->levels[level]);
      if ((x == nullptr) != (y == nullptr)) return y == nullptr;
      if (x != nullptr && *x != *y) return *x < *y;
    }
    return a->name < b->name;
  });
}

void edit::settle_nodes() {
  if (!nodes_unsettled_) return;
  nodes_unsettled_ = false;
  // Rows of the present amounts: nodes added since the last settling have none.
  const auto settled = static_cast<std::uint32_t>(s_.name_rank->size());
  std::vector<std::shared_ptr<const node_info>> fresh;
  std::vector<std::uint32_t> old_row_of_slot(s_.node_row_of_slot->size(), no_row);
  for (std::uint32_t row = 0; row < s_.node_count(); ++row) {
    const auto& node = (*s_.nodes)[row];
    if (node == nullptr) continue;
    if (row < settled) old_row_of_slot[node->slot] = row;
    fresh.push_back(node);
  }
  number_nodes(fresh);
  std::vector<std::uint32_t> old_rows;
  std::vector<std::uint32_t>& row_of_slot = s_.node_row_of_slot.write();
  for (std::uint32_t row = 0; row < fresh.size(); ++row) {
    old_rows.push_back(old_row_of_slot[fresh[row]->slot]);
    row_of_slot[fresh[row]->slot] = row;
  }
  std::vector<std::uint32_t> by_name(fresh.size());
  std::iota(by_name.begin(), by_name.end(), 0U);
  std::sort(by_name.begin(), by_name.end(),
            [&](std::uint32_t a, std::uint32_t b) { return fresh[a]->name < fresh[b]->name; });
  std::vector<std::uint32_t> rank(fresh.size());
  for (std::uint32_t i = 0; i < by_name.size(); ++i) rank[by_name[i]] = i;
  s_.name_rank = base::cow(std::move(rank));
  move_node_amounts(fresh, old_rows);
  s_.nodes = base::cow(std::move(fresh));
  s_.nodes_with_taints = 0;
  s_.nodes_not_open = 0;
  for (const auto& node : *s_.nodes) {
    s_.nodes_with_taints += node->taints.empty() ? 0U : 1U;
    s_.nodes_not_open += node->open() ? 0U : 1U;
  }
  rebuild_indexes(s_, s_.live);
  drop_lost_devices();
}

/// Pods on a node that has fewer devices than before hold unknown ones from now on.
void edit::drop_lost_devices() {
  const bool in_use = std::any_of(checked_nodes_.begin(), checked_nodes_.end(),
                                  [&](std::uint32_t slot) { return (*w_.pods_on_node)[slot] > 0; });
  if (!in_use) return;
  for (pod_row p = 0; p < s_.pod_slots; ++p) {
    const std::uint32_t slot = s_.live.pod_node[p];
    const node_row row = slot == no_row ? no_row : (*s_.node_row_of_slot)[slot];
    if (row == no_row || s_.live.pod_devices[p].mask == 0) continue;
    const device_row count = (*s_.first_device)[row + 1] - (*s_.first_device)[row];
    if (count < max_devices_per_node && s_.live.pod_devices[p].mask >> count != 0) s_.live.pod_devices.write(p) = {};
  }
}

void edit::move_node_amounts(const std::vector<std::shared_ptr<const node_info>>& fresh,
                             const std::vector<std::uint32_t>& old_rows) {
  const std::uint32_t dims = s_.dims();
  std::vector<std::int64_t> capacity(fresh.size() * dims, 0);
  std::vector<std::int64_t> idle(capacity.size());
  std::vector<std::int64_t> releasing(capacity.size(), 0);
  std::vector<device_row> first{0};
  std::vector<std::int32_t> device_free;
  std::vector<std::int32_t> device_releasing;
  for (std::uint32_t row = 0; row < fresh.size(); ++row) {
    const node_info& node = *fresh[row];
    const std::size_t at = static_cast<std::size_t>(row) * dims;
    std::copy(node.capacity.begin(), node.capacity.end(), capacity.begin() + static_cast<std::ptrdiff_t>(at));
    const std::uint32_t old = old_rows[row];
    for (std::uint32_t d = 0; d < dims; ++d) {
      // Amounts in use move along; where the capacity of a node in use has changed everything is counted again.
      const std::size_t from = static_cast<std::size_t>(old) * dims + d;
      idle[at + d] =
          old == no_row ? capacity[at + d] : capacity[at + d] - ((*s_.capacity)[from] - (*s_.live.idle)[from]);
      if (old != no_row) releasing[at + d] = (*s_.live.releasing)[from];
    }
    const std::uint32_t count = node.device_count();
    const device_row old_first = old == no_row ? 0 : (*s_.first_device)[old];
    const bool same = old != no_row && (*s_.first_device)[old + 1] - old_first == count;
    for (std::uint32_t d = 0; d < count; ++d) {
      const std::int64_t share = node.devices.empty()      ? whole_device
                                 : node.devices[d].healthy ? node.devices[d].share
                                                           : 0;
      const bool in_use = same && (*w_.pods_on_node)[node.slot] > 0;
      device_free.push_back(in_use ? (*s_.live.device_free)[old_first + d] : static_cast<std::int32_t>(share));
      device_releasing.push_back(in_use ? (*s_.live.device_releasing)[old_first + d] : 0);
    }
    first.push_back(first.back() + count);
  }
  s_.capacity = base::cow(std::move(capacity));
  s_.live.idle = base::cow(std::move(idle));
  s_.live.releasing = base::cow(std::move(releasing));
  s_.first_device = base::cow(std::move(first));
  s_.live.device_free = base::cow(std::move(device_free));
  s_.live.device_releasing = base::cow(std::move(device_releasing));
}

}  // namespace kaisched::model
