// The schema volcano-session-case/1. Of kind session-call: a session is opened and functions of plug-ins are called;
// those that are rules of the library are asked the same. Of kind session: actions run, and they are played.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "conformance/json_values.hpp"
#include "conformance/rules/limits.hpp"
#include "conformance/schemas.hpp"
#include "conformance/unsupported.hpp"
#include "conformance/volcano_plugin_calls.hpp"
#include "conformance/volcano_records.hpp"
#include "conformance/volcano_settings.hpp"
#include "conformance/volcano_state.hpp"
#include "policy/gang/admission.hpp"
#include "policy/placement/strategy_fit.hpp"
#include "policy/placement/utilisation.hpp"
#include "policy/topology/network_scores.hpp"
#include "schedulers/volcano/rules/plugins.hpp"
#include "schedulers/volcano/rules/session.hpp"

namespace kaisched::conformance {

namespace {

using nlohmann::json;
using policy::resource_list;

constexpr double score_tolerance = 1.001e-8;  // the rows are cut after the eighth digit
constexpr double topology_tolerance = 0.1;
constexpr double golden_tolerance = 1e-6;

/// `absolute`: the tolerance is one of the score itself, else of its part.
volcano_difference compare_volcano_score(const json& wanted, double found, double tolerance, bool absolute) {
  const double value = wanted.get<double>();
  if (std::fabs(value - found) <= tolerance * (absolute ? 1.0 : std::max(1.0, std::fabs(value)))) return std::nullopt;
  return "score is " + std::to_string(found) + ", recorded is " + std::to_string(value);
}

/// The job that a task belongs to.
const json& job_of_task(const json& one, const std::string& task) {
  for (const auto& [name, job] : items(one.at("resolved"), "jobs").items()) {
    if (items(job, "tasks").contains(task)) return job;
  }
  throw unsupported("a task without a job");
}

resource_list request_of_task(const json& one, const std::string& task) {
  return volcano_resources(member(items(job_of_task(one, task), "tasks").at(task), "resreq"));
}

/// The object of a list in the input, by namespace/name or name.
const json& input_object(const json& one, std::string_view list, const std::string& name) {
  for (const json& object : items(one.at("input"), list)) {
    const json& about = member(object, "metadata");
    const std::string space = text_or_empty(about, "namespace");
    if ((space.empty() ? "" : space + "/") + text_or_empty(about, "name") == name) return object;
  }
  throw unsupported("an object that is not recorded");
}

/// Scores and answers of one plug-in.
class call_judge {
 public:
  call_judge(const json& one, const json& plugin)
      : case_(one), plugin_(plugin), arguments_(member(plugin, "arguments")), name_(name_of(plugin)) {}

  /// The score of a node for a task by itself.
  [[nodiscard]] double node_order(const std::string& task, const std::string& node) const {
    if (name_ == "nodegroup") return node_group_calls(case_, plugin_).score(task, node);
    const json& there = items(case_.at("resolved"), "nodes").at(node);
    const resource_list allocatable = volcano_resources(member(there, "allocatable"));
    const resource_list used = volcano_resources(member(there, "used"));
    if (name_ == "resource-strategy-fit") {
      const resource_list request = request_of_task(case_, task);
      const auto own = volcano_strategies_of_pod(input_object(case_, "pods", task));
      const policy::strategy_fit_settings settings = policy::usable_settings(volcano_strategy_settings(arguments_));
      const double fit = settings.weight > 0
                             ? policy::strategy_fit_score(request, allocatable, used, settings, own ? &*own : nullptr)
                             : 0;
      const policy::scarcity_settings scarce = volcano_scarcity_settings(member(arguments_, "sra"));
      return fit + (scarce.weight > 0 ? policy::scarcity_score(request, allocatable, scarce) : 0);
    }
    if (name_ == "usage") {
      const std::optional<policy::measured_load> load = fresh_load(node);
      if (!load) return 0;
      no_pods_on(node);
      const policy::load_weights weights{value_or<std::int64_t>(arguments_, "cpu.weight", 1),
                                         value_or<std::int64_t>(arguments_, "memory.weight", 1)};
      const auto part = [](double percent, double capacity) { return policy::composite_load(percent, 0, capacity); };
      return policy::load_score(part(load->cpu, allocatable.cpu), part(load->memory, allocatable.memory), weights,
                                value_or<std::int64_t>(arguments_, "usage.weight", 5));
    }
    throw unsupported("scores of plug-in " + name_);
  }

  /// Scores of nodes beside each other.
  [[nodiscard]] std::map<std::string, double> batch_node_order(const std::string& task, const json& nodes) const {
    if (name_ != "network-topology-aware") throw unsupported("scores of plug-in " + name_);
    const network of(case_, arguments_);
    return of.near_or_packed(task, nodes);
  }

  [[nodiscard]] std::map<std::string, double> hypernode_order(const std::string& sub_job, const json& domains) const {
    if (name_ != "network-topology-aware") throw unsupported("scores of plug-in " + name_);
    const network of(case_, arguments_);
    return of.packed_domains(sub_job, domains);
  }

  /// The text of a refusal, or nothing.
  [[nodiscard]] std::optional<std::string> predicate(const std::string& task, const std::string& node) const {
    if (name_ == "nodegroup") return node_group_calls(case_, plugin_).refusal(task, node);
    if (name_ != "usage") throw unsupported("predicates of plug-in " + name_);
    const std::optional<policy::measured_load> load = fresh_load(node);
    const json& thresholds = member(arguments_, "thresholds");
    const policy::measured_load most{value_or(thresholds, "cpu", 80.0), value_or(thresholds, "mem", 80.0)};
    switch (load ? policy::refused_by_load(*load, most) : policy::load_refusal::none) {
      case policy::load_refusal::cpu:
        return "the CPU load of the node exceeds the upper limit.";
      case policy::load_refusal::memory:
        return "the memory load of the node exceeds the upper limit.";
      case policy::load_refusal::none:
        break;
    }
    return std::nullopt;
  }

  /// Whether the text of a refusal is that of the plug-in alone.
  [[nodiscard]] bool tells_why() const { return name_ == "nodegroup"; }
  /// Tasks that have to leave, whoever comes.
  [[nodiscard]] std::vector<std::string> victims() const {
    if (name_ != "tdm") throw unsupported("victims of plug-in " + name_);
    return leaving_zones(case_, plugin_);
  }

  /// The candidates that may be taken, for plug-ins that look at nothing else. Their class of priority is not recorded.
  [[nodiscard]] std::vector<std::string> preemptable(const json& candidates) const {
    kaisched::volcano::cluster_state cluster;
    cluster.jobs.emplace_back();
    std::vector<kaisched::volcano::row> rows;
    for (const json& name : candidates) {
      rows.push_back(cluster.tasks.size());
      kaisched::volcano::task_state& task = cluster.tasks.emplace_back();
      task.name = name.get<std::string>();
      task.critical = task.name.starts_with("kube-system/");
      task.job = 0;
    }
    std::vector<std::string> found;
    const kaisched::volcano::session of(std::move(cluster), {});
    const kaisched::volcano::victims allowed = kaisched::volcano::make_conformance()->preemptable(of, 0, rows);
    for (const kaisched::volcano::row task : allowed.value_or(rows)) found.push_back(of.cluster().tasks[task].name);
    return found;
  }
  /// Whether victims of the plug-in depend on nothing but themselves.
  [[nodiscard]] bool spares_by_task() const { return name_ == "conformance"; }

  /// The task of a test that says only its name.
  [[nodiscard]] std::string task_named(const std::string& name) const {
    for (const auto& [id, job] : items(case_.at("resolved"), "jobs").items()) {
      for (const auto& [task, record] : items(job, "tasks").items()) {
        if (task == name || task.substr(task.find('/') + 1) == name) return task;
      }
    }
    throw unsupported("a task that is not recorded");
  }

  /// Whether a job may come in; `after` it has been let in once more.
  [[nodiscard]] bool job_enqueueable(const std::string& job, bool after) const {
    const json& spec = member(input_object(case_, "pod_groups", job), "spec");
    if (!has(spec, "minResources")) return true;
    const resource_list minimum = volcano_quantities(member(spec, "minResources"));
    if (name_ == "resourcequota") {
      if (after) throw unsupported("quotas after a job was let in");
      policy::resource_names named;
      for (const auto& [name, text] : member(spec, "minResources").items()) named.push_back(name);
      return policy::within_quotas(quotas_of(job.substr(0, job.find('/'))), {}, minimum, named);
    }
    if (name_ == "overcommit") {
      resource_list used;
      for (const auto& [name, node] : items(case_.at("resolved"), "nodes").items()) {
        used.add(volcano_resources(member(node, "used")));
      }
      const resource_list room = policy::promisable(volcano_resources(member(case_.at("resolved"), "total")), used,
                                                    value_or(arguments_, "overcommit-factor", 1.2));
      resource_list promised = promised_at_first();
      if (after) promised.add(minimum);
      return policy::overcommitted(room, promised, minimum).empty();
    }
    throw unsupported("gate of plug-in " + name_);
  }

 private:
  /// Domains of the session with their amounts.
  class network {
   public:
    network(const json& one, const json& arguments) : case_(one), arguments_(arguments) {
      std::vector<policy::domain_declaration> declared;
      for (const auto& [name, record] : items(one.at("resolved"), "hypernodes").items()) {
        policy::domain_declaration& made = declared.emplace_back();
        made.name = name;
        made.tier = record.at("tier").get<std::int64_t>();
        made.nodes = items(record, "real_nodes").get<std::vector<std::string>>();
        made.domains = items(record, "children").get<std::vector<std::string>>();
        policy::domain_amounts& amounts = amounts_[name];
        for (const std::string& node : made.nodes) {
          const json& there = items(one.at("resolved"), "nodes").at(node);
          amounts.allocatable.add(volcano_resources(member(there, "allocatable")));
          amounts.used.add(volcano_resources(member(there, "used")));
        }
        lowest_ = declared.size() == 1 ? made.tier : std::min(lowest_, made.tier);
        highest_ = std::max(highest_, made.tier);
      }
      domains_ = policy::network_domains(declared);
      weights_ = volcano_packing_weights(arguments, "hypernode.binpack");
      scale_ = policy::max_node_score * static_cast<double>(value_or<std::int64_t>(arguments, "weight", 1));
    }

    [[nodiscard]] std::map<std::string, double> near_or_packed(const std::string& task, const json& nodes) const {
      const json& job = job_of_task(case_, task);
      for (const auto& [name, sub_job] : items(job, "sub_jobs").items()) {
        const json& tasks = items(sub_job, "tasks");
        const bool of_it = std::find(tasks.begin(), tasks.end(), json(task)) != tasks.end();
        if (of_it && has(sub_job, "network_topology")) return near(job, sub_job, nodes);
      }
      return packed(request_of_task(case_, task), nodes);
    }

    [[nodiscard]] std::map<std::string, double> packed_domains(const std::string& name, const json& domains) const {
      const auto& [job, sub_job] = sub_job_of(name);
      resource_list request;
      for (const json& task : items(*sub_job, "tasks")) request.add(request_of_task(case_, task.get<std::string>()));
      std::vector<policy::near_candidate> candidates;
      for (const json& domain : domains) {
        const std::string of = domain.get<std::string>();
        candidates.push_back({policy::domain_packing(request, amounts_.at(of), weights_), pods_in(*job, *sub_job, of)});
      }
      return scaled(domains, candidates, items(*sub_job, "tasks").size());
    }

   private:
    [[nodiscard]] std::pair<const json*, const json*> sub_job_of(const std::string& name) const {
      for (const auto& [id, job] : items(case_.at("resolved"), "jobs").items()) {
        const json& all = items(job, "sub_jobs");
        if (all.is_object() && all.contains(name)) return {&job, &all.at(name)};
      }
      throw unsupported("a sub-job that is not recorded");
    }

    [[nodiscard]] std::size_t pods_in(const json& job, const json& sub_job, const std::string& domain) const {
      const policy::network_domains::domain* found = domains_.find(domain);
      std::vector<std::string> nodes;
      for (const json& task : items(sub_job, "tasks")) {
        nodes.push_back(text_or_empty(items(job, "tasks").at(task.get<std::string>()), "node"));
      }
      return found == nullptr ? 0 : policy::pods_within(found->nodes, nodes);
    }

    [[nodiscard]] std::string lowest_domain_of(const std::string& node) const {
      for (const auto& [name, domain] : domains_.all()) {
        if (domain.tier == lowest_ && domain.nodes.contains(node)) return name;
      }
      return {};
    }

    /// Where the pods of a job are, as its group says; the session may have found a smaller domain since.
    [[nodiscard]] std::string allocated_of(const json& job) const {
      for (const auto& [name, record] : items(case_.at("resolved"), "jobs").items()) {
        if (&record != &job) continue;
        const json& about = member(input_object(case_, "pod_groups", name), "metadata");
        return text_or_empty(items(about, "annotations"), "volcano.sh/job-allocated-hypernode");
      }
      return {};
    }

    [[nodiscard]] std::map<std::string, double> near(const json& job, const json& sub_job, const json& nodes) const {
      const std::string allocated = allocated_of(job);
      if (allocated.empty()) return {};
      std::vector<policy::near_candidate> candidates;
      for (const json& node : nodes) {
        const std::string domain = lowest_domain_of(node.get<std::string>());
        candidates.push_back(
            {policy::nearness(domains_, domain, allocated, lowest_, highest_), pods_in(job, sub_job, domain)});
      }
      return scaled(nodes, candidates, items(sub_job, "tasks").size());
    }

    [[nodiscard]] std::map<std::string, double> scaled(const json& names,
                                                       std::vector<policy::near_candidate>& candidates,
                                                       std::size_t pods) const {
      policy::prefer_where_pods_are(candidates, pods);
      std::map<std::string, double> scores;
      for (std::size_t i = 0; i < candidates.size(); ++i) {
        scores[names[i].get<std::string>()] = scale_ * candidates[i].score;
      }
      return scores;
    }

    [[nodiscard]] std::map<std::string, double> packed(const resource_list& request, const json& nodes) const {
      if (!value_or(arguments_, "hypernode.binpack.normal-pod.enable", true)) return {};
      const double fading = value_or(arguments_, "hypernode.binpack.normal-pod.fading", 0.8);
      std::map<std::string, double> scores;
      for (const json& node : nodes) {
        const std::string name = node.get<std::string>();
        policy::domains_by_tier around;
        for (std::int64_t tier = lowest_; tier <= highest_; ++tier) {
          const auto found = std::find_if(domains_.all().begin(), domains_.all().end(), [&](const auto& domain) {
            return domain.second.tier == tier && domain.second.nodes.contains(name);
          });
          around.push_back(found == domains_.all().end() ? nullptr : &amounts_.at(found->first));
        }
        scores[name] = scale_ * policy::packing_around(request, around, weights_, lowest_, fading < 0 ? 0.8 : fading);
      }
      return scores;
    }

    const json& case_;
    const json& arguments_;
    policy::network_domains domains_;
    std::map<std::string, policy::domain_amounts> amounts_;
    policy::resource_weights weights_;
    std::int64_t lowest_ = 0;
    std::int64_t highest_ = 0;
    double scale_ = 0;
  };

  /// What was measured in the last five minutes.
  [[nodiscard]] std::optional<policy::measured_load> fresh_load(const std::string& node) const {
    static const std::set<std::string> fresh{"now", "now+0s", "now-0s"};
    const json& usage = member(items(member(case_.at("expected"), "direct"), "nodes_usage"), node);
    if (!fresh.contains(text_or_empty(usage, "MetricsTime"))) return std::nullopt;
    policy::measured_load load;
    for (const auto& [period, percent] : items(usage, "CPUUsageAvg").items()) load.cpu = percent.get<double>();
    for (const auto& [period, percent] : items(usage, "MEMUsageAvg").items()) load.memory = percent.get<double>();
    return load;
  }

  /// Pods that were placed after the measurement are estimated from what they ask for.
  void no_pods_on(const std::string& node) const {
    for (const auto& [name, job] : items(case_.at("resolved"), "jobs").items()) {
      for (const auto& [task, record] : items(job, "tasks").items()) {
        if (text_or_empty(record, "node") == node) throw unsupported("estimates for pods that started just now");
      }
    }
  }

  [[nodiscard]] std::vector<policy::space_limit> quotas_of(const std::string& space) const {
    std::vector<policy::space_limit> made;
    for (const json& quota : items(case_.at("input"), "resource_quotas")) {
      if (text_or_empty(member(quota, "metadata"), "namespace") != space) continue;
      const json& status = member(quota, "status");
      policy::space_limit& one = made.emplace_back();
      one.hard = volcano_quantities(items(status, "hard"));
      one.used = volcano_quantities(items(status, "used"));
      for (const auto& [name, text] : items(status, "hard").items()) {
        if (name != "cpu" && name != "memory" && name != "pods" && !is_volcano_scalar(name))
          throw unsupported("quota of " + name);
        one.limited.push_back(name);
      }
    }
    return made;
  }

  /// What is promised to jobs that are in the queue when the session opens.
  [[nodiscard]] resource_list promised_at_first() const {
    resource_list promised;
    for (const json& group : items(case_.at("input"), "pod_groups")) {
      const std::string phase = text_or_empty(member(group, "status"), "phase");
      const json& minimum = items(member(group, "spec"), "minResources");
      if (minimum.empty()) continue;
      if (phase == "Running") throw unsupported("promises to running jobs");
      if (phase == "Inqueue") promised.add(volcano_quantities(minimum));
    }
    return promised;
  }

  const json& case_;
  const json& plugin_;
  const json& arguments_;
  std::string name_;
};

/// The only plug-in of the tiers: with several of them answers are combined, which nothing does yet.
const json& single_plugin(const json& one) {
  const json* found = nullptr;
  for (const json& tier : items(one, "tiers")) {
    for (const json& plugin : items(tier, "plugins")) {
      if (found != nullptr) throw unsupported("several plug-ins");
      found = &plugin;
    }
  }
  if (found == nullptr) throw unsupported("no plug-in");
  return *found;
}

class session_calls {
 public:
  explicit session_calls(const json& one) : case_(one), judge_(one, single_plugin(one)) {}

  std::vector<finding> run() {
    const json& direct = member(case_.at("expected"), "direct");
    if (direct.is_null() && !judge_.tells_why() && !judge_.spares_by_task())
      throw unsupported("what the test asserts is not a function of a plug-in");
    std::size_t judged = 0;
    for (const auto& [key, wanted] : items(case_.at("expected"), "direct").items()) {
      if (key == "nodes_usage" || key == "error" || key == "target_task") continue;
      assertion(key, wanted);
      ++judged;
    }
    for (const json& call : items(case_, "calls")) judged += golden(call) ? 1U : 0U;
    if (judged == 0) throw unsupported("nothing is recorded");
    return std::move(findings_);
  }

 private:
  void add(const char* gate, const std::string& where, const volcano_difference& why) {
    if (why) findings_.push_back({gate, where + ": " + *why});
  }

  /// What a test asserts names nodes without a score with 0; a recorded call does not name them.
  void scores(const char* gate, const std::string& where, const json& wanted,
              const std::map<std::string, double>& found, double tolerance, bool absolute) {
    if (!absolute && wanted.size() != found.size()) return add(gate, where, "another number of scores is recorded");
    for (const auto& [name, score] : wanted.items()) {
      const auto at = found.find(name);
      if (at == found.end() && !absolute) return add(gate, where, "no score for " + name);
      const double is = at == found.end() ? 0 : at->second;
      add(gate, where + " " + name, compare_volcano_score(score, is, tolerance, absolute));
    }
  }

  /// The call with which a test got what it asserts.
  [[nodiscard]] const json& call_of(std::string_view fn, const json& wanted, std::string_view list) const {
    for (const json& call : items(case_, "calls")) {
      if (call.at("fn") == fn && items(call.at("in"), list).size() == wanted.size()) return call.at("in");
    }
    throw unsupported("the call of " + std::string(fn) + " is not recorded");
  }

  void assertion(const std::string& key, const json& wanted) {
    if (key == "node_order") {
      for (const auto& [task, nodes] : wanted.items()) {
        for (const auto& [node, score] : nodes.items()) {
          add("expected", task + " on " + node,
              compare_volcano_score(score, judge_.node_order(task, node), score_tolerance, true));
        }
      }
    } else if (key == "batch_node_order") {
      const json& in = call_of(key, wanted, "nodes");
      scores("expected", key, wanted, judge_.batch_node_order(in.at("task").get<std::string>(), in.at("nodes")),
             topology_tolerance, true);
    } else if (key == "hypernode_order" || key == "hyper_node_order") {
      const json& in = call_of("hypernode_order", wanted, "hypernodes");
      scores("expected", key, wanted, judge_.hypernode_order(in.at("subjob").get<std::string>(), in.at("hypernodes")),
             topology_tolerance, true);
    } else if (key == "job_enqueueable" || key == "job_enqueueable_after_enqueued") {
      for (const auto& [job, record] : items(case_.at("resolved"), "jobs").items()) {
        add("expected", key, compare_flag(wanted, judge_.job_enqueueable(job, key != "job_enqueueable")));
      }
    } else if (key == "predicate_error") {
      refusals(wanted.get<std::string>());
    } else if (key == "predicate_code") {
      codes(wanted);
    } else if (key == "victim_tasks_count") {
      add("expected", key, compare_number(wanted, static_cast<double>(judge_.victims().size())));
    } else {
      throw unsupported("assertion " + key);
    }
  }

  /// Of nodes for one task, or for several: 0 is none.
  void codes(const json& wanted) {
    const json& direct = member(case_.at("expected"), "direct");
    const auto of_task = [&](const std::string& task, const json& nodes) {
      for (const auto& [node, code] : nodes.items()) {
        const bool refused = judge_.predicate(task, node).has_value();
        if (refused != (code != 0)) add("expected", task + " on " + node, refused ? "refused" : "accepted");
      }
    };
    if (has(direct, "target_task")) return of_task(judge_.task_named(text_or_empty(direct, "target_task")), wanted);
    for (const auto& [task, nodes] : wanted.items()) of_task(task, nodes);
  }

  /// The error of the last predicate that was called.
  void refusals(const std::string& wanted) {
    std::optional<std::string> found;
    bool called = false;
    for (const json& call : items(case_, "calls")) {
      if (call.at("fn") != "predicate") continue;
      found = judge_.predicate(text_or_empty(call.at("in"), "task"), call.at("in").at("node").get<std::string>());
      called = true;
    }
    if (!called) throw unsupported("the call of predicate is not recorded");
    const bool same = found ? wanted.ends_with("because of " + *found) : wanted == "<nil>";
    if (!same) add("expected", "predicate", (found ? *found : "the node is accepted") + ", recorded is " + wanted);
  }

  /// Gate C: a recorded call; false if it says nothing of the plug-in.
  bool golden(const json& call) {
    const std::string fn = call.at("fn").get<std::string>();
    const json& in = call.at("in");
    const json& out = call.at("out");
    if (fn == "job_valid" || out.size() != 1) return false;
    const json& wanted = out.front();
    if (fn == "node_order") {
      add("call", fn,
          compare_volcano_score(wanted,
                                judge_.node_order(in.at("task").get<std::string>(), in.at("node").get<std::string>()),
                                golden_tolerance, false));
    } else if (fn == "batch_node_order") {
      scores("call", fn, wanted, judge_.batch_node_order(in.at("task").get<std::string>(), in.at("nodes")),
             golden_tolerance, false);
    } else if (fn == "hypernode_order") {
      scores("call", fn, member(wanted, "network-topology-aware"),
             judge_.hypernode_order(in.at("subjob").get<std::string>(), in.at("hypernodes")), golden_tolerance, false);
    } else if (fn == "predicate") {
      const std::optional<std::string> refusal =
          judge_.predicate(text_or_empty(in, "task"), in.at("node").get<std::string>());
      if (refusal.has_value() == (wanted == "ok")) add("call", fn, refusal ? "refused" : "accepted");
      if (refusal && !refusal->empty() && judge_.tells_why() && wanted.is_array() &&
          text_or_empty(wanted.front(), "reason") != *refusal)
        add("call", fn, "refused: " + *refusal);
    } else if (fn == "preemptable" && judge_.spares_by_task()) {
      add("call", fn, compare_names(wanted, judge_.preemptable(items(in, "candidates"))));
    } else if (fn == "victim_tasks") {
      add("call", fn, compare_names(wanted, judge_.victims()));
    } else {
      return false;
    }
    return true;
  }

  const json& case_;
  call_judge judge_;
  std::vector<finding> findings_;
};

/// Behaviour that is in no record.
void check_no_test_plugin(const json& one) {
  for (const json& feature : items(one, "features")) {
    if (feature == "test-plugin") throw unsupported("plug-in of a test");
  }
}

}  // namespace

verdict judge_volcano_session(const json& one, const judge_options& /*options*/) {
  verdict found;
  const std::string kind = one.at("kind").get<std::string>();
  found.features.push_back(kind);
  for (const json& feature : items(one, "features")) found.features.push_back(feature.get<std::string>());
  check_no_test_plugin(one);
  found.findings = kind == "session-call" ? session_calls(one).run() : replay_volcano_actions(one);
  return found;
}

bool volcano_session_in_reach(const json& one) {
  return text_or_empty(one, "kind") == "session-call" || judge_case(one, {}).unsupported() == nullptr;
}

}  // namespace kaisched::conformance
