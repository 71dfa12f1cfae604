#pragma once
/// @file
/// What the program is told, by its file in YAML and by its arguments.

#include <chrono>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include <kaisched/abi.hpp>

#include "api_server/credentials.hpp"
#include "binding/checks_settings.hpp"
#include "cycle/session_recording.hpp"
#include "extender/extender_fields.hpp"
#include "leader_election/election_fields.hpp"
#include "load/load_fields.hpp"
#include "observability/journal.hpp"
#include "server/server_fields.hpp"
#include "sharing/sharing_fields.hpp"
#include "usage/usage_fields.hpp"
#include "webhook/webhook_fields.hpp"

namespace shim {

enum class eviction_form { remove, evict };  ///< DELETE of the pod, as KAI does it; or the API that heeds budgets

enum class budget_use { ignore, respect };  ///< whether PodDisruptionBudgets count when victims are chosen

struct configuration {
  std::string scheduler_name = "kaisched";
  std::filesystem::path kubeconfig;  ///< empty: see find_credentials
  std::string context;
  std::chrono::milliseconds period = std::chrono::seconds(10);        ///< at least one cycle in this time
  std::chrono::milliseconds settle = std::chrono::milliseconds(100);  ///< from a change to the cycle that sees it
  std::chrono::milliseconds explain_period =
      std::chrono::seconds(30);  ///< how often a new reason of one pod is written
  eviction_form eviction = eviction_form::remove;
  budget_use budgets = budget_use::ignore;
  checks_settings checks;
  bool starts_jobs = false;  ///< Jobs that say so are suspended until there is room for them
  unsigned page_size = 500;
  std::chrono::milliseconds discovery_period = std::chrono::minutes(1);  ///< between two looks which kinds are served
  election_settings election;
  std::string node_pool;
  kaisched::abi::options objects;  ///< of kaisched_objects_read
  kaisched::abi::options engine{{"actions", "allocate,consolidation,reclaim,preempt,stalegangeviction"}};
  server_settings server;        ///< without an address there is none
  extender_settings extender;    ///< without an address there is none
  extenders_settings extenders;  ///< that are asked; without any nobody is
  webhook_settings webhook;      ///< without an address there is none
  load_settings load;            ///< without addresses nothing is measured
  usage_settings usage;          ///< not enabled: the past does not count
  sharing_settings sharing;      ///< without an image nobody gets parts of GPUs
  recording_settings recording;
  scaling_settings scaling;  ///< without an image nothing stands in for pods that ask for parts of GPUs
  log_form log = log_form::text;
  bool dry_run = false;
  bool once = false;
};

/// Errors: bad_input that names file, line and field. Options of the engine are checked by the engine.
[[nodiscard]] configuration read_configuration(const std::filesystem::path& file);

/// How long a request that changes something may take: what is sent under a lease has been answered or given up before
/// somebody else may take it. 0: as long as clients wait.
[[nodiscard]] std::chrono::milliseconds longest_write(const configuration& by);

}  // namespace shim
