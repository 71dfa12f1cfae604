#pragma once
/// @file
/// What a session decided, as text and back: the format `kaisched-decisions/1` in its two forms, see docs/formats.md.

#include <array>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>
#include <kaisched/schema.hpp>
#include <kaisched/session.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

inline constexpr std::string_view decisions_schema = "kaisched-decisions/1";
/// The tables of the JSON form, in its order. The CSV form has the first.
inline constexpr std::array decisions_tables{table_kind::decision, table_kind::reason, table_kind::queue_share,
                                             table_kind::statistic};

/// Decisions, reasons, shares of queues and counters of a session as JSON. Preset and mode are those of the session,
/// by the names that its engine gives (`kai-0.17-r2`); others are refused, since the digest covers them.
[[nodiscard]] result<std::string> format_decisions_json(const session& from, std::string_view preset,
                                                        std::string_view mode);
/// The decisions of a session alone, as CSV: a line is a decision.
[[nodiscard]] result<std::string> format_decisions_csv(const session& from);

/// What a text with decisions says. Tables have the columns of the schema but for ids; entities are named.
struct decisions_input {
  std::string source;
  std::string preset;  ///< empty in CSV, as is all that follows but `decisions`
  std::string mode;
  std::string digest;
  table decisions;
  table reasons;
  table queue_shares;
  table statistics;
};

/// Errors start with `source`, the line and the place in the text (`d.json:12: decision[3].kind`), say what was
/// expected, and for a wrong name which one may have been meant.
[[nodiscard]] result<decisions_input> parse_decisions_json(std::string_view text, std::string_view source);
[[nodiscard]] result<decisions_input> parse_decisions_csv(std::string_view text, std::string_view source);

/// What `session::digest` was where these decisions were made. The rows are the table `decision` of a session or of
/// `decisions_input`.
[[nodiscard]] std::string decisions_digest(const table_view& decisions, std::string_view preset, std::string_view mode);

/// Whether the decisions give the digest that stands beside them; nothing to compare is fine, too. The error says what
/// that means.
[[nodiscard]] result<void> check_digest(const decisions_input& input);

/// Reads decisions from a file, CSV if its name ends with `.csv`, else JSON, and checks the digest.
[[nodiscard]] result<decisions_input> read_decisions(const std::string& path);

}  // namespace kaisched::io
