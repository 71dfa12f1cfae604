#pragma once
/// @file
/// Which nodes to add and to give back: the question, and the answer as JSON, of the command and of the server.

#include <cstdint>
#include <string_view>

#include <kaisched/engine.hpp>
#include <kaisched/scaling.hpp>

#include "cli/console.hpp"
#include "cli/what_if.hpp"

namespace kaisched::cli {

inline constexpr number_range scale_verifications{1, 1e6};

/// Whoever asks neither asks both. True if nodes are to be added, for which there have to be types.
[[nodiscard]] inline bool asks_what_to_add(scale_question& of) {
  if (!of.up && !of.down) of.up = of.down = true;
  return of.up;
}
/// `search` for what is no name.
[[nodiscard]] inline scale_strategy scale_strategy_of(std::string_view name) {
  return name == scale_strategy_name(scale_strategy::first_fit) ? scale_strategy::first_fit : scale_strategy::search;
}
/// The document `kaisched-scale/1`.
[[nodiscard]] json scale_json(const engine& with, std::int64_t now, const scale_question& asked,
                              const scale_report& found);

}  // namespace kaisched::cli
