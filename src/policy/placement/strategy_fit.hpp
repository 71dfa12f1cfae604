#pragma once
/// @file
/// Scores of nodes by a strategy per resource, and what keeps scarce resources for those who need them.
///
/// Source: Volcano's plugin resource-strategy-fit (pkg/scheduler/plugins/resource-strategy-fit): least or most
/// allocated for every resource by itself, in its order of operations; *scarce resource avoidance* (sra) keeps pods
/// without GPUs off nodes with them.

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "policy/resources/resource_list.hpp"

namespace kaisched::policy {

/// The best score of a node under a plug-in of weight 1.
inline constexpr double max_node_score = 100;

enum class fit_strategy : std::uint8_t { none, least_allocated, most_allocated };

struct resource_strategy {
  fit_strategy strategy = fit_strategy::least_allocated;
  std::int64_t weight = 1;
  friend bool operator==(const resource_strategy&, const resource_strategy&) = default;
};

/// By name, or by a prefix that ends in `*`.
using resource_strategies = std::map<std::string, resource_strategy, std::less<>>;

struct strategy_fit_settings {
  std::int64_t weight = 10;
  resource_strategies resources{{"cpu", {}}, {"memory", {}}};
};

/// A name, or one with a single `*` at its end; not `*` alone.
[[nodiscard]] bool is_resource_pattern(std::string_view pattern);
/// Settings without what cannot be used: patterns that are none; weights below 1 and unknown strategies are replaced.
[[nodiscard]] strategy_fit_settings usable_settings(strategy_fit_settings settings);
/// The strategy of a resource: of its name, else of the longest prefix.
[[nodiscard]] std::optional<resource_strategy> strategy_of(const resource_strategies& all, std::string_view resource);

/// What is in use of a node once the pod is there, as part of it; nullopt if it does not fit.
[[nodiscard]] std::optional<double> strategy_score(const resource_strategy& by, double requested, double used,
                                                   double capacity);

/// 0 if any resource with a strategy does not fit. `of_pod` replaces the strategies of the settings, by exact names.
[[nodiscard]] double strategy_fit_score(const resource_list& request, const resource_list& allocatable,
                                        const resource_list& used, const strategy_fit_settings& settings,
                                        const resource_strategies* of_pod = nullptr);

/// Weights of scarce resources.
struct scarcity_settings {
  std::int64_t weight = 0;
  std::map<std::string, std::int64_t, std::less<>> resources;
};
/// The fewer scarce resources a node has, the better; 0 for a node that lacks something the pod asks for.
[[nodiscard]] double scarcity_score(const resource_list& request, const resource_list& allocatable,
                                    const scarcity_settings& settings);

}  // namespace kaisched::policy
