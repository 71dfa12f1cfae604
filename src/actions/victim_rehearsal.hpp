#pragma once
/// @file
/// Simulations that need not be run. Where a simulation serves victims before the group that waits, all victims that
/// find a place again leave it what was free before. A rehearsal counts nothing but whole GPUs by node and what leaf
/// queues hold, so that it costs some nanoseconds per victim; it speaks only where counting them decides.

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "actions/service_order.hpp"
#include "actions/victim_builder.hpp"
#include "framework/session_state.hpp"

namespace kaisched::actions {

/// The simulations of one part of a group, in `compat`.
class victim_rehearsal {
 public:
  victim_rehearsal(victim_search_state& kept, const victim_builder& from, const framework::node_set& feasible,
                   group_row waiting)
      : kept_(kept), c_(kept.c), from_(from), feasible_(feasible), waiting_(waiting), order_(kept, waiting) {}

  /// True: the simulation of these new victims would serve and place all of them, and then find no place for the group
  /// that waits. False says nothing.
  [[nodiscard]] bool all_return(std::span<const std::uint32_t> units);
  /// True: the simulation would find places for the victims that it serves before the group that waits, and then none
  /// for that group. As above, of victims of several leaf queues, whichever is served first.
  [[nodiscard]] bool leaves_no_room(std::span<const std::uint32_t> units);

 private:
  /// What holds for all victims.
  [[nodiscard]] bool can_count();
  [[nodiscard]] bool ask_first(std::span<const std::uint32_t> units);
  [[nodiscard]] bool has_room() const;
  void leave(std::span<const std::uint32_t> units);
  [[nodiscard]] bool place_unit(std::uint32_t unit);
  void undo();
  /// What only depends on the group that waits and on the leaf queue of the victims.
  [[nodiscard]] bool may_speak(queue_row leaf);
  [[nodiscard]] bool nodes_are_simple() const;
  [[nodiscard]] bool serves_victims_first(queue_row leaf);
  [[nodiscard]] bool passes_late_groups(std::span<const std::uint32_t> units) const;
  [[nodiscard]] bool only_siblings(queue_row a, queue_row b) const;
  [[nodiscard]] bool keeps_limits(queue_row leaf) const;
  [[nodiscard]] bool is_simple(std::uint32_t unit);
  void fill_bins();
  [[nodiscard]] std::uint32_t best_node(std::uint32_t gpus) const;
  void move(std::uint32_t rank, std::int32_t to);

  victim_search_state& kept_;
  framework::session_state& c_;
  const victim_builder& from_;
  const framework::node_set& feasible_;
  group_row waiting_;
  queue_row leaf_ = no_row;
  std::optional<bool> counts_;
  std::optional<bool> speaks_;
  policy::kai_side other_{};  ///< the leaf of the group that waits, while it has something before that group
  /// Groups that wait in the leaf of the victims and ask for so much that it may be served late, by rank.
  struct late_group {
    std::uint32_t rank;
    policy::kai_amounts job;
  };
  std::vector<late_group> late_groups_;
  std::vector<std::uint8_t> simple_;  ///< by unit: whether it is, once somebody asked
  std::vector<std::uint32_t> moved_;
  std::size_t small_sets_ = 0;
  service_order order_;
  std::vector<service_order::victim> victims_;
  std::map<queue_row, bool> keeps_limits_;
};

}  // namespace kaisched::actions
