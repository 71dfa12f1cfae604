#pragma once
/// @file
/// The commands of the program and what they are told. Each returns the exit status of the program.

#include <cstdint>
#include <string>
#include <vector>

namespace kaisched::cli {

/// Exit statuses.
enum exit_status : int {
  exit_ok = 0,        ///< done; pods that wait are an outcome, not a failure
  exit_problems = 1,  ///< what was looked at is not as it should be
  exit_usage = 2,     ///< wrong arguments or wrong input
  exit_failure = 3,   ///< the engine or a file that was to be written failed
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

/// Plays scenario files.
struct test_arguments {
  std::vector<std::string> paths;     ///< files, or folders with `.ks` files
  std::vector<std::string> settings;  ///< option=value, over those of the files
  std::string json_file;
  bool update = false;
  bool quiet = false;
  bool verbose = false;
};
int test(const test_arguments& arguments);

/// Lists the option table.
int show_options();
/// Lists the tables, or the columns of one.
int show_schema(const std::string& table);

}  // namespace kaisched::cli
