#pragma once
/// @file
/// What the commands share: engines from arguments, clusters from files.

#include <cstdint>

#include <kaisched/engine.hpp>
#include <kaisched/result.hpp>
#include <kaisched/snapshot.hpp>

#include "cli/commands.hpp"

namespace kaisched::cli {

/// A cluster that has been read, and how long that took.
struct loaded_cluster {
  snapshot state;
  std::int64_t now = 0;
  double seconds = 0;
};

/// Preset first, then the options that have arguments of their own, then `--set` in order.
[[nodiscard]] result<engine> make_engine(const policy_arguments& arguments);

[[nodiscard]] result<loaded_cluster> load_cluster(const run_arguments& arguments);
[[nodiscard]] result<loaded_cluster> invent_cluster(const synthetic_arguments& arguments);

}  // namespace kaisched::cli
