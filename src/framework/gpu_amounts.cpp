#include <algorithm>

#include "framework/session_state.hpp"
#include "policy/devices/sharing/kai_shares.hpp"

namespace kaisched::framework {

using model::pod_class;

std::int64_t gpu_amounts::held(pod_row pod) const {
  const pod_class& c = c_->state().class_of(pod);
  if (!c.is_shared() && c.mig_slices == 0) return c.requests(dim_gpu);
  return c_->compat() ? c_->queues.held(pod)[dim_gpu] : c_->queues.held(pod)[dim_gpu] - c.mig_share;
}

std::int64_t gpu_amounts::wanted(pod_row pod) const {
  const pod_class& c = c_->state().class_of(pod);
  if (!c_->compat()) return c.requests(dim_gpu);
  return c.memory_devices > 0 ? c.mig_slices * whole_device : policy::kai_gpus_asked(c, c_->queues.smallest_gpu());
}

/// Instances of divided GPUs among some amounts of a node, as parts of whole ones.
std::int64_t gpu_amounts::in_instances(const std::vector<std::int64_t>& amounts, node_row row) const {
  std::int64_t sum = 0;
  for (std::uint32_t d = built_in_dimensions; d < c_->state().dims(); ++d) {
    const model::mig_profile& mig = (*c_->state().dimensions)[d].mig;
    if (!mig) continue;
    sum += amounts[static_cast<std::size_t>(row) * c_->state().dims() + d] *
           (c_->compat() ? mig.slices * whole_device : mig.share);
  }
  return sum;
}

std::int64_t gpu_amounts::idle(node_row row) const {
  const std::size_t at = static_cast<std::size_t>(row) * c_->state().dims() + dim_gpu;
  if (!count_parts()) return (*c_->live.idle)[at];
  return (*c_->live.idle)[at] + in_instances(*c_->live.idle, row) +
         (c_->access.groups->is_open() ? c_->access.groups->idle_parts(row) : 0);
}

std::int64_t gpu_amounts::releasing(node_row row) const {
  const std::size_t at = static_cast<std::size_t>(row) * c_->state().dims() + dim_gpu;
  if (!count_parts()) return (*c_->live.releasing)[at];
  return (*c_->live.releasing)[at] + in_instances(*c_->live.releasing, row) +
         (c_->access.groups->is_open() ? c_->access.groups->releasing_parts(row) : 0);
}

std::int64_t gpu_amounts::capacity(node_row row) const {
  const std::int64_t whole = (*c_->state().capacity)[static_cast<std::size_t>(row) * c_->state().dims() + dim_gpu];
  return counts_instances_ ? whole + in_instances(*c_->state().capacity, row) : whole;
}

/// KAI adds the gigabytes in the names of instances up as if they were MiB, and asks for the memory of one device where
/// a pod wants it on several.
bool gpu_amounts::lack_memory(std::span<const pod_row> chunk) const {
  if (!c_->compat() || c_->state().pods_with_gpu_memory + c_->state().pods_with_mig == 0) return false;
  std::int64_t asked_mib = 0;
  for (const pod_row p : chunk) {
    const pod_class& c = c_->state().class_of(p);
    if (c.memory_devices > 0) asked_mib += policy::kai_requested_mib(c);
    asked_mib += c.mig_memory_gb;
  }
  for (node_row row = 0; asked_mib > 0 && row < c_->state().node_count(); ++row) {
    if (!(*c_->state().nodes)[row]->open()) continue;
    const std::size_t at = static_cast<std::size_t>(row) * c_->state().dims() + dim_gpu;
    const std::int64_t idle = (*c_->live.idle)[at] + in_instances(*c_->live.idle, row);
    const std::int64_t releasing = (*c_->live.releasing)[at] + in_instances(*c_->live.releasing, row);
    asked_mib -= (idle / whole_device + releasing / whole_device) *
                 policy::kai_gpu_memory((*c_->state().nodes)[row]->gpu_memory);
    if (c_->access.groups->is_open()) asked_mib -= c_->access.groups->free_memory(row);
  }
  return asked_mib > 0;
}

void gpu_amounts::connect(session_state& c) {
  c_ = &c;
  counts_instances_ = c.compat() && c.state().has_mig_resources();
}

bool gpu_amounts::are_wanted(pod_row pod) const {
  return c_->state().class_of(pod).wants_gpu() || c_->state().class_of(pod).mig_slices > 0;
}

bool gpu_amounts::count_parts() const { return c_->access.groups->is_open() || counts_instances_; }

}  // namespace kaisched::framework
