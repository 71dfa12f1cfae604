#pragma once
/// @file
/// Devices that a pod gets -> the annotations in which schedulers of its vendors and their plugins look for them.

#include <map>
#include <span>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

#include "io/kubernetes/translation.hpp"

namespace kaisched::io::kubernetes {

/// By key. Errors: a grant of a device or a container that is not there, one of no whole MiB, and what would break the
/// form.
[[nodiscard]] result<std::map<std::string, std::string>> grant_annotations(const object_names& names,
                                                                           std::string_view pod, std::string_view node,
                                                                           std::span<const std::string_view> grants);

}  // namespace kaisched::io::kubernetes
