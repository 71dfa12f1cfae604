#pragma once
/// @file
/// An outcome for people and for programs.

#include <span>
#include <string>
#include <string_view>

#include "cli/console.hpp"
#include "cli/outcome.hpp"
#include "cli/terminal.hpp"

namespace kaisched::cli {

/// What a report shows beside figures and reasons.
enum class report_detail : bool { figures, charts };

/// The whole report: what was decided over what, how full the cluster is, who waits and why; on demand bars of queues
/// and a map of the topology.
void print_report(const terminal& out, const outcome& what, std::string_view title, report_detail detail);

/// Headlines of jobs that wait, each with an example; nothing if none waits.
void print_waiting(const terminal& out, std::span<const waiting_figures> waiting);

inline constexpr std::string_view run_schema = "kaisched-run/1";
/// Who waits for the same thing, as the member `waiting` of the report.
[[nodiscard]] json waiting_json(const outcome& of);
/// The report in the format `kaisched-run/1`.
[[nodiscard]] json report_json(const outcome& what);

}  // namespace kaisched::cli
