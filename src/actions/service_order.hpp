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
#include "framework/session_state.hpp"
#include "policy/ordering/kai_queue_order.hpp"

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
    std::uint32_t ask;  ///< position in the asks of its leaf
  };
  /// A victim, or the group that waits.
  struct served_group {
    std::uint32_t rank;
    std::uint32_t position;  ///< in the order in which KAI adds them to their queues
    std::uint32_t victim;    ///< no_row: the group that waits
    std::uint32_t ask;       ///< position in the asks of its leaf
  };
  struct leaf_queue {
    queue_row queue = no_row;
    policy::kai_queue native;    ///< as it is with what victims have lost
    model::quota_vector held{};  ///< with nothing gone
    model::quota_vector allocated{};
    // Of all sets of victims.
    std::vector<policy::kai_amounts> asks;  ///< that differ
    group_index::cursor rest;               ///< groups that are not in `passed` yet
    std::vector<passed_group> passed;       ///< in their order
    bool has_all = false;                   ///< no group is left in `rest`
    // Of one set.
    std::size_t next_passed = 0;
    std::vector<served_group> served;  ///< by rank
    std::size_t next_served = 0;
    bool moved = false;
    /// By position in `asks`, with what the leaf holds without any victims gone, and with what it holds now.
    std::vector<std::optional<policy::kai_standing>> whole;
    std::vector<std::optional<policy::kai_standing>> now;
    bool is_whole = true;  ///< nothing is gone
  };

  [[nodiscard]] bool find_queues();
  [[nodiscard]] std::size_t leaf_of(queue_row queue);
  [[nodiscard]] const passed_group* next_passed(leaf_queue& leaf);
  void reset(leaf_queue& leaf);
  [[nodiscard]] bool add_served(std::span<const victim> victims);
  void link_queues();
  [[nodiscard]] std::uint32_t first_position(leaf_queue& leaf);
  [[nodiscard]] const policy::kai_standing& standing_of(std::size_t leaf, std::uint32_t limit);
  /// Groups of the best leaf that are passed over one after the other.
  void pass_over(leaf_queue& leaf);
  [[nodiscard]] bool is_before(std::size_t a, std::size_t b, std::uint32_t limit);
  [[nodiscard]] std::size_t best_leaf();
  [[nodiscard]] std::uint32_t pop_served(leaf_queue& leaf);
  [[nodiscard]] static std::uint32_t position_of(leaf_queue& leaf, const policy::kai_amounts& ask);
  static void note_allocated(leaf_queue& leaf);

  victim_search_state& kept_;
  framework::session_state& c_;
  group_row waiting_;
  std::optional<bool> tells_;
  queue_row parent_ = no_row;
  std::vector<leaf_queue> leaves_;
  std::vector<std::uint32_t> leaf_of_queue_;
  policy::kai_amounts ask_of_waiting_{};
  std::span<const victim> victims_;
  base::heap<std::size_t> heap_;
  std::vector<std::pair<std::uint32_t, std::size_t>> firsts_;  ///< position, leaf
  std::vector<std::uint8_t> stays_;                            ///< of the best leaf, by position in its asks
  std::size_t open_ = 0;                                       ///< leaves with groups that are still to be served
};

}  // namespace kaisched::actions
