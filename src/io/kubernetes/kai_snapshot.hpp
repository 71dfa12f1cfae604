#pragma once
/// @file
/// What KAI's scheduler says of itself on `/get-snapshot`: lists of objects by a name instead of a kind, and parameters
/// of the scheduler.

#include <string_view>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/settings.hpp"

namespace kaisched::io::kubernetes {

inline constexpr std::string_view snapshot_objects = "rawObjects";

/// The kind of the objects in a list of a snapshot, "Pod" for `pods`; empty if they decide nothing here.
[[nodiscard]] std::string_view kind_of_list(std::string_view name);

/// Takes the names that the scheduler goes by from a text, if it is a snapshot. What has been chosen stays.
void read_snapshot_parameters(json_value text, settings& to);

}  // namespace kaisched::io::kubernetes
