#pragma once
/// @file
/// A reader for each scheduler, and what they ask of values.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <kaisched/result.hpp>

#include "io/importers/importers.hpp"
#include "io/json_document.hpp"

namespace kaisched::io::importers {

/// A scheduler configuration of Volcano: `actions`, `tiers`, `configurations`.
[[nodiscard]] result<imported_policy> import_volcano(json_value root);
/// A SchedulingShard of KAI.
[[nodiscard]] result<imported_policy> import_kai_shard(json_value root);
/// A KubeSchedulerConfiguration; of several profiles the first.
[[nodiscard]] result<imported_policy> import_kube_scheduler(json_value root);
/// A queues.yaml of YuniKorn; of several partitions the first.
[[nodiscard]] result<imported_policy> import_yunikorn(json_value root);

/// A slurm.conf; gres.conf and topology.conf may follow in the same text.
[[nodiscard]] imported_policy import_slurm(std::string_view text);
/// The text is one of these files.
[[nodiscard]] bool is_slurm_configuration(std::string_view text);

/// Objects of Kueue: ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Configuration.
[[nodiscard]] result<imported_policy> import_kueue(const std::vector<json_value>& objects);

// What they ask of values.
/// A member of an object, or nothing.
[[nodiscard]] const json_value* find_member(json_value of, std::string_view key, json_value& kept);
/// Text of a scalar; empty for anything else.
[[nodiscard]] std::string scalar_text(json_value of);
/// Seconds of a Go duration (1h30m, 90s, 250ms).
[[nodiscard]] std::optional<double> seconds_of(std::string_view text);
/// A scenario can have it as a name, or a range of names, without quotes.
[[nodiscard]] bool is_plain_name(std::string_view name);
[[nodiscard]] std::string joined(const std::vector<std::string>& names, std::string_view between = ",");

}  // namespace kaisched::io::importers
