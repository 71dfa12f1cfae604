#include "policy/placement/device_losses.hpp"

#include <algorithm>
#include <bit>

#include "base/int128.hpp"
#include "model/account.hpp"

namespace kaisched::policy {

namespace {

std::int64_t free_of_device(const session_access& a, device_row d) {
  return std::max<std::int64_t>(0, (*a.live->device_free)[d] + (*a.live->device_releasing)[d]);
}

std::int64_t in_milli(std::int64_t amount, std::int64_t units) {
  if (units == whole_device) return amount;
  return static_cast<std::int64_t>(base::int128{amount} * whole_device / units);
}

}  // namespace

result<void> device_losses::score_nodes(const session_view& view, pod_row pod, std::span<const node_row> nodes,
                                        std::span<double> scores) {
  const session_access& a = inside(view);
  const class_row kind = a.state->pods[pod].pod_class;
  const model::pod_class& c = *a.state->classes[kind];
  open(a);
  const std::vector<std::uint64_t>* const changed_at = a.node_changed_at;
  if (changed_at == nullptr) {
    for (std::size_t i = 0; i < nodes.size(); ++i) scores[i] += score(a, c, nodes[i], state_of(a, nodes[i]));
    return {};
  }
  std::vector<known_score>& known = scores_like(a, kind);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    known_score& one = known[nodes[i]];
    const std::uint64_t now = (*changed_at)[nodes[i]] + 1;
    if (one.at != now) one = {now, score(a, c, nodes[i], kept_state(a, nodes[i], now))};
    scores[i] += one.score;
  }
  return {};
}

std::uint32_t device_losses::choose_device(const session_view& view, pod_row pod, node_row node,
                                           std::uint64_t fitting) {
  const session_access& a = inside(view);
  open(a);
  const model::pod_class& c = a.state->class_of(pod);
  return best_device(a, c, node, state_of(a, node), fitting).device;
}

void device_losses::read_state(const session_access& a, node_row row, node_state& to) {
  const std::size_t at = static_cast<std::size_t>(row) * a.state->dims();
  const device_row first = (*a.state->first_device)[row];
  const device_row last = (*a.state->first_device)[row + 1];
  to.free.cpu = (*a.live->idle)[at + dim_cpu] + (*a.live->releasing)[at + dim_cpu];
  to.free.total = 0;
  to.free.devices.clear();
  for (device_row d = first; d < last; ++d) {
    const std::int64_t free = in_milli(free_of_device(a, d), (*a.state->device_units)[d]);
    to.free.devices.push_back(free);
    to.free.total += free;
  }
  if (first == last) {
    to.free.total = std::max<std::int64_t>(0, (*a.live->idle)[at + dim_gpu] + (*a.live->releasing)[at + dim_gpu]);
  }
  std::sort(to.free.devices.begin(), to.free.devices.end());
  to.measured = measured(row, to.free);
}

const device_losses::node_state& device_losses::state_of(const session_access& a, node_row row) {
  read_state(a, row, asked_);
  return asked_;
}

const device_losses::node_state& device_losses::kept_state(const session_access& a, node_row row, std::uint64_t now) {
  if (states_.empty()) states_.resize(a.state->node_count());
  known_state& known = states_[row];
  if (known.at != now) {
    known.at = now;
    read_state(a, row, known.state);
  }
  return known.state;
}

/// Classes that differ in what the score does not look at have their scores together.
std::vector<device_losses::known_score>& device_losses::scores_like(const session_access& a, class_row kind) {
  if (like_.size() < a.state->class_slots) like_.resize(a.state->class_slots, no_row);
  if (like_[kind] == no_row) {
    const model::pod_class& c = *a.state->classes[kind];
    const auto [at, fresh] = shapes_.try_emplace({c.requests(dim_cpu), c.requests(dim_gpu), c.whole_devices,
                                                  c.shared_devices, c.device_share, c.memory_devices, c.ask.gpu_memory},
                                                 static_cast<std::uint32_t>(scores_.size()));
    if (fresh) scores_.emplace_back(a.state->node_count());
    like_[kind] = at->second;
  }
  return scores_[like_[kind]];
}

/// Of those with a bit.
device_losses::device_choice_of_pod device_losses::best_device(const session_access& a, const model::pod_class& c,
                                                               node_row row, const node_state& now,
                                                               std::uint64_t fitting) {
  device_choice_of_pod best;
  const device_row first = (*a.state->first_device)[row];
  seen_.clear();
  for (std::uint64_t left = fitting; left != 0; left &= left - 1) {
    const auto i = static_cast<std::uint32_t>(std::countr_zero(left));
    const std::int64_t units = (*a.state->device_units)[first + i];
    const std::int64_t free = free_of_device(a, first + i);
    const std::pair alike{free, units};
    if (std::find(seen_.begin(), seen_.end(), alike) != seen_.end()) continue;
    seen_.push_back(alike);
    const std::int64_t part = model::part_of_device(c, units);
    if (part < 0 || part > free) continue;
    trial_ = now.free;
    trial_.cpu -= c.requests(dim_cpu);
    const std::int64_t from = in_milli(free, units);
    const std::int64_t to = in_milli(free - part, units);
    trial_.lower(from, to);
    const double after = measured(row, trial_);
    const double score = score_of_device(a, {&c, row, &now.free, now.measured, after});
    if (score > best.score) best = {i, score, after, from, to};
  }
  return best;
}

double device_losses::score(const session_access& a, const model::pod_class& c, node_row row, const node_state& now) {
  const device_row first = (*a.state->first_device)[row];
  const device_row last = (*a.state->first_device)[row + 1];
  if (c.is_shared() && first != last) return score_of_parts(a, c, row, now);
  trial_ = now.free;
  trial_.cpu -= c.requests(dim_cpu);
  if (first == last) {
    trial_.total = std::max<std::int64_t>(0, trial_.total - c.requests(dim_gpu));
  } else {
    for (std::int64_t i = 0; i < c.whole_devices; ++i) {
      if (trial_.devices.back() < whole_device) return 0;
      trial_.lower(whole_device, 0);
    }
  }
  return score_of(a, {&c, row, &now.free, now.measured, measured(row, trial_)});
}

/// With parts of several devices these are chosen one after the other, each as if it were alone.
double device_losses::score_of_parts(const session_access& a, const model::pod_class& c, node_row row,
                                     const node_state& now) {
  const device_row first = (*a.state->first_device)[row];
  const device_row last = (*a.state->first_device)[row + 1];
  std::uint64_t fitting = 0;
  for (device_row d = first; d < last; ++d) {
    if (model::gives_parts_to(*a.state, row, d - first, c)) fitting |= std::uint64_t{1} << (d - first);
  }
  free_gpus after = now.free;
  after.cpu -= c.requests(dim_cpu);
  double measured_after = 0;
  for (std::int64_t i = 0; i < c.shared_count(); ++i) {
    const device_choice_of_pod best = best_device(a, c, row, now, fitting);
    if (best.device == max_devices_per_node) return 0;
    fitting &= ~(std::uint64_t{1} << best.device);
    after.lower(best.from, best.to);
    measured_after = best.after;
  }
  if (c.shared_count() > 1) measured_after = measured(row, after);
  return score_of(a, {&c, row, &now.free, now.measured, measured_after});
}

}  // namespace kaisched::policy
