#pragma once
/// @file
/// Scenarios (`.ks`): a small cluster, what happens to it, and what must be decided. The language is in
/// docs/scenario.md.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>
#include <kaisched/session.hpp>
#include <kaisched/table.hpp>

#include "io/cluster_input.hpp"
#include "io/scenario/text.hpp"

namespace kaisched::io {

inline constexpr std::string_view scenario_version = "1";
inline constexpr std::string_view scenario_ending = ".ks";  ///< of the names of files

/// One `expect` line.
struct scenario_expectation {
  scenario_text::statement text;
};

/// Rows that take effect together.
struct scenario_delta {
  std::vector<table> tables;
  std::vector<std::vector<std::uint32_t>> lines;  ///< line of every row of every table
  std::vector<std::string> dimensions;            ///< names of the resource dimensions after the delta
};

using scenario_settings = std::vector<std::pair<std::string, std::string>>;  ///< option, value

/// `option`.
struct scenario_option {
  scenario_settings settings;
};

/// `run`: one session.
struct scenario_run {
  scenario_settings settings;  ///< of this session alone
};

/// `settle`: the decisions of the last session become facts.
struct scenario_settle {
  enum class evicted_pods : std::uint8_t { pending, releasing, gone };
  evicted_pods evicted = evicted_pods::pending;
  std::vector<std::string> groups;  ///< only these; all if empty
  bool keeps_nominations = true;    ///< places that pods have been promised are kept for them
};

struct scenario_step {
  std::size_t first_line = 0;
  std::size_t last_line = 0;
  std::int64_t now = 0;
  std::variant<scenario_delta, scenario_option, scenario_run, scenario_settle> what;
  std::vector<scenario_expectation> expectations;
};

/// A scenario, parsed: every statement is known to be well formed. Can be moved, as the tables in it.
struct scenario {
  scenario() = default;
  scenario(scenario&&) = default;
  scenario& operator=(scenario&&) = default;
  scenario(const scenario&) = delete;
  scenario& operator=(const scenario&) = delete;
  ~scenario() = default;

  std::string source;  ///< name of the file, for messages
  std::string text;
  std::string title;
  std::vector<std::string> rules;
  std::vector<scenario_step> steps;
  std::int64_t end = 0;  ///< the clock behind the last statement
};

/// Reads a scenario. Errors name source, line and column, what was expected, and the nearest name that is known.
[[nodiscard]] result<scenario> parse_scenario(std::string_view text, std::string_view source);

/// The cluster as it is when the first session opens (or at the end, if there is none), as tables for `cluster::apply`.
/// Error if the deltas before do more than add.
[[nodiscard]] result<cluster_input> initial_cluster(scenario from);

/// A difference between what was expected and what was found.
struct scenario_finding {
  std::size_t line = 0;
  std::string text;
};

/// What became of a scenario.
struct scenario_outcome {
  std::vector<scenario_finding> findings;  ///< empty: everything is as expected
  std::size_t sessions = 0;
  std::size_t expectations = 0;
  std::string updated;  ///< the text with its expectations renewed; findings that remain then are in `unresolved`
  std::vector<scenario_finding> unresolved;
  /// Names of the version before among its options: the first line of each, and what the present name is.
  std::vector<scenario_finding> warnings;
  [[nodiscard]] bool passed() const { return findings.empty(); }
};

/// How a scenario is played.
struct scenario_setup {
  scenario_settings settings;  ///< options that win over those of the scenario
  /// Called after every session that ran, with the line of its `run`.
  std::function<void(const session&, std::size_t)> observe;
};

/// Plays all steps and compares. Failures of calls that no expectation names are findings too.
[[nodiscard]] scenario_outcome play_scenario(const scenario& what, const scenario_setup& with = {});

/// A snapshot as the statements of a scenario, with a title and the clock; no sessions. Reading it gives a snapshot
/// with the same digest.
[[nodiscard]] result<std::string> format_scenario(const snapshot& from, std::int64_t now, std::string_view title);

/// `OPTION=VALUE` texts as settings that are to win over those of a scenario. The error names the text: no such option,
/// or a value that it cannot have together with those before it.
[[nodiscard]] result<scenario_settings> read_settings(std::span<const std::string> texts,
                                                      const scenario_settings& before = {});

/// Error: a line that `decides` does not understand, whatever the session.
[[nodiscard]] result<void> check_decision(std::string_view line);

/// Whether a session has a decision that fits a line without its `expect`: `evict p1`, `bind p1 n1 devices=[0]`.
/// Error: the line is none that could be expected.
[[nodiscard]] result<bool> decides(const session& ran, std::string_view line);

/// The decisions of a session as `expect` lines, in order; `expect nothing` if there are none.
[[nodiscard]] result<std::vector<std::string>> expected_decisions(const session& of);

}  // namespace kaisched::io
