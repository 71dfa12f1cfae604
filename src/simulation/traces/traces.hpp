#pragma once
/// @file
/// Public traces as workloads, a reader for each form: docs/data.md says where the files come from, docs/workloads.md
/// what becomes of their columns. Errors name file, line and column.

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include <kaisched/result.hpp>

#include "io/csv_file.hpp"
#include "simulation/workload.hpp"

namespace kaisched::simulation {

/// What a processor of the Standard Workload Format stands for.
enum class processor : std::uint8_t { gpu, core };

struct trace_options {
  std::int64_t gpus_per_node = 8;    ///< most GPUs of one pod: larger jobs have several
  std::int64_t cores_per_node = 64;  ///< the same for cores, where processors are cores
  processor processors = processor::gpu;
  std::string part;          ///< of files with several workloads: the one to read; empty: all, each a queue
  std::string gpu = "v100";  ///< row of a table of throughputs
};

/// Alibaba openb (2023): a list of pods with times.
[[nodiscard]] result<workload> read_openb_pods(io::named_text pods, const trace_options& options = {});
/// Microsoft Philly (2017), as filtered for Pollux.
[[nodiscard]] result<workload> read_philly(io::named_text jobs, const trace_options& options = {});
/// Microsoft ITP (2021): ten clusters in one file, `part` is the number of one.
[[nodiscard]] result<workload> read_itp(io::named_text jobs, const trace_options& options = {});
/// Muri (SIGCOMM 2022).
[[nodiscard]] result<workload> read_muri(io::named_text jobs, const trace_options& options = {});
/// Shockwave (NSDI 2023). The table of throughputs, if it has a text, says how long an iteration takes.
[[nodiscard]] result<workload> read_shockwave(io::named_text jobs, io::named_text throughputs,
                                              const trace_options& options = {});
/// The Standard Workload Format.
[[nodiscard]] result<workload> read_swf(io::named_text log, const trace_options& options = {});

/// What was measured of the applications of Pollux (OSDI 2021).
struct pollux_profiles {
  io::named_text app_limits;
  io::named_text completion_epoch;
  io::named_text grad_stats;
  io::named_text progress;
  io::named_text step_times;
};
/// Pollux: several workloads in one file, `part` is the name of one. Run times follow from the profiles, with the
/// replicas and the batch size of the file, on as few nodes with 4 GPUs as hold them.
[[nodiscard]] result<workload> read_pollux(io::named_text jobs, const pollux_profiles& profiles,
                                           const trace_options& options = {});

/// A form of traces, for programs that are told its name.
struct trace_form {
  std::string_view name;
  std::string_view doc;
  /// Files beside the trace: names in a folder, or one empty name for one file of any name.
  std::span<const std::string_view> profiles;
  bool needs_profiles = false;
  /// `profiles` are texts in the order of the names; empty if there are none.
  result<workload> (*read)(io::named_text file, std::span<const io::named_text> profiles, const trace_options& options);
};
/// All forms, our own CSV first.
[[nodiscard]] std::span<const trace_form> trace_forms();
/// One by name, or null.
[[nodiscard]] const trace_form* find_trace_form(std::string_view name);

/// Whether numbers of GPUs and cores per node can be used.
[[nodiscard]] result<void> check_options(const trace_options& options);

}  // namespace kaisched::simulation
