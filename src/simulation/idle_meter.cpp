#include "simulation/idle_meter.hpp"

#include <algorithm>

#include "policy/access.hpp"

namespace kaisched::simulation {

using base::int128;

namespace {

/// Devices of a node that are free as a whole.
std::int64_t free_devices(const session_view& view, node_row n, std::int64_t free_gpus) {
  const std::span<const std::int64_t> all = view.node_devices(n);
  const std::span<const std::int64_t> idle = view.node_devices_idle(n);
  const std::int64_t by_amount = free_gpus / whole_device;
  if (all.empty()) return by_amount;
  std::int64_t count = 0;
  for (std::size_t d = 0; d < all.size(); ++d) count += all[d] > 0 && idle[d] == all[d] ? 1 : 0;
  return std::min(by_amount, count);
}

/// Pods without which the group cannot go on and that have no place; none if it goes on, or waits for what is
/// coming free.
std::vector<pod_row> lacking_pods(const session_access& a, group_row group) {
  const model::cluster_state& s = *a.state;
  const model::group_core& g = s.groups[group];
  std::vector<pod_row> found;
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    if (s.subs[sub].is_set) continue;
    std::int64_t lacks = s.subs[sub].min - static_cast<std::int64_t>(a.live->counts[sub].active_allocated);
    for (pod_row p = s.subs[sub].first_pod; p != no_row && lacks > 0; p = s.pods[p].next) {
      if (static_cast<pod_status>(a.live->pod_state[p]) != pod_status::pending) continue;
      found.push_back(p);
      --lacks;
    }
    if (lacks > 0) return {};
  }
  return found;
}

}  // namespace

void idle_meter::find_rooms(const session_access& a) {
  rooms_.clear();
  const model::cluster_state& s = *a.state;
  const session_view view = a.view();
  for (node_row n = 0; n < s.node_count(); ++n) {
    const model::node_info& node = *(*s.nodes)[n];
    if (!node.ready || node.unschedulable) continue;
    const std::size_t first = std::size_t{n} * s.dims();
    const auto free = [&](std::size_t d) {
      const std::int64_t idle = (*a.live->idle)[first + d];
      return std::min(idle, idle + (*a.live->releasing)[first + d]);  // claims are on what comes free, and beyond
    };
    if (free(dim_gpu) <= 0) continue;
    room& made = rooms_.emplace_back();
    made.node = n;
    for (std::size_t d = 0; d < s.dims(); ++d) made.free.push_back(free(d));
    made.whole = free_devices(view, n, made.free[dim_gpu]);
  }
}

void idle_meter::take(const session_access& a, const place& at, int sign) {
  const model::pod_class& ask = a.state->class_of(at.pod);
  room& of = rooms_[at.room];
  for (std::uint32_t d = 0; d < of.free.size(); ++d) of.free[d] -= sign * ask.requests(d);
  of.whole -= sign * ask.whole_devices;
}

/// If the pods fit they take their room.
bool idle_meter::fits(const session_access& a, std::span<const pod_row> pods) {
  std::vector<place> taken;
  std::size_t from = 0;
  for (const pod_row p : pods) {
    const model::pod_class& ask = a.state->class_of(p);
    if (!taken.empty() && a.state->pods[p].pod_class != a.state->pods[taken.back().pod].pod_class) from = 0;
    std::size_t at = from;
    for (; at < rooms_.size(); ++at) {
      const room& of = rooms_[at];
      if (of.whole < ask.whole_devices) continue;
      bool enough = true;
      for (std::uint32_t d = 0; d < of.free.size() && enough; ++d)
        enough = ask.requests(d) == 0 || ask.requests(d) <= of.free[d];
      if (!enough || !policy::fits(a, ask, of.node, policy::free_amount::idle)) continue;
      if (policy::node_verdict(a, ask, of.node) == constraint::none) break;
    }
    if (at == rooms_.size()) {
      for (const place& one : taken) take(a, one, -1);
      return false;
    }
    taken.push_back({at, p});
    take(a, taken.back(), 1);
    from = at;  // pods of one class do not fit before
  }
  return true;
}

void idle_meter::account(std::int64_t now) {
  for (const auto& [why, gpus] : held_) sums_[why] += static_cast<int128>(gpus) * (now - since_);
  since_ = now;
}

void idle_meter::look(const session& held, std::int64_t now) {
  account(now);
  held_.clear();
  const session_access& a = policy::inside(held.view());
  find_rooms(a);
  std::int64_t left = 0;
  std::int64_t widest = 0;
  for (const room& one : rooms_) {
    left += one.free[dim_gpu];
    widest = std::max(widest, one.free[dim_gpu]);
  }
  std::vector<group_row> fitting;
  std::map<group_row, std::int64_t> gpus_of;
  for (const group_row group : *a.state->pending_groups) {
    if (left == 0) break;
    const std::vector<pod_row> pods = lacking_pods(a, group);
    std::int64_t gpus = 0;
    std::int64_t largest = 0;
    for (const pod_row p : pods) {
      const std::int64_t one = a.state->class_of(p).requests(dim_gpu);
      gpus += one;
      largest = std::max(largest, one);
    }
    if (gpus == 0 || gpus > left || largest > widest || !fits(a, pods)) continue;
    fitting.push_back(group);
    gpus_of[group] = gpus;
    left -= gpus;
  }
  if (fitting.empty()) return;
  for (const reason& why : held.reasons(fitting)) {
    const auto of = gpus_of.find(why.group);
    if (of == gpus_of.end()) continue;  // an earlier reason has counted its GPUs
    held_[{why.what, std::string(held.refusing_plugin(why.group))}] += of->second;
    gpus_of.erase(of);
  }
  for (const auto& [group, gpus] : gpus_of) held_[{constraint::none, std::string()}] += gpus;  // no reason was told
}

std::vector<idle_refusal> idle_meter::until(std::int64_t end) {
  constexpr std::int64_t of_millisecond = 1'000'000;  // nanoseconds
  account(std::max(since_, end));
  std::vector<idle_refusal> made;
  for (const auto& [why, sum] : sums_) {
    const auto gpu_time = static_cast<std::int64_t>(sum / of_millisecond);
    if (gpu_time > 0) made.push_back({why.first, why.second, gpu_time});
  }
  std::stable_sort(made.begin(), made.end(),
                   [](const idle_refusal& a, const idle_refusal& b) { return a.gpu_time > b.gpu_time; });
  return made;
}

}  // namespace kaisched::simulation
