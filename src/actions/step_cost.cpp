#include "actions/step_cost.hpp"

namespace kaisched::actions {

namespace {

constexpr std::int64_t leaves_per_step = 32;
/// Nodes per step. In `compat`, which decides as KAI does to the end of its budget, searches go further.
constexpr std::int64_t of_strict = 1;
constexpr std::int64_t of_compat = 16;
/// So many nodes are asked about other pods in the time in which one is scored.
constexpr std::int64_t rules_per_node = 8;

}  // namespace

std::int64_t steps_of_queues(std::size_t leaves) { return static_cast<std::int64_t>(leaves) / leaves_per_step; }

std::int64_t steps_of_looks(const framework::session_state& c, pod_row pod) {
  const auto nodes = static_cast<std::int64_t>(c.state().node_count()) / (c.compat() ? of_compat : of_strict);
  if (c.constraints.needs_scores(c.access, pod)) return nodes;
  return c.constraints.has_rules_for(c.access, pod) ? nodes / rules_per_node : 0;
}

}  // namespace kaisched::actions
