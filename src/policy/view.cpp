#include <algorithm>

#include <kaisched/policy.hpp>

#include "policy/access.hpp"
#include "policy/numa/ledger.hpp"

namespace kaisched {

namespace {

const model::cluster_state& state_of(const session_access& a) { return *a.state; }

}  // namespace

std::int64_t session_view::now() const { return access_.now; }
std::uint32_t session_view::dimension_count() const { return state_of(access_).dims(); }
std::string_view session_view::dimension_name(dimension d) const { return (*state_of(access_).dimensions)[d].name; }
std::uint32_t session_view::node_count() const { return state_of(access_).node_count(); }
std::string_view session_view::node_name(node_row n) const { return (*state_of(access_).nodes)[n]->name; }

std::string_view session_view::node_label(node_row n, std::string_view key, bool* found) const {
  const std::string* value = model::find_label((*state_of(access_).nodes)[n]->labels, key);
  if (found != nullptr) *found = value != nullptr;
  return value == nullptr ? std::string_view{} : std::string_view(*value);
}

std::span<const std::int64_t> session_view::node_capacity() const { return *state_of(access_).capacity; }
std::span<const std::int64_t> session_view::node_idle() const { return *access_.live->idle; }
std::span<const std::int64_t> session_view::node_releasing() const { return *access_.live->releasing; }
std::span<const std::int64_t> session_view::node_zones_available(node_row n) const {
  return access_.zones == nullptr ? std::span<const std::int64_t>{} : access_.zones->available_of(n);
}

namespace {

std::span<const std::int64_t> of_devices(const session_access& a, const std::vector<std::int64_t>& amounts,
                                         node_row n) {
  const device_row first = (*state_of(a).first_device)[n];
  return std::span(amounts).subspan(first, (*state_of(a).first_device)[n + 1] - first);
}

}  // namespace

std::span<const std::int64_t> session_view::node_devices(node_row n) const {
  return of_devices(access_, *state_of(access_).device_units, n);
}
std::span<const std::int64_t> session_view::node_devices_idle(node_row n) const {
  return of_devices(access_, *access_.live->device_free, n);
}
bool session_view::node_ready(node_row n) const { return (*state_of(access_).nodes)[n]->ready; }
bool session_view::node_unschedulable(node_row n) const { return (*state_of(access_).nodes)[n]->unschedulable; }

std::string_view session_view::pod_name(pod_row p) const { return state_of(access_).pod_names[p]; }
std::span<const std::int64_t> session_view::pod_request(pod_row p) const {
  return state_of(access_).class_of(p).ask.request;
}
group_row session_view::pod_group(pod_row p) const { return state_of(access_).pods[p].group; }
class_row session_view::pod_class(pod_row p) const { return state_of(access_).pods[p].pod_class; }
pod_status session_view::status_of(pod_row p) const { return static_cast<pod_status>(access_.live->pod_state[p]); }

node_row session_view::node_of(pod_row p) const {
  const std::uint32_t slot = access_.live->pod_node[p];
  return slot == no_row ? no_row : (*state_of(access_).node_row_of_slot)[slot];
}

std::string_view session_view::pod_label(pod_row p, std::string_view key, bool* found) const {
  std::string_view left = state_of(access_).pod_extras[p].labels;  // key, NUL, value, NUL, ...
  const auto next = [&] {
    const std::string_view one = left.substr(0, left.find('\0'));
    left.remove_prefix(std::min(left.size(), one.size() + 1));
    return one;
  };
  while (!left.empty()) {
    const std::string_view name = next();
    const std::string_view value = next();
    if (name != key) continue;
    if (found != nullptr) *found = true;
    return value;
  }
  if (found != nullptr) *found = false;
  return {};
}

std::string_view session_view::pod_sub_group(pod_row p) const {
  const group_row g = pod_group(p);
  const bool has_tree = g != no_row && state_of(access_).group_extras[g].has_sub_groups;
  return has_tree ? state_of(access_).pod_extras[p].sub_name : std::string_view{};
}

std::string_view session_view::group_name(group_row g) const { return state_of(access_).group_names[g]; }
queue_row session_view::group_queue(group_row g) const { return state_of(access_).groups[g].queue; }
std::int64_t session_view::group_priority(group_row g) const { return state_of(access_).groups[g].priority; }
bool session_view::group_preemptible(group_row g) const { return state_of(access_).groups[g].preemptible; }
bool session_view::group_semi_preemptible(group_row g) const { return state_of(access_).groups[g].semi_preemptible; }
std::int64_t session_view::group_created(group_row g) const { return state_of(access_).groups[g].created; }
std::string_view session_view::queue_name(queue_row q) const { return (*state_of(access_).queues)[q].name; }
queue_row session_view::queue_parent(queue_row q) const { return (*state_of(access_).queues)[q].parent; }
std::span<const std::int64_t> session_view::queue_allocated(queue_row q) const {
  return (*access_.live->queue_allocated)[q];
}
std::span<const std::int64_t> session_view::queue_fair_share(queue_row q) const { return access_.fair_share[q]; }

result<void> policy_part::order_groups(const session_view&, std::span<const group_row>, std::span<order_key>) {
  return {};
}
result<void> policy_part::filter_nodes(const session_view&, pod_row, std::span<const node_row>, std::span<constraint>) {
  return {};
}
result<void> policy_part::score_nodes(const session_view&, pod_row, std::span<const node_row>, std::span<double>) {
  return {};
}
result<void> policy_part::divide_shares(const session_view&, std::span<const queue_row>, std::span<std::int64_t>) {
  return {};
}
result<void> policy_part::judge_victims(const session_view&, action_kind, group_row, std::span<const group_row>,
                                        std::span<std::uint8_t>) {
  return {};
}
result<bool> policy_part::permit(const session_view&, group_row, std::span<const pod_row>) { return true; }
std::uint32_t policy_part::choose_device(const session_view&, pod_row, node_row, std::uint64_t) {
  return max_devices_per_node;
}

}  // namespace kaisched
