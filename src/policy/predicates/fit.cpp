// Does a pod fit on a node: amounts, devices, state, taints, labels. Kubernetes' semantics of taints and affinity.
#include <algorithm>
#include <array>
#include <utility>

#include "base/int128.hpp"
#include "model/account.hpp"
#include "policy/access.hpp"

namespace kaisched::policy {

namespace {

constexpr std::int64_t slots_of_sharer = 2;

std::string_view label_of(const model::node_info& node, std::string_view key) {
  const std::string* value = model::find_label(node.labels, key);
  return value == nullptr ? std::string_view{} : std::string_view(*value);
}

/// Devices of a driver for GPUs that pods claim: nobody shares them.
bool has_claimable_gpus(const model::node_info& node) {
  return std::any_of(node.claimable.begin(), node.claimable.end(), [](const auto& one) {
    std::string driver = one.second.substr(0, one.second.find('/'));
    std::transform(driver.begin(), driver.end(), driver.begin(), [](char letter) {
      return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
    });
    return driver.find("gpu") != std::string::npos;
  });
}

/// KAI's rules of nodes with divided GPUs: with the strategy "single" an instance is a GPU, with "mixed" there are no
/// GPUs but instances.
bool is_right_kind(const session_access& a, const model::pod_class& c, node_row row) {
  const bool wants_instance = c.mig_slices > 0;
  if (!c.wants_gpu() && !wants_instance) return true;
  if (c.is_shared() && has_claimable_gpus(*(*a.state->nodes)[row])) return false;
  if (!has_divided_gpus(a, row)) return !wants_instance;
  const std::string_view strategy = label_of(*(*a.state->nodes)[row], model::mig_strategy_label);
  if (strategy == "single") return !wants_instance && !c.is_shared();
  return strategy != "mixed" || wants_instance;
}

bool depends_on_sharing(const session_access& a, const model::pod_class& c) {
  return c.is_shared() && (a.state->nodes_with_sharing_modes > 0 || c.ask.sharing != model::sharing_mode::unknown);
}

/// As many devices as the pod wants parts of are shared in a way that it accepts.
bool shares_rightly(const session_access& a, const model::pod_class& c, node_row row) {
  if (!depends_on_sharing(a, c)) return true;
  const model::node_info& node = *(*a.state->nodes)[row];
  std::int64_t found = 0;
  for (std::uint32_t d = 0; d < node.device_count(); ++d) {
    found += model::gives_parts_to(*a.state, row, d, c) ? 1 : 0;
  }
  return found >= c.shared_count();
}

}  // namespace

bool has_divided_gpus(const session_access& a, node_row row) {
  const std::string_view label = label_of(*(*a.state->nodes)[row], model::mig_label);
  static constexpr std::array<std::string_view, 6> yes{"1", "t", "T", "true", "True", "TRUE"};
  if (!label.empty()) return std::find(yes.begin(), yes.end(), label) != yes.end();
  const std::size_t at = static_cast<std::size_t>(row) * a.state->dims();
  for (std::uint32_t d = built_in_dimensions; d < a.state->dims(); ++d) {
    if ((*a.state->capacity)[at + d] > 0 && model::is_mig_resource((*a.state->dimensions)[d].name)) return true;
  }
  return false;
}

set_aside_shortage set_aside_missing(const session_access& a, const model::pod_class& c, node_row row,
                                     free_amount which) {
  if (!must_leave_room(a, c)) return {};
  const std::size_t at = static_cast<std::size_t>(row) * a.state->dims();
  const auto free = [&](dimension d) {
    const std::int64_t later = which == free_amount::idle_or_releasing ? (*a.live->releasing)[at + d] : 0;
    return (*a.live->idle)[at + d] + later;
  };
  const std::int64_t gpus = free(dim_gpu);
  if (gpus <= 0) return {};
  for (const auto& [d, each] :
       {std::pair{dim_cpu, a.options->set_aside_cpu}, std::pair{dim_memory, a.options->set_aside_memory}}) {
    const base::int128 whole = base::int128{each} * gpus;
    const auto aside =
        static_cast<std::int64_t>(std::min<base::int128>((whole + whole_device - 1) / whole_device, max_amount));
    if (c.requests(d) > 0 && free(d) - c.requests(d) < aside) return {d, c.requests(d) + aside, free(d)};
  }
  return {};
}

bool amounts_fit(const session_access& a, const model::pod_class& c, node_row row, free_amount which,
                 std::int64_t paid) {
  const std::uint32_t dims = a.state->dims();
  const std::size_t at = static_cast<std::size_t>(row) * dims;
  const std::int64_t* idle = a.live->idle->data() + at;
  const std::int64_t* releasing = a.live->releasing->data() + at;
  const std::vector<std::int64_t>& request = c.ask.request;
  const auto asked = static_cast<std::uint32_t>(std::min<std::size_t>(dims, request.size()));
  const bool also_releasing = which == free_amount::idle_or_releasing;
  const bool compat = a.compat();
  const bool in_groups = a.in_groups(c);
  for (std::uint32_t d = 0; d < asked; ++d) {
    if (in_groups && d == dim_gpu) continue;
    const std::int64_t free = idle[d] + (also_releasing ? releasing[d] : 0) + (d == dim_gpu ? paid : 0);
    if (request[d] > free && (compat || request[d] != 0)) return false;
  }
  for (std::uint32_t d = asked; compat && d < dims; ++d) {
    if (in_groups && d == dim_gpu) continue;
    if (idle[d] + (also_releasing ? releasing[d] : 0) < 0) return false;
  }
  if (!in_groups) return !must_leave_room(a, c) || set_aside_missing(a, c, row, which).dim == no_row;
  // KAI keeps a slot for the pod that will reserve the device, also where it is reserved already.
  if (a.predicates && idle[dim_pods] + releasing[dim_pods] < slots_of_sharer) return false;
  return a.groups->fits(row, c, idle[dim_gpu] + (also_releasing ? releasing[dim_gpu] : 0));
}

bool fits(const session_access& a, const model::pod_class& c, node_row row, free_amount which, std::int64_t paid) {
  if (!amounts_fit(a, c, row, which, paid)) return false;
  if (!c.wants_gpu() || a.groups->is_open()) return true;
  device_set chosen;
  const auto amount =
      which == free_amount::idle ? model::device_amount::free_now : model::device_amount::free_or_releasing;
  return model::choose_devices(*a.state, *a.live, c, row, amount, !a.compat(), chosen);
}

constraint node_verdict(const session_access& a, const model::pod_class& c, node_row row) {
  const model::node_info& node = *(*a.state->nodes)[row];
  if (node.unschedulable) return constraint::node_unschedulable;
  if (!node.ready) return constraint::node_not_ready;
  if (!node.taints.empty() && !c.tolerates(node.taints)) return constraint::taint;
  if (!c.matches_labels(node.labels)) return constraint::node_selector;
  if (a.options->restrict_node_scheduling &&
      model::find_label(node.labels, c.wants_gpu() || c.mig_slices > 0 ? gpu_worker_label : cpu_worker_label) ==
          nullptr) {
    return constraint::node_selector;
  }
  if (a.compat() && !is_right_kind(a, c, row)) return constraint::device_kind;
  if (c.memory_devices > 0 && model::device_memory(*a.state, row) == 0) return constraint::device_kind;
  if (!a.compat() && !shares_rightly(a, c, row)) return constraint::device_kind;
  return constraint::none;
}

bool accepts_every_node(const session_access& a, const model::pod_class& c) {
  const bool any_device =
      c.memory_devices == 0 && (a.compat() ? a.state->nodes_with_mig == 0 : !depends_on_sharing(a, c));
  return a.state->nodes_with_taints == 0 && a.state->nodes_not_open == 0 && c.node_selector.empty() &&
         c.node_affinity.empty() && !a.options->restrict_node_scheduling && any_device;
}

cluster_verdict judge_cluster(const session_access& a, const model::pod_class& c) {
  if (!c.ask.obstacle.empty()) return {constraint::obstacle, no_row, 0};
  const std::uint32_t dims = a.state->dims();
  const std::vector<std::int64_t>& capacity = *a.state->capacity;
  const std::int64_t open_gpus = claims_have_requests(a) ? c.claimed_devices * whole_device : 0;
  for (std::uint32_t d = 0; d < std::min<std::size_t>(dims, c.ask.request.size()); ++d) {
    const std::int64_t asked = c.ask.request[d] - (d == dim_gpu ? open_gpus : 0);
    if (asked == 0) continue;
    std::int64_t largest = 0;
    for (node_row row = 0; row < a.state->node_count(); ++row) {
      largest = std::max(largest, capacity[static_cast<std::size_t>(row) * dims + d]);
      if (largest >= asked) break;
    }
    if (asked > largest) return {constraint::larger_than_any_node, d, largest};
  }
  return {};
}

}  // namespace kaisched::policy
