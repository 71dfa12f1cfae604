#include "framework/group_states.hpp"

#include <algorithm>
#include <limits>

namespace kaisched::framework {

const group_order& group_states::order() const {
  const group_order* const made = order_->get();
  return made != nullptr ? *made : order_->offer(std::make_unique<const group_order>(order_groups(*access_->state)));
}

std::int64_t group_states::last_start(group_row group) const {
  return started_.has(group) ? access_->now : access_->state->group_extras[group].last_start;
}

std::int64_t group_states::last_eviction(group_row group) const {
  return evicted_.has(group) ? access_->now : access_->state->group_extras[group].last_eviction;
}

bool group_states::evicted_enough(group_row group) const {
  const std::int64_t most = access_->options->most_evictions;
  return most != 0 && access_->state->group_extras[group].evictions + (evicted_.has(group) ? 1 : 0) >= most;
}

bool group_states::waits_after_eviction(group_row group) const {
  if (!access_->options->evicted_groups_wait || access_->compat()) return false;
  const std::int64_t evicted = last_eviction(group);
  return evicted != unset && newest_creation() <= evicted;
}

bool group_states::comes_last_after_eviction(group_row group) const {
  constexpr std::int64_t two_minutes = 120'000'000'000;
  if (!access_->options->evicted_groups_wait || access_->compat()) return false;
  const std::int64_t evicted = last_eviction(group);
  return evicted != unset && evicted > access_->now - two_minutes;
}

/// Of the groups that are there.
std::int64_t group_states::newest_creation() const {
  std::int64_t newest = std::numeric_limits<std::int64_t>::min();
  for (group_row g = 0; g < slots(); ++g) {
    if (access_->state->groups[g].live) newest = std::max(newest, access_->state->groups[g].created);
  }
  return newest;
}

std::span<const model::open_dependency> group_states::open_dependencies(group_row group) const {
  if (dependencies_ == nullptr) return {};
  const auto found = dependencies_->find(group);
  return found == dependencies_->end() ? std::span<const model::open_dependency>() : found->second;
}

std::int64_t group_states::searched(group_row group) const {
  const auto changed = searched_.find(group);
  return changed == searched_.end() ? access_->state->group_extras[group].searched : changed->second;
}

}  // namespace kaisched::framework
