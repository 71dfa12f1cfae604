#pragma once
/// @file
/// What a row of a pod table makes of a pod.

#include <cstdint>
#include <optional>
#include <string_view>

#include <kaisched/decisions.hpp>
#include <kaisched/quantity.hpp>
#include <kaisched/schema.hpp>

#include "model/pod_class.hpp"

namespace kaisched::model {

/// Name of the pod set of groups without sub-groups.
inline constexpr std::string_view implied_pod_set = "default";

/// Read and checked; nothing has changed yet. Views are into the input or the pool.
struct pod_plan {
  group_row group = no_row;  ///< no_row: the pod only uses its node
  std::string_view sub_name = implied_pod_set;
  std::string_view labels;
  std::int64_t created = 0;
  std::int64_t priority = unset;
  std::uint32_t nominated = no_row;  ///< node slot
  std::int64_t nominated_since = unset;
  std::uint64_t zones = 0;
  std::string_view device_grants;
  std::string_view instances;            ///< of divided devices, as given
  std::string_view budget;               ///< name of the disruption budget
  class_row known_class = no_row;        ///< its class now, or the one it will join
  std::optional<pod_class> fresh_class;  ///< the class it will join, if there is none yet
  pod_status status = pod_status::pending;
  std::uint32_t node = no_row;  ///< slot
  device_set devices{};
  bool chooses_devices = false;  ///< devices are chosen by what is free
  bool leader = false;
  bool outdated = false;
};

}  // namespace kaisched::model
