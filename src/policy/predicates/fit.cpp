// Does a pod fit on a node: amounts, devices, state, taints, labels. Kubernetes' semantics of taints and affinity.
#include <algorithm>

#include "model/account.hpp"
#include "policy/access.hpp"

namespace kaisched::policy {

bool amounts_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which) {
  const std::uint32_t dims = a.state->dims();
  const std::size_t at = static_cast<std::size_t>(row) * dims;
  const std::int64_t* idle = a.live->idle->data() + at;
  const std::int64_t* releasing = a.live->releasing->data() + at;
  const std::vector<std::int64_t>& request = c.ask.request;
  const auto asked = static_cast<std::uint32_t>(std::min<std::size_t>(dims, request.size()));
  const bool also_releasing = which == free_amount::idle_or_releasing;
  const bool compat = a.compat();
  for (std::uint32_t d = 0; d < asked; ++d) {
    const std::int64_t free = idle[d] + (also_releasing ? releasing[d] : 0);
    if (request[d] > free && (compat || request[d] != 0)) return false;
  }
  for (std::uint32_t d = asked; compat && d < dims; ++d) {
    if (idle[d] + (also_releasing ? releasing[d] : 0) < 0) return false;
  }
  return true;
}

bool fits(const session_access& a, const model::pod_class& c, node_row row, free_amount which) {
  if (!amounts_fit(a, c, row, which)) return false;
  if (!c.wants_gpu()) return true;
  device_set chosen;
  const auto amount =
      which == free_amount::idle ? model::device_amount::free_now : model::device_amount::free_or_releasing;
  return model::choose_devices(*a.state, *a.live, c, row, amount, chosen);
}

constraint node_verdict(const session_access& a, const model::pod_class& c, node_row row) {
  const model::node_info& node = *(*a.state->nodes)[row];
  if (node.unschedulable) return constraint::node_unschedulable;
  if (!node.ready) return constraint::node_not_ready;
  if (!node.taints.empty() && !c.tolerates(node.taints)) return constraint::taint;
  if (!c.matches_labels(node.labels)) return constraint::node_selector;
  if (a.options->restrict_node_scheduling &&
      model::find_label(node.labels, c.wants_gpu() ? gpu_worker_label : cpu_worker_label) == nullptr) {
    return constraint::node_selector;
  }
  return constraint::none;
}

bool accepts_every_node(const session_access& a, const model::pod_class& c) {
  return a.state->nodes_with_taints == 0 && a.state->nodes_not_open == 0 && c.node_selector.empty() &&
         c.node_affinity.empty() && !a.options->restrict_node_scheduling;
}

cluster_verdict judge_cluster(const session_access& a, const model::pod_class& c) {
  if (!c.ask.obstacle.empty()) return {constraint::obstacle, no_row, 0};
  const std::uint32_t dims = a.state->dims();
  const std::vector<std::int64_t>& capacity = *a.state->capacity;
  for (std::uint32_t d = 0; d < std::min<std::size_t>(dims, c.ask.request.size()); ++d) {
    if (c.ask.request[d] == 0) continue;
    std::int64_t largest = 0;
    for (node_row row = 0; row < a.state->node_count(); ++row) {
      largest = std::max(largest, capacity[static_cast<std::size_t>(row) * dims + d]);
      if (largest >= c.ask.request[d]) break;
    }
    if (c.ask.request[d] > largest) return {constraint::larger_than_any_node, d, largest};
  }
  return {};
}

}  // namespace kaisched::policy
