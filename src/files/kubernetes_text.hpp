#pragma once
/// @file
/// Texts with objects of Kubernetes, in JSON or YAML.

#include <string_view>

#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"
#include "io/kubernetes/settings.hpp"

namespace kaisched::io::kubernetes {

/// Whether a text looks like objects of Kubernetes: the first object of a JSON text, or the top of a YAML text, has an
/// `apiVersion` or a `kind`, or it is a snapshot of KAI.
[[nodiscard]] bool is_likely(std::string_view text);

/// Reads lists and single objects, one or several after each other in JSON, one or several documents of YAML.
[[nodiscard]] result<cluster_input> parse(std::string_view text, std::string_view source, const settings& chosen = {});

}  // namespace kaisched::io::kubernetes
