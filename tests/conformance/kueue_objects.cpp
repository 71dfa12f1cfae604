#include "conformance/kueue_objects.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <set>
#include <stdexcept>
#include <utility>

#include "base/decimal.hpp"
#include "base/saturating.hpp"
#include "conformance/json_values.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();

/// Gates that are off in the recorded version; all others that anything here asks for are on.
const std::set<std::string, std::less<>> gates_off{"ConcurrentAdmission",
                                                   "ElasticJobsViaWorkloadSlicesWithTAS",
                                                   "MultiKueueOrchestratedPreemption",
                                                   "PriorityBoost",
                                                   "PrioritizePreemptorWorkloads",
                                                   "TASBalancedPlacement",
                                                   "TASRespectNodeAffinityPreferred",
                                                   "UnadmittedWorkloadsExplicitStatus"};

/// Empty if it has too many digits.
std::optional<base::int128> exact(std::string_view resource, const json& of) {
  const std::string owned = of.is_string() ? of.get<std::string>() : of.dump();
  std::string_view text = owned;
  const bool negative = base::take_sign(text);
  std::optional<base::decimal> number = base::take_decimal(text);
  if (!number || !base::scale(*number, text)) throw std::runtime_error("not a quantity: " + owned);
  if (resource == "cpu") number->exponent += 3;
  const std::optional<base::int128> value = base::integer_of(*number, base::rounding::up, 37);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

void collect_names(const json& value, std::set<std::string>& flavors, std::set<std::string>& resources) {
  if (value.is_array()) {
    for (const json& one : value) collect_names(one, flavors, resources);
    return;
  }
  if (!value.is_object()) return;
  for (const auto& [key, of] : value.items()) {
    if (key == "coveredResources") {
      for (const json& one : of) resources.insert(one.get<std::string>());
    } else if (key == "requests" || key == "limits" || key == "resourceUsage" || key == "overhead" ||
               key == "allocatable") {
      if (of.is_object()) {
        for (const auto& [name, amount] : of.items()) resources.insert(name);
      } else if (of.is_array()) {
        for (const json& one : of) resources.insert(text_or_empty(one, "name"));
      }
    } else if (key == "flavors" && of.is_object()) {
      for (const auto& [resource, flavor] : of.items()) {
        resources.insert(resource);
        const std::string name = flavor.is_string() ? flavor.get<std::string>() : text_or_empty(flavor, "name");
        if (!name.empty()) flavors.insert(name);
      }
    } else if (key == "flavors" && of.is_array()) {
      for (const json& flavor : of) {
        if (!flavor.is_object()) continue;
        const std::string name =
            has(flavor, "name") ? text_or_empty(flavor, "name") : text_or_empty(member(flavor, "metadata"), "name");
        if (!name.empty()) flavors.insert(name);
        for (const json& resource : items(flavor, "resources")) resources.insert(text_or_empty(resource, "name"));
      }
    } else {
      const std::size_t slash = key.find('/');
      if (slash != std::string::npos && of.is_number()) {
        flavors.insert(key.substr(0, slash));
        resources.insert(key.substr(slash + 1));
      }
    }
    collect_names(of, flavors, resources);
  }
}

double weight_of(const json& spec) {
  const json& weight = member(member(spec, "fairSharing"), "weight");
  if (weight.is_null()) return 1;
  // In thousandths, which every recorded weight is a multiple of, then as the nearest double.
  std::string text = weight.is_string() ? weight.get<std::string>() : weight.dump();
  return static_cast<double>(quantity("cpu", json(text))) / 1000.0;
}

adm::victim_policy policy_of(const std::string& text) {
  if (text == "LowerPriority") return adm::victim_policy::lower_priority;
  if (text == "LowerOrNewerEqualPriority") return adm::victim_policy::lower_or_newer_equal_priority;
  if (text == "Any") return adm::victim_policy::any;
  return adm::victim_policy::never;
}

void read_preemption(const json& spec, queue_object& into) {
  const json& rules = member(spec, "preemption");
  into.preemption.within_queue = policy_of(text_or_empty(rules, "withinClusterQueue"));
  const std::string reclaim = text_or_empty(rules, "reclaimWithinCohort");
  into.preemption.reclaim_within_cohort = policy_of(reclaim);
  into.reclaim_is_never = rules.is_null() || reclaim == "Never";
  const json& borrow = member(rules, "borrowWithinCohort");
  if (borrow.is_null() || text_or_empty(borrow, "policy") == "Never") return;
  into.preemption.borrow_within_cohort.emplace();
  if (has(borrow, "maxPriorityThreshold"))
    into.preemption.borrow_within_cohort->highest_priority = borrow.at("maxPriorityThreshold").get<std::int64_t>();
}

void read_fungibility(const json& rules, adm::fungibility& into) {
  using search = adm::fungibility::search;
  if (has(rules, "whenCanBorrow"))
    into.on_borrowing = text_or_empty(rules, "whenCanBorrow") == "TryNextFlavor" ? search::next : search::stop;
  if (has(rules, "whenCanPreempt"))
    into.on_preemption = text_or_empty(rules, "whenCanPreempt") == "TryNextFlavor" ? search::next : search::stop;
  if (text_or_empty(rules, "preference") == "PreemptionOverBorrowing")
    into.prefers = adm::fungibility::preference::preemption_over_borrowing;
}

void read_quotas(const json& spec, cluster& into, adm::node_id node) {
  for (const json& group : items(spec, "resourceGroups")) {
    for (const json& flavor : items(group, "flavors")) {
      for (const json& resource : items(flavor, "resources")) {
        const std::string name = text_or_empty(resource, "name");
        adm::cell_quota quota;
        if (has(resource, "nominalQuota")) quota.nominal = limit(name, resource.at("nominalQuota"));
        if (has(resource, "borrowingLimit")) quota.borrowing_limit = limit(name, resource.at("borrowingLimit"));
        if (has(resource, "lendingLimit")) quota.lending_limit = limit(name, resource.at("lendingLimit"));
        into.state.tree.set_quota(node, into.cell(text_or_empty(flavor, "name"), name), quota);
      }
    }
  }
}

std::vector<json> objects_of(const json& input, std::initializer_list<const char*> keys) {
  std::vector<json> found;
  for (const char* key : keys) {
    const json& value = member(input, key);
    if (value.is_array()) {
      for (const json& one : value) found.push_back(one);
    } else if (value.is_object() && value.contains("metadata")) {
      found.push_back(value);
    } else if (value.is_object()) {
      for (const auto& [name, one] : value.items()) found.push_back(one);
    }
  }
  return found;
}

std::string object_name(const json& object) { return text_or_empty(member(object, "metadata"), "name"); }

std::uint64_t fnv1a(const std::string& text) {
  std::uint64_t hash = 14695981039346656037ULL;
  for (const char c : text) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 1099511628211ULL;
  }
  return hash;
}

class tree_reader {
 public:
  tree_reader(cluster& into, const std::vector<json>& cohorts, const std::vector<json>& queues) : into_(into) {
    for (const json& one : cohorts) objects_[object_name(one)] = member(one, "spec");
    for (const json& one : queues) {
      const std::string cohort = text_or_empty(member(one, "spec"), "cohortName");
      if (!cohort.empty()) objects_.emplace(cohort, json());
    }
    // A parent that is only named is a cohort, too.
    std::vector<std::string> parents;
    for (const auto& [name, spec] : objects_) parents.push_back(text_or_empty(spec, "parentName"));
    for (const std::string& name : parents) {
      if (!name.empty()) objects_.emplace(name, json());
    }
    for (const auto& [name, spec] : objects_) add(name, 0);
  }

 private:
  adm::node_id add(const std::string& name, std::size_t depth) {
    if (const auto known = into_.cohorts.find(name); known != into_.cohorts.end()) return known->second;
    if (depth > objects_.size()) throw unsupported("cohorts in a cycle");
    const json& spec = objects_.at(name);
    const std::string parent = text_or_empty(spec, "parentName");
    const adm::node_id above = parent.empty() ? adm::no_node : add(parent, depth + 1);
    const adm::node_id made = into_.state.tree.add_cohort(above, weight_of(spec));
    into_.cohorts.emplace(name, made);
    read_quotas(spec, into_, made);
    return made;
  }

  cluster& into_;
  std::map<std::string, json> objects_;
};

bool tolerates(const json& toleration, const json& taint) {
  const std::string effect = text_or_empty(toleration, "effect");
  if (!effect.empty() && effect != text_or_empty(taint, "effect")) return false;
  const std::string key = text_or_empty(toleration, "key");
  if (!key.empty() && key != text_or_empty(taint, "key")) return false;
  const std::string how = text_or_empty(toleration, "operator");
  const std::string value = text_or_empty(toleration, "value");
  const std::string of = text_or_empty(taint, "value");
  if (how.empty() || how == "Equal") return value == of;
  if (how == "Exists") return true;
  const auto number = [](const std::string& text) { return std::strtoll(text.c_str(), nullptr, 10); };
  if (how == "Lt") return number(of) < number(value);
  return how == "Gt" && number(of) > number(value);
}

bool terms_match(const json& terms, const json& labels, const json* keys) {
  std::vector<std::vector<json>> kept;
  for (const json& term : terms) {
    std::vector<json> expressions;
    for (const json& one : items(term, "matchExpressions")) {
      if (keys == nullptr || keys->contains(text_or_empty(one, "key"))) expressions.push_back(one);
    }
    if (expressions.empty() && keys != nullptr) return true;
    kept.push_back(std::move(expressions));
  }
  return std::any_of(kept.begin(), kept.end(), [&](const std::vector<json>& term) {
    return !term.empty() &&
           std::all_of(term.begin(), term.end(), [&](const json& one) { return matches_expression(one, labels); });
  });
}

}  // namespace

bool gate(const json& input, std::string_view name) {
  const json& said = member(member(input, "feature_gates"), name);
  return said.is_boolean() ? said.get<bool>() : !gates_off.contains(name);
}

std::int64_t time_of(const json& text) {
  if (!text.is_string()) return no_time;
  const std::string& all = text.get_ref<const std::string&>();
  if (!all.starts_with("now")) throw unsupported("time that is not relative");
  if (all == "now") return 0;
  char* end = nullptr;
  const double number = std::strtod(all.c_str() + 3, &end);
  const std::string unit = end;
  const double scale = unit == "s"    ? 1e9
                       : unit == "ms" ? 1e6
                       : unit == "m"  ? 60e9
                       : unit == "h"  ? 3600e9
                       : unit == "ns" ? 1.0
                       : unit == "us" ? 1e3
                                      : 0.0;
  if (scale == 0.0) throw unsupported("unit of time");
  return static_cast<std::int64_t>(number * scale);
}

std::int64_t quantity(std::string_view resource, const json& text) {
  const std::optional<base::int128> value = exact(resource, text);
  if (!value) return most;
  return static_cast<std::int64_t>(std::clamp<base::int128>(*value, -static_cast<base::int128>(most) - 1, most));
}

adm::amount limit(std::string_view resource, const json& text) {
  const std::optional<base::int128> value = exact(resource, text);
  if (!value || *value >= (resource == "cpu" ? most / 1000 * static_cast<base::int128>(1000) : most))
    return adm::amount::unlimited();
  return adm::amount(static_cast<std::int64_t>(*value));
}

std::string quantity_text(std::string_view resource, std::int64_t value) {
  const auto with = [&](std::int64_t number, std::int64_t base, std::initializer_list<const char*> suffixes) {
    std::string suffix;
    for (const char* next : suffixes) {
      if (number == 0 || number % base != 0) break;
      number /= base;
      suffix = next;
    }
    return std::to_string(number) + suffix;
  };
  if (resource == "cpu") {
    if (value % 1000 != 0) return std::to_string(value) + "m";
    return with(value / 1000, 1000, {"k", "M", "G", "T", "P", "E"});
  }
  const bool binary = resource == "memory" || resource == "ephemeral-storage" || resource.starts_with("hugepages-");
  if (binary && value % 1024 == 0 && (value >= 1024 || value <= -1024))
    return with(value, 1024, {"Ki", "Mi", "Gi", "Ti", "Pi", "Ei"});
  return with(value, 1000, {"k", "M", "G", "T", "P", "E"});
}

std::string amount_text(std::string_view resource, adm::amount value) {
  return value.is_unlimited() ? "<unlimited>" : quantity_text(resource, value.value());
}

requests pod_requests(const json& pod_spec) {
  const auto of_container = [](const json& container) {
    requests found;
    const json& resources = member(container, "resources");
    for (const auto& [name, text] : items(resources, "requests").items()) found[name] = quantity(name, text);
    return found;
  };
  requests sum;
  for (const json& container : items(pod_spec, "containers")) {
    for (const auto& [name, value] : of_container(container)) sum[name] += value;
  }
  requests sidecars;
  requests before;
  for (const json& container : items(pod_spec, "initContainers")) {
    requests one = of_container(container);
    if (text_or_empty(container, "restartPolicy") == "Always") {
      for (const auto& [name, value] : one) sidecars[name] += value;
      one = sidecars;
    } else {
      for (const auto& [name, value] : sidecars) one[name] += value;
    }
    for (const auto& [name, value] : one) before[name] = std::max(before[name], value);
  }
  for (const auto& [name, value] : sidecars) sum[name] += value;
  for (const auto& [name, value] : before) sum[name] = std::max(sum[name], value);
  for (const auto& [name, text] : items(member(pod_spec, "resources"), "requests").items())
    sum[name] = quantity(name, text);
  for (const auto& [name, text] : items(pod_spec, "overhead").items()) sum[name] += quantity(name, text);
  return sum;
}

std::optional<std::uint32_t> name_list::find(const std::string& name) const {
  const auto at = std::lower_bound(names.begin(), names.end(), name);
  if (at == names.end() || *at != name) return std::nullopt;
  return static_cast<std::uint32_t>(at - names.begin());
}

std::uint32_t name_list::at(const std::string& name) const {
  const std::optional<std::uint32_t> found = find(name);
  if (!found) throw std::runtime_error("no such name: " + name);
  return *found;
}

const queue_object* cluster::queue(const std::string& name) const {
  const auto found = std::find_if(queues.begin(), queues.end(), [&](const auto& one) { return one.name == name; });
  return found == queues.end() ? nullptr : &*found;
}

const queue_object& cluster::queue_at(adm::node_id node) const {
  return *std::find_if(queues.begin(), queues.end(), [&](const auto& one) { return one.node == node; });
}

adm::cell_id cluster::cell(const std::string& flavor, const std::string& resource) const {
  return state.tree.cells().at(flavors.at(flavor), resources.at(resource));
}

adm::cell_id cluster::cell(const std::string& key) const {
  const std::size_t slash = key.find('/');
  return cell(key.substr(0, slash), key.substr(slash + 1));
}

std::string cluster::cell_text(adm::cell_id cell) const {
  const adm::cell_space& cells = state.tree.cells();
  return flavors.names[cells.flavor_of(cell)] + "/" + resources.names[cells.resource_of(cell)];
}

adm::cell_amounts cluster::amounts(const json& by_key) const {
  adm::cell_amounts found;
  for (const auto& [key, value] : by_key.items())
    adm::add_to(found, cell(key),
                value.is_string() ? adm::amount::unlimited() : adm::amount(value.get<std::int64_t>()));
  return found;
}

json cluster::amounts_record(const adm::cell_amounts& amounts) const {
  json made = json::object();
  for (const adm::cell_amount& one : amounts) {
    made[cell_text(one.cell)] = one.value.is_unlimited() ? json("unlimited") : json(one.value.value());
  }
  return made;
}

std::string cluster::path(adm::node_id queue) const {
  std::string text = queue_at(queue).name;
  for (adm::node_id at = state.tree.parent(queue); at != adm::no_node; at = state.tree.parent(at)) {
    for (const auto& [name, node] : cohorts) {
      if (node == at) text = name + "/" + text;
    }
  }
  return "/" + text;
}

cluster read_cluster(const json& input) {
  cluster made;
  std::set<std::string> flavors;
  std::set<std::string> resources{"cpu", "pods"};
  collect_names(input, flavors, resources);
  const auto flavor_objects = objects_of(input, {"resource_flavors", "flavors"});
  for (const json& one : flavor_objects) {
    flavors.insert(object_name(one));
    made.flavor_objects[object_name(one)] = member(one, "spec");
  }
  flavors.erase("");
  resources.erase("");
  made.flavors.names.assign(flavors.begin(), flavors.end());
  made.resources.names.assign(resources.begin(), resources.end());
  const adm::cell_space cells{static_cast<std::uint32_t>(flavors.size()), static_cast<std::uint32_t>(resources.size())};
  made.state.tree = adm::quota_tree(cells);
  for (std::uint32_t i = 0; i < cells.resources; ++i) made.resource_order.push_back(i);
  std::sort(made.resource_order.begin(), made.resource_order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return fnv1a(made.resources.names[a]) < fnv1a(made.resources.names[b]);
  });

  std::vector<json> queues = objects_of(input, {"cluster_queues", "cqs", "cluster_queue", "lending_cluster_queue",
                                                "secondary_cluster_queue", "additional_cluster_queues"});
  std::stable_sort(queues.begin(), queues.end(),
                   [](const json& a, const json& b) { return object_name(a) < object_name(b); });
  tree_reader(made, objects_of(input, {"cohorts"}), queues);
  for (const json& one : queues) {
    const json& spec = member(one, "spec");
    const std::string cohort = text_or_empty(spec, "cohortName");
    queue_object object;
    object.name = object_name(one);
    object.node = made.state.tree.add_queue(cohort.empty() ? adm::no_node : made.cohorts.at(cohort), weight_of(spec));
    object.object = one;
    object.strict_order = text_or_empty(spec, "queueingStrategy") == "StrictFIFO";
    read_fungibility(member(spec, "flavorFungibility"), object.rules);
    read_preemption(spec, object);
    read_quotas(spec, made, object.node);
    for (const json& group : items(spec, "resourceGroups")) {
      adm::flavor_group& into = object.groups.emplace_back();
      for (const json& resource : items(group, "coveredResources"))
        into.resources.push_back(made.resources.at(resource.get<std::string>()));
      for (const json& flavor : items(group, "flavors"))
        into.flavors.push_back(made.flavors.at(text_or_empty(flavor, "name")));
    }
    made.queues.push_back(std::move(object));
  }
  if (has(input, "flavor_fungibility") && !made.queues.empty()) {
    for (queue_object& one : made.queues) {
      if (one.name == "test-clusterqueue") read_fungibility(input.at("flavor_fungibility"), one.rules);
    }
  }
  made.state.tree.finish();
  return made;
}

std::string key_of(const json& workload) {
  const json& meta = member(workload, "metadata");
  return text_or_empty(meta, "namespace") + "/" + text_or_empty(meta, "name");
}

const json* condition(const json& workload, std::string_view type) {
  for (const json& one : items(member(workload, "status"), "conditions")) {
    if (text_or_empty(one, "type") == type) return &one;
  }
  return nullptr;
}

bool condition_is_true(const json& workload, std::string_view type) {
  const json* found = condition(workload, type);
  return found != nullptr && text_or_empty(*found, "status") == "True";
}

std::int64_t priority_of(const json& workload, const json& input) {
  std::int64_t priority = value_or(member(workload, "spec"), "priority", std::int64_t{0});
  if (!gate(input, "PriorityBoost")) return priority;
  const std::string boost =
      text_or_empty(member(member(workload, "metadata"), "annotations"), "kueue.x-k8s.io/priority-boost");
  char* end = nullptr;
  const long long value = std::strtoll(boost.c_str(), &end, 10);
  return boost.empty() || *end != '\0' ? priority : priority + value;
}

std::int64_t queued_at(const json& workload, const json& input, bool by_eviction) {
  const json* evicted = condition(workload, "Evicted");
  if (evicted != nullptr && text_or_empty(*evicted, "status") == "True") {
    const std::string reason = text_or_empty(*evicted, "reason");
    if ((by_eviction && reason == "PodsReadyTimeout") || reason == "AdmissionCheck")
      return time_of(member(*evicted, "lastTransitionTime"));
  }
  if (!gate(input, "PrioritySortingWithinCohort")) {
    const json* preempted = condition(workload, "Preempted");
    if (preempted != nullptr && text_or_empty(*preempted, "status") == "True" &&
        text_or_empty(*preempted, "reason") == "InCohortReclaimWhileBorrowing")
      return time_of(member(*preempted, "lastTransitionTime")) + 1'000'000;
  }
  return time_of(member(member(workload, "metadata"), "creationTimestamp"));
}

std::int64_t count_after_reclaim(const json& workload, const json& pod_set, const json& input) {
  const std::int64_t count = value_or(pod_set, "count", std::int64_t{0});
  if (!gate(input, "ReclaimablePods")) return count;
  for (const json& one : items(member(workload, "status"), "reclaimablePods")) {
    if (text_or_empty(one, "name") == text_or_empty(pod_set, "name"))
      return count - std::min(count, value_or(one, "count", std::int64_t{0}));
  }
  return count;
}

adm::running_workload running_of(const cluster& all, const json& workload, const json& input) {
  adm::running_workload made;
  const json& meta = member(workload, "metadata");
  const json& admission = member(member(workload, "status"), "admission");
  const queue_object* queue = all.queue(text_or_empty(admission, "clusterQueue"));
  if (queue != nullptr) made.queue = queue->node;
  made.priority = priority_of(workload, input);
  made.queued_at = queued_at(workload, input, true);
  if (condition_is_true(workload, "QuotaReserved"))
    made.reserved_at = time_of(member(*condition(workload, "QuotaReserved"), "lastTransitionTime"));
  made.evicted = condition_is_true(workload, "Evicted");
  made.id = text_or_empty(meta, "uid");
  made.name = key_of(workload);
  for (const json& set : items(admission, "podSetAssignments")) {
    std::int64_t full = 0;
    std::int64_t left = 0;
    for (const json& spec : items(member(workload, "spec"), "podSets")) {
      if (text_or_empty(spec, "name") != text_or_empty(set, "name")) continue;
      full = value_or(spec, "count", std::int64_t{0});
      left = count_after_reclaim(workload, spec, input);
    }
    const std::int64_t count = value_or(set, "count", full);
    for (const auto& [resource, flavor] : items(set, "flavors").items()) {
      const adm::cell_id cell = all.cell(flavor.get<std::string>(), resource);
      const json& used = member(member(set, "resourceUsage"), resource);
      std::int64_t value = used.is_null() ? 0 : quantity(resource, used);
      if (left < count && count != 0) value = base::saturating_multiply(value / count, left);
      if (!used.is_null()) adm::add_to(made.usage, cell, adm::amount(value));
      made.cells.push_back(cell);
    }
  }
  std::sort(made.cells.begin(), made.cells.end());
  made.cells.erase(std::unique(made.cells.begin(), made.cells.end()), made.cells.end());
  return made;
}

const json* untolerated_taint(const json& taints, const std::vector<json>& tolerations) {
  for (const json& taint : taints) {
    const std::string effect = text_or_empty(taint, "effect");
    if (effect != "NoSchedule" && effect != "NoExecute") continue;
    if (std::none_of(tolerations.begin(), tolerations.end(), [&](const json& one) { return tolerates(one, taint); }))
      return &taint;
  }
  return nullptr;
}

bool matches_expression(const json& expression, const json& labels) {
  const std::string how = text_or_empty(expression, "operator");
  const json& label = member(labels, text_or_empty(expression, "key"));
  const json& values = items(expression, "values");
  const bool listed =
      label.is_string() && std::any_of(values.begin(), values.end(), [&](const json& one) { return one == label; });
  if (how == "In") return listed;
  if (how == "NotIn") return !listed;
  if (how == "Exists") return label.is_string();
  if (how == "DoesNotExist") return !label.is_string();
  if (how != "Gt" && how != "Lt") throw unsupported("operator " + how);
  if (!label.is_string() || values.size() != 1) return false;
  const long long has = std::strtoll(label.get_ref<const std::string&>().c_str(), nullptr, 10);
  const long long bound = std::strtoll(values.front().get_ref<const std::string&>().c_str(), nullptr, 10);
  return how == "Gt" ? has > bound : has < bound;
}

bool matches_selector(const json& selector, const json& labels) {
  for (const auto& [key, value] : items(selector, "matchLabels").items()) {
    if (member(labels, key) != value) return false;
  }
  const json& expressions = items(selector, "matchExpressions");
  return std::all_of(expressions.begin(), expressions.end(),
                     [&](const json& one) { return matches_expression(one, labels); });
}

bool matches_node_affinity(const json& pod_spec, const json& labels, const json* keys) {
  for (const auto& [key, value] : items(pod_spec, "nodeSelector").items()) {
    if ((keys == nullptr || keys->contains(key)) && member(labels, key) != value) return false;
  }
  const json& required =
      member(member(member(pod_spec, "affinity"), "nodeAffinity"), "requiredDuringSchedulingIgnoredDuringExecution");
  if (required.is_null() || items(required, "nodeSelectorTerms").empty()) return true;
  return terms_match(items(required, "nodeSelectorTerms"), labels, keys);
}

std::optional<std::string> flavor_mismatch(const json& flavor, const std::string& name, const json& pod_spec) {
  std::vector<json> tolerations;
  for (const json& one : items(pod_spec, "tolerations")) tolerations.push_back(one);
  for (const json& one : items(flavor, "tolerations")) tolerations.push_back(one);
  if (const json* taint = untolerated_taint(items(flavor, "nodeTaints"), tolerations)) {
    return "untolerated taint {" + text_or_empty(*taint, "key") + " " + text_or_empty(*taint, "value") + " " +
           text_or_empty(*taint, "effect") + " <nil>} in flavor " + name;
  }
  static const json none = json::object();
  const json& labels = has(flavor, "nodeLabels") ? member(flavor, "nodeLabels") : none;
  if (!matches_node_affinity(pod_spec, labels, &labels)) return "flavor " + name + " doesn't match node affinity";
  return std::nullopt;
}

std::string obstacle_text(const cluster& all, const demand_texts& texts, const adm::obstacle& one) {
  const std::string& flavor = all.flavors.names[one.flavor];
  const std::string& resource = all.resources.names[one.resource];
  switch (one.kind) {
    case adm::obstacle_kind::mismatch:
      return texts.texts[one.mismatch];
    case adm::obstacle_kind::exceeds_maximum:
      return "insufficient quota for " + resource + " in flavor " + flavor +
             ", previously considered podsets requests (" + amount_text(resource, one.before) +
             ") + current podset request (" + quantity_text(resource, one.asked) + ") > maximum capacity (" +
             amount_text(resource, one.bound) + ")";
    case adm::obstacle_kind::no_unused_quota:
      return "insufficient unused quota for " + resource + " in flavor " + flavor + ", " +
             amount_text(resource, one.bound) + " more needed";
    case adm::obstacle_kind::replaced_flavor:
      return "could not assign " + flavor + " flavor since the original workload is assigned: " +
             (one.other_flavor == adm::no_flavor ? std::string{} : all.flavors.names[one.other_flavor]);
    case adm::obstacle_kind::not_allowed:
      return "skipping flavor " + flavor + " due to WorkloadAllowedResourceFlavorAnnotation annotation";
    case adm::obstacle_kind::not_nominated:
      return "skipping flavor " + flavor + " as it is not found in the nomination mapping for resource " + resource;
    case adm::obstacle_kind::resource_missing:
      return "resource " + resource + " unavailable in ClusterQueue";
    case adm::obstacle_kind::resource_not_provided:
      break;
  }
  return "flavor " + flavor + " does not provide resource " + resource;
}

std::string joined_obstacles(const cluster& all, const demand_texts& texts, const std::vector<adm::obstacle>& obstacles,
                             std::vector<std::string> more) {
  for (const adm::obstacle& one : obstacles) more.push_back(obstacle_text(all, texts, one));
  std::sort(more.begin(), more.end());
  std::string text;
  for (const std::string& one : more) text += (text.empty() ? "" : ", ") + one;
  return text;
}

std::string_view reason_text(adm::victim_reason why) {
  switch (why) {
    case adm::victim_reason::in_queue:
      return "InClusterQueue";
    case adm::victim_reason::reclamation:
      return "InCohortReclamation";
    case adm::victim_reason::fair_sharing:
      return "InCohortFairSharing";
    case adm::victim_reason::reclamation_while_borrowing:
      break;
  }
  return "InCohortReclaimWhileBorrowing";
}

std::string_view mode_text(adm::assignment_mode mode) {
  switch (mode) {
    case adm::assignment_mode::no_fit:
      return "NoFit";
    case adm::assignment_mode::preempt:
      return "Preempt";
    case adm::assignment_mode::deferred_fit:
      return "DeferredFit";
    case adm::assignment_mode::fit:
      break;
  }
  return "Fit";
}

std::string_view forecast_text(adm::fit_mode mode) {
  return mode == adm::fit_mode::no_candidates ? "NoCandidates" : mode == adm::fit_mode::preempt ? "Preempt" : "Reclaim";
}

std::string_view no_fit_text(adm::no_fit_class why) {
  switch (why) {
    case adm::no_fit_class::none:
      return "";
    case adm::no_fit_class::topology:
      return "TopologyPlacementFailed";
    case adm::no_fit_class::waiting_for_quota:
      return "WaitingForQuota";
    case adm::no_fit_class::exceeds_maximum:
      return "ExceedsMaxQuota";
    case adm::no_fit_class::no_matching_flavor:
      break;
  }
  return "NoMatchingFlavor";
}

}  // namespace kaisched::conformance::kueue
