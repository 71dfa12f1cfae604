#pragma once
/// @file
/// The kinds of objects that the program reads, and where the API server has them.

#include <span>
#include <string>
#include <string_view>
#include <utility>

namespace shim {

struct resource {
  std::string_view kind;
  std::string_view version;  ///< `v1` or `group/version`
  std::string_view plural;
  bool required;  ///< false: a cluster may not have it

  /// The part of the version before the slash; empty for the core.
  [[nodiscard]] std::string_view group() const;
  /// `group/kind`, or the kind alone of the core: other projects have jobs and services as well.
  [[nodiscard]] std::string key() const;
};

/// In a fixed order, which is also that of the text that the engine reads.
[[nodiscard]] std::span<const resource> watched_resources();

/// Where all objects of a resource are: `/api/v1/pods`, `/apis/batch/v1/jobs`.
[[nodiscard]] std::string collection(const resource& of);

/// Where one object is, or the collection of its namespace if `name` is empty.
[[nodiscard]] std::string place(const resource& of, std::string_view name_space, std::string_view name);

/// Where an object is whose kind is watched. @param name `namespace/name`, or the name alone. @param part `status`.
[[nodiscard]] std::string place_of(std::string_view key, const std::string& name, std::string_view part = {});

/// Namespace and name; without a slash there is no namespace.
[[nodiscard]] std::pair<std::string, std::string> split_name(const std::string& name);

/// One of those that are watched, by its `key`. Errors: std::logic_error for any other.
[[nodiscard]] const resource& resource_of(std::string_view key);

/// Keys of the kinds that the program writes to.
inline constexpr std::string_view pod_key = "Pod";
inline constexpr std::string_view pod_group_key = "scheduling.run.ai/PodGroup";
inline constexpr std::string_view claim_key = "resource.k8s.io/ResourceClaim";

/// Keys of the kinds that are read only where the configuration says so.
inline constexpr std::string_view budget_key = "policy/PodDisruptionBudget";

/// Keys of the kinds that the program knows more about than the server.
inline constexpr std::string_view queue_key = "scheduling.run.ai/Queue";
inline constexpr std::string_view node_key = "Node";

}  // namespace shim
