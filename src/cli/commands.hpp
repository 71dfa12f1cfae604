#pragma once
/// @file
/// The commands of the program and what they are told. Each returns the exit status of the program.

#include <cstdint>
#include <string>
#include <vector>

namespace kaisched::cli {

/// Exit statuses.
enum exit_status : int {
  exit_ok = 0,       ///< done; pods that wait are an outcome, not a failure
  exit_failure = 1,  ///< the engine or a file that was to be written failed
  exit_usage = 2,    ///< wrong arguments or wrong input
};

/// How decisions are to be made; empty strings leave what the preset says.
struct policy_arguments {
  std::string preset = "kai";
  std::string mode;
  std::string placement;
  std::string actions;
  std::vector<std::string> settings;  ///< option=value
};

struct run_arguments {
  policy_arguments policy;
  std::string cluster_file;
  std::string openb_nodes;
  std::string openb_pods;
  std::string decisions_file;
  std::string json_file;
  bool quiet = false;
  bool charts = false;
};
int run(const run_arguments& arguments);

struct synthetic_arguments {
  std::string out;
  std::int64_t gpus = 4096;
  double load = 0.9;
  std::uint64_t seed = 1;
};
int generate(const synthetic_arguments& arguments);

struct demo_arguments {
  policy_arguments policy;
  synthetic_arguments cluster;
};
int demo(const demo_arguments& arguments);

/// Lists the option table.
int show_options();
/// Lists the tables, or the columns of one.
int show_schema(const std::string& table);

}  // namespace kaisched::cli
