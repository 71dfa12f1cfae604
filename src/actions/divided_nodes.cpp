#include "actions/divided_nodes.hpp"

#include <algorithm>
#include <iterator>
#include <optional>

#include "policy/devices/allocation/catalog.hpp"

namespace kaisched::actions {

namespace {

using framework::session_state;

constexpr std::string_view product_label = "nvidia.com/gpu.product";
constexpr std::size_t no_model = static_cast<std::size_t>(-1);

/// Dimensions of instances that a pod asks for, one entry for each instance.
std::vector<dimension> instances_asked(const session_state& c, pod_row pod) {
  std::vector<dimension> asked;
  const model::pod_class& ask = c.state().class_of(pod);
  for (std::uint32_t d = built_in_dimensions; d < c.state().dims(); ++d) {
    if (ask.requests(d) > 0 && model::is_mig_resource((*c.state().dimensions)[d].name)) {
      for (std::int64_t i = 0; i < std::min<std::int64_t>(ask.requests(d), 1024); ++i) asked.push_back(d);
    }
  }
  return asked;
}

std::vector<model::placed_instance> instances_of(const session_state& c, pod_row pod) {
  std::vector<model::placed_instance> found;
  for (const std::string_view one : split_list(c.state().told_of(pod).mig_instances)) {
    if (std::optional<model::placed_instance> parsed = model::parse_placed_instance(one))
      found.push_back(std::move(*parsed));
  }
  return found;
}

}  // namespace

divided_nodes& divided_nodes_reader::read() {
  std::sort(changed_.begin(), changed_.end());
  changed_.erase(std::unique(changed_.begin(), changed_.end()), changed_.end());
  const std::size_t models = made_.problem.models.size();
  for (const node_row row : changed_) {
    if (!is_read_) break;
    const std::uint32_t at = place_[row];
    known_node known;
    devices::plannable_node as;
    find_users(row);
    // A node that has become one of those, or has given up to be one, changes the list of them.
    is_read_ = read_node(row, known, as) == (at != no_row) && models == made_.problem.models.size();
    if (!is_read_ || at == no_row) continue;
    made_.nodes[at] = std::move(known);
    made_.problem.nodes[at] = std::move(as);
  }
  changed_.clear();
  if (!is_read_) read_all();
  return made_;
}

void divided_nodes_reader::read_all() {
  const model::cluster_state& s = c_.state();
  made_ = {};
  models_.clear();
  made_.problem.gpu = dim_gpu;
  made_.problem.whole_device = whole_device;
  find_pods();
  place_.assign(s.node_count(), no_row);
  std::vector<node_row> rows(s.node_count());
  for (node_row row = 0; row < rows.size(); ++row) rows[(*s.name_rank)[row]] = row;
  for (const node_row row : rows) {
    known_node known;
    devices::plannable_node as;
    find_users(row);
    if (!read_node(row, known, as)) continue;
    place_[row] = static_cast<std::uint32_t>(made_.nodes.size());
    made_.nodes.push_back(std::move(known));
    made_.problem.nodes.push_back(std::move(as));
  }
  is_read_ = true;
}

/// False: the node has neither devices that may be divided anew nor instances.
bool divided_nodes_reader::read_node(node_row row, known_node& known, devices::plannable_node& as) {
  const model::cluster_state& s = c_.state();
  const model::node_info& node = *(*s.nodes)[row];
  if (!node.open()) return false;
  known.row = row;
  const std::size_t at = static_cast<std::size_t>(row) * s.dims();
  bool has_instances = false;
  for (std::uint32_t d = 0; d < s.dims(); ++d) {
    as.free.push_back((*c_.live.idle)[at + d] + (*c_.live.releasing)[at + d]);
    has_instances = has_instances || (as.free.back() > 0 && model::is_mig_resource((*s.dimensions)[d].name));
  }
  const bool instances_known = says_all(node);
  for (std::uint32_t d = 0; node.claimable.empty() && d < node.device_count(); ++d)
    add_device(known, as, d, instances_known);
  return !known.devices.empty() || has_instances;
}

void divided_nodes_reader::note_changes() {
  const model::cluster_state& s = c_.state();
  const auto note = [&](pod_row pod, std::uint32_t slot) {
    if (slot == no_row) return;
    const node_row row = (*s.node_row_of_slot)[slot];
    if (row == no_row) return;
    changed_.push_back(row);
    if (!is_read_ || matters_[s.pods[pod].pod_class] == 0) return;
    std::vector<pod_row>& there = pods_[row];
    const auto at = std::lower_bound(there.begin(), there.end(), pod);
    if (at == there.end() || *at != pod) there.insert(at, pod);
  };
  for (const framework::operation& op : c_.statement.log) {
    if (op.kind == framework::operation_kind::divide) {
      changed_.push_back(c_.statement.divisions[op.undoes].node);
      continue;
    }
    note(op.pod, op.old_node);
    note(op.pod, c_.live.pod_node[op.pod]);
  }
}

void divided_nodes_reader::note_change_of(pod_row pod) {
  if (c_.live.pod_node[pod] == no_row) return;
  const node_row row = (*c_.state().node_row_of_slot)[c_.live.pod_node[pod]];
  if (row != no_row) changed_.push_back(row);
}

/// The snapshot says where all instances lie that the node has.
bool divided_nodes_reader::says_all(const model::node_info& node) const {
  std::map<std::string_view, std::int64_t> listed;
  for (const model::device_info& one : node.devices) {
    for (const model::mig_instance& instance : one.instances) ++listed[instance.profile];
  }
  for (std::uint32_t d = built_in_dimensions; d < c_.state().dims(); ++d) {
    const std::string& name = (*c_.state().dimensions)[d].name;
    if (!model::is_mig_resource(name)) continue;
    const auto found = listed.find(model::profile_name_of(name));
    const std::int64_t there = d < node.capacity.size() ? node.capacity[d] : 0;
    if (there != (found == listed.end() ? 0 : found->second)) return false;
    if (found != listed.end()) listed.erase(found);
  }
  return listed.empty();  // instances of profiles that no resource stands for
}

std::vector<model::mig_instance> divided_nodes_reader::layout_of(node_row row, std::uint32_t device) const {
  if (const framework::division* last = c_.statement.division_of(row, device); last != nullptr) return last->layout;
  return (*c_.state().nodes)[row]->devices[device].instances;
}

bool divided_nodes_reader::is_made_here(node_row row, std::uint32_t device, const model::mig_instance& one) const {
  bool made = false;
  for (const framework::division& d : c_.statement.divisions) {
    if (d.node != row || d.device != device) continue;
    const auto names = [&](const std::vector<model::mig_instance>& all) {
      return std::find(all.begin(), all.end(), one) != all.end();
    };
    made = names(d.made) || (made && !names(d.idle) && !names(d.coming));
  }
  return made;
}

bool divided_nodes_reader::is_leaving(pod_row pod, node_row row) const {
  const std::uint32_t slot = (*c_.state().nodes)[row]->slot;
  if (c_.live.pod_node[pod] == slot) return static_cast<pod_status>(c_.live.pod_state[pod]) == pod_status::releasing;
  return c_.statement.is_leaving(pod, slot);
}

void divided_nodes_reader::find_pods() {
  const model::cluster_state& s = c_.state();
  users_.assign(s.node_count(), {});
  pods_.assign(s.node_count(), {});
  matters_.assign(s.class_slots, 2);  // 2: not known yet
  for (pod_row p = 0; p < s.pod_slots; ++p) {
    if (!s.pods[p].live) continue;
    std::uint8_t& of_class = matters_[s.pods[p].pod_class];
    if (of_class == 2) of_class = s.class_of(p).wants_gpu() || !instances_asked(c_, p).empty() ? 1 : 0;
    if (of_class == 0 || c_.live.pod_node[p] == no_row) continue;
    pods_[(*s.node_row_of_slot)[c_.live.pod_node[p]]].push_back(p);
  }
}

void divided_nodes_reader::find_users(node_row row) {
  const model::cluster_state& s = c_.state();
  const std::uint32_t slot = (*s.nodes)[row]->slot;
  users_[row] = {};
  for (const pod_row p : pods_[row]) {
    const auto status = static_cast<pod_status>(c_.live.pod_state[p]);
    // A claim is no instance yet: the amounts of the node tell how many there must be.
    if (!model::is_in(status, model::active_used) || status == pod_status::pipelined) continue;
    if (c_.live.pod_node[p] == slot) add_user(p, row, s.live.pod_node[p] == slot);
  }
  for (const leaving_pod& one : c_.statement.leaving) {
    if (one.node == slot) add_user(one.pod, row, true);
  }
}

/// `is_there`: it was on this node when the session opened, and what the snapshot says of its instances holds.
void divided_nodes_reader::add_user(pod_row pod, node_row row, bool is_there) {
  users_of_node& users = users_[row];
  const model::pod_class& ask = c_.state().class_of(pod);
  const std::uint32_t slot = (*c_.state().nodes)[row]->slot;
  const bool at_home = c_.live.pod_node[pod] == slot;
  if (ask.wants_gpu() && at_home && c_.live.pod_devices[pod].mask == 0) users.unknown_devices = true;
  const std::vector<dimension> asked = instances_asked(c_, pod);
  if (asked.empty()) return;
  const std::vector<model::placed_instance> placed =
      is_there ? instances_of(c_, pod) : std::vector<model::placed_instance>{};
  std::vector<dimension> said;
  said.reserve(placed.size());
  for (const model::placed_instance& one : placed) said.push_back(c_.state().mig_dimension(one.what.profile));
  std::sort(said.begin(), said.end());
  bool good = said == asked;  // both in ascending order
  const auto gone = [&](const model::placed_instance& one) {
    const framework::division* last = c_.statement.division_of(row, one.device);
    return last != nullptr && std::find(last->layout.begin(), last->layout.end(), one.what) == last->layout.end();
  };
  for (const model::placed_instance& one : placed) {
    if (!good) break;
    if (gone(one)) continue;  // it was divided anew: the pod is leaving
    const model::node_info& node = *(*c_.state().nodes)[row];
    const bool exists = one.device < node.devices.size() || c_.statement.division_of(row, one.device) != nullptr;
    const std::vector<model::mig_instance> layout =
        exists ? layout_of(row, one.device) : std::vector<model::mig_instance>{};
    good = std::find(layout.begin(), layout.end(), one.what) != layout.end() &&
           !users.known.contains({one.device, one.what.start});
  }
  if (!good) {
    users.unknown.insert(users.unknown.end(), asked.begin(), asked.end());
    return;
  }
  for (const model::placed_instance& one : placed) {
    if (!gone(one)) users.known.emplace(std::pair{one.device, one.what.start}, pod);
  }
}

std::size_t divided_nodes_reader::model_of(const model::node_info& node, std::uint32_t device) {
  std::string_view name;
  std::int64_t memory = node.gpu_memory;
  if (!node.devices.empty()) {
    name = node.devices[device].model;
    if (node.devices[device].memory > 0) memory = node.devices[device].memory;
  }
  if (name.empty()) {
    const std::string* label = model::find_label(node.labels, product_label);
    if (label != nullptr) name = *label;
  }
  if (c_.setup->catalog == nullptr) return no_model;
  const devices::divided_model* table = devices::told_divided_model(c_.setup->catalog->divided, name, memory);
  if (table == nullptr) return no_model;
  const auto [at, fresh] = models_.try_emplace(table, made_.problem.models.size());
  if (fresh) {
    devices::plannable_model as{table, {}};
    for (const devices::slice_profile& one : table->profiles) {
      const dimension d = c_.state().mig_dimension(one.name);
      as.dimensions.push_back(d == no_row ? devices::no_dimension : d);
    }
    made_.problem.models.push_back(std::move(as));
  }
  return at->second;
}

void divided_nodes_reader::add_device(known_node& to, devices::plannable_node& as, std::uint32_t device,
                                      bool instances_known) {
  const model::node_info& node = *(*c_.state().nodes)[to.row];
  const bool is_listed = !node.devices.empty();
  const bool divided_here = c_.statement.division_of(to.row, device) != nullptr;
  const bool is_divided = divided_here || (is_listed && node.devices[device].sharing == model::sharing_mode::mig);
  if (is_listed && !node.devices[device].healthy) return;
  if (is_divided) {
    if (!instances_known && !divided_here) return;
    const std::size_t table = model_of(node, device);
    if (table != no_model) add_divided(to, as, device, table);
    return;
  }
  const device_row at = (*c_.state().first_device)[to.row] + device;
  const std::int64_t units = (*c_.state().device_units)[at];
  const bool idle = (*c_.live.device_free)[at] == units && (*c_.live.device_releasing)[at] == 0;
  if (!idle || users_[to.row].unknown_devices) return;
  if (is_listed) {
    const model::device_info& d = node.devices[device];
    const bool free_mode = d.sharing == model::sharing_mode::unknown || d.sharing == model::sharing_mode::exclusive;
    if (!free_mode || d.share != whole_device) return;
  }
  const std::size_t table = model_of(node, device);
  if (table == no_model) return;
  as.devices.push_back({table, true, {}});
  to.devices.push_back({device, {}, {}, {}});
}

void divided_nodes_reader::add_divided(known_node& to, devices::plannable_node& as, std::uint32_t device,
                                       std::size_t table) {
  const devices::plannable_model& of = made_.problem.models[table];
  known_device known;
  known.device = device;
  devices::plannable_device form;
  form.model = table;
  const users_of_node& users = users_[to.row];
  for (const model::mig_instance& one : layout_of(to.row, device)) {
    const auto profile = std::find_if(of.table->profiles.begin(), of.table->profiles.end(),
                                      [&](const devices::slice_profile& p) { return p.name == one.profile; });
    if (profile == of.table->profiles.end()) return;  // no table says what else it may have
    const auto place = std::find_if(profile->placements.begin(), profile->placements.end(),
                                    [&](const devices::slice_range& r) { return r.start == one.start; });
    const auto overlaps = [&](const devices::present_instance& other) {
      return place != profile->placements.end() && other.placement.overlaps(*place);
    };
    if (place == profile->placements.end() || std::any_of(form.instances.begin(), form.instances.end(), overlaps)) {
      return;
    }
    const auto number = static_cast<std::size_t>(profile - of.table->profiles.begin());
    devices::present_instance instance{number, *place, 0, true};
    const auto user = users.known.find({device, one.start});
    const pod_row pod = user == users.known.end() ? no_row : user->second;
    const bool leaving = pod != no_row && is_leaving(pod, to.row);
    const bool may_be_held = pod == no_row && std::find(users.unknown.begin(), users.unknown.end(),
                                                        of.dimensions[number]) != users.unknown.end();
    if (pod != no_row && !leaving) {
      const bool drains = may_drain_ != nullptr && (*may_drain_)[pod];
      instance.cost = drains ? std::max<std::int64_t>(1, c_.state().class_of(pod).mig_share) : -1;
      instance.is_free = false;
    }
    if (may_be_held) instance.cost = -1;
    form.instances.push_back(instance);
    known.instances.push_back(one);
    known.users.push_back(leaving ? no_row : pod);
    known.coming.push_back(leaving || is_made_here(to.row, device, one));
  }
  as.devices.push_back(std::move(form));
  to.devices.push_back(std::move(known));
}

}  // namespace kaisched::actions
