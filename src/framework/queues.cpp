// Queues: sums, limits and quotas, and the division into fair shares.
#include <algorithm>
#include <cmath>
#include <tuple>

#include "framework/members.hpp"
#include "framework/remaining_group.hpp"
#include "framework/session_state.hpp"
#include "policy/devices/sharing/kai_shares.hpp"

namespace kaisched::framework {

using model::cluster_state;
using model::group_core;
using model::pod_class;
using model::quota_vector;

namespace {

/// Both modes count what most pods ask for as it stands, on every node.
bool is_plain(const pod_class& c) { return !c.is_shared() && c.mig_slices == 0; }

}  // namespace

// ---- sums --------------------------------------------------------------------------------------------------------

void queue_accounts::sync_queue(queue_row q) {
  const quota_vector& allocated = (*c_->live.queue_allocated)[q];
  const quota_vector& nonpreemptible = (*c_->live.queue_nonpreemptible)[q];
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    if (c_->compat()) {
      if (r == dim_gpu && c_->adds_parts_up()) continue;
      kai_queues[q].shares[r].allocated = to_native(r, allocated[r]);
      kai_queues[q].shares[r].nonpreemptible = to_native(r, nonpreemptible[r]);
    } else {
      exact_queues[q].shares[r].allocated = allocated[r];
      exact_queues[q].shares[r].nonpreemptible = nonpreemptible[r];
    }
  }
}

void queue_accounts::add_part(queue_row leaf, double gpus, bool allocated, bool nonpreemptible) {
  for (queue_row q = leaf; q != no_row; q = (*c_->state().queues)[q].parent) {
    if (allocated) kai_queues[q].shares[dim_gpu].allocated += gpus;
    if (nonpreemptible) kai_queues[q].shares[dim_gpu].nonpreemptible += gpus;
  }
}

/// The sums that a session starts with.
void queue_accounts::add_parts_up() {
  for (const group_row g : c_->groups.in_order()) {
    const group_core& group = c_->state().groups[g];
    if (group.queue == no_row) continue;
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      for (pod_row p = c_->state().subs[sub].first_pod; p != no_row; p = c_->state().pods[p].next) {
        if (!model::is_in(static_cast<pod_status>(c_->live.pod_state[p]), model::holding)) continue;
        const std::int64_t gpus = c_->gpus.held(p);
        if (gpus != 0)
          add_part(group.queue, to_native(dim_gpu, gpus), true, !group.preemptible && !group.semi_preemptible);
      }
    }
  }
}

double queue_accounts::parts_asked(const pod_class& c) const {
  return c.memory_devices > 0 ? policy::kai_gpus_of_memory(c, smallest_gpu_) : to_native(dim_gpu, asked(c)[dim_gpu]);
}

double queue_accounts::parts_asked(std::span<const pod_row> pods) const {
  double sum = 0;
  for (const pod_row p : pods) sum += parts_asked(c_->state().class_of(p));
  return sum;
}

/// By slot, what queues are asked for, added up in the same order.
std::vector<double> queue_accounts::gpus_requested() {
  std::vector<double> sums(c_->state().queues->size(), 0);
  for (const group_row g : c_->groups.in_order()) {
    const group_core& group = c_->state().groups[g];
    for (sub_group_row sub = group.first_sub; sub < group.first_sub + group.sub_count; ++sub) {
      for (pod_row p = c_->state().subs[sub].first_pod; p != no_row; p = c_->state().pods[p].next) {
        const auto status = static_cast<pod_status>(c_->live.pod_state[p]);
        const bool waits = status == pod_status::pending;
        if (!waits && !model::is_in(status, model::holding)) continue;
        const double gpus = waits ? parts_asked(c_->state().class_of(p)) : to_native(dim_gpu, c_->gpus.held(p));
        for (queue_row q = gpus == 0 ? no_row : group.queue; q != no_row; q = (*c_->state().queues)[q].parent)
          sums[q] += gpus;
      }
    }
  }
  return sums;
}

// ---- bounds ------------------------------------------------------------------------------------------------------

bool queue_accounts::is_schedulable_queue(queue_row q) const {
  return q != no_row && (*c_->state().queues)[q].live && (*c_->state().queues)[q].children == 0;
}

bool queue_accounts::refuse(group_row g, const quota_vector& requested, std::span<const pod_row> pods,
                            failure& why) const {
  // Limits of the whole path come before quotas.
  return bound_refuses(g, requested, false, why) || quota_refuses(g, requested, pods, why);
}

bool queue_accounts::quota_refuses(group_row g, const quota_vector& requested, std::span<const pod_row> pods,
                                   failure& why) const {
  if (c_->state().groups[g].preemptible) return false;
  if (!c_->state().groups[g].semi_preemptible) return bound_refuses(g, requested, true, why);
  quota_vector growth = core_growth(g, pods);
  for (std::int64_t& amount : growth) amount = std::max<std::int64_t>(0, amount);
  return growth != quota_vector{} && bound_refuses(g, growth, true, why);
}

namespace {

/// The dimension in which the queue would pass its quota or limit, or no_row.
std::uint32_t first_over(const policy::kai_queue& q, const policy::kai_amounts& more, bool quota) {
  return quota ? policy::kai_over_quota(q, more) : policy::kai_over_limit(q, more);
}
std::uint32_t first_over(const policy::exact_queue& q, const policy::exact_amounts& more, bool quota) {
  return quota ? policy::exact_over_quota(q, more) : policy::exact_over_limit(q, more);
}

/// A queue that holds less.
template <class Queue, class Amounts>
Queue without(Queue q, const Amounts& less) {
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    q.shares[r].allocated -= less[r];
    q.shares[r].nonpreemptible -= less[r];
  }
  return q;
}

}  // namespace

/// What limits and quotas leave out while pods of the group are replaced.
quota_vector queue_accounts::surge_of(group_row g) const {
  quota_vector sum{};
  std::int64_t left = c_->state().group_extras[g].max_surge;
  const group_core& group = c_->state().groups[g];
  for (sub_group_row sub = group.first_sub; left > 0 && sub < group.first_sub + group.sub_count; ++sub) {
    for (pod_row p = c_->state().subs[sub].first_pod; p != no_row && left > 0; p = c_->state().pods[p].next) {
      const auto status = static_cast<pod_status>(c_->live.pod_state[p]);
      if (!c_->state().pods[p].outdated || !model::is_in(status, model::holding)) continue;
      --left;
      const quota_vector one = held(p);
      for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += one[r];
    }
  }
  return sum;
}

bool queue_accounts::bound_refuses(group_row g, const quota_vector& requested, bool quota, failure& why) const {
  const queue_row leaf = c_->state().groups[g].queue;
  if (!quota && (leaf == no_row || !is_limited[leaf])) return false;
  const quota_vector surge = surge_of(g);
  const bool surges = surge != quota_vector{};
  const policy::kai_amounts native = in_native(requested);
  for (queue_row q = leaf; q != no_row; q = (*c_->state().queues)[q].parent) {
    const std::uint32_t r = c_->compat() ? surges ? first_over(without(kai_queues[q], in_native(surge)), native, quota)
                                                  : first_over(kai_queues[q], native, quota)
                            : surges ? first_over(without(exact_queues[q], surge), requested, quota)
                                         : first_over(exact_queues[q], requested, quota);
    if (r == no_row) continue;
    const model::queue_info& info = (*c_->state().queues)[q];
    why.group = g;
    why.what = quota ? constraint::queue_quota : constraint::queue_limit;
    why.queue = q;
    why.resource = r;
    why.need = requested[r];
    why.have = surge[r] + (quota ? info.quota[r] - (*c_->live.queue_nonpreemptible)[q][r]
                                 : info.limit[r] - (*c_->live.queue_allocated)[q][r]);
    return true;
  }
  return false;
}

// ---- division ----------------------------------------------------------------------------------------------------

namespace {

/// Steps in rows and fixed units. What was given, and what is left, are differences of amounts as they are told, so
/// that sums match where the division was in floating point.
template <class Queue, class Amount, class Row, class Figures, class Fixed>
std::vector<share_step> steps_of(const policy::share_log<Queue, Amount>& log, Row row_of, std::span<const Queue> queues,
                                 Figures figures_of, Fixed fixed) {
  std::vector<share_step> steps;
  std::int64_t left = 0;
  for (const policy::share_entry<Queue, Amount>& one : log) {
    share_step& step = steps.emplace_back();
    step.what = one.what;
    step.parent = one.parent == no_row ? no_row : row_of(one.parent);
    step.dim = one.resource;
    step.round = one.round;
    step.proportion = one.proportion;
    step.wanted = fixed(one.resource, one.wanted);
    step.before = fixed(one.resource, one.before);
    step.after = one.what == share_step_kind::left ? left : fixed(one.resource, one.after);
    step.given = step.after - step.before;
    if (one.queue == nullptr) {
      left = step.given;  // of the total, which is the first step
      continue;
    }
    left -= step.given;
    step.queue = row_of(static_cast<std::uint32_t>(one.queue - queues.data()));
    step.priority = one.queue->priority;
    std::tie(step.weight, step.usage) = figures_of(one.queue->shares[one.resource]);
  }
  return steps;
}

/// A quota or limit in KAI's unit, where -1 stays "unlimited". An amount may be -1 as well, and then means it.
double bound_to_native(std::uint32_t resource, std::int64_t bound) {
  return bound == unlimited ? -1 : to_native(resource, bound);
}

std::int64_t to_fixed(std::uint32_t resource, double amount) {
  return std::llround(resource == 2 ? amount * static_cast<double>(whole_device) : amount);
}

}  // namespace

std::vector<queue_row> queue_accounts::by_name() const {
  const std::vector<model::queue_info>& all = *c_->state().queues;
  std::vector<queue_row> rows;
  for (queue_row q = 0; q < all.size(); ++q) {
    if (all[q].live) rows.push_back(q);
  }
  std::sort(rows.begin(), rows.end(), [&](queue_row a, queue_row b) { return all[a].name < all[b].name; });
  return rows;
}

/// What queues divide: nodes that take pods, less what is held there by pods that no queue answers for.
void queue_accounts::count_total() {
  const cluster_state& s = c_->state();
  const bool marked_only = c_->options.restrict_node_scheduling;
  const auto is_marked = [&](const model::node_info& node, std::string_view label) {
    return !marked_only || model::find_label(node.labels, label) != nullptr;
  };
  const auto counts = [&](const model::node_info& node) {
    return node.open() && (is_marked(node, policy::gpu_worker_label) || is_marked(node, policy::cpu_worker_label));
  };
  total = marked_only ? quota_vector{} : s.open_capacity;
  const bool has_instances = s.has_mig_resources();
  for (node_row row = 0; (marked_only || has_instances) && row < s.node_count(); ++row) {
    const model::node_info& node = *(*s.nodes)[row];
    if (!counts(node)) continue;
    const std::size_t at = static_cast<std::size_t>(row) * s.dims();
    for (std::uint32_t r = 0; r < quota_dimensions && marked_only; ++r) {
      if (r != dim_gpu || is_marked(node, policy::gpu_worker_label)) total[r] += (*s.capacity)[at + r];
    }
    // KAI counts instances of divided GPUs on every node.
    if (c_->compat() || is_marked(node, policy::gpu_worker_label))
      total[dim_gpu] += c_->gpus.in_instances(*s.capacity, row);
  }
  for (pod_row p = 0; s.bystanders > 0 && p < s.pod_slots; ++p) {
    const std::uint32_t slot = s.live.pod_node[p];
    if (!s.pods[p].live || s.pods[p].group != no_row || slot == no_row ||
        !model::is_in(static_cast<pod_status>(s.live.pod_state[p]), model::active_used) ||
        !counts(*(*s.nodes)[(*s.node_row_of_slot)[slot]])) {
      continue;
    }
    const quota_vector amount = held(p);
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) total[r] -= amount[r];
  }
}

void queue_accounts::divide_shares() {
  const cluster_state& s = c_->state();
  count_total();
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
    kai_total[r] = to_native(r, total[r]);
    total[r] = std::max<std::int64_t>(0, total[r]);  // the reference goes on with less than nothing
  }
  fair_share.assign(s.queues->size(), {});
  is_limited.assign(s.queues->size(), 0);
  for (queue_row leaf = 0; leaf < s.queues->size(); ++leaf) {
    for (queue_row q = leaf; q != no_row && (*s.queues)[leaf].live; q = (*s.queues)[q].parent) {
      const model::quota_vector& limit = (*s.queues)[q].limit;
      const bool has_limit = std::any_of(limit.begin(), limit.end(), [](std::int64_t one) { return one != unlimited; });
      if (has_limit) is_limited[leaf] = 1;
    }
  }
  if (c_->compat())
    divide_compat();
  else
    divide_strict();
  for (group_row g = 0; s.semi_preemptible_groups > 0 && g < s.group_slots; ++g) {
    if (s.groups[g].live && s.groups[g].semi_preemptible) charge_core(g);
  }
}

void queue_accounts::divide_compat() {
  const std::vector<model::queue_info>& all = *c_->state().queues;
  const std::vector<queue_row> rows = by_name();
  std::vector<std::uint32_t> position(all.size(), no_row);
  for (std::uint32_t i = 0; i < rows.size(); ++i) position[rows[i]] = i;
  std::vector<policy::kai_queue> sorted(rows.size());
  const std::vector<double> gpus = c_->adds_parts_up() ? gpus_requested() : std::vector<double>();
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    const model::queue_info& q = all[rows[i]];
    sorted[i] = {q.name, q.parent == no_row ? no_row : position[q.parent], q.priority, q.created, {}};
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      sorted[i].shares[r] = {
          bound_to_native(r, q.quota[r]),
          bound_to_native(r, q.limit[r]),
          q.weight[r],
          r == dim_gpu && c_->adds_parts_up() ? gpus[rows[i]] : to_native(r, (*c_->live.queue_request)[rows[i]][r]),
          0,
          0,
          q.usage[r],
          0};
    }
  }
  policy::kai_share_log divided;
  if (c_->has_proportion) {
    policy::kai_divide_tree(sorted, kai_total, std::max(c_->options.fair_share_k, 0.0),
                            c_->share_steps == nullptr ? nullptr : &divided);
  }
  if (c_->share_steps != nullptr) {
    *c_->share_steps = steps_of(
        divided, [&](std::uint32_t i) { return rows[i]; }, std::span<const policy::kai_queue>(sorted),
        [](const policy::kai_share& s) { return std::pair(s.weight, s.usage); }, to_fixed);
  }
  kai_queues.assign(all.size(), {});
  for (std::uint32_t i = 0; i < rows.size(); ++i) {
    kai_queues[rows[i]] = sorted[i];
    kai_queues[rows[i]].parent = all[rows[i]].parent;
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) {
      fair_share[rows[i]][r] = to_fixed(r, sorted[i].shares[r].fair_share);
    }
    sync_queue(rows[i]);
  }
  if (c_->adds_parts_up()) add_parts_up();
}

void queue_accounts::divide_strict() {
  const std::vector<model::queue_info>& all = *c_->state().queues;
  exact_queues.assign(all.size(), {});
  for (queue_row q = 0; q < all.size(); ++q) {
    exact_queues[q].uid = all[q].name;
    exact_queues[q].parent = all[q].parent;
    exact_queues[q].priority = all[q].priority;
    exact_queues[q].created = all[q].created;
    for (std::uint32_t r = 0; all[q].live && r < quota_dimensions; ++r) {
      // Weights count in thousandths and usage in millionths, so that the division is exact.
      const double weight = std::clamp(all[q].weight[r], 0.0, 1e9);
      exact_queues[q].shares[r] = {all[q].quota[r],
                                   all[q].limit[r],
                                   std::llround(weight * 1000),
                                   (*c_->live.queue_request)[q][r],
                                   0,
                                   0,
                                   std::llround(std::min(all[q].usage[r], 1e6) * 1e6),
                                   0};
    }
    sync_queue(q);
  }
  if (c_->has_proportion) {
    policy::exact_share_log divided;
    policy::divide_tree_exactly(exact_queues, total,
                                std::llround(std::clamp(c_->options.fair_share_k, 0.0, 1e6) * 1000),
                                c_->share_steps == nullptr ? nullptr : &divided);
    if (c_->share_steps != nullptr) {
      *c_->share_steps = steps_of(
          divided, [](std::uint32_t i) { return i; }, std::span<const policy::exact_queue>(exact_queues),
          [](const policy::exact_share& s) {
            return std::pair(static_cast<double>(s.weight) / 1e3, static_cast<double>(s.usage) / 1e6);
          },
          [](std::uint32_t, std::int64_t amount) { return amount; });
    }
  }
  for (queue_row q = 0; q < all.size(); ++q) {
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) fair_share[q][r] = exact_queues[q].shares[r].fair_share;
  }
}

/// Parts may change what was divided.
result<void> queue_accounts::ask_for_shares() {
  if ((c_->capabilities & part_divides_shares) == 0) return {};
  const std::vector<queue_row> rows = by_name();
  std::vector<std::int64_t> shares;
  for (const queue_row q : rows) shares.insert(shares.end(), fair_share[q].begin(), fair_share[q].end());
  for (const auto& part : c_->parts) {
    if ((part->capabilities() & part_divides_shares) == 0) continue;
    const std::vector<std::int64_t> before = c_->share_steps == nullptr ? std::vector<std::int64_t>() : shares;
    if (auto done = part->divide_shares(c_->view(), rows, shares); !done) return done;
    for (std::size_t i = 0; i < before.size(); ++i) {
      if (before[i] == shares[i]) continue;
      const queue_row q = rows[i / quota_dimensions];
      share_step& step = c_->share_steps->emplace_back();
      step.what = share_step_kind::part;
      step.queue = q;
      step.parent = (*c_->state().queues)[q].parent;
      step.dim = static_cast<dimension>(i % quota_dimensions);
      step.priority = (*c_->state().queues)[q].priority;
      step.before = before[i];
      step.given = shares[i] - before[i];
      step.after = shares[i];
      step.by = part->name();
    }
    for (std::size_t i = 0; i < shares.size(); ++i) {
      if (shares[i] >= 0 && shares[i] <= max_sum) continue;
      const std::string queue = (*c_->state().queues)[rows[i / quota_dimensions]].name;
      return error{status::plugin,
                   "part '" + std::string(part->name()) + "' gave queue '" + queue + "' the fair share " +
                       std::to_string(shares[i]) + ", which is not in 0 .. 2^62",
                   {}};
    }
  }
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const queue_row q = rows[i / quota_dimensions];
    const auto r = static_cast<std::uint32_t>(i % quota_dimensions);
    if (shares[i] == fair_share[q][r]) continue;  // compat has them in floating point
    fair_share[q][r] = shares[i];
    if (c_->compat())
      kai_queues[q].shares[r].fair_share = to_native(r, shares[i]);
    else
      exact_queues[q].shares[r].fair_share = shares[i];
  }
  return {};
}

// ---- amounts

bool queue_accounts::depend_on_node(const model::pod_class& c) const {
  return c.memory_devices > 0 || c_->access.in_groups(c);
}

/// The smallest and the largest GPU of the cluster, for pods that ask for memory.
void queue_accounts::find_gpu_memories() {
  for (node_row row = 0; c_->state().pods_with_gpu_memory > 0 && row < c_->state().node_count(); ++row) {
    const std::int64_t memory = c_->compat() ? policy::kai_gpu_memory((*c_->state().nodes)[row]->gpu_memory)
                                             : model::device_memory(c_->state(), row);
    if (memory <= (c_->compat() ? policy::kai_gpu_memory(0) : 0)) continue;
    smallest_gpu_ = smallest_gpu_ == 0 ? memory : std::min(smallest_gpu_, memory);
    largest_gpu_ = std::max(largest_gpu_, memory);
  }
  if (!c_->compat() || smallest_gpu_ != 0) return;
  smallest_gpu_ = policy::kai_gpu_memory(0);
  largest_gpu_ = smallest_gpu_;
}

quota_vector queue_accounts::asked_with(const pod_class& c, std::int64_t memory) const {
  quota_vector amount = model::quota_request(c);
  if (is_plain(c)) return amount;
  if (c_->compat()) {
    amount[dim_gpu] = policy::kai_gpus_asked(c, memory);
  } else {
    amount[dim_gpu] += model::gpus_of_memory(c, memory);
  }
  return amount;
}

quota_vector queue_accounts::asked(const pod_class& c) const { return asked_with(c, smallest_gpu_); }

quota_vector queue_accounts::asked_at_least(const pod_class& c) const { return asked_with(c, largest_gpu_); }

quota_vector queue_accounts::asked_on(const pod_class& c, node_row row) const {
  if (is_plain(c)) return model::quota_request(c);
  if (!c_->compat()) return model::quota_request_on(c_->state(), c, row);
  quota_vector amount = model::quota_request(c);
  amount[dim_gpu] = policy::kai_gpus_asked_on(c, policy::kai_gpu_memory((*c_->state().nodes)[row]->gpu_memory));
  return amount;
}

quota_vector queue_accounts::held_on(const pod_class& c, node_row row) const {
  if (is_plain(c)) return model::quota_request(c);
  if (!c_->compat()) return model::quota_request_on(c_->state(), c, row);
  quota_vector amount = model::quota_request(c);
  amount[dim_gpu] = policy::kai_gpus_held(c, policy::kai_gpu_memory((*c_->state().nodes)[row]->gpu_memory));
  return amount;
}

quota_vector queue_accounts::held(pod_row pod) const {
  const pod_class& c = c_->state().class_of(pod);
  if (is_plain(c)) return model::quota_request(c);
  const std::uint32_t slot = c_->live.pod_node[pod];
  const node_row row = slot == no_row ? no_row : c_->row_of_slot(slot);
  return row == no_row ? asked(c) : held_on(c, row);
}

/// The model counts pods that hold something by the rules of `strict`, and leaves the memory out that pending ones ask
/// for: nobody knows on which node that will be.
void queue_accounts::count_anew() {
  if (c_->state().pods_with_gpu_memory == 0 &&
      (!c_->compat() || c_->state().pods_with_shares + c_->state().pods_with_mig == 0))
    return;
  for (pod_row p = 0; p < c_->state().pod_slots; ++p) {
    const model::pod_core& pod = c_->state().pods[p];
    if (!pod.live || pod.sub == no_row) continue;
    const pod_class& c = c_->state().class_of(p);
    if (is_plain(c)) continue;
    const auto status = static_cast<pod_status>(c_->live.pod_state[p]);
    const model::group_core& group = c_->state().groups[pod.group];
    if (status == pod_status::pending) {
      model::charge_request(c_->state(), c_->live, group, model::quota_request(c), -1);
      model::charge_request(c_->state(), c_->live, group, asked(c), 1);
    } else if (c_->compat() && model::is_in(status, model::holding)) {
      const std::uint32_t slot = c_->live.pod_node[p];
      const quota_vector counted =
          model::quota_request_on(c_->state(), c, slot == no_row ? no_row : c_->row_of_slot(slot));
      model::charge_queues(c_->state(), c_->live, group, counted, -1);
      model::charge_request(c_->state(), c_->live, group, counted, -1);
      model::charge_queues(c_->state(), c_->live, group, held(p), 1);
      model::charge_request(c_->state(), c_->live, group, held(p), 1);
    }
  }
}

// ---- charge

void queue_accounts::charge(pod_row pod, std::int64_t sign) {
  if (c_->state().pods[pod].sub == no_row) return;  // bystanders, and strays, which are no part of their group
  const group_core& group = c_->state().groups[c_->state().pods[pod].group];
  if (group.queue == no_row) return;
  const quota_vector amount = held(pod);
  model::charge_queues(c_->state(), c_->live, group, amount, sign);
  if (c_->adds_parts_up()) {
    add_part(group.queue, static_cast<double>(sign) * to_native(dim_gpu, amount[dim_gpu]), true,
             !group.preemptible && !group.semi_preemptible);
  }
  for (queue_row q = group.queue; q != no_row; q = (*c_->state().queues)[q].parent) sync_queue(q);
}

/// What is left of a group without its surplus, with more pods than it c_->has.
quota_vector queue_accounts::core_request(group_row group, std::span<const pod_row> more) const {
  const group_core& g = c_->state().groups[group];
  remaining_group left(*c_, group);
  for (sub_group_row sub = g.first_sub; sub < g.first_sub + g.sub_count; ++sub) {
    for (pod_row p = c_->state().subs[sub].first_pod; p != no_row; p = c_->state().pods[p].next) {
      const auto status = static_cast<pod_status>(c_->live.pod_state[p]);
      const bool holds = model::is_in(status, model::active_allocated) && count(p, status);
      if (holds || std::find(more.begin(), more.end(), p) != more.end()) left.add(p);
    }
  }
  for (std::vector<pod_row> unit = left.surplus(); !unit.empty(); unit = left.surplus()) left.remove(unit);
  return request_of(*c_, left.all());
}

quota_vector queue_accounts::core_growth(group_row group, std::span<const pod_row> pods) const {
  const auto known = core_charges_.find(group);
  quota_vector growth = core_request(group, pods);
  for (std::uint32_t r = 0; r < quota_dimensions && known != core_charges_.end(); ++r) growth[r] -= known->second[r];
  return growth;
}

/// Queues count the core of a group as it is c_->now.
void queue_accounts::charge_core(group_row group) {
  const quota_vector growth = core_growth(group, {});
  if (growth == quota_vector{}) return;
  quota_vector& charged = core_charges_[group];
  for (std::uint32_t r = 0; r < quota_dimensions; ++r) charged[r] += growth[r];
  if (c_->adds_parts_up()) add_part(c_->state().groups[group].queue, to_native(dim_gpu, growth[dim_gpu]), false, true);
  for (queue_row q = c_->state().groups[group].queue; q != no_row; q = (*c_->state().queues)[q].parent) {
    quota_vector& sum = c_->live.queue_nonpreemptible.write()[q];
    for (std::uint32_t r = 0; r < quota_dimensions; ++r) sum[r] += growth[r];
    sync_queue(q);
  }
}

void queue_accounts::charge_core_of(pod_row pod) {
  const group_row group = c_->state().pods[pod].group;
  if (c_->state().pods[pod].sub != no_row && c_->state().groups[group].semi_preemptible) charge_core(group);
}

/// Queues do not count claims of earlier sessions.
bool queue_accounts::count(pod_row pod, pod_status status) const {
  return status != pod_status::pipelined ||
         static_cast<pod_status>(c_->state().live.pod_state[pod]) != pod_status::pipelined;
}

}  // namespace kaisched::framework
