#pragma once
/// @file
/// Victims that disruption budgets allow.
///
/// Source: Volcano's plugin pdb. Budgets are used up in the order in which victims are offered; a pod that several
/// budgets are about is charged to all of them, also where one of them forbids it. Unlike Kubernetes' own preemption, a
/// pod without labels is no victim at all.

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "model/selector.hpp"

namespace kaisched::policy {

struct disruption_budget {
  std::string space;     ///< namespace
  model::selector pods;  ///< an empty one is about no pod
  std::int64_t allowed = 0;
  std::vector<std::string> disrupted;  ///< names of pods that are charged already
};

struct offered_victim {
  std::string space;
  std::string name;
  model::label_list labels;
};

/// Positions of the victims that may be taken together, in order.
[[nodiscard]] std::vector<std::uint32_t> within_budgets(std::span<const disruption_budget> budgets,
                                                        std::span<const offered_victim> offered);

}  // namespace kaisched::policy
