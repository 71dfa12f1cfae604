#pragma once
/// @file
/// What a host does with decisions, as deltas.

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include <kaisched/result.hpp>
#include <kaisched/session.hpp>
#include <kaisched/table.hpp>

#include "io/scenario/scenario.hpp"

namespace kaisched::io::scenario_text {

/// Tables that turn the decisions of a session into facts, see `settle` in docs/scenario.md. Only groups that are not
/// in `settled` yet; these are added to it.
[[nodiscard]] result<std::vector<table>> settle_tables(const session& of, const scenario_settle& how, std::int64_t now,
                                                       std::set<std::string>& settled);

}  // namespace kaisched::io::scenario_text
