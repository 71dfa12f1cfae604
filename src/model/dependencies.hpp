#pragma once
/// @file
/// Groups that come after others: what has become of those, and who still waits for whom.

#include <map>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "model/state.hpp"

namespace kaisched::model {

/// An entry of the column `after`.
struct after_entry {
  dependency_kind kind = dependency_kind::ok;
  bool never = false;  ///< the group left otherwise: it cannot be fulfilled any more
  std::string group;
};
/// As `parse_dependency`, and `never:NAME`.
[[nodiscard]] result<after_entry> parse_after(std::string_view text);

/// What has become of a group, as its pods say.
struct group_progress {
  bool started = false;    ///< it was started once, or a pod of it runs or has ended
  bool ended = false;      ///< it has pods, and all of them have succeeded or failed
  bool succeeded = false;  ///< and none has failed
};
[[nodiscard]] group_progress progress_of(const cluster_state& s, group_row g);

/// An entry that is not fulfilled.
struct open_dependency {
  after_entry entry;
  group_row group = no_row;  ///< no_row: there is no such group
  bool ended = false;        ///< it has ended otherwise
};

/// By group with pending pods, entries in the order of the column. Groups that may start are not listed.
using open_dependencies = std::map<group_row, std::vector<open_dependency>>;
[[nodiscard]] open_dependencies find_open_dependencies(const cluster_state& s);

/// A copy in which pods that wait for other groups are gated: they ask for nothing.
[[nodiscard]] cluster_state with_gates(const cluster_state& s, const open_dependencies& waiting);

}  // namespace kaisched::model
