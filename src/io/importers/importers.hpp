#pragma once
/// @file
/// Configurations of other schedulers -> options, clusters and queue rules of ours, and a list of what has no
/// counterpart here. Pure functions: text in, text out.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "io/json_document.hpp"

namespace kaisched::io::importers {

/// Whose configuration a text is.
enum class scheduler_kind : std::uint8_t {
  detect,          ///< what the text looks like
  kai,             ///< a SchedulingShard
  kube_scheduler,  ///< a KubeSchedulerConfiguration; of several profiles the first
  kueue,           ///< ClusterQueue, Cohort, LocalQueue, ResourceFlavor, Topology, Configuration, in one text
  slurm,           ///< slurm.conf; gres.conf and topology.conf may follow in the same text
  volcano,         ///< `actions`, `tiers`, `configurations`, also in a ConfigMap
  yunikorn,        ///< queues.yaml, also in a ConfigMap; of several partitions the first
};

/// "kai", "kube-scheduler", "kueue", "slurm", "volcano", "yunikorn"; an empty name is `detect`.
[[nodiscard]] result<scheduler_kind> scheduler_kind_named(std::string_view scheduler);

/// Parsers of texts that are no slurm.conf. This layer reads JSON alone; a caller that reads YAML passes its parsers
/// (files/import_text.hpp).
struct syntax {
  result<json_document> (*parse)(std::string_view text, std::string_view source);
  result<json_document> (*parse_stream)(std::string_view text, std::string_view source);
};
inline constexpr syntax json_syntax{&json_document::parse, &json_document::parse_stream};

/// What a configuration became, and what of it has no counterpart here.
struct imported_policy {
  std::string_view of;                                       ///< the scheduler, as it writes its name
  std::string source;                                        ///< as given, with " (data)" for a text in a ConfigMap
  std::vector<std::pair<std::string, std::string>> options;  ///< of an engine, the preset first
  std::vector<std::string> rows;                             ///< statements of a scenario: topologies, nodes, queues
  std::string queue_rules;                                   ///< a file of rules in JSON; empty: none
  std::vector<std::string> unmapped;                         ///< `12: weight.x: binpack does not read it`, with lines

  void set(std::string_view option, std::string value) { options.emplace_back(option, std::move(value)); }
  void leave_out(json_value what, std::string_view why);
};

/// Reads a configuration. A session can be opened with the options that come out. Errors start with `source`: a text
/// that is none of these configurations, one with values that no option takes, a text that cannot be parsed.
[[nodiscard]] result<imported_policy> import_configuration(std::string_view text, std::string_view source,
                                                           scheduler_kind as, const syntax& by);

/// The rows as a scenario; empty without rows.
[[nodiscard]] std::string scenario_text(const imported_policy& from);

/// The format `kaisched-import/1` in JSON.
[[nodiscard]] std::string format_json(const imported_policy& from);

}  // namespace kaisched::io::importers
