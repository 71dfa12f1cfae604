#pragma once
/// @file
/// What a session decided, as text, see docs/formats.md.

#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/session.hpp>

namespace kaisched::io {

inline constexpr std::string_view decisions_schema = "kaisched-decisions/1";

/// Decisions, reasons, shares of queues and counters of a session in the format `kaisched-decisions/1`.
[[nodiscard]] result<std::string> format_decisions_json(const session& from, std::string_view preset,
                                                        std::string_view mode);
/// The decisions of a session alone, as CSV.
[[nodiscard]] result<std::string> format_decisions_csv(const session& from);

}  // namespace kaisched::io
