#pragma once
/// @file
/// What every reader of this folder makes: the tables of a cluster, and the time at which it was looked at.

#include <cstdint>
#include <vector>

#include <kaisched/cluster.hpp>
#include <kaisched/result.hpp>
#include <kaisched/table.hpp>

namespace kaisched::io {

/// Tables in the order in which `cluster::apply` wants them, all of them `add`.
struct cluster_input {
  std::vector<table> tables;
  std::int64_t now = 0;  ///< nanoseconds, the clock of the file
};

/// A cluster that holds what the tables say. The error is the one of `cluster::apply`.
[[nodiscard]] result<cluster> build_cluster(const cluster_input& input);

}  // namespace kaisched::io
