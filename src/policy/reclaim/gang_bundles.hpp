#pragma once
/// @file
/// Victims in bundles: what a gang can lose and still run, and what ends it.
///
/// Source: Volcano's actions gangpreempt and gangreclaim (pkg/scheduler/actions/utils/bundle.go). The pods of a job in
/// one place are split into a *safe* bundle, whose pods the gang does not need, and a *whole* one: taking any of it
/// costs the job all of its pods. Bundles are taken in the order of what they free of what is needed by what is lost
/// for it.

#include <compare>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

enum class bundle_kind : std::uint8_t { safe, whole };

/// A set of victims of one job that is taken together.
struct victim_bundle {
  bundle_kind kind = bundle_kind::safe;
  std::string job;
  std::string queue;
  std::int64_t job_priority = 0;
  std::vector<std::string> tasks;
  resource_list local;   ///< what its pods hold here
  resource_list global;  ///< what the job loses by it everywhere: nothing if it is safe
};

struct gang_task {
  std::string uid;
  std::string role;
  std::string sub_group;  ///< uid; empty: in none
  std::int64_t priority = 0;
  bool holds = false;       ///< has its resources, or has ended well
  bool needs_none = false;  ///< pending, and asks for nothing
  resource_list request;
};

struct gang_sub_group {
  std::string uid;
  std::string set;  ///< of equal sub-groups
  std::int64_t min_available = 0;
};

/// What a gang needs to run.
struct gang_needs {
  std::string uid;
  std::string queue;
  std::int64_t priority = 0;
  std::int64_t min_available = 0;
  std::map<std::string, std::int64_t, std::less<>> role_minimum;
  std::map<std::string, std::int64_t, std::less<>> set_minimum;  ///< ready sub-groups by set
  std::vector<gang_sub_group> sub_groups;
  std::vector<gang_task> tasks;
};

/// Splits the tasks (positions in `gang.tasks`) into at most two bundles; lowest priority first, then by uid.
[[nodiscard]] std::vector<victim_bundle> make_bundles(const gang_needs& gang, std::span<const std::uint32_t> local);
/// What is left of bundles if only some of their tasks may be taken: a safe bundle shrinks, a whole one is left out.
/// `request_of`: what a task holds.
[[nodiscard]] std::vector<victim_bundle> allowed_bundles(
    std::span<const victim_bundle> bundles, std::span<const std::string> allowed,
    const std::function<resource_list(std::string_view)>& request_of);

/// What a bundle frees of what is needed by what is lost for it, each in parts of the need; infinite if nothing is
/// lost.
[[nodiscard]] double return_on_eviction(const victim_bundle& bundle, const resource_list& need);

/// Safe ones first, then by `owners`, the order of what they belong to, then what returns most, then by uid.
[[nodiscard]] bool taken_before(const victim_bundle& a, const victim_bundle& b, const resource_list& need,
                                std::weak_ordering owners);

}  // namespace kaisched::policy
