// Devices that several pods share, and which decisions open and close them.
//
// A sharing group is what KAI calls a GPU group: its first pod takes a device out of those that are given as a whole,
// its last one gives it back. KAI keeps a reservation pod on the device for that long; here it is a row.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "framework/members.hpp"
#include "model/account.hpp"
#include "model/schema_writer.hpp"
#include "model/snapshot_access.hpp"
#include "session/row_names.hpp"
#include "session/session_impl.hpp"

namespace kaisched::session_detail {

namespace {

using framework::session_state;

constexpr std::int64_t none = -1;

/// Node and number: in `compat` that of the books, else the device.
using group_key = std::pair<node_row, std::uint32_t>;

/// Pods of one group by what they have of it.
struct sharers {
  std::set<pod_row> staying;
  std::set<pod_row> leaving;
  std::set<pod_row> promised;
};

struct sharing_group {
  sharers now;
  std::int64_t opened_by = none;  ///< decision
  std::int64_t closed_by = none;
};

class sharing_groups {
 public:
  explicit sharing_groups(const session_state& c) : c_(c) {
    read_pods();
    replay();
  }

  [[nodiscard]] table to_table() const {
    model::schema_writer w(table_kind::sharing_group);
    // Names of nodes order the rows: numbers of nodes depend on the history of the cluster.
    std::map<std::pair<std::string_view, std::uint32_t>, const std::pair<const group_key, sharing_group>*> in_order;
    for (const auto& one : groups_) {
      in_order.emplace(std::pair{name_of_node(c_, one.first.first), one.first.second}, &one);
    }
    for (const auto& [name, one] : in_order) write(w, one->first, one->second);
    return w.take();
  }

 private:
  /// Groups of a pod on a node. `devices`: those that it has or had there; none where nobody could tell. In `compat` a
  /// device can have two groups, one that closes and one that opens then: the books know which one the pod is in, or it
  /// was in the older one (`before`).
  [[nodiscard]] std::vector<group_key> keys_of(pod_row pod, node_row row, const device_set& devices,
                                               bool before) const {
    std::vector<group_key> keys;
    if (!c_.access.groups->is_open()) {
      for (const std::int64_t device : indices_of(devices.mask)) {
        keys.emplace_back(row, static_cast<std::uint32_t>(device));
      }
      return keys;
    }
    const policy::group_ids* const booked =
        before && devices.mask != 0 ? nullptr : c_.access.groups->groups_of(pod, row);
    if (booked != nullptr) {
      for (const std::uint32_t id : *booked) keys.emplace_back(row, id);
      return keys;
    }
    for (std::uint64_t left = devices.mask; left != 0; left &= left - 1) {
      const policy::gpu_group* const group = oldest_on(row, static_cast<std::uint32_t>(std::countr_zero(left)));
      if (group != nullptr) keys.emplace_back(row, group->id);
    }
    return keys;
  }

  [[nodiscard]] const policy::gpu_group* oldest_on(node_row row, std::uint32_t device) const {
    for (const policy::gpu_group& group : c_.access.groups->groups_on(row)) {
      if (group.device == device) return &group;
    }
    return nullptr;
  }

  /// Pods that share devices and hold or wait for them, with their groups.
  template <class Take>
  void each_sharer(const model::cluster_state& s, const model::live_state& live, bool before, Take take) const {
    for (pod_row p = 0; p < s.pod_slots; ++p) {
      const std::uint32_t slot = live.pod_node[p];
      const auto status = static_cast<pod_status>(live.pod_state[p]);
      if (!s.pods[p].live || slot == no_row || !s.class_of(p).is_shared() || !model::is_in(status, model::active_used))
        continue;
      take(p, status, keys_of(p, (*s.node_row_of_slot)[slot], live.pod_devices[p], before));
    }
  }

  static void count(sharers& of, pod_row pod, pod_status status) {
    const bool leaves = status == pod_status::releasing || status == pod_status::stuck_in_releasing;
    (status == pod_status::pipelined ? of.promised : leaves ? of.leaving : of.staying).insert(pod);
  }

  /// Who is in which group now.
  void read_pods() {
    const model::cluster_state& s = c_.state();
    each_sharer(s, c_.live, false, [&](pod_row p, pod_status status, const std::vector<group_key>& keys) {
      for (const group_key& key : keys) count(groups_[key].now, p, status);
    });
    for (const leaving_pod& one : c_.statement.leaving) {
      if (!s.class_of(one.pod).is_shared()) continue;
      const node_row row = (*s.node_row_of_slot)[one.node];
      for (const group_key& key : keys_of(one.pod, row, one.devices, false)) groups_[key].now.leaving.insert(one.pod);
    }
  }

  /// Decision after decision, from what the snapshot has.
  void replay() {
    std::map<group_key, sharers> then;
    std::map<pod_row, std::vector<group_key>> places;
    const model::cluster_state& start = model::state_of(c_.base);
    each_sharer(start, start.live, true, [&](pod_row p, pod_status status, std::vector<group_key> keys) {
      for (const group_key& key : keys) count(then[key], p, status);
      places.insert_or_assign(p, std::move(keys));
    });
    for (std::size_t i = 0; i < c_.results.decisions.size(); ++i) {
      const decision& d = c_.results.decisions[i];
      if (d.pod == no_row || !c_.state().class_of(d.pod).is_shared()) continue;
      if (d.kind == decision_kind::evict || d.kind == decision_kind::move || d.kind == decision_kind::migrate) {
        for (const group_key& key : places[d.pod]) leave(then[key], key, d.pod, static_cast<std::int64_t>(i));
        places[d.pod].clear();
      }
      if (d.kind == decision_kind::evict) continue;
      const bool starts = d.kind == decision_kind::bind || d.kind == decision_kind::migrate;
      std::vector<group_key> keys = keys_of(d.pod, d.node, d.devices, false);
      for (const group_key& key : keys) enter(then[key], key, d.pod, starts, static_cast<std::int64_t>(i));
      places.insert_or_assign(d.pod, std::move(keys));
    }
  }

  void leave(sharers& of, const group_key& key, pod_row pod, std::int64_t decision) {
    of.promised.erase(pod);
    if (of.staying.erase(pod) == 0) return;
    of.leaving.insert(pod);
    if (of.staying.empty() && of.promised.empty()) note(key, &sharing_group::closed_by, decision);
  }

  void enter(sharers& of, const group_key& key, pod_row pod, bool starts, std::int64_t decision) {
    of.promised.erase(pod);
    if (starts && of.staying.empty() && of.leaving.empty()) note(key, &sharing_group::opened_by, decision);
    (starts ? of.staying : of.promised).insert(pod);
    note(key, &sharing_group::closed_by, none);
  }

  /// Groups that nobody is in any more have no row.
  void note(const group_key& key, std::int64_t sharing_group::* what, std::int64_t decision) {
    const auto at = groups_.find(key);
    if (at != groups_.end()) at->second.*what = decision;
  }

  struct amounts {
    std::int64_t memory = 0;
    std::int64_t used = 0;
    std::int64_t allocated = 0;
    std::int64_t releasing = 0;
  };

  [[nodiscard]] amounts amounts_of(const group_key& key, const sharers& now) const {
    constexpr std::int64_t mib = std::int64_t{1} << 20;
    if (c_.access.groups->is_open()) {
      const policy::gpu_group* const group = book_of(key);
      return {c_.access.groups->gpu_memory(key.first) * mib, group->used * mib, group->allocated * mib,
              group->releasing * mib};
    }
    const model::cluster_state& s = c_.state();
    const std::int64_t units = (*s.device_units)[(*s.first_device)[key.first] + key.second];
    const auto sum = [&](const std::set<pod_row>& pods) {
      std::int64_t total = 0;
      for (const pod_row p : pods) total += std::max<std::int64_t>(0, model::part_of_device(s.class_of(p), units));
      return total;
    };
    amounts made;
    made.memory = units == whole_device ? 0 : units;
    made.allocated = sum(now.staying);
    const std::int64_t leaving = sum(now.leaving);
    made.used = made.allocated + leaving;
    made.releasing = leaving - sum(now.promised);
    return made;
  }

  [[nodiscard]] const policy::gpu_group* book_of(const group_key& key) const {
    for (const policy::gpu_group& group : c_.access.groups->groups_on(key.first)) {
      if (group.id == key.second) return &group;
    }
    return nullptr;
  }

  void write(model::schema_writer& w, const group_key& key, const sharing_group& group) const {
    const model::node_info& node = *(*c_.state().nodes)[key.first];
    std::int64_t device = key.second;
    std::string name = fmt::format("{}/{}", node.name, device);
    if (c_.access.groups->is_open()) {
      const policy::gpu_group* const book = book_of(key);
      if (book == nullptr) return;
      device = book->device < policy::gpu_groups::no_device ? static_cast<std::int64_t>(book->device) : none;
      name = device == none                               ? fmt::format("{}/group-{}", node.name, key.second)
             : oldest_on(key.first, book->device) == book ? fmt::format("{}/{}", node.name, device)
                                                          : fmt::format("{}/{}/{}", node.name, device, key.second);
    }
    w[col::sharing_group_name].push(name);
    w[col::sharing_group_node].push(id_of_node(c_, key.first).value);
    w[col::sharing_group_node_name].push(std::string_view(node.name));
    w[col::sharing_group_device].push(device);
    const bool has_mode = device != none && node.has_sharing_modes();
    w[col::sharing_group_sharing].push(
        has_mode ? model::sharing_name(node.sharing_of(static_cast<std::uint32_t>(device))) : std::string_view{});
    w[col::sharing_group_state].push(std::string_view(!group.now.staying.empty()    ? "open"
                                                      : !group.now.promised.empty() ? "promised"
                                                                                    : "closing"));
    const amounts sums = amounts_of(key, group.now);
    w[col::sharing_group_memory].push(sums.memory);
    w[col::sharing_group_used].push(sums.used);
    w[col::sharing_group_allocated].push(sums.allocated);
    w[col::sharing_group_releasing].push(sums.releasing);
    std::set<std::string_view> names;
    for (const std::set<pod_row>* const pods : {&group.now.staying, &group.now.leaving, &group.now.promised}) {
      for (const pod_row p : *pods) names.insert(c_.state().pod_names[p]);
    }
    w[col::sharing_group_pods].push_list(std::vector<std::string_view>(names.begin(), names.end()));
    w[col::sharing_group_opened_by].push(group.opened_by);
    w[col::sharing_group_closed_by].push(group.closed_by);
  }

  const session_state& c_;
  std::map<group_key, sharing_group> groups_;
};

}  // namespace

table sharing_group_table(const framework::session_state& c) { return sharing_groups(c).to_table(); }

}  // namespace kaisched::session_detail
