#pragma once
/// @file
/// The trial of a set of victims in `strict`: who would be placed again, who would have to leave.

#include <cstdint>
#include <span>
#include <vector>

#include <kaisched/result.hpp>

#include "actions/placement.hpp"
#include "actions/victim_units.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// Tries sets of victims for one waiting group. The chunk that the group is cut to is placed first, so that no victim
/// takes the place that it was evicted for. Then the groups of the victims are placed again in the order of service,
/// with the pods that they have lost here and no others.
class victim_trial {
 public:
  /// `plan`: of the waiting group, for all its trials; null: it asks for no shapes.
  victim_trial(framework::session_state& c, group_row waiting, const victim_rules& rules, domain_plan* plan)
      : c_(c), waiting_(waiting), rules_(rules), plan_(plan) {}

  /// True: the set helps, and the statement holds what becomes of it. False: the statement is as it was.
  [[nodiscard]] result<bool> run(std::span<const victim_unit> units);
  /// In place of a trial of a set that has no room (S26): it costs a step. Builds with checks try it now and then.
  [[nodiscard]] result<void> leave_out(std::span<const victim_unit> units);
  /// The same for a set that is decided: where fewer pods move, and the same ones are lost, if the pods of each group
  /// that have their own places free come back there first, the statement holds that.
  [[nodiscard]] result<bool> decide(std::span<const victim_unit> units);
  /// The last set made room for the chunk, whatever the verdict was.
  [[nodiscard]] bool was_placed() const { return was_placed_; }

 private:
  /// Whether pods of a group come back to their own places before any pod of it is given another one.
  enum class own_places : std::uint8_t { like_others, first };

  result<bool> run(std::span<const victim_unit> units, own_places own);
  result<void> place_again(std::span<const victim_unit> units, own_places own);
  result<void> bring_back(group_row group, std::span<const pod_row> pods);
  [[nodiscard]] bool moves_little(std::span<const victim_unit> units) const;

  framework::session_state& c_;
  group_row waiting_;
  const victim_rules& rules_;
  domain_plan* plan_;
  bool was_placed_ = false;
  std::uint64_t left_out_ = 0;  ///< sets, in builds with checks
};

/// Gives claims to pods that the statement has evicted: the gang of their group, then one pod after the other, until
/// one has no place.
result<void> place_again(framework::session_state& c, group_row group, std::vector<pod_row> pods);

}  // namespace kaisched::actions
