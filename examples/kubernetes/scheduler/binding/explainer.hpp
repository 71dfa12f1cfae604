#pragma once
/// @file
/// Writes why pods and groups wait, on the objects themselves. Somebody who creates very many that wait can delay what
/// is told to others, but not what is decided: a cycle has a limited time for it, in which namespaces take turns.

#include <chrono>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "binding/event_list.hpp"
#include "configuration/configuration.hpp"
#include "cycle/decision.hpp"
#include "watch/object_store.hpp"

namespace shim {

/// Whether whoever scales a cluster may take the pods of the group for a reason to.
[[nodiscard]] bool marks_pods(const nlohmann::json& group);

class explainer {
 public:
  explainer(const configuration& by, object_store& store, event_list& events, send_function send, log_function log);

  /// @param what borrowed until the next call. @param when the time of the cycle.
  void begin(const decision& what, std::chrono::system_clock::time_point when);
  /// What is in the way of this very pod.
  void add_pod(const std::string& pod, std::string message) { own_[pod] = std::move(message); }
  /// A condition of a pod that is not about waiting, and an event if it is False, whatever its group says.
  void add_condition(const std::string& pod, nlohmann::json condition) {
    const std::string type = text_at(condition, "/type");
    conditions_.insert_or_assign({pod, type}, std::move(condition));
  }
  /// Whether a new reason of this object may be written now.
  bool may_explain(const std::string& object);
  /// Writes what there is to say about groups that wait, all pods of theirs that wait, because who scales the cluster
  /// counts these, and pods that the store refuses.
  /// @param go_on asked before each object. @return how many objects say something new.
  std::size_t finish(const std::function<bool()>& go_on, std::chrono::steady_clock::time_point until);
  /// Whether the last cycle has left something unsaid for want of time.
  [[nodiscard]] bool is_behind() const noexcept { return behind_; }

 private:
  using reasons = std::vector<std::pair<std::string, std::string>>;  ///< constraints and sentences

  void add(const std::string& object, std::function<bool()> say);
  bool say(const std::function<bool()>& what);
  void add_group(const std::string& group, const reasons& why);
  bool explain_pod(const std::string& pod, const std::string& group, const std::string& message);
  bool explain_group(const std::string& group, const reasons& why);
  bool tell_not_ready(const std::string& group, const reasons& why, std::int64_t missing);
  /// @param subject what may_explain is asked about before it says that something fails. @param action of the event.
  bool write_condition(const std::string& pod, const nlohmann::json& condition, const std::string& subject,
                       const char* action);
  bool patch(const std::string& object, const request& what);
  void complain(const std::string& fault);

  const configuration& by_;
  object_store& store_;
  event_list& events_;
  send_function send_;
  log_function log_;
  const decision* what_ = nullptr;
  std::chrono::system_clock::time_point when_;
  std::map<std::string, std::string> own_;                                    ///< messages of pods
  std::map<std::pair<std::string, std::string>, nlohmann::json> conditions_;  ///< by pod and type
  std::map<std::string, std::deque<std::function<bool()>>> due_;              ///< by namespace
  std::map<std::string, std::chrono::system_clock::time_point> explained_;
  std::map<std::string, std::string> not_ready_;  ///< what was told about groups, by uid
  std::string last_;                              ///< namespace whose turn it was last
  std::size_t faults_ = 0;                        ///< of this cycle
  bool behind_ = false;
};

}  // namespace shim
