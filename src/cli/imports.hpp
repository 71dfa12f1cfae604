#pragma once
/// @file
/// Configurations of other schedulers -> options.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "io/json_document.hpp"

namespace kaisched::cli {

/// What a configuration became, and what of it nothing here does.
struct imported_policy {
  std::string_view of;                                       ///< whose configuration it is
  std::vector<std::pair<std::string, std::string>> options;  ///< the preset first
  std::vector<std::string> rows;                             ///< statements of a scenario: topologies, nodes, queues
  std::string queue_rules;                                   ///< a file of rules in JSON; empty: none
  std::vector<std::string> unmapped;                         ///< `12: binpack: nobody reads weight.x`, with lines

  void set(std::string_view option, std::string value) { options.emplace_back(option, std::move(value)); }
  void leave_out(io::json_value what, std::string_view why);
};

/// A scheduler configuration of Volcano: `actions`, `tiers`, `configurations`.
[[nodiscard]] result<imported_policy> import_volcano(io::json_value root);
/// A SchedulingShard of KAI.
[[nodiscard]] result<imported_policy> import_kai_shard(io::json_value root);
/// A KubeSchedulerConfiguration; of several profiles the first.
[[nodiscard]] result<imported_policy> import_kube_scheduler(io::json_value root);
/// A queues.yaml of YuniKorn; of several partitions the first.
[[nodiscard]] result<imported_policy> import_yunikorn(io::json_value root);

/// A slurm.conf; gres.conf and topology.conf may follow in the same text.
[[nodiscard]] imported_policy import_slurm(std::string_view text);
/// The text is one of these files.
[[nodiscard]] bool is_slurm_configuration(std::string_view text);

/// Objects of Kueue: ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Configuration.
[[nodiscard]] result<imported_policy> import_kueue(const std::vector<io::json_value>& objects);

// What they ask of values.
/// A member of an object, or nothing.
[[nodiscard]] const io::json_value* find_member(io::json_value of, std::string_view key, io::json_value& kept);
/// Text of a scalar; empty for anything else.
[[nodiscard]] std::string scalar_text(io::json_value of);
/// Seconds of a Go duration (1h30m, 90s, 250ms).
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);
/// A scenario can have it as a name, or a range of names, without quotes.
[[nodiscard]] bool is_plain_name(std::string_view name);
[[nodiscard]] std::string joined(const std::vector<std::string>& names, std::string_view between = ",");

}  // namespace kaisched::cli
