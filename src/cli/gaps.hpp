#pragma once
/// @file
/// How far decisions are from the best possible, as JSON: of the command and of the server.

#include <span>

#include <kaisched/gaps.hpp>

#include "cli/console.hpp"
#include "cli/outcome.hpp"

namespace kaisched::cli {

/// The document `kaisched-gaps/1`: what `session::gaps` has found, and the decisions that a checker needs.
[[nodiscard]] json gaps_json(const decided& ran, std::span<const optimality_gap> found);

}  // namespace kaisched::cli
