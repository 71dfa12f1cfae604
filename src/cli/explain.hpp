#pragma once
/// @file
/// Explanations of single entities after a session has run: as text for people, and the same as JSON.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "cli/console.hpp"
#include "cli/outcome.hpp"

namespace kaisched::cli {

/// What explanations look at, and where they go.
struct explanation {
  const decided& ran;
  const console& to;
  std::size_t most_nodes = 5;  ///< nodes of a table that are listed; 0: all
};

/// Each prints, if a report is wanted, and returns the same as JSON. Errors come from plug-ins.
[[nodiscard]] result<json> explain_pod(const explanation& of, pod_row pod);
[[nodiscard]] json explain_group(const explanation& of, group_row group);
[[nodiscard]] result<json> explain_node(const explanation& of, node_row node);
[[nodiscard]] result<json> explain_queue(const explanation& of, queue_row queue);
/// `topology`: its place among those of the snapshot.
[[nodiscard]] json explain_topology(const explanation& of, std::uint32_t topology);

/// One thing to explain.
struct subject {
  entity_kind kind = entity_kind::none;
  std::uint32_t row = no_row;
};
/// A bare name, or KIND/NAME. Several kinds may have the same name: the first one counts, the others are in `also`.
[[nodiscard]] result<subject> find_subject(const snapshot& of, std::string_view word, std::vector<subject>& also);
/// Whichever of the above it is.
[[nodiscard]] result<json> explain_subject(const explanation& of, const subject& what);
/// The document `kaisched-explain/1`. `by`: preset, mode and digest of the decisions.
[[nodiscard]] json explain_json(const outcome& by, json explanations);

// ---- what they share -----------------------------------------------------------------------------------------------

/// `  name      text`, wrapped.
void print_fact(const terminal& out, std::string_view name, std::string_view text);
/// `  · text`, wrapped.
void print_item(const terminal& out, std::string_view text);
/// A heading, after an empty line.
void print_section(const terminal& out, std::string_view title);

/// `12 cores, 96 GiB, 4 GPUs`; amounts of zero and the pod slot are left out.
[[nodiscard]] std::string amounts_text(const session& over, std::span<const std::int64_t> per_dimension);
[[nodiscard]] json amounts_json(const session& over, std::span<const std::int64_t> per_dimension);
/// `vision › research › company`: a queue and those above it.
[[nodiscard]] std::string path_text(const session& over, queue_row queue);
[[nodiscard]] json path_json(const session& over, queue_row queue);
/// `0-3, 6`: the devices of a set.
[[nodiscard]] std::string devices_text(const device_set& set);
[[nodiscard]] json devices_json(const device_set& set);

[[nodiscard]] json reason_json(const session& over, const reason& why);
/// Refusals of single nodes, one reason per constraint and dimension, most nodes first.
[[nodiscard]] std::vector<reason> merged(const std::vector<reason>& refusals);

/// What the session did to a pod, or what it found: `starts on n1, devices 0-3`, or without the node.
enum class with_node : bool { no, yes };
[[nodiscard]] std::string fate_text(const decided& ran, pod_row pod, with_node where = with_node::yes);
/// The last decision about a pod, or nullptr.
[[nodiscard]] const decision* decision_about(const decided& ran, pod_row pod);
/// Why a group waits, or nullptr if it does not.
[[nodiscard]] const waiting_group* waiting_of(const decided& ran, group_row group);
/// Why nobody makes room for a group that waits: what every action that evicts did for it.
void print_attempts(const explanation& of, group_row group);
[[nodiscard]] json attempts_json(const decided& ran, group_row group);
/// Why a pod leaves or moves: for whom, with whom, and what if it had been protected.
void print_eviction(const explanation& of, const victim_account& why);
[[nodiscard]] json eviction_json(const session& over, const victim_account& why);
/// Why a running pod of a group was left alone where others had to leave or move.
void print_why_it_stays(const explanation& of, const std::vector<passed_over>& commits);
[[nodiscard]] json passed_over_json(const session& over, const std::vector<passed_over>& commits);
[[nodiscard]] bool leaves_its_node(const decision& d);
/// Devices that are divided anew for a group, or on a node, which are then the only ones.
void print_divisions(const explanation& of, group_row group, node_row node);
[[nodiscard]] json divisions_json(const decided& ran, group_row group, node_row node);
[[nodiscard]] std::string_view preemptibility_text(const session_view& view, group_row group);
/// What a queue holds beside what it deserves: `holds 400 of a fair share of 537.6 GPUs (quota 491, no limit)`.
[[nodiscard]] std::string share_text(const decided& ran, queue_row queue);

}  // namespace kaisched::cli
