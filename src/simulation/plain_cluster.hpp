#pragma once
/// @file
/// Clusters for those who only care how many GPUs there are.

#include <string_view>

#include <kaisched/options.hpp>
#include <kaisched/result.hpp>

#include "io/cluster_input.hpp"
#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// Equal nodes from a text: `16x8` are 16 nodes of 8 GPUs, `16x8:V100` of that model, parts are joined by commas.
/// Nodes are named `node-00000` and so on; of cores and memory they have more than jobs can ask for. There is a queue
/// for every one that jobs name, and `queue`, all without limit. With `equal_quotas` those that jobs name have an equal
/// part of the GPUs as quota, else none has one: then nothing is divided between them. `in_cohort`: a queue `cohort` is
/// above them, in which they borrow from each other; quotas of Kueue are hard without one. With `nodes_per_rack` nodes
/// that follow each other are in racks of so many: a topology with the one level `rack`.
/// Errors: a text of another form, no nodes, more than a million of them.
[[nodiscard]] result<io::cluster_input> plain_cluster(std::string_view nodes, const workload& jobs,
                                                      std::string_view queue, std::string_view model_label,
                                                      bool equal_quotas = false, std::int64_t nodes_per_rack = 0,
                                                      bool in_cohort = false);

/// The policy divides quotas of queues as Kueue does (action `kueue`): its queues get a cohort.
[[nodiscard]] bool needs_cohort(const policy_options& options);

}  // namespace kaisched::simulation
