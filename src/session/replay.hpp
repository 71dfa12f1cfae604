#pragma once
/// @file
/// Decisions of a session repeated on a fresh one, to ask in the state in which one of them was made.

#include <cstddef>
#include <cstdint>

#include "framework/session_state.hpp"

namespace kaisched::session_detail {

/// The decision puts a pod somewhere.
[[nodiscard]] bool is_placement(const decision& d);
/// The pod leaves the node where it is.
[[nodiscard]] bool takes_away(const decision& d);
/// The decision that put the pod where it is, or the number of decisions.
[[nodiscard]] std::size_t placement_of(const framework::session_state& c, pod_row pod);
/// Repeats the decisions before one of them, evictions of its own commit included. The statement is left open.
void replay_before(framework::session_state& onto, const framework::session_state& of, std::size_t end);
/// Repeats all commits before one of them, each as a commit.
void replay_commits(framework::session_state& onto, const framework::session_state& of, std::uint32_t before);

}  // namespace kaisched::session_detail
