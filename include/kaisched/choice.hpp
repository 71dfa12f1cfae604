#pragma once
/// @file
/// Why a pod was put where it is: the runner-up, what decided, and what would have turned the choice.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/ids.hpp>

namespace kaisched {

/// What decided between the node that was chosen and the runner-up. Values are part of the ABI.
enum class choice_rule : std::uint8_t {
  only_node = 1,     ///< no other node could take the pod
  score = 2,         ///< its score was the largest
  name = 3,          ///< several had the largest score, and its name sorts first
  not_by_score = 4,  ///< another node had a better score, or the node could not take the pod by itself: see the plan
};
inline constexpr std::uint8_t choice_rule_count = 5;
[[nodiscard]] std::string_view choice_rule_name(choice_rule r) noexcept;

/// The larger plan that a node was chosen in, where scores alone did not decide. Values are part of the ABI.
enum class choice_plan : std::uint8_t {
  none = 0,
  topology = 1,    ///< pods that must or should be together: the domain was chosen first
  eviction = 2,    ///< an action made room: the search for victims found the place
  move = 3,        ///< the pod itself had to leave its node for others
  claim = 4,       ///< a claim on resources that were being released
  allocation = 5,  ///< `allocate` or `backfill` placed several pods together
};
inline constexpr std::uint8_t choice_plan_count = 6;
[[nodiscard]] std::string_view choice_plan_name(choice_plan p) noexcept;

/// What one part gave to the two nodes.
struct score_difference {
  std::string part;
  double chosen = 0;
  double runner_up = 0;

  friend bool operator==(const score_difference&, const score_difference&) = default;
};

/// What would have turned a choice. Values are part of the ABI.
enum class choice_flip_kind : std::uint8_t {
  without_part = 1,  ///< without the score of a part
  more_score = 2,    ///< with so much more score for the runner-up, everything else as it was
  closed_node = 3,   ///< with the chosen node closed (cordoned), and everything decided before as it was
};
inline constexpr std::uint8_t choice_flip_kind_count = 4;
[[nodiscard]] std::string_view choice_flip_kind_name(choice_flip_kind k) noexcept;

/// A change with which the pod would have gone elsewhere; each has been tried.
struct choice_flip {
  choice_flip_kind what = choice_flip_kind::without_part;
  std::string part;        ///< `without_part`: which
  double score = 0;        ///< `more_score`: the least that is enough
  node_row node = no_row;  ///< where the pod would have gone; no_row: nowhere, it would have waited

  friend bool operator==(const choice_flip&, const choice_flip&) = default;
};

/// Why a pod was put where it is, in the state in which it was decided: see `session::choice`.
struct choice_account {
  pod_row pod = no_row;
  node_row chosen = no_row;
  node_row runner_up = no_row;  ///< the best other node that could take the pod, or no_row
  choice_rule rule = choice_rule::only_node;
  choice_plan plan = choice_plan::none;  ///< not none if the rule is `not_by_score`
  std::uint32_t fitting = 0;             ///< nodes that could take the pod
  std::uint32_t rank = 0;                ///< place of the chosen node among them, from 1; 0: not one of them
  double margin = 0;                     ///< score of the chosen node less that of the runner-up
  /// Parts that gave the two nodes different scores, in the order of the policy. Scores are added up in that order, and
  /// what a part gave is what the sum grew by.
  std::vector<score_difference> differences;
  /// By kind, then in the order of the policy: for the pod alone, other decisions as they were. None if scores did not
  /// decide.
  std::vector<choice_flip> flips;
};

}  // namespace kaisched
