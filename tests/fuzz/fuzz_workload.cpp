// Any bytes as a workload or a trace: the first line names the form, a line with `---` stands before each profile.
#include <algorithm>
#include <vector>

#include "simulation/job_list.hpp"
#include "simulation/traces/lingjun.hpp"
#include "simulation/traces/traces.hpp"
#include "simulation/workload_csv.hpp"
#include "simulation/workload_figures.hpp"
#include "source.hpp"

namespace {

using namespace kaisched;

/// Takes the part up to a mark off the front.
std::string_view take(std::string_view& text, std::string_view mark) {
  const std::size_t end = std::min(text.find(mark), text.size());
  const std::string_view part = text.substr(0, end);
  text.remove_prefix(std::min(end + mark.size(), text.size()));
  return part;
}

/// What is read can be described, written, and read back.
void check_workload(const simulation::workload& read) {
  const simulation::workload_figures figures = simulation::figures_of(read);
  fuzz::ensure(figures.jobs == static_cast<std::int64_t>(read.jobs.size()), "a job is not counted");
  std::int64_t arrived = 0;
  for (const std::int64_t count : figures.arrivals) arrived += count;
  fuzz::ensure(arrived == figures.jobs, "a job does not arrive");
  for (const simulation::job& one : read.jobs) {
    fuzz::ensure(one.submit >= 0 && one.run_time >= 0, "a time is negative");
    fuzz::ensure(!one.pods.empty() && one.min_pods <= simulation::pods_of(one), "pods are missing");
  }
  const std::string text = fuzz::sure(simulation::format_workload_csv(read));
  const simulation::workload again = fuzz::sure(simulation::read_workload_csv({"again", text}));
  fuzz::ensure(again.jobs == read.jobs, "what was written is read as other jobs");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view rest = fuzz::as_text(data, size);
  const std::string_view name = take(rest, "\n");
  constexpr std::string_view between = "---\n";
  const std::string_view text = take(rest, between);
  if (name == "lingjun") {
    fuzz::check_cluster_input(simulation::read_lingjun_hosts({"text", text}), "text");
    return 0;
  }
  simulation::trace_options options;
  options.gpus_per_node = 1 + static_cast<std::int64_t>(size % 8);
  if (size % 5 == 0) options.processors = simulation::processor::core;
  const simulation::trace_form* form = simulation::find_trace_form(name);
  if (form == nullptr) form = simulation::trace_forms().data();
  std::vector<io::named_text> profiles;
  if (form->needs_profiles || !rest.empty()) {
    for (std::size_t i = 0; i < form->profiles.size(); ++i) profiles.push_back({"text", take(rest, between)});
  }
  const result<simulation::workload> read = form->read({"text", text}, profiles, options);
  if (read) {
    check_workload(*read);
  } else {
    fuzz::ensure_message(read.failure(), "text");
  }
  return 0;
}
