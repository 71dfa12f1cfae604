#pragma once
/// @file
/// Places that earlier sessions have promised to pods: kept while victims leave, and given as soon as they are free.

#include <kaisched/result.hpp>

#include "framework/session_state.hpp"

namespace kaisched::actions {

/// When a session opens: pods that wait for their nominated nodes hold their places there, so that nothing else gets
/// them. A group of which a place is not to be had any more, or whose time is over, holds none:
/// `session_state::lapsed`.
void hold_nominated(framework::session_state& c);

/// Before the first action: groups that hold places start in them if these are free, or elsewhere if there is room. Of
/// one group alone, if an action runs for one.
[[nodiscard]] result<void> start_nominated(framework::session_state& c);

/// At the end of a session: pods whose places were not kept and that have got no others are told so.
void tell_lapsed(framework::session_state& c);

}  // namespace kaisched::actions
