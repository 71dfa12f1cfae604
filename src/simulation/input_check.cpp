#include "simulation/input_check.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>

#include <kaisched/quantity.hpp>

#include "model/snapshot_access.hpp"
#include "model/state.hpp"
#include "simulation/job_list.hpp"

namespace kaisched::simulation {

namespace {

constexpr std::int64_t latest = latest_time;
constexpr std::uint64_t most_pods = 100'000'000;
constexpr std::int64_t longest_half_life = 10LL * 365 * 86'400 * 1'000'000'000;

template <class... Args>
error wrong(fmt::format_string<Args...> text, Args&&... args) {
  return error{status::argument, fmt::format(text, std::forward<Args>(args)...), {}};
}

bool is_time(std::int64_t t) { return t >= 0 && t <= latest; }
bool is_time_or_never(std::int64_t t) { return t == never || is_time(t); }

result<void> check_options(const simulation_options& o) {
  for (const auto& [name, value] : {std::pair{"period", o.period},
                                    {"wake", o.wake},
                                    {"grace", o.grace},
                                    {"start_overhead", o.start_overhead},
                                    {"checkpoint_interval", o.checkpoint_interval},
                                    {"begin", o.begin}}) {
    if (!is_time(value)) return wrong("option {}: {} ns, expected 0 to {} ns", name, value, latest);
  }
  if (!is_time_or_never(o.horizon)) return wrong("option horizon: {} ns, expected 0 to {} ns", o.horizon, latest);
  if (!(o.estimate_factor >= 1 && o.estimate_factor <= 1e6))
    return wrong("option estimate_factor: {}, expected 1 to 1000000", o.estimate_factor);
  if (o.usage_half_life < 0 || o.usage_half_life > longest_half_life)
    return wrong("option usage_half_life: {} ns, expected 0 to {} ns", o.usage_half_life, longest_half_life);
  if (o.replan && o.grace > 0)
    return wrong("option replan: places are given anew at once, so that grace has to be 0, not {} ns", o.grace);
  if (o.most_stops == 0) return wrong("option most_stops: expected 1 at least");
  if (o.most_sessions_at_once == 0) return wrong("option most_sessions_at_once: expected 1 at least");
  return {};
}

result<void> check_shapes(const job& j) {
  std::uint64_t pods = 0;
  for (const pod_shape& s : j.pods) {
    pods += s.count;
    for (const auto& [name, value] :
         {std::pair{"cpu", s.cpu}, {"memory", s.memory}, {"gpus", s.gpus}, {"gpu_memory", s.gpu_memory}}) {
      if (value < 0 || value > max_amount)
        return wrong("job '{}': {} of a pod is {}, expected 0 to {}", j.name, name, value, max_amount);
    }
    if (s.gpus > whole_device && s.gpus % whole_device != 0)
      return wrong("job '{}': a pod asks for {} milli-GPU; above 1,000 only whole GPUs can be had", j.name, s.gpus);
  }
  if (pods == 0) return wrong("job '{}' has no pods", j.name);
  if (pods > most_pods) return wrong("job '{}' has {} pods, at most {} are played", j.name, pods, most_pods);
  if (j.min_pods > pods) return wrong("job '{}': min_pods is {}, it has {} pods", j.name, j.min_pods, pods);
  return {};
}

result<void> check_jobs(const cluster& over, const workload& jobs, const simulation_options& o) {
  std::vector<std::string_view> names;
  std::set<std::string_view> queues;
  std::uint64_t pods = 0;
  std::int64_t last = 0;
  for (const job& j : jobs.jobs) {
    if (j.name.empty()) return wrong("a job has no name");
    if (!is_time(j.submit)) return wrong("job '{}': submit is {} ns, expected 0 to {} ns", j.name, j.submit, latest);
    if (j.submit < last) return wrong("job '{}' comes at {} ns, after one that comes at {} ns", j.name, j.submit, last);
    last = j.submit;
    if (!is_time(j.run_time))
      return wrong("job '{}': run_time is {} ns, expected 0 to {} ns", j.name, j.run_time, latest);
    if (!is_time_or_never(j.estimate))
      return wrong("job '{}': estimate is {} ns, expected 0 to {} ns", j.name, j.estimate, latest);
    if (!is_time_or_never(j.deadline))
      return wrong("job '{}': deadline is {} ns, expected 0 to {} ns", j.name, j.deadline, latest);
    if (auto fine = check_shapes(j); !fine) return fine;
    if (const auto curve = curve_of(j); !curve) return wrong("job '{}': speedup: {}", j.name, curve.failure().message);
    for (const pod_shape& s : j.pods) pods += s.count;
    const std::string_view queue =
        j.queue.empty() || o.one_queue ? std::string_view(o.queue) : std::string_view(j.queue);
    if (queues.insert(queue).second && !over.find(entity_kind::queue, queue))
      return wrong("job '{}': there is no queue '{}'", j.name, queue);
    names.push_back(j.name);
  }
  if (pods > most_pods) return wrong("the workload has {} pods, at most {} are played", pods, most_pods);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) return wrong("job '{}' is there twice", *twice);
  for (const job& j : jobs.jobs) {
    for (const std::string& entry : j.after) {
      const result<model::dependency> read = model::parse_dependency(entry);
      if (!read) return wrong("job '{}': after: {}", j.name, read.failure().message);
      if (!std::binary_search(names.begin(), names.end(), read->group) &&
          !over.find(entity_kind::pod_group, read->group))
        return wrong("job '{}' comes after '{}', of which there is none", j.name, read->group);
    }
  }
  return {};
}

result<void> check_lost_devices(const cluster& over, const snapshot& first, const outage& o) {
  if (o.devices.empty()) return {};
  const model::cluster_state& s = model::state_of(first);
  const node_row row = *first.row_of(*over.find(entity_kind::node, o.node), entity_kind::node);
  const model::node_info& node = *(*s.nodes)[row];
  if (o.notice > 0) return wrong("outage of devices of node '{}': only whole nodes can have notice", o.node);
  if (node.is_shared_by_vendors())
    return wrong("outage of devices of node '{}': its devices are told by vendors, only the whole node can fail",
                 o.node);
  std::set<std::uint32_t> seen;
  for (const std::uint32_t d : o.devices) {
    if (d >= node.device_count()) return wrong("outage: node '{}' has no device {}", o.node, d);
    if (!seen.insert(d).second) return wrong("outage of node '{}': device {} is named twice", o.node, d);
    if (!node.devices.empty() && (!node.devices[d].is_offered() || node.devices[d].share != whole_device))
      return wrong("outage of node '{}': device {} is not offered as a whole", o.node, d);
  }
  return {};
}

result<void> check_pools(const cluster& over, const std::vector<node_pool>& pools) {
  std::set<std::string_view> nodes;
  for (const node_pool& p : pools) {
    if (p.nodes.empty()) return wrong("a pool has no nodes");
    for (const std::string& name : p.nodes) {
      if (!over.find(entity_kind::node, name)) return wrong("pool: there is no node '{}'", name);
      if (!nodes.insert(name).second) return wrong("pool: node '{}' is there twice", name);
    }
    if (p.least > p.nodes.size())
      return wrong("pool of node '{}': least is {}, it has {} nodes", p.nodes.front(), p.least, p.nodes.size());
    if (!is_time(p.start_time) || !is_time(p.idle_time))
      return wrong("pool of node '{}': times from 0 to {} ns are expected", p.nodes.front(), latest);
  }
  return {};
}

result<void> check_outages(cluster& over, const std::vector<outage>& outages) {
  const snapshot first = over.take_snapshot();
  std::map<std::string_view, std::vector<const outage*>> by_node;
  for (const outage& o : outages) {
    if (!over.find(entity_kind::node, o.node)) return wrong("outage: there is no node '{}'", o.node);
    if (!is_time(o.from) || !is_time_or_never(o.to) || (o.to != never && o.to <= o.from))
      return wrong(
          "outage of node '{}': from {} ns to {} ns; times from 0 to {} ns are expected, the end after the begin",
          o.node, o.from, o.to, latest);
    if (!is_time(o.notice)) return wrong("outage of node '{}': notice is {} ns", o.node, o.notice);
    if (auto fine = check_lost_devices(over, first, o); !fine) return fine;
    by_node[o.node].push_back(&o);
  }
  for (auto& [node, all] : by_node) {
    std::sort(all.begin(), all.end(), [](const outage* a, const outage* b) { return a->from < b->from; });
    for (std::size_t i = 1; i < all.size(); ++i) {
      const outage& before = *all[i - 1];
      if (before.to == never || all[i]->from - all[i]->notice < before.to)
        return wrong("outages of node '{}' from {} ns and from {} ns overlap, with their notice", node, before.from,
                     all[i]->from);
    }
  }
  return {};
}

result<void> check_profiles(const std::vector<profile>& profiles) {
  std::set<std::string_view> models;
  for (const profile& p : profiles) {
    if (!models.insert(p.model).second) return wrong("profile of model '{}' is there twice", p.model);
    if (!is_time_or_never(p.start_overhead) || !is_time_or_never(p.checkpoint_interval))
      return wrong("profile of model '{}': times from 0 to {} ns are expected", p.model, latest);
    if (p.traffic < 0 || p.traffic > max_amount)
      return wrong("profile of model '{}': traffic from 0 to {} MB/s is expected", p.model, max_amount);
    speed_point before{0, 0};
    for (const speed_point& s : p.speeds) {
      if (s.pods <= before.pods || s.speed <= 0 || s.speed < before.speed || s.speed > full_speed)
        return wrong(
            "profile of model '{}': speed {} with {} pods; pods have to rise, speeds from 1 to {} must not fall",
            p.model, s.speed, s.pods, full_speed);
      before = s;
    }
    std::set<std::string_view> gpus;
    for (const gpu_speed& s : p.gpu_speeds) {
      if (s.gpu_model.empty() || !gpus.insert(s.gpu_model).second)
        return wrong("profile of model '{}': a speed on GPUs '{}' is there twice, or has no name", p.model,
                     s.gpu_model);
      if (s.speed <= 0 || s.speed > highest_speed)
        return wrong("profile of model '{}': speed {} on GPUs '{}'; from 1 to {} is expected", p.model, s.speed,
                     s.gpu_model, highest_speed);
    }
  }
  return {};
}

}  // namespace

result<void> check_play(cluster& over, const play& what, const simulation_options& options) {
  if (auto fine = check_options(options); !fine) return fine;
  if (auto fine = check_profiles(what.profiles); !fine) return fine;
  if (auto fine = check_outages(over, what.outages); !fine) return fine;
  if (auto fine = check_pools(over, what.pools); !fine) return fine;
  return check_jobs(over, what.jobs, options);
}

}  // namespace kaisched::simulation
