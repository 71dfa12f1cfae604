#include "schedulers/volcano/rules/state.hpp"

#include <algorithm>

namespace kaisched::volcano {

bool is_allocated(task_status status) {
  return status == task_status::bound || status == task_status::binding || status == task_status::running ||
         status == task_status::allocated;
}

policy::resource_list node_state::future_idle() const {
  policy::resource_list free = idle;
  free.add(releasing);
  free.subtract(pipelined);
  return free;
}

bool node_state::will_fit(const policy::resource_list& asked) const {
  const bool stays = releasing.names_nothing() && pipelined.names_nothing();
  return stays ? policy::less_equal(asked, idle, policy::absent_resource::zero)
               : policy::less_equal(asked, future_idle(), policy::absent_resource::zero);
}

void cluster_state::note_change(row task) {
  const task_state& of = tasks[task];
  ++nodes[of.node].changes;
  if (of.job != no_row) {
    if (of.job >= job_changes_.size()) job_changes_.resize(std::max(jobs.size(), of.job + 1), 0);
    ++job_changes_[of.job];
  }
  if (changed.empty() || changed.back() != of.node) changed.push_back(of.node);
  if (neighbours == nullptr) return;
  const auto charged = nodes[of.node].tasks.find(task);
  const bool is_there = charged != nodes[of.node].tasks.end();
  neighbours->moved(task, is_there ? of.node : no_row, is_there && charged->second == task_status::releasing);
}

void cluster_state::charge(row task) {
  const task_state& of = tasks[task];
  node_state& on = nodes[of.node];
  on.tasks[task] = of.status;
  note_change(task);
  if (of.status == task_status::pipelined) return on.pipelined.add(of.request);
  if (of.status == task_status::releasing) on.releasing.add(of.request);
  on.idle.subtract(of.request);
  on.used.add(of.request);
}

void cluster_state::discharge(row task) {
  const task_state& of = tasks[task];
  node_state& on = nodes[of.node];
  const auto found = on.tasks.find(task);
  if (found == on.tasks.end()) return;
  const task_status status = found->second;
  on.tasks.erase(found);
  note_change(task);
  if (status == task_status::pipelined) return on.pipelined.subtract(of.request);
  if (status == task_status::releasing) on.releasing.subtract(of.request);
  on.idle.add(of.request);
  on.used.subtract(of.request);
}

void cluster_state::change_status(row task, task_status status) {
  task_state& of = tasks[task];
  node_state& on = nodes[of.node];
  task_status& charged = on.tasks.find(task)->second;
  if (charged == task_status::releasing) on.releasing.subtract(of.request);
  if (status == task_status::releasing) on.releasing.add(of.request);
  charged = status;
  of.status = status;
  note_change(task);
}

bool cluster_state::takes_what_is_set_aside(row task, const policy::resource_list& free) const {
  if (!tasks[task].leaves_room) return false;
  constexpr double whole = 1000;
  const policy::resource_list& asked = tasks[task].first_request;
  const double gpus = std::max(free.get("nvidia.com/gpu"), 0.0) / whole;
  return (asked.cpu > 0 && free.cpu - asked.cpu < cpu_per_gpu * gpus) ||
         (asked.memory > 0 && free.memory - asked.memory < memory_per_gpu * gpus);
}

policy::resource_list cluster_state::total() const {
  policy::resource_list sum;
  for (const node_state& node : nodes) sum.add(node.allocatable);
  return sum;
}

policy::gang_counts counts_of(const cluster_state& cluster, const std::vector<row>& tasks, std::int64_t min_available) {
  policy::gang_counts counts;
  counts.min_available = min_available;
  for (const row task : tasks) {
    const task_state& one = cluster.tasks[task];
    if (is_allocated(one.status) || one.status == task_status::succeeded) ++counts.ready;
    if (one.status == task_status::pipelined) ++counts.waiting;
    if (one.status == task_status::pending && one.best_effort) ++counts.needs_none;
  }
  return counts;
}

policy::gang_counts counts_of(const cluster_state& cluster, const job_state& job) {
  return counts_of(cluster, job.tasks, job.min_available);
}

policy::gang_counts counts_of(const cluster_state& cluster, const sub_job_state& sub_job) {
  return counts_of(cluster, sub_job.tasks, sub_job.min_available);
}

namespace {

bool counts_for(const task_state& task, gang_condition wanted) {
  if (is_allocated(task.status) || task.status == task_status::succeeded) return true;
  if (task.status == task_status::pipelined) return wanted != gang_condition::ready;
  return task.status == task_status::pending && (wanted == gang_condition::valid || task.first_request->is_empty());
}

}  // namespace

bool roles_meet(const cluster_state& cluster, const job_state& job, gang_condition wanted) {
  if (job.minimums.by_role.empty() || !job.minimums.count_for(job.min_available)) return true;
  std::map<std::string, std::int64_t, std::less<>> found;
  for (const row task : job.tasks) {
    if (counts_for(cluster.tasks[task], wanted)) ++found[cluster.tasks[task].role];
  }
  return std::ranges::all_of(job.minimums.by_role, [&](const auto& one) {
    const auto at = found.find(one.first);
    return (at == found.end() ? 0 : at->second) >= one.second;
  });
}

bool sub_jobs_meet(const cluster_state& cluster, const job_state& job, gang_condition wanted) {
  if (job.min_sub_jobs.empty()) return true;
  std::map<std::string, std::int64_t, std::less<>> found;
  for (const sub_job_state& one : job.sub_jobs) {
    const policy::gang_counts counts = counts_of(cluster, one);
    const bool meets = wanted == gang_condition::valid   ? true
                       : wanted == gang_condition::ready ? policy::is_gang_ready(counts)
                                                         : policy::is_gang_pipelined(counts);
    if (meets) ++found[one.group];
  }
  return std::ranges::all_of(job.min_sub_jobs, [&](const auto& one) {
    const auto at = found.find(one.first);
    return (at == found.end() ? 0 : at->second) >= one.second;
  });
}

std::int64_t valid_tasks(const cluster_state& cluster, const job_state& job) {
  return std::ranges::count_if(job.tasks,
                               [&](row task) { return counts_for(cluster.tasks[task], gang_condition::valid); });
}

namespace {

std::set<std::string> failed_roles(const cluster_state& cluster, const job_state& job, row sub_job) {
  std::set<std::string> roles;
  for (const row task : job.unplaced) {
    if (cluster.tasks[task].sub_job == sub_job) roles.insert(cluster.tasks[task].role);
  }
  return roles;
}

}  // namespace

bool role_failed(const cluster_state& cluster, const job_state& job, row task) {
  const task_state& one = cluster.tasks[task];
  return !one.role.empty() && failed_roles(cluster, job, one.sub_job).contains(one.role);
}

bool worth_continuing(const cluster_state& cluster, const job_state& job, row sub_job) {
  if (job.min_available == static_cast<std::int64_t>(job.tasks.size())) return false;
  const sub_job_state& of = job.sub_jobs[sub_job];
  if (of.min_available >= static_cast<std::int64_t>(of.tasks.size())) return false;
  if (job.has_rules) return true;
  const std::set<std::string> failed = failed_roles(cluster, job, sub_job);
  if (!job.minimums.count_for(job.min_available)) {
    std::int64_t left = 0;
    for (const row task : job.tasks) {
      const task_state& one = cluster.tasks[task];
      if (one.status == task_status::pending && !failed.contains(one.role)) ++left;
    }
    return counts_of(cluster, job).ready + left >= job.min_available;
  }
  std::map<std::string, std::int64_t, std::less<>> allocated;
  for (const row task : job.tasks) {
    if (counts_for(cluster.tasks[task], gang_condition::ready)) ++allocated[cluster.tasks[task].role];
  }
  return std::ranges::none_of(failed, [&](const std::string& role) {
    const auto minimum = job.minimums.by_role.find(role);
    return minimum != job.minimums.by_role.end() && allocated[role] < minimum->second;
  });
}

bool has_hard_topology(const job_state& job) {
  return job.topology.is_condition() ||
         std::ranges::any_of(job.sub_jobs, [](const sub_job_state& one) { return one.topology.is_condition(); });
}

bool has_any_topology(const job_state& job) {
  return job.has_topology ||
         std::ranges::any_of(job.sub_jobs, [](const sub_job_state& one) { return one.has_topology; });
}

policy::resource_list requests_of(const cluster_state& cluster, const std::vector<row>& tasks) {
  policy::resource_list sum;
  for (const row task : tasks) sum.add(cluster.tasks[task].request);
  return sum;
}

policy::resource_list allocated_of(const cluster_state& cluster, const job_state& job) {
  policy::resource_list sum;
  for (const row task : job.tasks) {
    if (is_allocated(cluster.tasks[task].status)) sum.add(cluster.tasks[task].request);
  }
  return sum;
}

policy::resource_list outstanding_of(const job_state& job, const policy::resource_list& allocated) {
  const policy::resource_list& minimum = *job.min_resources;
  return policy::outstanding_minimum(minimum, job.min_named ? *job.min_named : minimum.something_of(), allocated);
}

namespace {

bool holds_something(const cluster_state& cluster, const std::vector<row>& tasks) {
  return std::ranges::any_of(tasks, [&](row task) { return is_allocated(cluster.tasks[task].status); });
}

void forget_stale(const cluster_state& cluster, const std::vector<row>& tasks, std::string& domain) {
  if (cluster.domains.find(domain) == nullptr || !holds_something(cluster, tasks)) domain.clear();
}

/// The domain of the lowest tier that holds all nodes of the tasks; of several the first by name.
std::string lowest_domain(const cluster_state& cluster, const std::vector<row>& tasks) {
  std::set<std::string> nodes;
  for (const row task : tasks) {
    const task_state& one = cluster.tasks[task];
    if (is_allocated(one.status) && one.node != no_row) nodes.insert(cluster.nodes[one.node].name);
  }
  std::string found;
  std::int64_t tier = 0;
  if (nodes.empty()) return found;
  for (const auto& [name, domain] : cluster.domains.all()) {
    if (!found.empty() && domain.tier >= tier) continue;
    if (!std::ranges::all_of(nodes, [&](const std::string& node) { return domain.nodes.contains(node); })) continue;
    found = name;
    tier = domain.tier;
  }
  return found;
}

}  // namespace

void settle_domains(cluster_state& cluster) {
  for (job_state& job : cluster.jobs) {
    forget_stale(cluster, job.tasks, job.allocated_domain);
    bool changed = false;
    for (sub_job_state& one : job.sub_jobs) {
      forget_stale(cluster, one.tasks, one.allocated_domain);
      if (!one.has_topology || !one.allocated_domain.empty()) continue;
      one.allocated_domain = lowest_domain(cluster, one.tasks);
      changed = changed || !one.allocated_domain.empty();
    }
    if (!has_any_topology(job) || (!job.allocated_domain.empty() && !changed)) continue;
    std::string common;
    for (const sub_job_state& one : job.sub_jobs) {
      if (one.allocated_domain.empty()) continue;
      common = cluster.domains.common_ancestor(common, one.allocated_domain);
      if (common.empty()) break;
    }
    job.allocated_domain = common;
  }
}

}  // namespace kaisched::volcano
