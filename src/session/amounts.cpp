// What pods ask of queues and hold of them. `strict` counts GPU memory exactly and instances of divided GPUs as parts
// of the device; `compat` counts as KAI does.
#include <algorithm>

#include "policy/devices/sharing/kai_shares.hpp"
#include "session/core.hpp"

namespace kaisched::work {

using model::pod_class;
using model::quota_vector;

namespace {

constexpr std::size_t gpu = 2;  ///< among the quota dimensions

/// Both modes count what most pods ask for as it stands, on every node.
bool is_plain(const pod_class& c) { return !c.is_shared() && c.mig_slices == 0; }

}  // namespace

/// The smallest and the largest GPU of the cluster, for pods that ask for memory.
void core::find_gpu_memories() {
  for (node_row row = 0; state().pods_with_gpu_memory > 0 && row < state().node_count(); ++row) {
    const std::int64_t memory =
        compat() ? policy::kai_gpu_memory((*state().nodes)[row]->gpu_memory) : model::device_memory(state(), row);
    if (memory <= (compat() ? policy::kai_gpu_memory(0) : 0)) continue;
    smallest_gpu = smallest_gpu == 0 ? memory : std::min(smallest_gpu, memory);
    largest_gpu = std::max(largest_gpu, memory);
  }
  if (!compat() || smallest_gpu != 0) return;
  smallest_gpu = policy::kai_gpu_memory(0);
  largest_gpu = smallest_gpu;
}

quota_vector core::asked_with(const pod_class& c, std::int64_t memory) const {
  quota_vector amount = model::quota_request(c);
  if (is_plain(c)) return amount;
  if (compat()) {
    amount[gpu] = policy::kai_gpus_asked(c, memory);
  } else {
    amount[gpu] += model::gpus_of_memory(c, memory);
  }
  return amount;
}

quota_vector core::asked(const pod_class& c) const { return asked_with(c, smallest_gpu); }
quota_vector core::asked_at_least(const pod_class& c) const { return asked_with(c, largest_gpu); }

quota_vector core::asked_on(const pod_class& c, node_row row) const {
  if (is_plain(c)) return model::quota_request(c);
  if (!compat()) return model::quota_request_on(state(), c, row);
  quota_vector amount = model::quota_request(c);
  amount[gpu] = policy::kai_gpus_asked_on(c, policy::kai_gpu_memory((*state().nodes)[row]->gpu_memory));
  return amount;
}

quota_vector core::held_on(const pod_class& c, node_row row) const {
  if (is_plain(c)) return model::quota_request(c);
  if (!compat()) return model::quota_request_on(state(), c, row);
  quota_vector amount = model::quota_request(c);
  amount[gpu] = policy::kai_gpus_held(c, policy::kai_gpu_memory((*state().nodes)[row]->gpu_memory));
  return amount;
}

quota_vector core::held(pod_row pod) const {
  const pod_class& c = state().class_of(pod);
  if (is_plain(c)) return model::quota_request(c);
  const std::uint32_t slot = live.pod_node[pod];
  const node_row row = slot == no_row ? no_row : row_of_slot(slot);
  return row == no_row ? asked(c) : held_on(c, row);
}

std::int64_t core::gpus_held(pod_row pod) const {
  const pod_class& c = state().class_of(pod);
  if (!c.is_shared() && c.mig_slices == 0) return c.requests(dim_gpu);
  return compat() ? held(pod)[gpu] : held(pod)[gpu] - c.mig_share;
}

std::int64_t core::gpus_wanted(pod_row pod) const {
  const pod_class& c = state().class_of(pod);
  if (!compat()) return c.requests(dim_gpu);
  return c.memory_devices > 0 ? c.mig_slices * whole_device : policy::kai_gpus_asked(c, smallest_gpu);
}

/// Instances of divided GPUs among some amounts of a node, as parts of whole ones.
std::int64_t core::gpus_in_instances(const std::vector<std::int64_t>& amounts, node_row row) const {
  std::int64_t sum = 0;
  for (std::uint32_t d = built_in_dimensions; d < state().dims(); ++d) {
    const model::mig_profile& mig = (*state().dimensions)[d].mig;
    if (!mig) continue;
    sum += amounts[static_cast<std::size_t>(row) * state().dims() + d] *
           (compat() ? mig.slices * whole_device : mig.share);
  }
  return sum;
}

std::int64_t core::idle_gpus(node_row row) const {
  const std::size_t at = static_cast<std::size_t>(row) * state().dims() + dim_gpu;
  if (!counts_parts()) return (*live.idle)[at];
  return (*live.idle)[at] + gpus_in_instances(*live.idle, row) + (groups.is_open() ? groups.idle_parts(row) : 0);
}

std::int64_t core::releasing_gpus(node_row row) const {
  const std::size_t at = static_cast<std::size_t>(row) * state().dims() + dim_gpu;
  if (!counts_parts()) return (*live.releasing)[at];
  return (*live.releasing)[at] + gpus_in_instances(*live.releasing, row) +
         (groups.is_open() ? groups.releasing_parts(row) : 0);
}

std::int64_t core::free_gpus(node_row row) const { return idle_gpus(row) + releasing_gpus(row); }
bool core::has_free_gpus(node_row row) const { return idle_gpus(row) > 0 || releasing_gpus(row) > 0; }

std::int64_t core::gpu_capacity(node_row row) const {
  const std::int64_t whole = (*state().capacity)[static_cast<std::size_t>(row) * state().dims() + dim_gpu];
  return counts_instances_ ? whole + gpus_in_instances(*state().capacity, row) : whole;
}

/// KAI adds the gigabytes in the names of instances up as if they were MiB, and asks for the memory of one device where
/// a pod wants it on several.
bool core::lacks_gpu_memory(std::span<const pod_row> chunk) const {
  if (!compat() || state().pods_with_gpu_memory + state().pods_with_mig == 0) return false;
  std::int64_t asked_mib = 0;
  for (const pod_row p : chunk) {
    const pod_class& c = state().class_of(p);
    if (c.memory_devices > 0) asked_mib += policy::kai_requested_mib(c);
    asked_mib += c.mig_memory_gb;
  }
  for (node_row row = 0; asked_mib > 0 && row < state().node_count(); ++row) {
    const std::size_t at = static_cast<std::size_t>(row) * state().dims() + dim_gpu;
    const std::int64_t idle = (*live.idle)[at] + gpus_in_instances(*live.idle, row);
    const std::int64_t releasing = (*live.releasing)[at] + gpus_in_instances(*live.releasing, row);
    asked_mib -=
        (idle / whole_device + releasing / whole_device) * policy::kai_gpu_memory((*state().nodes)[row]->gpu_memory);
    if (groups.is_open()) asked_mib -= groups.free_memory(row);
  }
  return asked_mib > 0;
}

/// The model counts pods that hold something by the rules of `strict`, and leaves the memory out that pending ones ask
/// for: nobody knows on which node that will be.
void core::count_in_queues_anew() {
  if (state().pods_with_gpu_memory == 0 && (!compat() || state().pods_with_shares + state().pods_with_mig == 0)) return;
  for (pod_row p = 0; p < state().pod_slots; ++p) {
    const model::pod_core& pod = state().pods[p];
    if (!pod.live || pod.sub == no_row) continue;
    const pod_class& c = state().class_of(p);
    if (is_plain(c)) continue;
    const auto status = static_cast<pod_status>(live.pod_state[p]);
    const model::group_core& group = state().groups[pod.group];
    if (status == pod_status::pending) {
      model::charge_request(state(), live, group, model::quota_request(c), -1);
      model::charge_request(state(), live, group, asked(c), 1);
    } else if (compat() && model::is_in(status, model::holding)) {
      const std::uint32_t slot = live.pod_node[p];
      const quota_vector counted = model::quota_request_on(state(), c, slot == no_row ? no_row : row_of_slot(slot));
      model::charge_queues(state(), live, group, counted, -1);
      model::charge_request(state(), live, group, counted, -1);
      model::charge_queues(state(), live, group, held(p), 1);
      model::charge_request(state(), live, group, held(p), 1);
    }
  }
}

}  // namespace kaisched::work
