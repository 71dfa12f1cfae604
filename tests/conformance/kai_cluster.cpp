#include "conformance/kai_cluster.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <optional>
#include <set>

#include "conformance/json_values.hpp"
#include "conformance/kubernetes_texts.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using column = table::column;

constexpr std::int64_t second = 1'000'000'000;
constexpr double bytes_per_mb = 1'000'000;
constexpr std::int64_t bytes_per_mib = std::int64_t{1} << 20U;
constexpr std::int64_t age_of_a_started_job_s = 60;
constexpr std::string_view default_pod_set = "default";
constexpr std::string_view legacy_mig = "legacy-mig";  ///< label of nodes with pods of that kind

constexpr std::array<std::string_view, pod_status_count> status_names{
    "Pending", "Gated",     "Allocated",        "Pipelined", "Binding", "Bound",
    "Running", "Releasing", "StuckInReleasing", "Succeeded", "Failed",  "Unknown"};

// ---- columns -------------------------------------------------------------------------------------

table input_table(table_kind kind) {
  return table(static_cast<std::uint32_t>(kind), static_cast<std::uint32_t>(table_op::add));
}

void push_texts(column& to, const std::vector<std::string>& texts) {
  const std::vector<std::string_view> views(texts.begin(), texts.end());
  to.push_list(std::span<const std::string_view>(views));
}

void push_text(column& to, const std::string& text) { to.push(std::string_view(text)); }

void push_flag(column& to, bool flag) { to.push(static_cast<std::uint8_t>(flag ? 1 : 0)); }

std::int64_t rounded(const json& number, double unit = 1) {
  if (number.is_number_integer() && unit == 1) return number.get<std::int64_t>();
  return std::llround(number.get<double>() * unit);
}

/// Seconds ago -> a time; unset if missing.
std::int64_t time_of_age(const json& of, std::string_view key) {
  return has(of, key) ? kai_now - rounded(member(of, key), second) : unset;
}

std::int64_t duration_of(const json& of, std::string_view key) {
  return has(of, key) ? rounded(member(of, key), second) : unset;
}

// ---- dimensions ----------------------------------------------------------------------------------

/// The dimensions of one case: the built-in ones, then all others by name.
class dimensions {
 public:
  explicit dimensions(const json& resolved) {
    std::set<std::string> others;
    const auto note = [&](const json& amounts) {
      for (const auto& [resource, amount] : amounts.items()) {
        if (!std::count(names_.begin(), names_.end(), dimension_of_kai(resource))) others.insert(resource);
      }
    };
    for (const json& node : items(resolved, "nodes")) note(items(node, "allocatable"));
    for (const json& job : items(resolved, "jobs")) {
      for (const json& task : items(job, "tasks")) note(items(task, "request"));
    }
    for (const json& node : items(resolved, "nodes")) {
      for (const json& zone : items(member(node, "numa"), "zones")) note(items(zone, "allocatable"));
    }
    names_.insert(names_.end(), others.begin(), others.end());
  }

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }
  [[nodiscard]] std::uint32_t count() const { return static_cast<std::uint32_t>(names_.size()); }
  [[nodiscard]] std::span<const std::string> registered() const {
    return std::span<const std::string>(names_).subspan(built_in_dimensions);
  }

  void push(column& to, const json& amounts) const {
    for (const std::string& name : names_) {
      const std::string_view resource = resource_of_dimension(name);
      const json& amount = member(amounts, resource);
      to.push(amount.is_null() ? std::int64_t{0} : amount_of_kai(resource, amount));
    }
  }

 private:
  std::vector<std::string> names_{"cpu", "memory", "gpu", "pods"};
};

table resource_table(const dimensions& dims) {
  table made = input_table(table_kind::resource);
  column& name = made.add(col::resource_name, column_type::string, 0);
  for (const std::string& one : dims.registered()) push_text(name, one);
  return made;
}

// ---- topologies, queues, nodes -------------------------------------------------------------------

table topology_table(const json& resolved) {
  table made = input_table(table_kind::topology);
  column& name = made.add(col::topology_name, column_type::string, 0);
  column& levels = made.add(col::topology_levels, column_type::string_list, 0);
  column& primary = made.add(col::topology_primary, column_type::u8);
  bool first = true;
  for (const json& tree : items(resolved, "topologies")) {
    push_text(name, name_of(tree));
    push_texts(levels, items(tree, "levels").get<std::vector<std::string>>());
    push_flag(primary, std::exchange(first, false));
  }
  return made;
}

struct quota_source {
  std::string_view key;
  double unit;  // of the recorded amounts, in units of the tables
};
constexpr std::array<quota_source, quota_dimensions> quota_sources{
    quota_source{"cpu_milli", 1}, quota_source{"memory_mb", bytes_per_mb},
    quota_source{"gpu", static_cast<double>(whole_device)}};

/// A quota or a limit; every negative amount is unlimited.
std::int64_t bound_of(const json& amounts, std::string_view key, double unit) {
  const json& amount = member(amounts, key);
  if (amount.is_null()) return 0;
  return amount.get<double>() < 0 ? unlimited : rounded(amount, unit);
}

/// Names of queues that jobs are in and that do not exist.
std::set<std::string> missing_queues(const json& resolved) {
  std::set<std::string> missing;
  for (const json& job : items(resolved, "jobs")) missing.insert(text_or_empty(job, "queue"));
  for (const json& queue : items(resolved, "queues")) missing.erase(name_of(queue));
  return missing;
}

/// Queues from the roots down: a parent must be there before its children.
std::vector<const json*> queues_from_the_roots(const json& resolved) {
  std::vector<const json*> ordered;
  std::set<std::string> placed{""};
  const json& queues = items(resolved, "queues");
  while (ordered.size() < queues.size()) {
    const std::size_t before = ordered.size();
    for (const json& queue : queues) {
      const std::string name = name_of(queue);
      if (!placed.contains(name) && placed.contains(text_or_empty(queue, "parent"))) {
        ordered.push_back(&queue);
        placed.insert(name);
      }
    }
    if (ordered.size() == before) throw unsupported("queues whose parent does not exist");
  }
  return ordered;
}

class queue_rows {
 public:
  queue_rows()
      : table_(input_table(table_kind::queue)),
        name_(table_.add(col::queue_name, column_type::string, 0)),
        parent_(table_.add(col::queue_parent, column_type::string, 0)),
        priority_(table_.add(col::queue_priority, column_type::i64)),
        created_(table_.add(col::queue_created, column_type::i64)),
        quota_(table_.add(col::queue_quota, column_type::i64, quota_dimensions)),
        limit_(table_.add(col::queue_limit, column_type::i64, quota_dimensions)),
        weight_(table_.add(col::queue_over_quota_weight, column_type::f64, quota_dimensions)),
        reclaim_(table_.add(col::queue_reclaim_min_runtime, column_type::i64)),
        preempt_(table_.add(col::queue_preempt_min_runtime, column_type::i64)) {}

  void add(const json& queue) {
    push_text(name_, name_of(queue));
    push_text(parent_, text_or_empty(queue, "parent"));
    priority_.push(value_or(queue, "priority", std::int64_t{0}));
    created_.push(value_or(queue, "created_rank", std::int64_t{0}) * second);
    for (const quota_source& source : quota_sources) {
      const json& amounts = member(queue, source.key);
      quota_.push(bound_of(amounts, "quota", source.unit));
      limit_.push(bound_of(amounts, "limit", source.unit));
      weight_.push(value_or(amounts, "over_quota_weight", 0.0));
    }
    reclaim_.push(duration_of(queue, "reclaim_min_runtime_s"));
    preempt_.push(duration_of(queue, "preempt_min_runtime_s"));
  }

  [[nodiscard]] table take() { return std::move(table_); }

 private:
  table table_;
  column& name_;
  column& parent_;
  column& priority_;
  column& created_;
  column& quota_;
  column& limit_;
  column& weight_;
  column& reclaim_;
  column& preempt_;
};

table queue_table(const json& resolved) {
  queue_rows rows;
  for (const json* queue : queues_from_the_roots(resolved)) rows.add(*queue);
  // KAI does not serve jobs of a queue that does not exist, but their pods use their nodes. A queue without any share
  // and with a child does the same: only queues without children are served.
  for (const std::string& name : missing_queues(resolved)) {
    rows.add({{"name", name}});
    rows.add({{"name", name + " does not exist"}, {"parent", name}});
  }
  return rows.take();
}

/// Devices that claims of a class can get on a node: of the parts of one class the last one counts.
std::vector<std::string> claimable_of(const json& session_case, const std::string& node) {
  const json& dra = member(member(session_case, "input"), "dra");
  const json& classes = items(dra, "device_classes");
  std::map<std::string, std::int64_t> counts;
  for (const json& slice : items(dra, "slices")) {
    const std::string device_class = text_or_empty(slice, "device_class");
    if (text_or_empty(slice, "node") != node ||
        std::find(classes.begin(), classes.end(), device_class) == classes.end())
      continue;
    counts[device_class] = value_or(slice, "count", std::int64_t{0});
  }
  std::vector<std::string> texts;
  for (const auto& [device_class, count] : counts) {
    for (std::int64_t i = 0; i < count; ++i)
      texts.push_back(device_class + "=nvidia.com/gpu/" + node + "/" + std::to_string(i));
  }
  return texts;
}

table node_table(const json& session_case, const json& resolved, const dimensions& dims) {
  table made = input_table(table_kind::node);
  column& name = made.add(col::node_name, column_type::string, 0);
  column& capacity = made.add(col::node_capacity, column_type::i64, dims.count());
  column& labels = made.add(col::node_labels, column_type::string_list, 0);
  column& taints = made.add(col::node_taints, column_type::string_list, 0);
  column& gpu_memory = made.add(col::node_gpu_memory, column_type::i64);
  column& numa_policy = made.add(col::node_numa_policy, column_type::string, 0);
  column& numa_scope = made.add(col::node_numa_scope, column_type::string, 0);
  column& claimable = made.add(col::node_claimable, column_type::string_list, 0);
  for (const json& node : items(resolved, "nodes")) {
    push_text(name, name_of(node));
    dims.push(capacity, items(node, "allocatable"));
    std::vector<std::string> all_labels = label_texts(items(node, "labels"));
    if (!items(node, "legacy_mig_tasks").empty()) all_labels.insert(all_labels.end(), {std::string(legacy_mig), ""});
    push_texts(labels, all_labels);
    std::vector<std::string> texts;
    for (const json& taint : items(node, "taints")) texts.push_back(taint_text(taint));
    push_texts(taints, texts);
    // A node that does not say how much memory its GPUs have is taken for one of the smallest size.
    const bool known = value_or(node, "gpu_memory_synced", false);
    gpu_memory.push(known ? value_or(node, "gpu_memory_mib", std::int64_t{0}) * bytes_per_mib : 0);
    push_text(numa_policy, text_or_empty(member(node, "numa"), "policy"));
    push_text(numa_scope, text_or_empty(member(node, "numa"), "scope"));
    push_texts(claimable, claimable_of(session_case, name_of(node)));
  }
  return made;
}

table zone_table(const json& resolved, const dimensions& dims) {
  table made = input_table(table_kind::numa_zone);
  column& of = made.add(col::numa_zone_node, column_type::string, 0);
  column& name = made.add(col::numa_zone_name, column_type::string, 0);
  column& capacity = made.add(col::numa_zone_capacity, column_type::i64, dims.count());
  column& available = made.add(col::numa_zone_available, column_type::i64, dims.count());
  for (const json& node : items(resolved, "nodes")) {
    for (const json& zone : items(member(node, "numa"), "zones")) {
      push_text(of, name_of(node));
      push_text(name, text_or_empty(zone, "id"));
      dims.push(capacity, items(zone, "allocatable"));
      json free = items(zone, "available");
      for (json& amount : free)
        amount = std::max(0.0, amount.get<double>());  // below zero only where pods tell as well
      dims.push(available, free);
    }
  }
  return made;
}

std::string claim_key(const json& claim) {
  const std::string space = text_or_empty(claim, "namespace");
  return space.empty() ? name_of(claim) : space + "/" + name_of(claim);
}

/// Claims of the case; what has become of them is in `now`, which may say less about each.
table claim_table(const json& resolved, const json& now) {
  constexpr std::string_view pod_prefix = "pods/";
  table made = input_table(table_kind::resource_claim);
  column& name = made.add(col::resource_claim_name, column_type::string, 0);
  column& device_class = made.add(col::resource_claim_device_class, column_type::string, 0);
  column& count = made.add(col::resource_claim_count, column_type::i64);
  column& labels = made.add(col::resource_claim_labels, column_type::string_list, 0);
  column& devices = made.add(col::resource_claim_devices, column_type::string_list, 0);
  column& reserved_for = made.add(col::resource_claim_reserved_for, column_type::string_list, 0);
  column& from_template = made.add(col::resource_claim_from_template, column_type::u8);
  std::set<std::string> made_from_templates;
  for (const json& job : items(resolved, "jobs")) {
    for (const json& task : items(job, "tasks")) {
      for (const json& one : items(task, "claims")) {
        if (!text_or_empty(one, "template").empty()) made_from_templates.insert(text_or_empty(one, "claim"));
      }
    }
  }
  for (const json& claim : items(resolved, "claims")) {
    push_text(name, claim_key(claim));
    push_text(device_class, text_or_empty(claim, "device_class"));
    // No cluster has more devices than the tables can count; one case asks for the largest number there is.
    count.push(std::min(value_or(claim, "count", std::int64_t{1}), max_amount));
    push_texts(labels, label_texts(items(claim, "labels")));
    const auto found =
        std::find_if(now.begin(), now.end(), [&](const json& one) { return claim_key(one) == claim_key(claim); });
    const json& status = found == now.end() ? member(claim, "status") : member(*found, "status");
    push_texts(devices, items(status, "devices").get<std::vector<std::string>>());
    std::vector<std::string> pods;
    for (const json& one : items(status, "reserved_for")) {
      const std::string text = one.get<std::string>();
      pods.push_back(text.starts_with(pod_prefix) ? text.substr(pod_prefix.size()) : text);
    }
    push_texts(reserved_for, pods);
    push_flag(from_template, made_from_templates.contains(name_of(claim)));
  }
  return made;
}

// ---- groups --------------------------------------------------------------------------------------

/// A gang without sub-groups: everything is in the one pod set that KAI calls "default".
bool is_flat(const json& root) {
  const json& pod_sets = items(root, "pod_sets");
  return items(root, "groups").empty() && pod_sets.size() == 1 && name_of(pod_sets.front()) == default_pod_set &&
         value_or(root, "min_sub_group", std::int64_t{1}) == 1;
}

std::int64_t min_sub_group_of(const json& group) { return value_or(group, "min_sub_group", unset); }

kai_start start_of(const json& task, const kai_starts& starts) {
  const auto found = starts.find(name_of(task));
  if (found != starts.end()) return found->second;
  return {task.at("status").get<std::string>(), text_or_empty(task, "node"),
          items(task, "gpu_groups").get<std::vector<std::string>>()};
}

std::int64_t last_start_of(const json& job, const kai_starts& starts, bool restart_clocks) {
  if (!restart_clocks) return time_of_age(job, "last_start_age_s");
  const json& tasks = items(job, "tasks");
  const bool started = std::any_of(tasks.begin(), tasks.end(),
                                   [&](const json& task) { return kai_holds(start_of(task, starts).status); });
  return started ? kai_now - age_of_a_started_job_s * second : unset;
}

/// When jobs were created, by rank: ranks are exact and ages are rounded, so ages count as far as the order allows.
std::map<std::int64_t, std::int64_t> creation_times(const json& jobs) {
  std::map<std::int64_t, std::int64_t> times;
  for (const json& job : jobs) {
    const std::int64_t rank = job.at("created_rank").get<std::int64_t>();
    times.try_emplace(rank, has(job, "age_s") ? time_of_age(job, "age_s") : kai_now);
  }
  std::int64_t earliest = std::numeric_limits<std::int64_t>::min();
  for (auto& [rank, time] : times) {
    time = std::max(time, earliest);
    earliest = time + 1;
  }
  return times;
}

std::int64_t stale_since(const json& job) {
  return value_or(job, "stale", false) ? time_of_age(job, "stale_age_s") : unset;
}

std::int64_t staleness_grace_of(const json& job, const json& params) {
  return duration_of(has(job, "staleness_grace_period_s") ? job : params, "staleness_grace_period_s");
}

/// Columns of the topology constraint of a group or sub-group.
class constraint_columns {
 public:
  constraint_columns(table& of, std::uint32_t topology, std::uint32_t required, std::uint32_t preferred)
      : topology_(of.add(topology, column_type::string, 0)),
        required_(of.add(required, column_type::string, 0)),
        preferred_(of.add(preferred, column_type::string, 0)) {}

  void push(const json& constraint) {
    push_text(topology_, text_or_empty(constraint, "topology"));
    push_text(required_, text_or_empty(constraint, "required"));
    push_text(preferred_, text_or_empty(constraint, "preferred"));
  }

 private:
  column& topology_;
  column& required_;
  column& preferred_;
};

table group_table(const json& resolved, const kai_starts& starts, bool restart_clocks) {
  table made = input_table(table_kind::pod_group);
  column& name = made.add(col::pod_group_name, column_type::string, 0);
  column& queue = made.add(col::pod_group_queue, column_type::string, 0);
  column& priority = made.add(col::pod_group_priority, column_type::i64);
  column& preemptible = made.add(col::pod_group_preemptible, column_type::u8);
  column& created = made.add(col::pod_group_created, column_type::i64);
  column& min_member = made.add(col::pod_group_min_member, column_type::i64);
  column& min_sub_group = made.add(col::pod_group_min_sub_group, column_type::i64);
  column& name_space = made.add(col::pod_group_namespace, column_type::string, 0);
  column& last_start = made.add(col::pod_group_last_start, column_type::i64);
  column& stale = made.add(col::pod_group_stale_since, column_type::i64);
  column& delay = made.add(col::pod_group_preemption_delay, column_type::i64);
  column& grace = made.add(col::pod_group_staleness_grace, column_type::i64);
  constraint_columns topology(made, col::pod_group_topology, col::pod_group_required_level,
                              col::pod_group_preferred_level);
  const std::map<std::int64_t, std::int64_t> creations = creation_times(items(resolved, "jobs"));
  for (const json& job : items(resolved, "jobs")) {
    const json& root = job.at("root");
    const bool flat = is_flat(root);
    push_text(name, name_of(job));
    push_text(queue, job.at("queue").get<std::string>());
    priority.push(job.at("priority").get<std::int64_t>());
    push_flag(preemptible, job.at("preemptible").get<bool>());
    created.push(creations.at(job.at("created_rank").get<std::int64_t>()));
    min_member.push(flat ? value_or(root.at("pod_sets").front(), "min_available", std::int64_t{0}) : std::int64_t{0});
    min_sub_group.push(flat ? unset : min_sub_group_of(root));
    push_text(name_space, text_or_empty(job, "namespace"));
    last_start.push(last_start_of(job, starts, restart_clocks));
    stale.push(stale_since(job));
    delay.push(duration_of(job, "preemption_delay_s"));
    grace.push(staleness_grace_of(job, member(resolved, "params")));
    topology.push(member(flat && !has(root, "topology") ? root.at("pod_sets").front() : root, "topology"));
  }
  return made;
}

class sub_group_rows {
 public:
  sub_group_rows()
      : table_(input_table(table_kind::sub_group)),
        group_(table_.add(col::sub_group_group, column_type::string, 0)),
        name_(table_.add(col::sub_group_name, column_type::string, 0)),
        parent_(table_.add(col::sub_group_parent, column_type::string, 0)),
        min_member_(table_.add(col::sub_group_min_member, column_type::i64)),
        min_sub_group_(table_.add(col::sub_group_min_sub_group, column_type::i64)),
        topology_(table_, col::sub_group_topology, col::sub_group_required_level, col::sub_group_preferred_level) {}

  /// Everything below an inner sub-group, parents first.
  void add_below(const std::string& job, const json& inner) {
    const std::string parent = text_or_empty(inner, "name");
    for (const json& child : items(inner, "groups")) {
      push(job, child, parent, 0, min_sub_group_of(child));
      add_below(job, child);
    }
    for (const json& leaf : items(inner, "pod_sets")) {
      push(job, leaf, parent, value_or(leaf, "min_available", std::int64_t{0}), unset);
    }
  }

  [[nodiscard]] table take() { return std::move(table_); }

 private:
  void push(const std::string& job, const json& member, const std::string& parent, std::int64_t least,
            std::int64_t least_members) {
    push_text(group_, job);
    push_text(name_, name_of(member));
    push_text(parent_, parent);
    min_member_.push(least);
    min_sub_group_.push(least_members);
    topology_.push(kaisched::conformance::member(member, "topology"));
  }

  table table_;
  column& group_;
  column& name_;
  column& parent_;
  column& min_member_;
  column& min_sub_group_;
  constraint_columns topology_;
};

table sub_group_table(const json& resolved) {
  sub_group_rows rows;
  for (const json& job : items(resolved, "jobs")) {
    if (!is_flat(job.at("root"))) rows.add_below(name_of(job), job.at("root"));
  }
  return rows.take();
}

void collect_leaves(const json& inner, std::set<std::string>& names) {
  for (const json& leaf : items(inner, "pod_sets")) names.insert(name_of(leaf));
  for (const json& child : items(inner, "groups")) collect_leaves(child, names);
}

// ---- pods ----------------------------------------------------------------------------------------

/// Order inside the group: a label that is no number is last of those that have one.
std::int64_t pod_priority_of(const json& labels) {
  const json& text = member(labels, "kai.scheduler/task-priority");
  if (text.is_null()) return unset;
  try {
    std::size_t end = 0;
    const std::int64_t number = std::stoll(text.get<std::string>(), &end);
    if (end == text.get_ref<const std::string&>().size()) return number;
  } catch (const std::exception&) {
    return unset + 1;
  }
  return unset + 1;
}

bool is_leader(const json& labels) {
  const std::string role = text_or_empty(labels, "training.kubeflow.org/job-role");
  return role == "master" || role == "launcher" || text_or_empty(labels, "ray.io/node-type") == "head";
}

std::string obstacle_of(const json& task, const json& special) {
  if (text_or_empty(special, "victim_invariant_failure_for") == name_of(task)) return "refused by the test";
  if (items(task, "pvc_names").empty()) return {};
  return "persistent volume claim " + items(task, "pvc_names").front().get<std::string>() + " does not exist";
}

class pod_rows {
 public:
  pod_rows(const json& session_case, const dimensions& dims, const kai_starts& starts)
      : special_(member(session_case, "special")),
        dims_(dims),
        starts_(starts),
        table_(input_table(table_kind::pod)),
        name_(table_.add(col::pod_name, column_type::string, 0)),
        group_(table_.add(col::pod_group_ref, column_type::string, 0)),
        sub_group_(table_.add(col::pod_sub_group, column_type::string, 0)),
        request_(table_.add(col::pod_request, column_type::i64, dims.count())),
        status_(table_.add(col::pod_status_column, column_type::u8)),
        node_(table_.add(col::pod_node, column_type::string, 0)),
        priority_(table_.add(col::pod_priority, column_type::i64)),
        leader_(table_.add(col::pod_leader, column_type::u8)),
        node_selector_(table_.add(col::pod_node_selector, column_type::string_list, 0)),
        node_affinity_(table_.add(col::pod_node_affinity, column_type::string_list, 0)),
        tolerations_(table_.add(col::pod_tolerations, column_type::string_list, 0)),
        affinity_(table_.add(col::pod_affinity, column_type::string_list, 0)),
        anti_affinity_(table_.add(col::pod_anti_affinity, column_type::string_list, 0)),
        host_ports_(table_.add(col::pod_host_ports, column_type::string_list, 0)),
        labels_(table_.add(col::pod_labels, column_type::string_list, 0)),
        obstacle_(table_.add(col::pod_obstacle, column_type::string, 0)),
        device_count_(table_.add(col::pod_device_count, column_type::u32)),
        devices_(table_.add(col::pod_devices, column_type::i64_list, 0)),
        gpu_memory_(table_.add(col::pod_gpu_memory, column_type::i64)),
        claims_(table_.add(col::pod_claims, column_type::string_list, 0)),
        numa_zones_(table_.add(col::pod_numa_zones, column_type::i64_list, 0)),
        qos_(table_.add(col::pod_qos, column_type::string, 0)),
        claimed_gpus_(table_.add(col::pod_claimed_gpus, column_type::u32)) {
    const json& resolved = member(session_case, "resolved");
    for (const json& node : items(resolved, "nodes")) {
      any_legacy_mig_ = any_legacy_mig_ || !items(node, "legacy_mig_tasks").empty();
      nodes_.emplace(name_of(node), rounded(member(items(node, "allocatable"), "gpu").is_null()
                                                ? json(0)
                                                : member(items(node, "allocatable"), "gpu")));
    }
    for (const json& claim : items(resolved, "claims")) claim_keys_.emplace(name_of(claim), claim_key(claim));
    for (const json& job : items(resolved, "jobs")) {
      for (const json& task : items(job, "tasks")) {
        const kai_start start = start_of(task, starts_);
        std::vector<std::string>& known = shared_devices_[start.node];
        for (const std::string& group : start.gpu_groups) {
          if (std::find(known.begin(), known.end(), group) == known.end()) known.push_back(group);
        }
      }
    }
  }

  void add_job(const json& job) {
    std::set<std::string> leaves;
    collect_leaves(job.at("root"), leaves);
    const bool flat = is_flat(job.at("root"));
    for (const json& task : items(job, "tasks")) {
      const std::string leaf = value_or(task, "sub_group", std::string(default_pod_set));
      if (!leaves.contains(leaf)) continue;  // KAI does not count such a task as part of the job
      push_text(group_, name_of(job));
      push_text(sub_group_, flat ? std::string{} : leaf);
      add_task(task);
    }
  }

  [[nodiscard]] table take() { return std::move(table_); }

 private:
  /// Recordings keep the name of a node that a pod has left, or that is not there.
  [[nodiscard]] bool has_place(const kai_start& start) const {
    return kai_uses_node(start.status) && nodes_.contains(start.node);
  }

  void add_task(const json& task) {
    const kai_start start = start_of(task, starts_);
    const json& labels = items(task, "labels");
    const json& affinity = member(task, "affinity");
    push_text(name_, name_of(task));
    dims_.push(request_, task.at("request"));
    status_.push(static_cast<std::uint8_t>(kai_status(start.status)));
    push_text(node_, has_place(start) ? start.node : std::string{});
    priority_.push(pod_priority_of(labels));
    push_flag(leader_, is_leader(labels));
    std::vector<std::string> selector = label_texts(items(task, "node_selector"));
    // KAI serves pods that ask for instances by annotation no more, and keeps others away from nodes that have some.
    if (value_or(task, "legacy_mig", false))
      selector.insert(selector.end(), {std::string(legacy_mig), "is not served"});
    push_texts(node_selector_, selector);
    std::vector<std::string> terms = node_affinity_texts(affinity);
    if (text_or_empty(task, "request_type") == "MigInstance" && any_legacy_mig_) {
      if (!terms.empty()) throw unsupported("node affinity beside legacy MIG tasks");
      terms.push_back("!" + std::string(legacy_mig));
    }
    push_texts(node_affinity_, terms);
    std::vector<std::string> tolerations;
    for (const json& one : items(task, "tolerations")) tolerations.push_back(toleration_text(one));
    push_texts(tolerations_, tolerations);
    push_texts(affinity_, pod_affinity_texts(affinity, "podAffinity"));
    push_texts(anti_affinity_, pod_affinity_texts(affinity, "podAntiAffinity"));
    push_texts(host_ports_, items(task, "host_ports").get<std::vector<std::string>>());
    push_texts(labels_, label_texts(labels));
    push_text(obstacle_, obstacle_of(task, special_));
    const json& asked = member(task, "gpu_request");
    // Recordings also name groups of pods that ask for none.
    const bool asks_for_devices = value_or(task.at("request"), "gpu", 0.0) > 0 || has(asked, "gpu_memory_mib");
    const bool shared = value_or(task, "request_type", std::string("Regular")) != "Regular" && has(asked, "devices");
    device_count_.push(static_cast<std::uint32_t>(shared ? value_or(asked, "devices", std::int64_t{0}) : 0));
    devices_.push_list(std::span<const std::int64_t>(
        has_place(start) && asks_for_devices ? devices_of(start) : std::vector<std::int64_t>{}));
    gpu_memory_.push(value_or(asked, "gpu_memory_mib", std::int64_t{0}) * bytes_per_mib);
    std::vector<std::string> claims;
    for (const json& one : items(task, "claims")) {
      const std::string claim = text_or_empty(one, "claim");
      claims.push_back(claim_keys_.contains(claim) ? claim_keys_.at(claim) : claim);
    }
    push_texts(claims_, claims);
    numa_zones_.push_list(std::span<const std::int64_t>(items(task, "numa_zones").get<std::vector<std::int64_t>>()));
    push_text(qos_, text_or_empty(task, "qos_class"));
    double claimed = 0;
    for (const json& count : items(asked, "dra_gpus")) claimed += count.get<double>();
    claimed_gpus_.push(static_cast<std::uint32_t>(std::min(claimed, 4e9)));
  }

  /// KAI names the shared devices of a node; here they take the highest numbers, in the order in which they were first
  /// used, as pods with whole devices and without known ones take the lowest.
  std::vector<std::int64_t> devices_of(const kai_start& start) {
    const std::vector<std::string>& known = shared_devices_[start.node];
    const std::int64_t first = nodes_.at(start.node) - static_cast<std::int64_t>(known.size());
    std::vector<std::int64_t> devices;
    for (const std::string& group : start.gpu_groups) {
      devices.push_back(first + (std::find(known.begin(), known.end(), group) - known.begin()));
    }
    const bool unknown = std::any_of(devices.begin(), devices.end(), [](std::int64_t device) { return device < 0; });
    if (unknown) return {unknown_devices};
    std::sort(devices.begin(), devices.end());
    return devices;
  }

  bool any_legacy_mig_ = false;
  const json& special_;
  const dimensions& dims_;
  const kai_starts& starts_;
  std::map<std::string, std::int64_t> nodes_;  // and their whole devices
  std::map<std::string, std::string> claim_keys_;
  std::map<std::string, std::vector<std::string>> shared_devices_;
  table table_;
  column& name_;
  column& group_;
  column& sub_group_;
  column& request_;
  column& status_;
  column& node_;
  column& priority_;
  column& leader_;
  column& node_selector_;
  column& node_affinity_;
  column& tolerations_;
  column& affinity_;
  column& anti_affinity_;
  column& host_ports_;
  column& labels_;
  column& obstacle_;
  column& device_count_;
  column& devices_;
  column& gpu_memory_;
  column& claims_;
  column& numa_zones_;
  column& qos_;
  column& claimed_gpus_;
};

table pod_table(const json& session_case, const dimensions& dims, const kai_starts& starts) {
  pod_rows rows(session_case, dims, starts);
  for (const json& job : items(session_case.at("resolved"), "jobs")) rows.add_job(job);
  return rows.take();
}

}  // namespace

// ---- words and units -----------------------------------------------------------------------------

std::string_view kai_status_name(pod_status status) { return status_names.at(static_cast<std::size_t>(status)); }

pod_status kai_status(std::string_view name) {
  const auto found = std::find(status_names.begin(), status_names.end(), name);
  if (found == status_names.end()) throw unsupported("pod status " + std::string(name));
  return static_cast<pod_status>(found - status_names.begin());
}

bool kai_holds(std::string_view status) {
  return status == "Allocated" || status == "Binding" || status == "Bound" || status == "Running";
}

bool kai_uses_node(std::string_view status) {
  return kai_holds(status) || status == "Pipelined" || status == "Releasing" || status == "StuckInReleasing";
}

std::string_view dimension_of_kai(std::string_view resource) { return resource == "cpu_milli" ? "cpu" : resource; }

std::string_view resource_of_dimension(std::string_view dimension) {
  return dimension == "cpu" ? "cpu_milli" : dimension;
}

std::int64_t amount_of_kai(std::string_view resource, const json& amount) {
  const std::int64_t unit = resource == "gpu" ? whole_device : 1;
  // One case asks for more than 64 bits can hold: as many whole units as there can be.
  if (amount.get<double>() >= static_cast<double>(max_amount / unit)) return max_amount - max_amount % unit;
  return rounded(amount, static_cast<double>(unit));
}

double kai_amount(std::string_view dimension, std::int64_t amount) {
  return static_cast<double>(amount) / (dimension == "gpu" ? static_cast<double>(whole_device) : 1);
}

kai_starts kai_recorded_starts(const json& session_case) {
  kai_starts starts;
  for (const json& job : items(session_case.at("resolved"), "jobs")) {
    for (const json& task : items(job, "tasks")) starts.emplace(name_of(task), start_of(task, {}));
  }
  return starts;
}

kai_starts kai_round_starts(const json& round) {
  kai_starts starts;
  for (const json& task : items(round, "input_tasks")) starts.emplace(name_of(task), start_of(task, {}));
  return starts;
}

std::vector<std::string> kai_dimensions(const json& session_case) {
  return dimensions(session_case.at("resolved")).names();
}

std::vector<table> kai_tables(const json& session_case, const kai_starts& starts, bool restart_clocks,
                              const json* claims) {
  const json& resolved = session_case.at("resolved");
  const dimensions dims(resolved);
  std::vector<table> tables;
  tables.push_back(resource_table(dims));
  tables.push_back(topology_table(resolved));
  tables.push_back(queue_table(resolved));
  tables.push_back(node_table(session_case, resolved, dims));
  tables.push_back(zone_table(resolved, dims));
  tables.push_back(claim_table(resolved, claims == nullptr ? items(resolved, "claims") : *claims));
  tables.push_back(group_table(resolved, starts, restart_clocks));
  tables.push_back(sub_group_table(resolved));
  tables.push_back(pod_table(session_case, dims, starts));
  return tables;
}

}  // namespace kaisched::conformance
