#pragma once
/// @file
/// The order in which `compat` serves the group that waits and the groups of its victims, without a simulation: the
/// steps of KAI's heap of leaf queues, over sums of what these hold.

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "actions/victim_search_state.hpp"
#include "base/heap.hpp"
#include "policy/ordering/kai_queue_order.hpp"
#include "session/core.hpp"

namespace kaisched::actions {

/// For all sets of victims of one part of a group. Groups of a queue must have the order of priority, age and name.
class service_order {
 public:
  /// A group that has lost all its pods, in the order in which it became a victim.
  struct victim {
    group_row group = no_row;
    model::quota_vector held{};
  };

  service_order(victim_search_state& kept, group_row waiting) : kept_(kept), c_(kept.c), waiting_(waiting) {}

  /// Begins with these victims. False: queues do not stand side by side, or groups of them have pods as well; then
  /// nothing is known.
  [[nodiscard]] bool begin(std::span<const victim> victims);
  /// Position of the victim that is served next; no_row for the group that waits, after which nothing may be asked.
  [[nodiscard]] std::uint32_t next();
  /// False: what `next` has said so far may be wrong.
  [[nodiscard]] bool is_certain() const { return tells_.value_or(false); }
  /// The victim that was served last holds its pods again.
  void take_back(std::uint32_t position);

 private:
  /// A group of the session that waits. It is passed over, but its queue stands with it until then.
  struct passed_group {
    std::uint32_t rank;
    policy::kai_amounts ask;
  };
  /// A victim, or the group that waits.
  struct served_group {
    std::uint32_t rank;
    std::uint32_t position;  ///< in the order in which KAI adds them to their queues
    std::uint32_t victim;    ///< no_row: the group that waits
  };
  struct leaf_queue {
    queue_row queue = no_row;
    policy::kai_queue native;  ///< as it is with what victims have lost
    model::quota_vector allocated{};
    // Of all sets of victims.
    group_index::cursor rest;          ///< groups that are not in `passed` yet
    std::vector<passed_group> passed;  ///< in their order
    bool has_all = false;              ///< no group is left in `rest`
    // Of one set.
    std::size_t next_passed = 0;
    std::vector<served_group> served;  ///< by rank
    std::size_t next_served = 0;
    bool moved = false;
    std::uint32_t standing_with = no_row;  ///< the rank of the group that `standing` is made with
    policy::kai_standing standing{};
  };

  [[nodiscard]] bool find_queues();
  [[nodiscard]] std::size_t leaf_of(queue_row queue);
  [[nodiscard]] const passed_group* next_passed(leaf_queue& leaf);
  void reset(leaf_queue& leaf);
  [[nodiscard]] bool add_served(std::span<const victim> victims);
  void link_queues();
  [[nodiscard]] std::uint32_t first_position(leaf_queue& leaf);
  [[nodiscard]] const policy::kai_standing& standing_of(std::size_t leaf, std::uint32_t limit);
  [[nodiscard]] bool is_before(std::size_t a, std::size_t b, std::uint32_t limit);
  [[nodiscard]] std::size_t best_leaf();
  [[nodiscard]] std::uint32_t pop_served(leaf_queue& leaf);
  [[nodiscard]] policy::kai_amounts ask_of(const served_group& one) const;

  victim_search_state& kept_;
  work::core& c_;
  group_row waiting_;
  std::optional<bool> tells_;
  queue_row parent_ = no_row;
  std::vector<leaf_queue> leaves_;
  std::vector<std::uint32_t> leaf_of_queue_;
  policy::kai_amounts ask_of_waiting_{};
  std::span<const victim> victims_;
  base::heap<std::size_t> heap_;
  std::vector<std::pair<std::uint32_t, std::size_t>> firsts_;  ///< position, leaf
  std::size_t open_ = 0;                                       ///< leaves with groups that are still to be served
};

}  // namespace kaisched::actions
