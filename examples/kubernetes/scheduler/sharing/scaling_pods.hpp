#pragma once
/// @file
/// Pods that stand in for those that ask for parts of GPUs and find none. Autoscalers add nodes for pods that wait and
/// read resources; of the annotations of a part they know nothing, and take such a pod for one that fits anywhere. A
/// stand-in asks for whole devices, is never started, and goes when its pod no longer waits.

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "configuration/configuration.hpp"
#include "cycle/decision.hpp"
#include "watch/object_store.hpp"

namespace shim {

class scaling_pods {
 public:
  scaling_pods(const configuration& by, object_store& store, send_function send, log_function log);

  /// Makes and removes them, as one cycle has decided. @param go_on asked before each request.
  void sync(const decision& what, std::chrono::system_clock::time_point when, const std::function<bool()>& go_on);

 private:
  /// A pod that waits.
  struct source {
    std::string uid;
    std::int64_t devices = 0;     ///< that it needs on one node
    std::int64_t millionths = 0;  /// of devices, of all of them together
  };
  struct stand_in {
    std::string uid;
    std::string of;      ///< name of its source
    std::string of_uid;  ///< the source itself: another one may have its name
    std::int64_t devices = 0;
    bool is_marked = false;  ///< says that it waits
  };

  [[nodiscard]] std::map<std::string, source> sources(const decision& what) const;
  [[nodiscard]] std::optional<source> read_source(const nlohmann::json& pod) const;
  [[nodiscard]] std::map<std::string, stand_in> look() const;
  [[nodiscard]] nlohmann::json pod_for(const std::string& name, const nlohmann::json& from, std::int64_t devices) const;
  void create(const std::string& pod, const source& of, std::chrono::system_clock::time_point when);
  /// As a scheduler says it, which is what autoscalers look for.
  void mark(const std::string& name, const std::string& uid, const std::string& pod,
            std::chrono::system_clock::time_point when);
  /// @return whether it is gone.
  bool remove(const std::string& name, const stand_in& one);
  response ask(const std::string& words, const request& what);

  const configuration& by_;
  object_store& store_;
  send_function send_;
  log_function log_;
  std::string scheduler_;                                         ///< of stand-ins; nobody has this name
  std::optional<std::chrono::steady_clock::time_point> removed_;  ///< when one was, last
};

}  // namespace shim
