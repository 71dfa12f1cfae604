#pragma once
/// @file
/// Decisions of a session -> objects that a shim sends to the API server.

#include <cstdint>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/session.hpp>

#include "io/kubernetes/translation.hpp"

namespace kaisched::io::kubernetes {

/// How bindings are said.
enum class binding_form : std::uint8_t {
  kai,         ///< `BindRequest`, which KAI's binder carries out
  kubernetes,  ///< `Binding`, which the API server carries out
};

/// A `List` of objects in the order of the decisions: a binding for each pod that starts now, an `Eviction` for each
/// that leaves, and a `Pod` with the part of its status to patch for each that is promised a node or waits. A `Pod`
/// with annotations to patch, which plugins of vendors read, stands before the binding of a pod that gets devices of
/// them; so do, in the form `kubernetes`, a `ResourceClaim` with the part of its status to patch, and a `Pod` with the
/// labels of the devices that it shares. Devices of claims are part of a `BindRequest`. Names are `namespace/name`, as
/// `translate` makes them. Errors: a migration, which starts a pod that does not exist yet; devices that no plugin has
/// registered.
[[nodiscard]] result<std::string> format_actions(const session& from, const object_names& names, binding_form form);

/// The name of a shared device that has none yet: the same for the same node and index, in the form of a UUID.
/// @param attempt how many names of this device another one has already.
[[nodiscard]] std::string gpu_group_name(std::string_view node, std::int64_t index, int attempt = 0);

}  // namespace kaisched::io::kubernetes
