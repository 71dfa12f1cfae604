#include "simulation/traces/traces.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "simulation/amounts.hpp"
#include "simulation/workload_csv.hpp"

namespace kaisched::simulation {

namespace {

using texts = std::span<const io::named_text>;

/// A reader that needs nothing beside the trace.
template <result<workload> (*Read)(io::named_text, const trace_options&)>
result<workload> alone(io::named_text file, texts /*profiles*/, const trace_options& options) {
  return Read(file, options);
}

result<workload> own(io::named_text file, texts /*profiles*/, const trace_options& options) {
  return read_workload_csv(file, {options.gpus_per_node});
}

result<workload> shockwave(io::named_text file, texts profiles, const trace_options& options) {
  return read_shockwave(file, profiles.empty() ? io::named_text{} : profiles.front(), options);
}

constexpr std::array<std::string_view, 1> any_file{""};
constexpr std::array<std::string_view, 5> pollux_files{"app_limits.csv", "completion_epoch.csv", "grad_stats.csv",
                                                       "progress.csv", "step_times.csv"};

result<workload> pollux(io::named_text file, texts profiles, const trace_options& options) {
  if (profiles.size() != pollux_files.size()) {
    return error{
        status::argument, fmt::format("{}: its run times follow from profiles, and there are none", file.name), {}};
  }
  return read_pollux(file, {profiles[0], profiles[1], profiles[2], profiles[3], profiles[4]}, options);
}

constexpr std::array forms{
    trace_form{"csv", "the workload schema of this project", {}, false, own},
    trace_form{"openb", "Alibaba openb: pods with times", {}, false, alone<read_openb_pods>},
    trace_form{"philly", "Microsoft Philly, as filtered for Pollux", {}, false, alone<read_philly>},
    trace_form{"itp", "Microsoft ITP, ten clusters", {}, false, alone<read_itp>},
    trace_form{"muri", "the simulated traces of Muri", {}, false, alone<read_muri>},
    trace_form{"pollux", "the workloads of Pollux", pollux_files, true, pollux},
    trace_form{"shockwave", "the traces of Shockwave", any_file, false, shockwave},
    trace_form{"swf", "the Standard Workload Format", {}, false, alone<read_swf>},
};

}  // namespace

std::span<const trace_form> trace_forms() { return forms; }

const trace_form* find_trace_form(std::string_view name) {
  const auto* const found =
      std::find_if(forms.begin(), forms.end(), [&](const trace_form& one) { return one.name == name; });
  return found == forms.end() ? nullptr : found;
}

result<void> check_options(const trace_options& options) {
  const auto check = [](std::string_view name, std::int64_t value) -> result<void> {
    if (value >= 1 && value <= max_pod_gpus) return {};
    return error{status::argument, fmt::format("{}: expected 1 to {}, found {}", name, max_pod_gpus, value), {}};
  };
  if (auto sound = check("gpus_per_node", options.gpus_per_node); !sound) return sound;
  return check("cores_per_node", options.cores_per_node);
}

}  // namespace kaisched::simulation
