#pragma once
/// @file
/// What has happened to groups in a session: starts, evictions, searches, what they wait for.

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <kaisched/ids.hpp>

#include "base/first_made.hpp"
#include "base/row_marks.hpp"
#include "framework/group_order.hpp"
#include "model/dependencies.hpp"
#include "policy/access.hpp"

namespace kaisched::framework {

class session_state;

class group_states {
 public:
  /// What all functions read. Borrowed.
  void connect(const session_access& access) { access_ = &access; }
  /// Groups wait for others as these say; null: none does.
  void wait_for(std::shared_ptr<const model::open_dependencies> others) { dependencies_ = std::move(others); }

  /// All groups by priority, creation time and name.
  [[nodiscard]] std::span<const group_row> in_order() const { return order().groups; }
  /// The same with positions. Made when it is asked for, once for a session and its copies.
  [[nodiscard]] const group_order& order() const;

  // ---- starts and evictions
  void note_start(group_row group) { started_.mark(group, slots()); }
  void note_eviction(group_row group) { evicted_.mark(group, slots()); }
  void forget_start_and_eviction(group_row group) {
    started_.unmark(group);
    evicted_.unmark(group);
  }
  /// When the group started last, was evicted last: before the session or in it, or `unset`.
  [[nodiscard]] std::int64_t last_start(group_row group) const;
  [[nodiscard]] std::int64_t last_eviction(group_row group) const;
  [[nodiscard]] bool was_started(group_row group) const { return started_.has(group); }
  /// The group has been evicted as often as the option `victims.most_evictions` allows: no search for room chooses pods
  /// of it.
  [[nodiscard]] bool evicted_enough(group_row group) const;
  /// With the option `evicted_groups.wait` the group was evicted, and no group has been created since: it makes no
  /// others leave (EW1).
  [[nodiscard]] bool waits_after_eviction(group_row group) const;
  /// With the same option the group was evicted less than two minutes ago: room goes to others first (EW2).
  [[nodiscard]] bool comes_last_after_eviction(group_row group) const;

  // ---- what the group waits for
  /// Before it may be tried; empty: nothing. As it was when the session was opened.
  [[nodiscard]] std::span<const model::open_dependency> open_dependencies(group_row group) const;

  // ---- searches for victims
  /// Bits of the actions that have searched for victims of the group in a round that is longer than a session.
  [[nodiscard]] std::int64_t searched(group_row group) const;
  void set_searched(group_row group, std::int64_t bits) { searched_[group] = bits; }
  /// Those that have changed, by group.
  [[nodiscard]] const std::map<group_row, std::int64_t>& searched_now() const { return searched_; }

  base::row_marks held;         ///< that have a place, and a part did not let start
  base::row_marks passed_over;  ///< pods beyond gangs that an action has found no node for; those behind them are tried
  bool looked_at_nominations = false;  ///< the first action has tried to start pods where places are kept for them
  std::vector<pod_row> lapsed;         ///< pods whose places could not be kept

 private:
  [[nodiscard]] std::uint32_t slots() const { return access_->state->group_slots; }
  [[nodiscard]] std::int64_t newest_creation() const;

  const session_access* access_ = nullptr;
  std::shared_ptr<base::first_made<group_order>> order_ = std::make_shared<base::first_made<group_order>>();
  base::row_marks started_;
  base::row_marks evicted_;
  std::shared_ptr<const model::open_dependencies> dependencies_;
  std::map<group_row, std::int64_t> searched_;  ///< column `searched`, where the session changes it
};

}  // namespace kaisched::framework
