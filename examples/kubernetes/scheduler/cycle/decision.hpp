#pragma once
/// @file
/// Objects in, what to tell the API server out: the only place that knows the engine.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kaisched/abi.hpp>

#include "configuration/configuration.hpp"
#include "cycle/group_times.hpp"
#include "cycle/session_recording.hpp"
#include "watch/object_store.hpp"

namespace shim {

/// What a decision was made from and how long its parts took, for those who look on. It does not change any more and
/// may be asked from several threads.
struct evidence {
  kaisched::abi::snapshot snapshot;
  kaisched::abi::session session;      ///< has run
  std::int64_t now = 0;                ///< nanoseconds since 1970
  std::chrono::nanoseconds reading{};  ///< changes of objects into a snapshot
  std::chrono::nanoseconds opening{};
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> actions;  ///< of the policy, in their order
};

/// For whom a pod is evicted.
struct eviction_cause {
  std::string action;
  std::string evictor;   ///< the group that starts instead; empty: none does
  std::size_t pods = 0;  ///< of the same group that are evicted with it, itself included
};

struct decision {
  std::vector<nlohmann::json> actions;  ///< in order, as kaisched_objects_actions says them
  std::map<std::string, std::vector<std::pair<std::string, std::string>>>
      waiting;                                   ///< groups: constraints and sentences
  std::map<std::string, group_times> groups;     ///< that have pods
  std::map<std::string, std::string> group_of;   ///< by pod that something is decided about
  std::map<std::string, eviction_cause> causes;  ///< by pod that is evicted
  /// Waiting groups that lack pods, have gated ones or come after other groups: how many are missing.
  std::map<std::string, std::int64_t> missing;
  std::map<std::string, std::string, std::less<>>
      checks;                       ///< groups that wait for somebody to agree: who, separated by commas
  std::vector<std::string> faults;  ///< objects that were left out, and why
  std::shared_ptr<const evidence> seen;
};

/// Keeps the engine's cluster in step with the objects.
class decider {
 public:
  /// @param log for what has no place in a decision.
  decider(const configuration& by, std::function<void(const std::string&)> log);

  /// One session over the objects as they are with these changes.
  /// @param changes all since the last call, as object_store::take_changes gives them. @param now nanoseconds since
  /// 1970. Errors: kaisched::abi::failure; the changes are taken in nevertheless.
  [[nodiscard]] decision decide(const std::vector<object_change>& changes, std::int64_t now);

 private:
  void take(const std::vector<object_change>& changes);

  kaisched::abi::options engine_;
  kaisched::abi::object_cache objects_;
  std::optional<session_recording> recording_;
  std::map<std::string, std::string> unread_;  ///< objects that are none for the engine, and why
};

}  // namespace shim
