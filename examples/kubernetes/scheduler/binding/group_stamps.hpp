#pragma once
/// @file
/// Writes the times of pod groups as KAI does, in their annotations, so that whoever decides next knows them.

#include <chrono>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "cycle/decision.hpp"
#include "watch/object_store.hpp"

namespace shim {

class group_stamps {
 public:
  group_stamps(object_store& store, send_function send, log_function log);

  /// @param what borrowed until the next call. @param when the time of the cycle.
  void begin(const decision& what, std::chrono::system_clock::time_point when);
  /// Before a pod is started or evicted: if its group starts or is evicted with it, the time is written first, so that
  /// it is there whatever becomes of this process.
  void before_start(const std::string& pod);
  void before_eviction(const std::string& pod);
  /// Writes what is left: marks of groups in part, and what the server did not take before.
  void finish(const std::function<bool()>& go_on);

 private:
  void stamp(const std::string& pod, bool group_times::* which, const char* key);
  void note_settled(const std::string& group, const group_times& times);
  void write(const std::string& group);

  object_store& store_;
  send_function send_;
  log_function log_;
  const decision* what_ = nullptr;
  std::string time_;
  std::set<std::pair<std::string, std::string>> stamped_;  ///< groups and annotations, in this cycle
  std::map<std::string, nlohmann::json> due_;              ///< by group: annotations to write, null to remove
};

}  // namespace shim
