#include "conformance/volcano_state.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_plugin_calls.hpp"
#include "conformance/volcano_pods.hpp"
#include "conformance/volcano_records.hpp"
#include "io/kubernetes/clock_text.hpp"

namespace kaisched::conformance {

namespace {

using kaisched::volcano::cluster_state;
using kaisched::volcano::job_phase;
using kaisched::volcano::job_state;
using kaisched::volcano::no_row;
using kaisched::volcano::node_refusal;
using kaisched::volcano::row;
using kaisched::volcano::sub_job_state;
using kaisched::volcano::task_state;
using kaisched::volcano::task_status;
using nlohmann::json;

constexpr std::array<std::pair<const char*, task_status>, 10> task_status_names{{
    {"Pending", task_status::pending},
    {"Allocated", task_status::allocated},
    {"Pipelined", task_status::pipelined},
    {"Binding", task_status::binding},
    {"Bound", task_status::bound},
    {"Running", task_status::running},
    {"Releasing", task_status::releasing},
    {"Succeeded", task_status::succeeded},
    {"Failed", task_status::failed},
    {"Unknown", task_status::unknown},
}};
constexpr std::array<std::pair<const char*, job_phase>, 5> job_phase_names{{
    {"Pending", job_phase::pending},
    {"Inqueue", job_phase::inqueue},
    {"Running", job_phase::running},
    {"Unknown", job_phase::unknown},
    {"Completed", job_phase::completed},
}};

/// Wishes about pods that stay where they were recorded.
class recorded_wishes final : public kaisched::volcano::neighbourhood {
 public:
  void add(row task, std::vector<std::int64_t> pull) { pull_.emplace(task, std::move(pull)); }

  void moved(row /*task*/, row /*node*/, bool /*is_leaving*/) override {}
  [[nodiscard]] bool judges(row /*task*/) const override { return false; }
  [[nodiscard]] node_refusal refuses(row /*task*/, row /*node*/) const override { return node_refusal::none; }
  [[nodiscard]] std::vector<std::int64_t> evenness(row /*task*/, const std::vector<row>& /*nodes*/) const override {
    return {};
  }
  /// 0 for the node that is least welcome, 100 for the one that is most.
  [[nodiscard]] std::vector<std::int64_t> welcome(row task, const std::vector<row>& nodes,
                                                  std::int64_t /*required*/) const override {
    const auto of_task = pull_.find(task);
    if (of_task == pull_.end() || nodes.empty()) return {};
    const std::vector<std::int64_t>& pull = of_task->second;
    const auto [least, most] = std::ranges::minmax(nodes, {}, [&](row node) { return pull[node]; });
    const std::int64_t span = pull[most] - pull[least];
    std::vector<std::int64_t> points;
    for (const row node : nodes) points.push_back(span == 0 ? 0 : 100 * (pull[node] - pull[least]) / span);
    return points;
  }

 private:
  std::map<row, std::vector<std::int64_t>> pull_;
};

template <class Names>
auto value_named(const Names& names, const std::string& name) {
  const auto found = std::ranges::find_if(names, [&](const auto& one) { return name == one.first; });
  if (found == names.end()) throw unsupported("state " + name);
  return found->second;
}

policy::distance_limit limit_of(const json& record) {
  policy::distance_limit limit;
  limit.hard = text_or_empty(record, "mode") == "hard";
  if (has(record, "highestTierAllowed")) limit.highest_tier = record.at("highestTierAllowed").get<std::int64_t>();
  return limit;
}

/// The namespace, a stroke and the name, or the name alone.
std::string full_name(const json& object) {
  const json& about = member(object, "metadata");
  const std::string space = text_or_empty(about, "namespace");
  return (space.empty() ? "" : space + "/") + text_or_empty(about, "name");
}

constexpr const char* soft_effect = "PreferNoSchedule";

bool tolerates(const json& pod, const json& taint) {
  for (const json& one : items(member(pod, "spec"), "tolerations")) {
    const std::string key = text_or_empty(one, "key");
    const std::string effect = text_or_empty(one, "effect");
    if (!effect.empty() && effect != text_or_empty(taint, "effect")) continue;
    if (!key.empty() && key != text_or_empty(taint, "key")) continue;
    if (text_or_empty(one, "operator") == "Exists") return true;
    if (!key.empty() && text_or_empty(one, "value") == text_or_empty(taint, "value")) return true;
  }
  return false;
}

/// Terms of affinity to nodes: all expressions have to match.
bool node_matches(const json& term, const json& node) {
  if (has(term, "matchFields")) throw unsupported("affinity by fields of nodes");
  const json& expressions = items(term, "matchExpressions");
  return !expressions.empty() && volcano_selector({{"matchExpressions", expressions}}).matches(volcano_labels(node));
}

/// Selectors and taints; nothing that is placed during a session changes them.
node_refusal refusal_of(const json& pod, const json& node) {
  const json& labels = items(member(node, "metadata"), "labels");
  const json& spec = member(node, "spec");
  if (value_or(spec, "unschedulable", false)) return node_refusal::for_good;
  for (const auto& [key, value] : items(member(pod, "spec"), "nodeSelector").items()) {
    if (!labels.is_object() || member(labels, key) != value) return node_refusal::for_good;
  }
  const json& needed = member(member(member(pod, "spec"), "affinity"), "nodeAffinity");
  if (has(needed, "requiredDuringSchedulingIgnoredDuringExecution")) {
    const json& terms = items(needed.at("requiredDuringSchedulingIgnoredDuringExecution"), "nodeSelectorTerms");
    if (std::ranges::none_of(terms, [&](const json& term) { return node_matches(term, node); }))
      return node_refusal::for_good;
  }
  for (const json& taint : items(spec, "taints")) {
    if (text_or_empty(taint, "effect") == soft_effect) continue;
    if (!tolerates(pod, taint)) return node_refusal::for_good;
  }
  return node_refusal::none;
}

void check_pod(const json& pod) {
  const json& spec = member(pod, "spec");
  if (has(spec, "topologySpreadConstraints")) throw unsupported("spread of pods");
  if (has(spec, "initContainers")) throw unsupported("pods that need more to start");
  for (const json& container : items(spec, "containers")) {
    for (const json& port : items(container, "ports")) {
      if (has(port, "hostPort")) throw unsupported("ports of hosts");
    }
  }
}

class cluster_reader {
 public:
  explicit cluster_reader(const json& one) : case_(one), resolved_(one.at("resolved")) {}

  cluster_state read() {
    for (const json& object : items(case_.at("input"), "nodes")) node_objects_[full_name(object)] = &object;
    for (const json& object : items(case_.at("input"), "pods")) pod_objects_[full_name(object)] = &object;
    for (const json& object : items(case_.at("input"), "pod_groups")) group_objects_[full_name(object)] = &object;
    for (const auto& [name, record] : items(resolved_, "nodes").items()) read_node(name, record);
    for (const json& object : items(case_.at("input"), "queues")) read_queue(object);
    for (const auto& [name, record] : items(resolved_, "jobs").items()) read_job(name, record);
    check_volcano_volumes(case_);
    read_domains();
    read_settings();
    return std::move(made_);
  }

 private:
  void read_node(const std::string& name, const json& record) {
    if (!value_or(record, "ready", true)) throw unsupported("nodes that are not ready");
    kaisched::volcano::node_state& node = made_.nodes.emplace_back();
    node.name = name;
    node.allocatable = volcano_resources(member(record, "allocatable"));
    node.idle = node.allocatable;
    const json& labels = items(member(*node_objects_.at(name), "metadata"), "labels");
    if (has(labels, "volcano.sh/nodegroup-name")) node.group = text_or_empty(labels, "volcano.sh/nodegroup-name");
    node_rows_[name] = made_.nodes.size() - 1;
  }

  /// Recorded times are relative: any will do that is far from 0.
  static cluster_state at_noon() {
    cluster_state made;
    made.now = 1'000'000'000'000'000'000;
    return made;
  }

  /// `now`, or so long before or after it; 0: nobody says.
  [[nodiscard]] std::int64_t time_of(const json& recorded) const {
    if (recorded.is_null()) return 0;
    const std::string text = recorded.get<std::string>();
    if (!text.starts_with("now")) throw unsupported("time " + text);
    if (text == "now") return made_.now;
    const std::optional<std::int64_t> apart = io::kubernetes::parse_duration(text.substr(text[3] == '+' ? 4 : 3));
    if (!apart) throw unsupported("time " + text);
    return made_.now + *apart;
  }

  /// From two annotations: steps, and as many weights.
  static std::vector<kaisched::volcano::queue_step> path_of(const json& annotations) {
    const auto parts = [](std::string text) {
      std::vector<std::string> made;
      std::size_t at = 0;
      for (std::size_t end = 0; end != std::string::npos; at = end + 1) {
        end = text.find('/', at);
        made.push_back(text.substr(at, end - at));
      }
      return made;
    };
    std::vector<kaisched::volcano::queue_step> path;
    const std::string steps = text_or_empty(annotations, "volcano.sh/hierarchy");
    if (steps.empty()) return path;
    const std::vector<std::string> weights = parts(text_or_empty(annotations, "volcano.sh/hierarchy-weights"));
    for (const std::string& name : parts(steps)) {
      if (path.size() == weights.size()) throw unsupported("steps without weights");
      path.push_back({name, std::max(1.0, std::stod(weights[path.size()]))});
    }
    return path;
  }

  void read_queue(const json& object) {
    const json& spec = member(object, "spec");
    kaisched::volcano::queue_state& queue = made_.queues.emplace_back();
    queue.name = text_or_empty(member(object, "metadata"), "name");
    queue.parent = text_or_empty(spec, "parent");
    queue.weight = value_or<std::int64_t>(spec, "weight", 0);
    queue.priority = value_or<std::int64_t>(spec, "priority", 0);
    queue.open = text_or_empty(member(object, "status"), "state") == "Open";
    queue.reclaimable = value_or(spec, "reclaimable", true);
    if (!items(spec, "capability").empty()) queue.capability = volcano_quantities(member(spec, "capability"));
    if (!items(spec, "deserved").empty()) queue.deserved = volcano_quantities(member(spec, "deserved"));
    const json& guarantee = items(member(spec, "guarantee"), "resource");
    if (!guarantee.empty()) queue.guarantee = volcano_quantities(guarantee);
    queue.hierarchy = path_of(items(member(object, "metadata"), "annotations"));
    if (has(spec, "affinity")) queue.node_groups = volcano_node_groups(member(spec, "affinity"));
    queue.most_devices = volcano_device_limits(case_, items(spec, "capability"));
    queue.created = time_of(member(member(object, "metadata"), "creationTimestamp"));
  }

  void read_job(const std::string& name, const json& record) {
    const auto group = group_objects_.find(name);
    if (group == group_objects_.end()) throw unsupported("jobs without a group");
    const json& spec = member(*group->second, "spec");
    const row place = made_.jobs.size();
    job_state& job = made_.jobs.emplace_back();
    job.name = name;
    const std::string queue = text_or_empty(record, "queue");
    for (row i = 0; i < made_.queues.size(); ++i) {
      if (made_.queues[i].name == queue) job.queue = i;
    }
    job.priority = value_or<std::int64_t>(record, "priority", 0);
    job.created = time_of(member(member(*group->second, "metadata"), "creationTimestamp"));
    job.min_available = value_or<std::int64_t>(record, "min_available", 0);
    for (const auto& [role, count] : items(record, "task_min_available").items()) {
      job.minimums.by_role[role] = count.get<std::int64_t>();
    }
    for (const auto& [rule, count] : items(record, "min_sub_jobs").items()) {
      job.min_sub_jobs[rule] = count.get<std::int64_t>();
    }
    job.has_rules = !items(spec, "subGroupPolicy").empty();
    if (has(spec, "minResources")) {
      job.min_resources = volcano_quantities(member(spec, "minResources"));
      policy::resource_names& named = job.min_named.emplace();
      for (const auto& [resource, amount] : member(spec, "minResources").items()) named.push_back(resource);
    }
    const std::string phase = text_or_empty(record, "phase");
    job.phase = phase.empty() ? job_phase::pending : value_named(job_phase_names, phase);
    job.has_topology = has(spec, "networkTopology");
    job.topology =
        limit_of(has(record, "network_topology") ? record.at("network_topology") : member(spec, "networkTopology"));
    job.allocated_domain = text_or_empty(record, "allocated_hypernode");
    std::map<std::string, row> rows;
    for (const auto& [task, about] : items(record, "tasks").items()) rows[task] = read_task(task, about, place);
    for (const auto& [sub_job, about] : items(record, "sub_jobs").items()) read_sub_job(sub_job, about, place, rows);
  }

  row read_task(const std::string& name, const json& record, row job) {
    const auto pod = pod_objects_.find(name);
    if (pod == pod_objects_.end()) throw unsupported("tasks without a pod");
    check_pod(*pod->second);
    const json& about = member(*pod->second, "metadata");
    const json& spec = member(*pod->second, "spec");
    const row place = made_.tasks.size();
    task_state& task = made_.tasks.emplace_back();
    task.name = name;
    task.uid = text_or_empty(about, "uid");
    task.role = text_or_empty(record, "role");
    task.request = volcano_resources(member(record, "resreq"));
    task.first_request = task.request;
    task.pod_priority = value_or<std::int64_t>(spec, "priority", 0);
    task.priority = value_or<std::int64_t>(record, "priority", 0);
    task.created = time_of(member(about, "creationTimestamp"));
    const json& started = member(member(*pod->second, "status"), "startTime");
    task.started = started.is_null() ? task.created : time_of(started);
    task.status = value_named(task_status_names, text_or_empty(record, "status"));
    task.job = job;
    task.preemptable = value_or(record, "preemptable", false);
    task.best_effort = value_or(record, "best_effort", false);
    task.gated = value_or(record, "sched_gated", false);
    if (task.gated) throw unsupported("gates of scheduling");
    task.preempts = text_or_empty(spec, "preemptionPolicy") != "Never";
    task.critical = text_or_empty(spec, "priorityClassName").starts_with("system-") ||
                    text_or_empty(about, "namespace") == "kube-system";
    const std::string nominated = text_or_empty(member(*pod->second, "status"), "nominatedNodeName");
    if (const auto at = node_rows_.find(nominated); at != node_rows_.end()) task.nominated = at->second;
    std::vector<const json*> nodes;
    for (const kaisched::volcano::node_state& node : made_.nodes) nodes.push_back(node_objects_.at(node.name));
    const std::vector<bool> lacks = volcano_lacks_devices(case_, *pod->second, nodes);
    std::vector<node_refusal> refusals;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      refusals.push_back(lacks[i] ? node_refusal::for_good : refusal_of(*pod->second, *nodes[i]));
    }
    task.refusals = std::make_shared<const std::vector<node_refusal>>(std::move(refusals));
    task.claims = volcano_device_claims(case_, *pod->second);
    set_wishes(*pod->second, nodes, place, task);
    if (const auto at = node_rows_.find(text_or_empty(record, "node")); at != node_rows_.end()) {
      task.node = at->second;
      if (task.status != task_status::succeeded && task.status != task_status::failed) made_.charge(place);
    }
    made_.jobs[job].tasks.push_back(place);
    return place;
  }

  void set_wishes(const json& pod, const std::vector<const json*>& nodes, row place, task_state& task) {
    if (task.status != task_status::pending) return;
    const auto shared = [](std::vector<std::int64_t> amounts) {
      const bool any = std::ranges::any_of(amounts, [](std::int64_t one) { return one != 0; });
      return any ? std::make_shared<const std::vector<std::int64_t>>(std::move(amounts)) : nullptr;
    };
    std::vector<std::int64_t> avoids;
    std::vector<std::int64_t> prefers;
    for (const json* node : nodes) {
      avoids.push_back(std::ranges::count_if(items(member(*node, "spec"), "taints"), [&](const json& taint) {
        return text_or_empty(taint, "effect") == soft_effect && !tolerates(pod, taint);
      }));
      std::int64_t weight = 0;
      for (const json& one : items(member(member(member(pod, "spec"), "affinity"), "nodeAffinity"),
                                   "preferredDuringSchedulingIgnoredDuringExecution")) {
        if (node_matches(member(one, "preference"), *node)) weight += value_or<std::int64_t>(one, "weight", 0);
      }
      prefers.push_back(weight);
    }
    task.avoids = shared(std::move(avoids));
    task.prefers = shared(std::move(prefers));
    std::vector<std::int64_t> pull = volcano_pull(case_, pod, nodes);
    if (std::ranges::all_of(pull, [](std::int64_t one) { return one == 0; })) return;
    if (wishes_ == nullptr) made_.neighbours = wishes_ = std::make_shared<recorded_wishes>();
    wishes_->add(place, std::move(pull));
  }

  void read_sub_job(const std::string& name, const json& record, row job, const std::map<std::string, row>& rows) {
    const row place = made_.jobs[job].sub_jobs.size();
    sub_job_state& made = made_.jobs[job].sub_jobs.emplace_back();
    made.name = name;
    made.group = text_or_empty(record, "group");
    made.min_available = value_or<std::int64_t>(record, "min_available", 0);
    made.priority = value_or<std::int64_t>(record, "priority", 0);
    made.place = value_or<std::int64_t>(record, "match_index", 0);
    made.has_topology = has(record, "network_topology");
    made.topology = limit_of(member(record, "network_topology"));
    made.allocated_domain = text_or_empty(record, "allocated_hypernode");
    for (const json& task : items(record, "tasks")) {
      const row at = rows.at(task.get<std::string>());
      made.tasks.push_back(at);
      made_.tasks[at].sub_job = place;
    }
  }

  void read_domains() {
    std::vector<policy::domain_declaration> declared;
    for (const auto& [name, record] : items(resolved_, "hypernodes").items()) {
      policy::domain_declaration& made = declared.emplace_back();
      made.name = name;
      made.tier = record.at("tier").get<std::int64_t>();
      made.nodes = items(record, "real_nodes").get<std::vector<std::string>>();
      made.domains = items(record, "children").get<std::vector<std::string>>();
      if (text_or_empty(record, "parent").empty() && name.starts_with("<")) made_.top_domain = name;
    }
    made_.domains = policy::network_domains(declared);
    const bool asked = std::ranges::any_of(made_.jobs, kaisched::volcano::has_any_topology);
    if (asked && !value_or(resolved_, "hypernodes_ready", false)) throw unsupported("domains that are not ready");
  }

  void read_settings() {
    for (const json& action : items(case_, "actions")) made_.enqueues = made_.enqueues || action == "enqueue";
    const json& settings = member(case_, "settings");
    if (made_.nodes.size() > 50) throw unsupported("samples of nodes");
    const json& sharding = member(settings, "sharding");
    const std::string mode = text_or_empty(sharding, "mode");
    made_.only_shard = mode == "hard";
    made_.shard_first = mode == "soft";
    for (const json& node : items(sharding, "nodes_in_shard")) {
      const auto at = node_rows_.find(node.get<std::string>());
      if (at != node_rows_.end()) made_.shard.insert(at->second);
    }
  }

  const json& case_;
  const json& resolved_;
  std::shared_ptr<recorded_wishes> wishes_;  ///< null: nobody has any
  cluster_state made_ = at_noon();
  std::map<std::string, row> node_rows_;
  std::map<std::string, const json*> node_objects_;
  std::map<std::string, const json*> pod_objects_;
  std::map<std::string, const json*> group_objects_;
};

}  // namespace

const char* volcano_name(task_status status) {
  return std::ranges::find(task_status_names, status, [](const auto& one) { return one.second; })->first;
}

const char* volcano_name(job_phase phase) {
  return std::ranges::find(job_phase_names, phase, [](const auto& one) { return one.second; })->first;
}

task_status volcano_task_status(const std::string& name) { return value_named(task_status_names, name); }

cluster_state volcano_cluster(const json& one) { return cluster_reader(one).read(); }

bool is_scheduled(kaisched::volcano::task_status status) {
  using kaisched::volcano::task_status;
  return status == task_status::running || status == task_status::bound || status == task_status::failed ||
         status == task_status::succeeded;
}

}  // namespace kaisched::conformance
