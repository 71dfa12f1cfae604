#pragma once
/// @file
/// Engine against oracle, on one cluster.

#include <string>

#include <kaisched/options.hpp>
#include <kaisched/snapshot.hpp>

namespace kaisched::oracle {

/// What differs between the oracle and the engine, with its indexes and scanning all nodes; empty if nothing does.
/// Names the options and holds the cluster in the format `kaisched-cluster/1`, so that it can be replayed.
[[nodiscard]] std::string differences(const snapshot& from, const policy_options& options);

}  // namespace kaisched::oracle
