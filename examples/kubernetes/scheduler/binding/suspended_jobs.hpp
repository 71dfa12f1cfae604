#pragma once
/// @file
/// Jobs that wait before they have pods: `spec.suspend` is true until there is room for them, so that thousands of them
/// burden neither the API server nor its controllers. The engine decides about pods as the Job would make them; when
/// they have places the Job is resumed, and the places stay theirs until the pods are there. Kueue does the same.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "binding/event_list.hpp"
#include "configuration/configuration.hpp"
#include "cycle/decision.hpp"
#include "watch/object_store.hpp"

namespace shim {

class suspended_jobs {
 public:
  suspended_jobs(const configuration& by, object_store& store, event_list& events, send_function send,
                 log_function log);

  /// Before a cycle: makes the store show the pods of Jobs that have none yet.
  void plan();
  /// @param what borrowed until the next call.
  void begin(const decision& what) { what_ = &what; }
  /// Whether the pod is one that only `plan` has made.
  [[nodiscard]] bool made(const std::string& pod) const { return planned_.contains(pod); }
  /// What was decided about such a pod.
  void bind(const std::string& pod, const std::string& node);
  void evict(const std::string& pod);
  /// Why it waits; told of its Job. @param may whether something new may be said of this object now.
  void wait(const std::string& pod, const std::string& why, const std::function<bool(const std::string&)>& may);
  /// Suspends Jobs all of whose pods are to leave. @param go_on asked before each request. @return these pods: the
  /// controller of the Job removes them.
  [[nodiscard]] std::vector<std::string> suspend(const std::function<bool()>& go_on);
  /// Resumes Jobs that have places and for which nobody has to agree any more. @return how many.
  std::size_t resume(const std::function<bool()>& go_on);

 private:
  /// Places of a Job.
  struct places {
    std::string uid;
    std::string group;                                      ///< that its pods are in
    std::map<std::string, std::string, std::less<>> nodes;  ///< by name of the pod
    std::uint64_t changes = 0;                              ///< another number whenever they are others
    std::chrono::steady_clock::time_point since = std::chrono::steady_clock::now();
    std::chrono::steady_clock::time_point resumed{};  ///< the epoch: not yet
    [[nodiscard]] bool is_resumed() const { return resumed != std::chrono::steady_clock::time_point{}; }
  };
  /// A Job whose pods the store shows.
  struct known_job {
    std::string mark;  ///< uid, version and changes of its places when they were made
    std::vector<std::string> pods;
    std::string odd;  ///< why none can be made
  };
  /// A Job as it is now.
  struct seen_job {
    std::string uid;
    std::string version;
    bool suspended = false;
    std::int64_t pods_at_once = 0;
  };

  [[nodiscard]] std::map<std::string, seen_job, std::less<>> look();
  /// Forgets places that are over, and those that pods have taken.
  void keep_places(const std::map<std::string, seen_job, std::less<>>& jobs);
  void show(const std::string& name, const nlohmann::json& job);
  void hide(const known_job& job);
  [[nodiscard]] std::map<std::string, std::vector<std::string>, std::less<>> pods_of_jobs(
      const std::set<std::string, std::less<>>& uids) const;
  /// @return whether the server has done it.
  bool patch(const std::string& name, const nlohmann::json& job, const std::string& words, nlohmann::json change);
  /// Places of Jobs that somebody has not agreed to in time.
  void give_up_places();
  /// Says on the Job itself whether places are held for it.
  bool mark(const std::string& name, const nlohmann::json& job, bool held);

  const configuration& by_;
  object_store& store_;
  event_list& events_;
  send_function send_;
  log_function log_;
  const decision* what_ = nullptr;
  std::map<std::string, std::string, std::less<>> planned_;  ///< Jobs by name of the pod
  std::map<std::string, known_job, std::less<>> jobs_;       ///< by name
  std::map<std::string, places, std::less<>> places_;        ///< by name of the Job
  /// By name, Jobs whose places were given up because nobody agreed: until when their pods are held back.
  std::map<std::string, std::chrono::steady_clock::time_point, std::less<>> lapsed_;
  std::set<std::string, std::less<>> marked_;  ///< Jobs that say that places are held
  std::uint64_t changes_ = 0;                  ///< of all places
};

}  // namespace shim
