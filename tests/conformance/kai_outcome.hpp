#pragma once
/// @file
/// What happened in one round, in the words of the recorded cases, so that both sides can be compared.

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kaisched/session.hpp>

#include "conformance/kai_cluster.hpp"

namespace kaisched::conformance {

struct kai_event {
  std::string action;
  std::int64_t commit = 0;
  std::string type;  ///< bind, evict, pipeline
  std::string task;
  std::string node;
  std::vector<std::string> gpu_groups;  ///< names of shared devices; they mean nothing beyond one node
  std::vector<std::int64_t> numa_zones;
  std::vector<std::string> claim_devices;  ///< claim=driver/pool/device, sorted; claims without their namespace
};

struct kai_task {
  std::string status;
  std::string node;
  std::vector<std::string> gpu_groups;
  std::vector<std::int64_t> numa_zones;
};

using kai_amounts = std::map<std::string, double, std::less<>>;  // resource in KAI's words -> amount in KAI's units

struct kai_node {
  kai_amounts idle;
  kai_amounts used;
  kai_amounts releasing;
  std::vector<kai_amounts> zones;  ///< what the NUMA zones have available
};

struct kai_outcome {
  kai_starts starts;            ///< where pods were at the start
  bool shares_devices = false;  ///< some pod asks for parts of devices
  /// Nodes whose label promises more GPUs than they have: KAI shares GPUs there that no device stands for.
  std::set<std::string, std::less<>> untold_nodes;
  std::vector<kai_event> events;
  std::map<std::string, kai_task, std::less<>> tasks;
  std::map<std::string, kai_node, std::less<>> nodes;
  std::map<std::string, kai_amounts, std::less<>> fair_share;  ///< by queue
  std::map<std::string, kai_amounts, std::less<>> requested;
  std::map<std::string, kai_amounts, std::less<>> allocated;
  /// Jobs that no domain of a topology has room for: by pods that need it and have it, how many domains.
  std::map<std::string, std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t>, std::less<>> small_domains;
  std::set<std::string, std::less<>> started_jobs;  ///< jobs with a bind in this round
};

/// Reads a session that has run. `starts`: where the pods were before.
[[nodiscard]] kai_outcome outcome_of(const session& played, const nlohmann::json& session_case,
                                     const kai_starts& starts);

}  // namespace kaisched::conformance
