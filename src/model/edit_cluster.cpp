// Deltas of resources, nodes and devices.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/int128.hpp"
#include "base/text.hpp"
#include "model/account.hpp"
#include "model/edit.hpp"

namespace kaisched::model {

namespace {

std::int64_t gpu_of(const node_info& node) { return dim_gpu < node.capacity.size() ? node.capacity[dim_gpu] : 0; }

}  // namespace

// ---- resources -------------------------------------------------------------------------------------------------

result<void> edit::resources(const table_reader& t) {
  if (t.op() != table_op::add) {
    return error{
        status::unsupported, "resource dimensions can only be added: their indices are columns of matrices", {}};
  }
  settle_nodes();
  for (std::uint64_t row = 0; row < t.rows(); ++row) {
    // Always an error of the call: the rows number the columns of all other tables.
    if (const error* defect = t.text_defect(row)) return *defect;
    if (auto good = check_name(t, row, col::resource_name); !good) return good;
    const std::string_view name = t.text(col::resource_name, row);
    for (const dimension_info& d : *s_.dimensions) {
      if (d.name == name) {
        return t.fail(status::duplicate, row, col::resource_name, "'" + base::shown(name) + "' exists already");
      }
    }
    if (s_.dims() >= max_dimensions) {
      return t.fail(status::limit, row, col::resource_name,
                    "more than " + std::to_string(max_dimensions) + " resource dimensions");
    }
    const std::string unit(t.has(col::resource_unit) ? t.text(col::resource_unit, row) : std::string_view("count"));
    s_.dimensions.write().push_back({std::string(name), unit, mig_profile_of(name)});
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

// ---- nodes -------------------------------------------------------------------------------------------------------

result<void> edit::nodes(const table_reader& t) {
  return each_row(t, [&](std::uint64_t row) { return one_node(t, row); });
}

result<void> edit::one_node(const table_reader& t, std::uint64_t row) {
  std::uint32_t slot = no_row;
  std::shared_ptr<node_info> node;
  if (t.op() == table_op::add) {
    if (auto good = check_new_name(t, row, col::node_name, names_.nodes); !good) return good;
    node = std::make_shared<node_info>();
    node->name = t.text(col::node_name, row);
  } else {
    result<std::uint32_t> found = slot_of(t, row, col::node_name, entity_kind::node);
    if (!found) return found.failure();
    slot = *found;
    if (t.op() == table_op::remove) {
      remove_node(t, row, slot);
      return {};
    }
    node = std::make_shared<node_info>(*(*s_.nodes)[(*s_.node_row_of_slot)[slot]]);
  }
  if (auto done = read_node(t, row, *node); !done) return done;
  const bool added = slot == no_row;
  if (added) slot = new_node(node->name);
  node->slot = slot;
  s_.nodes.write()[(*s_.node_row_of_slot)[slot]] = std::move(node);
  if (t.has(col::node_capacity)) node_changed(slot, {t.number(), row}, added);
  if (t.has(col::node_position) || t.has(col::node_labels)) moved_nodes_.emplace_back(slot, row_place{t.number(), row});
  if (t.has(col::node_ready) || t.has(col::node_unschedulable) || t.has(col::node_taints)) nodes_reopened_ = true;
  if (t.has(col::node_labels)) nodes_unsettled_ = true;
  if (t.has(col::node_labels) && !added) order_unsettled_ = true;
  return {};
}

void edit::remove_node(const table_reader& t, std::uint64_t row, std::uint32_t slot) {
  const node_row at = (*s_.node_row_of_slot)[slot];
  const node_info& node = *(*s_.nodes)[at];
  discard(node.name);  // as it came; the copy is for going back
  drop_name(&name_maps::nodes, s_.names->add(node.name), slot);
  removed_nodes_.push_back({node.name, slot, {t.number(), row}});
  s_.nodes.write()[at] = nullptr;
  s_.node_row_of_slot.write()[slot] = no_row;
  nodes_unsettled_ = true;
}

/// A node without properties.
std::uint32_t edit::new_node(std::string_view name) {
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
  s_.nodes.write().emplace_back();
  add_name(&name_maps::nodes, s_.names->add(name), slot);
  nodes_unsettled_ = true;
  return slot;
}

void edit::node_changed(std::uint32_t slot, row_place place, bool added) {
  nodes_unsettled_ = true;
  checked_nodes_.push_back({slot, place, added});
  recount_ = recount_ || (*w_.pods_on_node)[slot] > 0;
}

result<void> edit::read_node(const table_reader& t, std::uint64_t row, node_info& node) const {
  if (t.has(col::node_capacity)) {
    const auto values = t.row_values<std::int64_t>(col::node_capacity, row);
    for (std::size_t d = 0; d < values.size(); ++d) {
      if (values[d] < 0 || values[d] > max_amount) {
        return t.fail(values[d] < 0 ? status::argument : status::limit, row, col::node_capacity,
                      "node '" + base::shown(node.name) + "': " + (*s_.dimensions)[d].name + " " +
                          std::to_string(values[d]) + " is not in 0 .. 2^52");
      }
    }
    node.capacity.assign(values.begin(), values.end());
  }
  for (const auto& [column, target] : {std::pair{std::uint32_t{col::node_ready}, &node.ready},
                                       std::pair{std::uint32_t{col::node_unschedulable}, &node.unschedulable}}) {
    if (!t.has(column)) continue;
    auto v = flag(t, row, column);
    if (!v) return v.failure();
    *target = *v;
  }
  if (t.has(col::node_labels)) {
    result<label_list> labels = parse_labels(t.text(col::node_labels, row));
    if (!labels)
      return t.fail(status::argument, row, col::node_labels,
                    "node '" + base::shown(node.name) + "': " + labels.failure().message);
    node.labels = std::move(*labels);
    node.labels_text = t.text(col::node_labels, row);
  }
  if (t.has(col::node_taints)) {
    node.taints.clear();
    for (const std::string_view one : split_list(t.text(col::node_taints, row))) {
      result<taint> parsed = parse_taint(one);
      if (!parsed)
        return t.fail(status::argument, row, col::node_taints,
                      "node '" + base::shown(node.name) + "': " + parsed.failure().message);
      node.taints.push_back(std::move(*parsed));
    }
    node.taints_text = t.text(col::node_taints, row);
  }
  if (t.has(col::node_gpu_memory)) {
    auto v = bounded(t, row, col::node_gpu_memory, 0, max_amount);
    if (!v) return v.failure();
    node.gpu_memory = *v;
  }
  if (auto done = read_claimable(t, row, node); !done) return done;
  if (auto done = read_vendor_devices(t, row, node); !done) return done;
  if (auto done = read_node_figures(t, row, node); !done) return done;
  if (auto done = read_positions(t, row, node); !done) return done;
  return read_alignment(t, row, node);
}

// ---- devices -----------------------------------------------------------------------------------------------------

result<void> edit::devices(const table_reader& t) {
  if (!t.has(col::device_node) || !t.has(col::device_index)) {
    return error{status::argument, "device tables need the columns node and index", {}};
  }
  const auto one = [&](std::uint64_t row) -> result<void> {
    result<std::uint32_t> slot = slot_of(t, row, col::device_node, entity_kind::node);
    if (!slot) return slot.failure();
    const node_row at = (*s_.node_row_of_slot)[*slot];
    auto node = std::make_shared<node_info>(*(*s_.nodes)[at]);
    if (auto done = one_device(t, row, *node); !done) return done;
    s_.nodes.write()[at] = std::move(node);
    node_changed(*slot, {t.number(), row}, false);
    return {};
  };
  return each_row(t, one, [&](std::uint64_t row) {
    if (t.op() != table_op::add) return;
    quarantine_key key = key_of(t, row);
    const std::uint32_t slot = names_.nodes.find(key.owner);
    if (slot != base::name_map::none) refused_devices_.emplace(slot, std::move(key));
  });
}

result<void> edit::one_device(const table_reader& t, std::uint64_t row, node_info& node) const {
  const std::uint32_t index = t.u32(col::device_index, row);
  if (index >= max_devices_per_node) {
    return t.fail(status::limit, row, col::device_index,
                  "node '" + base::shown(node.name) + "': index " + std::to_string(index) + " is not in 0 .. 63");
  }
  const auto it =
      std::find_if(node.devices.begin(), node.devices.end(), [&](const device_info& d) { return d.index == index; });
  const bool exists = it != node.devices.end();
  if (exists == (t.op() == table_op::add)) {
    return t.fail(
        exists ? status::duplicate : status::not_found, row, col::device_index,
        "node '" + base::shown(node.name) + "' has " + (exists ? "a" : "no") + " device " + std::to_string(index));
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
    auto v = flag(t, row, col::device_healthy);
    if (!v) return v.failure();
    d.healthy = *v;
  }
  if (t.has(col::device_links)) {
    const auto links = t.list(col::device_links, row);
    d.links.assign(links.begin(), links.end());
  }
  if (t.has(col::device_sharing)) {
    constexpr std::array all{sharing_mode::unknown, sharing_mode::exclusive,      sharing_mode::time_slicing,
                             sharing_mode::mps,     sharing_mode::hard_isolation, sharing_mode::mig};
    auto v = one_of(t, row, col::device_sharing, all, sharing_name);
    if (!v) return v.failure();
    d.sharing = *v;
    if (d.sharing != sharing_mode::mig && !t.has(col::device_instances)) d.instances.clear();
  }
  if (auto done = read_instances(t, row, node, d); !done) return done;
  if (auto done = read_device_figures(t, row, node.name, d); !done) return done;
  if (!exists) node.devices.push_back(std::move(fresh));
  std::sort(node.devices.begin(), node.devices.end(),
            [](const device_info& a, const device_info& b) { return a.index < b.index; });
  return {};
}

result<void> edit::read_instances(const table_reader& t, std::uint64_t row, const node_info& node,
                                  device_info& d) const {
  if (!t.has(col::device_instances)) return {};
  const auto fail = [&](std::string_view what) {
    return t.fail(
        status::argument, row, col::device_instances,
        "node '" + base::shown(node.name) + "', device " + std::to_string(d.index) + ": " + std::string(what));
  };
  d.instances.clear();
  for (const std::string_view one : split_list(t.text(col::device_instances, row))) {
    std::optional<mig_instance> parsed = parse_mig_instance(one);
    if (!parsed) return fail("'" + base::shown(one) + "' is no instance: profile@start, such as 3g.40gb@4");
    const bool twice = std::any_of(d.instances.begin(), d.instances.end(),
                                   [&](const mig_instance& known) { return known.start == parsed->start; });
    if (twice) return fail("two instances start at slice " + std::to_string(parsed->start));
    d.instances.push_back(std::move(*parsed));
  }
  std::sort(d.instances.begin(), d.instances.end(),
            [](const mig_instance& a, const mig_instance& b) { return a.start < b.start; });
  if (!d.instances.empty() && d.sharing != sharing_mode::mig) return fail("has instances, but its sharing is not mig");
  return {};
}

// ---- nodes as a whole --------------------------------------------------------------------------------------------

result<void> edit::check_removed_nodes() {
  for (const removed_node& gone : removed_nodes_) {
    const std::uint32_t pods = (*w_.pods_on_node)[gone.slot];
    if (pods == 0) {
      w_.free_nodes.write().push_back(gone.slot);
      continue;
    }
    const std::string what = "node '" + base::shown(gone.name) + "' cannot be removed while " + std::to_string(pods) +
                             " pods are on it: remove or move them in the same delta";
    const entity_id id(entity_kind::node, (*s_.node_generation)[gone.slot], gone.slot);
    error why = fail_at(gone.place, status::state, table_kind::node, no_row, what, id);
    if (auto done = blame(gone.place, std::move(why)); !done) return done;
  }
  if (removed_nodes_.empty()) return {};
  const auto is_gone = [&](std::uint32_t slot) { return slot != no_row && (*s_.node_row_of_slot)[slot] == no_row; };
  for (pod_row p = 0; p < s_.pod_slots; ++p) {  // promises of nodes that are gone, and where pods have ended
    if (is_gone(s_.pod_extras[p].nominated)) {
      const bool was_nominated = s_.pods[p].live && s_.is_nominated(p);
      s_.pod_extras.write(p).nominated = no_row;
      if (was_nominated && !s_.is_nominated(p)) --s_.nominated_pods;
    }
    if (is_gone(s_.live.pod_node[p])) s_.live.pod_node.write(p) = no_row;
  }
  return {};
}

/// Rows in their order: those with which the sum of a dimension passes the bound are too much.
result<void> edit::check_capacities() {
  const std::uint32_t dims = s_.dims();
  std::vector<touched_slot> given;  // the last row that gave each capacity
  std::vector<bool> seen(s_.node_row_of_slot->size(), false);
  for (auto it = checked_nodes_.rbegin(); it != checked_nodes_.rend(); ++it) {
    if (tables_[it->place.table].info().kind != table_kind::node || seen[it->slot]) continue;
    seen[it->slot] = true;
    if ((*s_.node_row_of_slot)[it->slot] != no_row) given.push_back(*it);
  }
  if (given.empty()) return {};
  std::vector<base::int128> sums(dims, 0);
  for (std::size_t i = 0; i < s_.capacity->size(); ++i) sums[i % dims] += (*s_.capacity)[i];
  if (std::all_of(sums.begin(), sums.end(), [](const base::int128& sum) { return sum <= max_sum; })) return {};
  const auto amounts = [&](const touched_slot& x) {
    return std::span(*s_.capacity).subspan(std::size_t{(*s_.node_row_of_slot)[x.slot]} * dims, dims);
  };
  for (const touched_slot& one : given) {
    for (dimension d = 0; d < dims; ++d) sums[d] -= amounts(one)[d];
  }
  for (auto one = given.rbegin(); one != given.rend(); ++one) {
    const std::span<const std::int64_t> amount = amounts(*one);
    dimension over = 0;
    while (over < dims && sums[over] + amount[over] <= max_sum) ++over;
    if (over == dims) {
      for (dimension d = 0; d < dims; ++d) sums[d] += amount[d];
      continue;
    }
    const std::string& name = (*s_.nodes)[(*s_.node_row_of_slot)[one->slot]]->name;
    const std::string what =
        "node '" + base::shown(name) + "': the sum of all " + (*s_.dimensions)[over].name + " exceeds 2^62";
    const entity_id id(entity_kind::node, (*s_.node_generation)[one->slot], one->slot);
    error why = fail_at(one->place, status::limit, table_kind::node, col::node_capacity, what, id);
    if (auto done = blame(one->place, std::move(why)); !done) return done;
  }
  return {};
}

result<void> edit::check_devices() {
  std::stable_sort(checked_nodes_.begin(), checked_nodes_.end(),
                   [](const touched_slot& a, const touched_slot& b) { return a.slot < b.slot; });
  std::uint32_t last = no_row;
  for (const touched_slot& one : checked_nodes_) {
    if (one.slot == last || (*s_.node_row_of_slot)[one.slot] == no_row) continue;
    last = one.slot;
    if (auto done = check_devices_of(one.slot); !done) return done;
  }
  return {};
}

result<void> edit::check_devices_of(std::uint32_t slot) {
  const node_info& node = *(*s_.nodes)[(*s_.node_row_of_slot)[slot]];
  if (node.is_shared_by_vendors() && !node.devices.empty()) {
    return blame_devices(slot, no_row, "it has vendor_devices as well as rows of the table device");
  }
  const std::string* lost = lost_device(slot);
  if (node.devices.empty() && lost == nullptr) return {};  // nothing is said of its devices
  std::int64_t offered = 0;
  bool gap = false;
  for (std::size_t i = 0; i < node.devices.size(); ++i) {
    gap = gap || node.devices[i].index != i;
    if (node.devices[i].is_offered()) offered += node.devices[i].share;
  }
  if (gap) return blame_devices(slot, col::device_index, "device indices must be 0, 1, 2, ... without gaps");
  if (offered != gpu_of(node)) {
    return blame_devices(slot, no_row,
                         "gpu is " + std::to_string(gpu_of(node)) + " milli-GPU, but its healthy devices offer " +
                             std::to_string(offered));
  }
  const std::span<const touched_slot> rows = touched(slot);
  const bool added = std::any_of(rows.begin(), rows.end(), [](const touched_slot& x) { return x.added; });
  if (lost == nullptr || !added) return {};
  return blame_devices(slot, no_row, "its device " + *lost + " is in quarantine");
}

/// Index of a device that a row of this delta should have added, if there is none.
const std::string* edit::lost_device(std::uint32_t slot) const {
  const auto [first, last] = refused_devices_.equal_range(slot);
  const auto lost = std::find_if(first, last, [&](const auto& one) { return !exists(one.second); });
  return lost == last ? nullptr : &lost->second.name;
}

/// Rows about one node, in their order; `checked_nodes_` is sorted.
std::span<const touched_slot> edit::touched(std::uint32_t slot) const {
  const auto [first, last] =
      std::equal_range(checked_nodes_.begin(), checked_nodes_.end(), touched_slot{slot},
                       [](const touched_slot& a, const touched_slot& b) { return a.slot < b.slot; });
  return {first, last};
}

/// A new node comes with all its devices or not at all; a node that exists stays as it was.
result<void> edit::blame_devices(std::uint32_t slot, std::uint32_t device_column, std::string_view what) {
  const std::span<const touched_slot> rows = touched(slot);
  const std::string& name = (*s_.nodes)[(*s_.node_row_of_slot)[slot]]->name;
  const entity_id id(entity_kind::node, (*s_.node_generation)[slot], slot);
  const auto device = s_.quarantine->lower_bound({table_kind::device, name, {}});
  const bool known =
      device != s_.quarantine->end() && device->first.kind == table_kind::device && device->first.owner == name;
  const std::string because_of = known ? text_of(device->first) : std::string{};
  const bool added = std::any_of(rows.begin(), rows.end(), [](const touched_slot& x) { return x.added; });
  const std::string whole = "node '" + base::shown(name) + "': " + std::string(what);
  for (const touched_slot& one : rows) {
    if (added && !one.added) continue;
    const bool of_node = tables_[one.place.table].info().kind == table_kind::node;
    error why = fail_at(one.place, status::argument, of_node ? table_kind::node : table_kind::device,
                        of_node ? std::uint32_t{col::node_capacity} : device_column, whole, id);
    if (auto done = blame(one.place, std::move(why), because_of); !done) return done;
  }
  return {};
}

// ---- numbering ---------------------------------------------------------------------------------------------------

namespace {

/// The first `sorted` ones are in order already. Few others are put in by search: comparing looks labels up.
template <class Less>
void sort_the_rest(std::vector<std::uint32_t>& order, std::size_t sorted, Less less) {
  const auto middle = order.begin() + static_cast<std::ptrdiff_t>(sorted);
  std::sort(middle, order.end(), less);
  std::vector<std::uint32_t> merged;
  merged.reserve(order.size());
  auto from = order.begin();
  for (auto next = middle; next != order.end(); ++next) {
    const auto place = std::upper_bound(from, middle, *next, less);
    merged.insert(merged.end(), from, place);
    merged.push_back(*next);
    from = place;
  }
  merged.insert(merged.end(), from, middle);
  order = std::move(merged);
}

}  // namespace

/// Depth-first along the primary topology: by the domain at each level, then by name. Nodes outside come last. The
/// first `sorted` ones are in this order already.
void edit::number_nodes(std::vector<std::shared_ptr<const node_info>>& all, std::size_t sorted) const {
  const topology_info* primary = nullptr;
  for (const topology_info& x : *s_.topologies) {
    if (x.primary) primary = &x;
  }
  const std::size_t levels = primary == nullptr ? 0 : primary->levels.size();
  const std::string not_looked_up;
  std::vector<const std::string*> domains(all.size() * levels, &not_looked_up);
  const auto domain = [&](std::uint32_t i, std::size_t level) {
    const std::string*& found = domains[i * levels + level];
    if (found == &not_looked_up) found = find_label(all[i]->labels, primary->levels[level]);
    return found;
  };
  std::vector<std::uint32_t> order(all.size());
  std::iota(order.begin(), order.end(), 0U);
  sort_the_rest(order, sorted, [&](std::uint32_t a, std::uint32_t b) {
    for (std::size_t level = 0; level < levels; ++level) {
      const std::string* x = domain(a, level);
      const std::string* y = domain(b, level);
      if ((x == nullptr) != (y == nullptr)) return y == nullptr;
      if (x == nullptr) continue;
      if (const int sign = x->compare(*y); sign != 0) return sign < 0;
    }
    return all[a]->name < all[b]->name;
  });
  std::vector<std::shared_ptr<const node_info>> ordered;
  ordered.reserve(all.size());
  for (const std::uint32_t i : order) ordered.push_back(std::move(all[i]));
  all = std::move(ordered);
}

/// Which pods may use its devices depends on their kind.
bool edit::has_mig(const node_info& node) const {
  if (!node.claimable.empty()) return true;
  if (find_label(node.labels, mig_label) != nullptr || find_label(node.labels, mig_strategy_label) != nullptr)
    return true;
  for (std::uint32_t d = built_in_dimensions; d < node.capacity.size(); ++d) {
    if (node.capacity[d] > 0 && is_mig_resource((*s_.dimensions)[d].name)) return true;
  }
  return false;
}

void edit::settle_nodes() {
  if (nodes_reopened_ && !nodes_unsettled_) count_open_nodes();
  nodes_reopened_ = false;
  if (!nodes_unsettled_) return;
  nodes_unsettled_ = false;
  // Rows of the present amounts: nodes added since the last settling have none.
  const auto settled = static_cast<std::uint32_t>(s_.name_rank->size());
  std::vector<std::shared_ptr<const node_info>> fresh;
  std::size_t known = 0;
  std::vector<std::uint32_t> old_row_of_slot(s_.node_row_of_slot->size(), no_row);
  for (std::uint32_t row = 0; row < s_.node_count(); ++row) {
    const auto& node = (*s_.nodes)[row];
    if (node == nullptr) continue;
    if (row < settled) old_row_of_slot[node->slot] = row;
    fresh.push_back(node);
    if (row < settled) ++known;
  }
  number_nodes(fresh, order_unsettled_ ? 0 : known);
  order_unsettled_ = false;
  std::vector<std::uint32_t> old_rows;
  std::vector<std::uint32_t>& row_of_slot = s_.node_row_of_slot.write();
  for (std::uint32_t row = 0; row < fresh.size(); ++row) {
    old_rows.push_back(old_row_of_slot[fresh[row]->slot]);
    row_of_slot[fresh[row]->slot] = row;
  }
  std::vector<std::uint32_t> row_of_rank(settled, no_row);
  std::vector<std::uint32_t> by_name;  // names do not change
  by_name.reserve(fresh.size());
  for (std::uint32_t row = 0; row < fresh.size(); ++row) {
    if (old_rows[row] != no_row) row_of_rank[(*s_.name_rank)[old_rows[row]]] = row;
  }
  std::copy_if(row_of_rank.begin(), row_of_rank.end(), std::back_inserter(by_name),
               [](std::uint32_t row) { return row != no_row; });
  for (std::uint32_t row = 0; row < fresh.size(); ++row) {
    if (old_rows[row] == no_row) by_name.push_back(row);
  }
  sort_the_rest(by_name, known, [&](std::uint32_t a, std::uint32_t b) { return fresh[a]->name < fresh[b]->name; });
  std::vector<std::uint32_t> rank(fresh.size());
  for (std::uint32_t i = 0; i < by_name.size(); ++i) rank[by_name[i]] = i;
  s_.name_rank = base::cow(std::move(rank));
  s_.rows_by_name = base::cow(std::move(by_name));
  move_node_amounts(fresh, old_rows);
  s_.nodes = base::cow(std::move(fresh));
  count_open_nodes();
  s_.nodes_with_mig = 0;
  s_.nodes_with_sharing_modes = 0;
  s_.nodes_with_vendor_devices = 0;
  for (const auto& node : *s_.nodes) {
    s_.nodes_with_mig += has_mig(*node) ? 1U : 0U;
    s_.nodes_with_sharing_modes += node->has_sharing_modes() ? 1U : 0U;
    s_.nodes_with_vendor_devices += node->is_shared_by_vendors() ? 1U : 0U;
  }
  std::vector<node_row> new_rows(settled, no_row);
  for (node_row row = 0; row < old_rows.size(); ++row) {
    if (old_rows[row] != no_row) new_rows[old_rows[row]] = row;
  }
  rebuild_indexes(s_, s_.live, new_rows);
  drop_lost_devices();
}

void edit::count_open_nodes() {
  s_.nodes_with_taints = 0;
  s_.nodes_not_open = 0;
  s_.nodes_without_cpu = 0;
  s_.open_capacity = {};
  for (node_row row = 0; row < s_.node_count(); ++row) {
    const node_info& node = *(*s_.nodes)[row];
    const std::int64_t* const capacity = s_.capacity->data() + static_cast<std::size_t>(row) * s_.dims();
    s_.nodes_with_taints += node.taints.empty() ? 0U : 1U;
    s_.nodes_not_open += node.open() ? 0U : 1U;
    s_.nodes_without_cpu += capacity[dim_cpu] == 0 ? 1U : 0U;
    for (std::uint32_t r = 0; r < quota_dimensions && node.open(); ++r) {
      // Whether it all fits is checked afterwards.
      const auto sum = static_cast<std::uint64_t>(s_.open_capacity[r]) + static_cast<std::uint64_t>(capacity[r]);
      s_.open_capacity[r] = static_cast<std::int64_t>(sum);
    }
  }
}

/// Pods on a node that has fewer devices than before hold unknown ones from now on.
void edit::drop_lost_devices() {
  const bool in_use = std::any_of(checked_nodes_.begin(), checked_nodes_.end(),
                                  [&](const touched_slot& x) { return (*w_.pods_on_node)[x.slot] > 0; });
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
  std::vector<std::int64_t> device_units;
  std::vector<std::int64_t> device_free;
  std::vector<std::int64_t> device_releasing;
  std::vector<std::int64_t> device_claims;
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
      const bool in_use = same && (*w_.pods_on_node)[node.slot] > 0;
      device_units.push_back(node.device_units(d));
      device_free.push_back(in_use ? (*s_.live.device_free)[old_first + d] : node.device_offer(d));
      device_releasing.push_back(in_use ? (*s_.live.device_releasing)[old_first + d] : 0);
    }
    first.push_back(first.back() + count);
    device_claims.push_back(old == no_row ? 0 : (*s_.live.device_claims)[old]);
  }
  s_.capacity = base::cow(std::move(capacity));
  s_.live.idle = base::cow(std::move(idle));
  s_.live.releasing = base::cow(std::move(releasing));
  s_.first_device = base::cow(std::move(first));
  s_.device_units = base::cow(std::move(device_units));
  s_.live.device_free = base::cow(std::move(device_free));
  s_.live.device_releasing = base::cow(std::move(device_releasing));
  s_.live.device_claims = base::cow(std::move(device_claims));
}

}  // namespace kaisched::model
