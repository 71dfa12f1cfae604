#pragma once
/// @file
/// Carries decisions out: bindings (binder.hpp), evictions, promises of nodes, and why pods and groups wait. What is on
/// its way is assumed in the store until the server has said it itself.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "binder.hpp"
#include "configuration.hpp"
#include "decision.hpp"
#include "group_stamps.hpp"
#include "http_client.hpp"
#include "object_store.hpp"
#include "reservations.hpp"

namespace shim {

/// What became of the actions of one cycle.
struct tally {
  std::size_t bound = 0;
  std::size_t evicted = 0;
  std::size_t nominated = 0;
  std::size_t explained = 0;  ///< pods and groups whose reason is a new one
  std::size_t refused = 0;    ///< by the server: somebody was faster, or the object is gone
  std::size_t unknown = 0;    ///< no answer came
};

class executor {
 public:
  using log_function = std::function<void(const std::string&)>;

  executor(const configuration& by, const credentials& as, object_store& store, log_function log);

  /// @param when the time of the cycle.
  /// @param go_on asked before each request; false leaves the rest to the next cycle.
  tally carry_out(const decision& what, std::chrono::system_clock::time_point when, const std::function<bool()>& go_on);

  /// Asks the server about pods of which no answer came. @return false if it does not answer now either: then nothing
  /// may be decided, because nobody knows what the last decisions have become.
  [[nodiscard]] bool resolve_unknown();

  /// Whether pods are on their way to their nodes and something has to come before they are bound.
  [[nodiscard]] bool waits() const { return !binder_.waiting().empty(); }
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
  /// Says what has become of a binding.
  void settle(const bind_result& result, tally& to);
  void evict(const std::string& pod, tally& to);
  /// DELETE of a pod.
  [[nodiscard]] static request removal(const std::string& pod, const std::string& uid);
  void patch_status(const std::string& pod, const nlohmann::json& status, tally& to);
  /// Writes a condition whose message is a new one, and an event. @param action of the event.
  void explain_pod(const std::string& pod, const nlohmann::json& condition, tally& to,
                   const char* action = "Scheduling");
  void explain_group(const std::string& group, const std::vector<std::pair<std::string, std::string>>& why, tally& to);
  void explain_refused(tally& to);
  void explain_bindings(tally& to);
  /// Whether a new reason of this object may be written now.
  bool may_explain(const std::string& object);

  /// Makes an event. It is sent after all that changes something, so that a gang is bound in one go.
  void tell(const nlohmann::json& about, std::string_view type, std::string_view reason, const std::string& note,
            std::string_view action);
  void send_events(const std::function<bool()>& go_on);
  /// Sends a change of a pod whose outcome matters, unless the time for it is over. @return whether it was made.
  bool change(const std::string& pod, const request& what, const std::string& words, tally& to);
  response send(const request& what) { return client_.send(what); }
  /// Errors: cancelled, if the time for it is over.
  response send_in_time(const request& what);

  const configuration& by_;
  http_client client_;
  object_store& store_;
  log_function log_;
  group_stamps stamps_;
  reservations reservations_;
  binder binder_;
  std::function<bool()> go_on_;  ///< of this cycle
  std::string identity_;
  std::chrono::system_clock::time_point when_;
  std::map<std::string, std::chrono::system_clock::time_point> explained_;
  std::set<std::string> unknown_;                     ///< pods of which no answer came
  std::vector<nlohmann::json> before_;                ///< objects of the binding that comes next
  std::map<std::string, nlohmann::json> conditions_;  ///< to write, by pod: it could not be bound, or can now
  std::vector<request> told_;                         ///< events that are not sent yet
  std::uint64_t events_ = 0;                          ///< how many there have been
};

}  // namespace shim
