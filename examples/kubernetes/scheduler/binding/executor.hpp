#pragma once
/// @file
/// Carries decisions out: bindings (binder.hpp), evictions, promises of nodes, and why pods and groups wait. What is on
/// its way is assumed in the store until the server has said it itself.

#include <chrono>
#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "api_server/http_client.hpp"
#include "binding/binder.hpp"
#include "binding/check_gate.hpp"
#include "binding/event_list.hpp"
#include "binding/explainer.hpp"
#include "binding/group_stamps.hpp"
#include "binding/suspended_jobs.hpp"
#include "configuration/configuration.hpp"
#include "cycle/decision.hpp"
#include "sharing/reservations.hpp"
#include "sharing/scaling_pods.hpp"
#include "watch/object_store.hpp"

namespace shim {

/// What became of the actions of one cycle.
struct tally {
  std::size_t bound = 0;
  std::size_t evicted = 0;
  std::size_t nominated = 0;
  std::size_t explained = 0;  ///< pods and groups whose reason is a new one
  std::size_t refused = 0;    ///< by the server: somebody was faster, or the object is gone
  std::size_t unknown = 0;    ///< no answer came
  std::size_t resumed = 0;    ///< Jobs
};

class executor {
 public:
  executor(const configuration& by, const credentials& as, object_store& store, log_function log);

  /// Before a cycle: shows pods that there will be.
  void plan() { jobs_.plan(); }
  /// @param when the time of the cycle.
  /// @param go_on asked before each request; false leaves the rest to the next cycle.
  tally carry_out(const decision& what, std::chrono::system_clock::time_point when, const std::function<bool()>& go_on);

  /// Asks the server about pods of which no answer came. @return false if it does not answer now either: then nothing
  /// may be decided, because nobody knows what the last decisions have become.
  [[nodiscard]] bool resolve_unknown();

  /// Whether there is more to say than a cycle had time for.
  [[nodiscard]] bool is_behind() const noexcept;
  /// Whether the server wants to be left alone for a while.
  [[nodiscard]] bool is_paused() const noexcept;
  /// Whether pods are on their way to their nodes and something has to come before they are bound. What others have to
  /// agree to may take for ever and does not count.
  [[nodiscard]] bool waits() const { return binder_.waiting().size() > gate_->held(); }
  /// When something that is waited for is late.
  [[nodiscard]] std::optional<std::chrono::steady_clock::time_point> deadline() const {
    return reservations_.deadline();
  }

  /// From any thread.
  void cancel() noexcept { client_.cancel(); }

 private:
  void act(const nlohmann::json& action, tally& to);
  void bind(const nlohmann::json& action, const std::string& pod, tally& to);
  void go_on_binding(tally& to);
  /// Reservations without users go, and so do users without a reservation.
  void sync_reservations(tally& to);
  /// What autoscalers are shown, as far as the time for it goes.
  void show_needs();
  /// Says what has become of a binding.
  void settle(const bind_result& result, tally& to);
  void evict(const std::string& pod, tally& to);
  /// Whole Jobs that can wait without pods do so.
  void suspend_jobs(tally& to);
  /// What was decided about a pod that is not there yet.
  void act_on_planned(const nlohmann::json& action, const std::string& kind, const std::string& pod);
  void patch_status(const std::string& pod, const nlohmann::json& status, tally& to);
  /// What the event of an eviction says: the pod that left, its group, and the group that gets the room.
  struct eviction_notice {
    nlohmann::json object;
    std::string group;
    eviction_cause cause;
  };
  [[nodiscard]] eviction_notice notice_of(nlohmann::json object, const std::string& pod) const;
  void tell_eviction(const eviction_notice& notice);
  /// The same of an eviction of which no answer came, if it has happened. `now`: the pod, or null.
  void tell_resolved_eviction(const std::string& pod, const nlohmann::json& now);
  void hold_back(const std::string& pod, const request& what, const response& answer);

  /// Sends a change of a pod whose outcome matters, unless the time for it is over. @return whether it was made.
  bool change(const std::string& pod, const request& what, const std::string& words, tally& to);
  response send(const request& what);
  /// Errors: cancelled, if the time for it is over.
  response send_in_time(const request& what);

  const configuration& by_;
  http_client client_;
  object_store& store_;
  log_function log_;
  send_function send_;
  send_function send_in_time_;
  group_stamps stamps_;
  reservations reservations_;
  binder binder_;
  check_gate* gate_ = nullptr;  ///< of the binder
  event_list events_;
  explainer explainer_;
  suspended_jobs jobs_;
  scaling_pods scaling_;
  // Of this cycle.
  const decision* what_ = nullptr;
  std::function<bool()> go_on_;
  std::chrono::system_clock::time_point when_;
  std::vector<nlohmann::json> before_;                            ///< objects of the binding that comes next
  std::set<std::string, std::less<>> suspended_;                  ///< pods that their Job removes
  std::set<std::string> refusing_;                                ///< groups of which a pod may not be evicted
  std::set<std::pair<std::string, std::string>> told_evictions_;  ///< groups, and for whom
  // Of all cycles.
  std::set<std::string> unknown_;                       ///< pods of which no answer came
  std::map<std::string, eviction_notice> untold_;       ///< evictions of such pods
  std::chrono::steady_clock::time_point paused_until_;  ///< what the server has asked for
};

}  // namespace shim
