#pragma once
/// @file
/// Objects in, what to tell the API server out: the only place that knows the engine.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <kaisched/abi.hpp>

#include "configuration.hpp"
#include "group_times.hpp"

namespace shim {

/// What a decision was made from and how long its parts took, for those who look on. It does not change any more and
/// may be asked from several threads.
struct evidence {
  kaisched::abi::snapshot snapshot;
  kaisched::abi::session session;      ///< has run
  std::int64_t now = 0;                ///< nanoseconds since 1970
  std::chrono::nanoseconds reading{};  ///< objects into tables, tables into a snapshot
  std::chrono::nanoseconds opening{};
  std::vector<std::pair<std::string, std::chrono::nanoseconds>> actions;  ///< of the policy, in their order
};

struct decision {
  std::vector<nlohmann::json> actions;  ///< in order, as kaisched_objects_actions says them
  std::map<std::string, std::vector<std::pair<std::string, std::string>>>
      waiting;                                   ///< groups: constraints and sentences
  std::map<std::string, group_times> groups;     ///< that have pods
  std::map<std::string, std::string> group_of;   ///< by pod that something is decided about
  std::vector<std::string> faults;  ///< objects that were left out, and why
  std::shared_ptr<const evidence> seen;
};

/// One session over these objects.
/// @param text as object_store::text gives it. @param now nanoseconds since 1970.
[[nodiscard]] decision decide(const configuration& by, const std::string& text, std::int64_t now);

}  // namespace shim
