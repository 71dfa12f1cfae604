#pragma once
/// @file
/// What other programs have said about a pod that waits, as a host notes it on the pod: so it is part of the input.

#include <string_view>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// JSON: `nodes` are those that are left, or `except` those that are not; `preferences` are weights of nodes by name, 1
/// to 100; `obstacle` is why the pod cannot start.
inline constexpr std::string_view extender_key = "kaisched.io/extender-answers";

/// Adds them to the row. `asks_names` is set if nodes are named.
void read_extender_answers(object& of, pod_record& row, bool& asks_names);

}  // namespace kaisched::io::kubernetes
