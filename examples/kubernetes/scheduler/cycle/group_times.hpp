#pragma once
/// @file
/// What the engine has to find on pod groups in later cycles: when they started, when they were evicted, since when
/// they are in part on nodes.

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include <kaisched/abi.hpp>

namespace shim {

/// What one cycle says about a group that has pods.
struct group_times {
  bool starts = false;               ///< had no pod on a node and gets some
  bool is_evicted = false;           ///< for others, or to be moved
  std::int64_t evictions = 0;        ///< cycles in which it was, this one included
  bool is_stale = false;             ///< has pods on nodes after this cycle, but fewer than it needs
  bool is_active = false;            ///< has pods on nodes after this cycle that do not leave
  std::vector<std::string> waiting;  ///< pods that wait after this cycle and are not gated
  std::vector<std::string> after;    ///< groups that it comes after, as far as that is not settled
};

/// Takes the decisions of a session in and asks the engine what they make of the groups.
/// @param options of the engine that ran the session. @param of what the session was run over, as it is then.
/// @return all groups that have pods; those of `session` alone would not tell whose mark has to go.
[[nodiscard]] std::map<std::string, group_times> times_of_groups(const kaisched::abi::options& options,
                                                                 kaisched::abi::cluster& of,
                                                                 const kaisched::abi::session& session,
                                                                 std::int64_t now);

}  // namespace shim
