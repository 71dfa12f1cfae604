// Recorded calls of one cycle, and of several that follow each other.

#include <optional>
#include <set>
#include <utility>

#include "conformance/json_values.hpp"
#include "conformance/kueue_cycle.hpp"
#include "conformance/kueue_workload_shape.hpp"
#include "conformance/unsupported.hpp"

namespace kaisched::conformance::kueue {

using nlohmann::json;
namespace adm = kaisched::kueue;

namespace {

/// Cycles one after the other: each begins with what the one before has left.
class cycle_row {
 public:
  explicit cycle_row(json input) : input_(std::move(input)) {}

  void next() {
    if (last_) input_["workloads"] = last_->workloads_after();
    changes_(input_["workloads"]);
    last_.emplace(input_, memory_);
    last_->run();
  }
  json& input() { return input_; }
  cycle_memory& memory() { return memory_; }
  [[nodiscard]] const cycle_replay& last() const { return *last_; }

  void remove(const std::string& key) { changes_.removed.insert(key); }

 private:
  struct workload_changes {
    std::set<std::string> removed;
    void operator()(json& workloads) const {
      json left = json::array();
      for (const json& one : workloads) {
        if (!removed.contains(key_of(one))) left.push_back(one);
      }
      workloads = std::move(left);
    }
  };
  json input_;
  cycle_memory memory_;
  workload_changes changes_;
  std::optional<cycle_replay> last_;
};

/// The queue that a workload has quota of; empty if it has none.
std::string queue_of_holder(const json& workloads, const std::string& key) {
  for (const json& one : workloads) {
    if (key_of(one) == key) return text_or_empty(member(member(one, "status"), "admission"), "clusterQueue");
  }
  return {};
}

/// What a queue gives back is of use to all of its tree: whoever was parked there is looked at again.
void wake_tree(const cluster& all, const std::string& name, cycle_memory& memory) {
  const queue_object* queue = all.queue(name);
  if (queue == nullptr) return;
  ++memory.generations[name];
  for (const queue_object& other : all.queues) {
    if (all.state.tree.root(other.node) == all.state.tree.root(queue->node)) memory.parked.erase(other.name);
  }
}

/// The quota of the second flavor is changed to and fro, which frees something every time.
void flip_quota(json& input, int cycle, cycle_memory& memory) {
  for (json& queue : input.at("cluster_queues")) {
    json& flavor = queue.at("spec").at("resourceGroups").at(0).at("flavors").at(1);
    flavor.at("resources").at(0)["nominalQuota"] = cycle % 2 == 0 ? "5" : "4";
    ++memory.generations[text_or_empty(member(queue, "metadata"), "name")];
  }
}

differences check_pending_flavor(const json& one) {
  cycle_row cycles(one.at("input"));
  json& input = cycles.input();
  input["feature_gates"]["FlavorFungibilityPreserveScanProgress"] = value_or(input, "gate_enabled", false);
  const int count = value_or(input, "cycles", 1);
  for (int i = 0; i < count; ++i) {
    cycles.next();
    if (!value_or(input, "no_churn", false)) flip_quota(input, i, cycles.memory());
  }
  std::string flavor;
  const json made = cycles.last().assignments();
  for (const json& set : items(member(made, "default/pending"), "podSetAssignments")) {
    for (const auto& [resource, name] : items(set, "flavors").items()) flavor = name.get<std::string>();
  }
  differences found;
  compare(found, "flavor", text_or_empty(one.at("expected"), "pending_flavor"), flavor);
  return found;
}

void read_histories(const json& input, std::map<std::string, adm::usage_history>& into) {
  for (const auto& [name, amounts] : items(input, "initial_usage").items()) {
    adm::usage_amounts had;
    for (const auto& [resource, text] : amounts.items())
      had[resource] = static_cast<double>(quantity(resource, text)) / (resource == "cpu" ? 1000.0 : 1.0);
    for (const json& queue : items(input, "local_queues")) {
      if (text_or_empty(member(queue, "metadata"), "name") == name) into[key_of(queue)] = adm::usage_history(had);
    }
  }
}

differences check_with_share(const json& one, double entry_share) {
  cycle_row cycles(one.at("input"));
  cycles.memory().by_local_usage = gate(cycles.input(), "AdmissionFairSharing");
  cycles.memory().entry_share = entry_share;
  read_histories(cycles.input(), cycles.memory().histories);
  const std::size_t count = items(one.at("input"), "workloads").size();
  for (std::size_t i = 0; i < count; ++i) cycles.next();
  differences found;
  const json& expected = items(one.at("expected"), "workloads");
  cycles.last().compare_workloads(found, expected);
  json admitted = json::object();
  for (const json& workload : expected) {
    const json& admission = member(member(workload, "status"), "admission");
    if (!admission.is_null()) admitted[key_of(workload)] = admission;
  }
  compare(found, "assignments", cycle_replay::tidy_all(admitted), cycles.last().assignments());
  return found;
}

}  // namespace

differences check_cycle(const json& one) {
  if (one.at("expected").contains("pending_flavor")) return check_pending_flavor(one);
  cycle_memory memory;
  cycle_replay replay(one.at("input"), memory);
  replay.run();
  differences found;
  replay.compare_with(found, one.at("expected"));
  return found;
}

differences check_two_cycles(const json& one) {
  cycle_row cycles(one.at("input"));
  cycles.next();
  differences found;
  const json& expected = one.at("expected");
  if (has(expected, "workloads")) cycles.last().compare_workloads(found, expected.at("workloads"));
  const cluster all = read_cluster(cycles.input());
  const json after = cycles.last().workloads_after();
  for (const json& gone : items(one.at("input"), "delete_workloads")) {
    const std::string key = text_or_empty(gone, "Namespace") + "/" + text_or_empty(gone, "Name");
    cycles.remove(key);
    wake_tree(all, queue_of_holder(after, key), cycles.memory());
  }
  cycles.next();
  compare(found, "assignments after the second cycle",
          cycle_replay::tidy_all(items(expected, "admissions_on_second_schedule")), cycles.last().assignments());
  return found;
}

differences check_cycles_by_usage(const json& one) {
  static const std::set<std::string> known{
      "cluster_queues", "cohorts",          "delete_queue", "feature_gates", "initial_usage",
      "local_queues",   "resource_flavors", "workloads",    "objects",       "enable_fair_sharing"};
  for (const auto& [key, value] : one.at("input").items()) {
    if (!known.contains(key)) throw unsupported("setting " + key);
  }
  // How much an entry counts is not recorded; where it matters, nothing can be said.
  differences found = check_with_share(one, 1e-3);
  if (found != check_with_share(one, 1 - 1e-3)) throw unsupported("how much an entry counts at once");
  return found;
}

}  // namespace kaisched::conformance::kueue
