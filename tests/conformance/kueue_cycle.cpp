// Recorded cycles: what is read, and which workloads are tried.

#include "conformance/kueue_cycle.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_demands.hpp"
#include "conformance/kueue_second_pass.hpp"
#include "conformance/kueue_variants.hpp"
#include "conformance/kueue_workload_shape.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

json namespace_labels(const json& input, const std::string& name) {
  static const std::map<std::string, json> known{
      {"default", json::object()},     {"eng-alpha", {{"dep", "eng"}}}, {"eng-beta", {{"dep", "eng"}}},
      {"eng-gamma", {{"dep", "eng"}}}, {"sales", {{"dep", "sales"}}},   {"lend", {{"dep", "lend"}}},
  };
  for (const json& object : items(input, "objects")) {
    if (text_or_empty(member(object, "metadata"), "name") == name && text_or_empty(object, "kind") == "Namespace")
      return items(member(object, "metadata"), "labels");
  }
  const auto found = known.find(name);
  return found == known.end() ? json::object() : found->second;
}

std::string namespace_of(const std::string& key) { return key.substr(0, key.find('/')); }

/// Resources of which more is asked than the limit allows, in words of the reference.
std::optional<std::string> invalid_requests(const json& workload) {
  std::vector<std::string> errors;
  const json& sets = items(member(workload, "spec"), "podSets");
  for (std::size_t s = 0; s < sets.size(); ++s) {
    const json& spec = member(member(sets[s], "template"), "spec");
    for (const char* kind : {"initContainers", "containers"}) {
      const json& containers = items(spec, kind);
      for (std::size_t c = 0; c < containers.size(); ++c) {
        const json& resources = member(containers[c], "resources");
        json names = json::array();
        for (const auto& [name, text] : items(resources, "requests").items()) {
          const json& bound = member(member(resources, "limits"), name);
          if (!bound.is_null() && quantity(name, text) > quantity(name, bound)) names.push_back(name);
        }
        if (names.empty()) continue;
        errors.push_back("spec.podSets[" + std::to_string(s) + "].template.spec." + kind + "[" + std::to_string(c) +
                         "]: Invalid value: " + names.dump() + ": requests must not exceed its limits");
      }
    }
  }
  if (errors.empty()) return std::nullopt;
  std::string text;
  for (const std::string& one : errors) text += (text.empty() ? "" : ", ") + one;
  return "resources validation failed: " + (errors.size() > 1 ? "[" + text + "]" : text);
}

void read_fewest(const json& object, adm::cycle_head& head) {
  const json& sets = items(member(object, "spec"), "podSets");
  bool fewer = false;
  for (std::size_t i = 0; i < sets.size(); ++i) {
    fewer = fewer || has(sets[i], "minCount");
    head.fewest.push_back(value_or(sets[i], "minCount", value_or(sets[i], "count", std::int64_t{0})));
  }
  if (!fewer) head.fewest.clear();
}

}  // namespace

cycle_replay::cycle_replay(const json& input, cycle_memory& memory)
    : input_(input), memory_(memory), all_(read_cluster(input)), places_(all_, input) {
  api_error_ = has(input, "admission_error") ? text_or_empty(input, "admission_error")
                                             : text_or_empty(input, "patch_status_err");
}

void cycle_replay::run() {
  ++memory_.cycle;
  read_workloads();
  const bool fair = value_or(input_, "enable_fair_sharing", false);
  for (const queue_object& queue : all_.queues) {
    queues_.push_back({queue.node, queue.groups, queue.rules, queue.preemption,
                       queue.preemption.borrow_within_cohort.has_value() || (fair && !queue.reclaim_is_never),
                       last_rank_of(all_, queue, input_)});
  }
  add_second_passes();
  add_heads();
  if (!places_.empty()) all_.state.listener = &places_;
  const adm::cycle_result result = adm::run_cycle(all_.state, queues_, heads_, rules());
  for (std::size_t i = 0; i < heads_.size(); ++i) {
    const queue_object& queue = all_.queue_at(queues_[heads_[i].queue].node);
    if (!heads_[i].holds_quota) remember(queue, heads_[i].name, result.heads[i]);
    tell(queue, i, result.heads[i]);
  }
  memory_.parked = parked_;
}

void cycle_replay::read_workloads() {
  for (const queue_object& queue : all_.queues) {
    if (!memory_.by_local_usage && has(member(queue.object, "spec"), "admissionScope"))
      throw unsupported("past usage of local queues");
  }
  std::map<std::string, std::string> local_queues;
  for (const json& one : items(input_, "local_queues"))
    local_queues[key_of(one)] = text_or_empty(member(one, "spec"), "clusterQueue");
  std::vector<json> sorted;
  for (const json& one : items(input_, "workloads")) sorted.push_back(one);
  std::stable_sort(sorted.begin(), sorted.end(), [](const json& a, const json& b) { return key_of(a) < key_of(b); });
  for (const json& object : sorted) {
    cycle_workload made{object, key_of(object), {}, has(member(object, "status"), "admission"), false};
    for (const auto& [name, value] : items(member(object, "metadata"), "annotations").items()) {
      if (name.find("workload-slice") != std::string::npos) throw unsupported("slices of workloads");
    }
    if (made.holds) {
      read_holder(made);
    } else {
      read_waiting(made, local_queues);
    }
    workloads_.emplace(made.key, std::move(made));
  }
}

void cycle_replay::read_holder(cycle_workload& workload) {
  workload.queue = text_or_empty(member(member(workload.object, "status"), "admission"), "clusterQueue");
  workload.second_pass = needs_second_pass(workload.object);
  all_.state.running.push_back(running_of(all_, workload.object, input_));
  adm::running_workload& running = all_.state.running.back();
  if (running.queue == adm::no_node) throw unsupported("workloads in queues that do not exist");
  const queue_object& queue = all_.queue_at(running.queue);
  if (is_beside_variants(queue, workload.object, input_)) throw unsupported("workloads beside variants");
  if (condition_is_true(workload.object, "Admitted"))
    running.as_variant = variant_in(all_, queue, workload.object, input_);
  if (counts_local_usage(queue)) running.local_usage = local_usage_of(workload.object);
  all_.state.tree.add_usage(running.queue, running.usage);
  places_.add_running(workload.object);
}

void cycle_replay::read_waiting(cycle_workload& workload, const std::map<std::string, std::string>& local_queues) {
  const auto local =
      local_queues.find(namespace_of(workload.key) + "/" + text_or_empty(member(workload.object, "spec"), "queueName"));
  if (local != local_queues.end()) workload.queue = local->second;
  if (all_.queue(workload.queue) == nullptr) workload.queue.clear();
  if (workload.queue.empty() || condition_is_true(workload.object, "Finished")) return;
  if (is_variant_parent(workload.object, input_)) return;
  const auto parked = memory_.parked.find(workload.queue);
  const bool waits = parked != memory_.parked.end() && parked->second.contains(workload.key);
  (waits ? parked_ : active_)[workload.queue].insert(workload.key);
}

bool cycle_replay::is_usable(const queue_object& queue) const {
  for (const adm::flavor_group& group : queue.groups) {
    for (const std::uint32_t flavor : group.flavors) {
      if (!all_.flavor_objects.contains(all_.flavors.names[flavor])) return false;
    }
  }
  const std::string stop = text_or_empty(member(queue.object, "spec"), "stopPolicy");
  return stop.empty() || stop == "None";
}

std::string cycle_replay::head_of(const queue_object& queue, const std::set<std::string>& keys) const {
  std::string best;
  for (const std::string& key : keys) {
    if (best.empty() || comes_first(queue, key, best)) best = key;
  }
  return best;
}

bool cycle_replay::comes_first(const queue_object& queue, const std::string& a_key, const std::string& b_key) const {
  const json& a = workloads_.at(a_key).object;
  const json& b = workloads_.at(b_key).object;
  if (counts_local_usage(queue)) {
    const double x = local_usage_of(a);
    const double y = local_usage_of(b);
    if (x != y) return x < y;
  }
  // Whoever waits for victims stays ahead, so that nobody else takes what they leave.
  const auto preemptor = memory_.preemptors.find(queue.name);
  if (preemptor != memory_.preemptors.end() && !queue.strict_order &&
      (preemptor->second == a_key) != (preemptor->second == b_key))
    return preemptor->second == a_key;
  const std::int64_t p = priority_of(a, input_);
  const std::int64_t q = priority_of(b, input_);
  if (p != q) return p > q;
  const std::int64_t s = queued_at(a, input_, true);
  const std::int64_t t = queued_at(b, input_, true);
  if (s != t) return s < t;
  const std::string u = text_or_empty(member(a, "metadata"), "uid");
  const std::string v = text_or_empty(member(b, "metadata"), "uid");
  return u != v ? u < v : a_key < b_key;
}

bool cycle_replay::counts_local_usage(const queue_object& queue) const {
  const json& scope = member(member(queue.object, "spec"), "admissionScope");
  return memory_.by_local_usage && text_or_empty(scope, "admissionMode") == "UsageBasedAdmissionFairSharing";
}

double cycle_replay::local_usage_of(const json& workload) const {
  const std::string name = local_queue_of(workload);
  double weight = 1;
  for (const json& one : items(input_, "local_queues")) {
    const json& said = member(member(member(one, "spec"), "fairSharing"), "weight");
    if (key_of(one) == name && !said.is_null()) weight = static_cast<double>(quantity("cpu", said)) / 1000.0;
  }
  const auto history = memory_.histories.find(name);
  return adm::weighted_usage(history == memory_.histories.end() ? adm::usage_amounts{} : history->second.total(),
                             weight, {});
}

/// Workloads that hold quota and look for places are tried beside the heads of the queues.
void cycle_replay::add_second_passes() {
  for (const auto& [key, workload] : workloads_) {
    if (!workload.second_pass) continue;
    const queue_object& queue = *all_.queue(workload.queue);
    if (!is_usable(queue)) {
      put_back(queue, key, comeback::parked, {"", "ClusterQueue " + queue.name + " is inactive"});
    } else if (!refuse(queue, key)) {
      add_head(queue, key);
    }
  }
}

void cycle_replay::add_heads() {
  for (const queue_object& queue : all_.queues) {
    const auto waiting_here = active_.find(queue.name);
    if (waiting_here == active_.end() || waiting_here->second.empty() || !is_usable(queue)) continue;
    const std::string key = head_of(queue, waiting_here->second);
    active_[queue.name].erase(key);
    if (!refuse(queue, key)) add_head(queue, key);
  }
}

void cycle_replay::add_head(const queue_object& queue, const std::string& key) {
  const cycle_workload& workload = workloads_.at(key);
  if (is_beside_variants(queue, workload.object, input_)) throw unsupported("workloads beside variants");
  adm::cycle_head& head = heads_.emplace_back();
  head.queue = static_cast<std::size_t>(&queue - all_.queues.data());
  head.priority = priority_of(workload.object, input_);
  head.queued_at = queued_at(workload.object, input_, true);
  head.name = key;
  head.holds_quota = workload.second_pass;
  head.lost_places = workload.second_pass && has_lost_nodes(workload.object);
  if (workload.second_pass) {
    texts_.push_back(held_demands(all_, workload.object, input_));
  } else {
    texts_.push_back(demands_of(all_, queue, workload.object, input_, [&](const std::string& flavor, const json& set) {
      return places_.mismatch(queue, flavor, set);
    }));
    read_fewest(workload.object, head);
    recall_scan(queue, head);
    const auto preemptor = memory_.preemptors.find(queue.name);
    head.preemptor = preemptor != memory_.preemptors.end() && preemptor->second == key;
  }
  for (adm::pod_set_demand& demand : texts_.back().demands)
    demand.allowed = allowed_flavors(all_, workload.object, input_);
  places_.add_head(queue, workload.object);
  head.demands = texts_.back().demands;
  head.as_variant = variant_in(all_, queue, workload.object, input_);
  head.may_not_preempt = has_closed_gate(workload.object, input_);
}

adm::cycle_rules cycle_replay::rules() {
  adm::cycle_rules made;
  made.by_shares = value_or(input_, "enable_fair_sharing", false);
  made.fair.within_nominal_is_free = gate(input_, "FairSharingPreemptWithinNominal");
  made.entries = {gate(input_, "PrioritizePreemptorWorkloads"), gate(input_, "PrioritySortingWithinCohort"),
                  gate(input_, "FairSharingPrioritizeNonBorrowing")};
  made.local_usage = memory_.by_local_usage;
  made.fungible = gate(input_, "FlavorFungibility");
  made.fewer_pods = gate(input_, "PartialAdmission");
  made.looks_again_on_overlap = gate(input_, "RecomputeAssignmentUponPreemptionTargetsOverlap");
  made.resource_order = all_.resource_order;
  made.pods_resource = all_.resources.find("pods");
  made.has_topology = places_.has_topology();
  made.looks_again_for_places = gate(input_, "TASRecomputeAssignmentWithinSchedulingCycle");
  made.leaves_without_replacement = gate(input_, "TASFailedNodeReplacementFailFast");
  if (!places_.empty()) made.places = &places_;
  return made;
}

adm::scan_memory cycle_replay::scan_now(const queue_object& queue, const json& workload) const {
  adm::scan_memory now;
  now.cycle = memory_.cycle;
  const auto generation = memory_.generations.find(queue.name);
  if (generation != memory_.generations.end()) now.generation = generation->second;
  if (gate(input_, "SchedulingEquivalenceHashing")) now.shape = shape_of(workload, input_).dump();
  return now;
}

void cycle_replay::recall_scan(const queue_object& queue, adm::cycle_head& head) {
  const auto found = memory_.scans.find(head.name);
  if (found == memory_.scans.end() || !gate(input_, "FlavorFungibility")) return;
  const adm::scan_memory now = scan_now(queue, workloads_.at(head.name).object);
  if (!adm::is_outdated(found->second, now, gate(input_, "FlavorFungibilityPreserveScanProgress")))
    head.progress = found->second.progress;
}

/// Workloads that no flavors are looked for.
bool cycle_replay::refuse(const queue_object& queue, const std::string& key) {
  const json& object = workloads_.at(key).object;
  for (const json& check : items(member(object, "status"), "admissionChecks")) {
    const std::string state = text_or_empty(check, "state");
    if (state != "Retry" && state != "Rejected") continue;
    put_back(queue, key, comeback::parked, {"PendingEvaluation", "The workload has failed admission checks"});
    return true;
  }
  const json& selector = member(member(queue.object, "spec"), "namespaceSelector");
  if (!matches_selector(selector, namespace_labels(input_, namespace_of(key)))) {
    put_back(queue, key, comeback::mismatch,
             {"Misconfigured", "workload namespace doesn't match ClusterQueue selector"});
    return true;
  }
  if (const std::optional<std::string> why = invalid_requests(object)) {
    put_back(queue, key, comeback::parked, {"Misconfigured", *why});
    return true;
  }
  return false;
}

}  // namespace kaisched::conformance::kueue
