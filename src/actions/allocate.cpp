#include <algorithm>
#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "actions/actions.hpp"
#include "actions/group_index.hpp"
#include "actions/job_queue.hpp"
#include "actions/placement.hpp"
#include "actions/runtime.hpp"
#include "session/members.hpp"

namespace kaisched::actions {

namespace {

using work::core;
using work::failure;

/// One attempt; the statement is committed or empty afterwards.
result<bool> try_group(core& c, group_row group) {
  ++c.statistics.back().groups_tried;
  failure why;
  const bool had_started = work::count_pods(c, group, &model::sub_counts::holding) > 0;
  result<bool> placed = place_group(c, group, {}, why);
  if (!placed) return placed;
  if (!*placed) {
    c.failures.push_back(why);
    return false;
  }
  const bool waits = work::must_wait_as_a_whole(c, group);
  if (waits) c.convert_to_pipelined(group);
  result<bool> starts = waits ? result<bool>(true) : permit_start(c, group);
  if (!starts || !*starts) return starts;
  if (auto done = commit_group(c, group, waits, had_started); !done) return done.failure();
  return true;
}

}  // namespace

result<void> allocate(core& c) {
  const bool backfills =
      std::find(c.options.actions.begin(), c.options.actions.end(), "backfill") != c.options.actions.end();
  if (backfills && c.options.backfill_deadlines) return {};  // what is promised comes first
  // Where the key of a group depends on what others hold, all groups are ordered anew after every start.
  const bool shared_order = has_shared_order(c);
  const auto depth = static_cast<std::size_t>(c.options.allocate_queue_depth);
  std::vector<group_row> groups = groups_to_start(c);
  // Only the group that is tried changes.
  const auto fill = [&](job_queue& one) { return depth == 0 ? one.fill_in_order(groups) : one.fill(groups); };
  std::optional<job_queue> queue(std::in_place, c, depth);
  if (auto done = fill(*queue); !done) return done;
  while (!queue->empty()) {
    if (auto on = c.go_on(); !on) return on;
    result<group_row> next = queue->pop();
    if (!next) return next.failure();
    const group_row group = *next;
    result<bool> placed = try_group(c, group);
    if (!placed) return placed.failure();
    if (!*placed && backfills) {
      result<bool> head = is_head(c, c.failures.back());
      if (!head) return head.failure();
      if (*head) break;  // the rest is left to backfill
    }
    const bool competes = *placed && work::count_pods(c, group, &model::sub_counts::pending) > 0;
    if (shared_order && !competes) std::erase(groups, group);
    if (shared_order && *placed) {
      queue.emplace(c, depth);
      if (auto done = fill(*queue); !done) return done;
    } else if (competes) {
      if (auto done = queue->push(group); !done) return done;  // the next elastic pod competes again
    }
  }
  return {};
}

result<std::vector<group_row>> allocation_order(core& c) {
  const std::vector<group_row> groups = groups_to_start(c);
  const auto depth = static_cast<std::size_t>(c.options.allocate_queue_depth);
  job_queue queue(c, depth);
  if (auto done = depth == 0 ? queue.fill_in_order(groups) : queue.fill(groups); !done) return done.failure();
  std::vector<group_row> order;
  while (!queue.empty()) {
    result<group_row> next = queue.pop();
    if (!next) return next.failure();
    order.push_back(*next);
  }
  return order;
}

std::span<const action_entry> action_list() noexcept {
  static constexpr std::array entries{
      action_entry{"allocate", action_kind::allocate, allocate, true, true},
      action_entry{"consolidation", action_kind::consolidation, consolidation, true, true},
      action_entry{"reclaim", action_kind::reclaim, reclaim, true, true},
      action_entry{"preempt", action_kind::preempt, preempt, true, true},
      action_entry{"stalegangeviction", action_kind::stale_gang_eviction, evict_stale_gangs},
      action_entry{"backfill", action_kind::backfill, backfill, false, true},
      action_entry{"runtimelimit", action_kind::runtime_limit, limit_runtime},
      action_entry{"repartition", action_kind::repartition, repartition, true},
      action_entry{"overlimit", action_kind::over_limit, keep_limits},
      action_entry{"resize", action_kind::resize, resize, true, true},
      action_entry{"vacate", action_kind::vacate, vacate},
      action_entry{"tiers", action_kind::allocate, decide_in_tiers},
      action_entry{"cells", action_kind::allocate, decide_in_cells},
      action_entry{"admission", action_kind::allocate, admit_by_quota},
      action_entry{"turns", action_kind::allocate, take_turns},
  };
  return entries;
}

}  // namespace kaisched::actions
