#pragma once
/// @file
/// `Queue` of Volcano -> rows.
///
/// Source: volcano-sh/apis, pkg/apis/scheduling/v1beta1.

#include <functional>
#include <set>
#include <span>
#include <string>

#include "io/kubernetes/object.hpp"
#include "io/kubernetes/records.hpp"

namespace kaisched::io::kubernetes {

/// Adds rows for queues whose names no row has yet. Those that name no parent are below `root`, if there is one.
/// @return names of those that are closed or about to be: nobody starts there.
[[nodiscard]] std::set<std::string, std::less<>> read_volcano_queues(std::span<object* const> objects,
                                                                     cluster_records& to);

/// Why pods of a closed queue wait.
[[nodiscard]] std::string closed_queue_text(std::string_view queue);

}  // namespace kaisched::io::kubernetes
