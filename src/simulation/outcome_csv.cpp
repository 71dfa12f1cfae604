#include "simulation/outcome_csv.hpp"

#include <iterator>

#include <fmt/format.h>

#include "simulation/amounts.hpp"
#include "simulation/csv_field.hpp"

namespace kaisched::simulation {

namespace {

std::string seconds_text(std::int64_t t) {
  return t == never ? std::string() : format_decimal(t, nanoseconds_per_second);
}
/// Milli-GPU milliseconds as GPU seconds.
std::string gpu_seconds_text(std::int64_t amount) { return format_decimal(amount, 1'000'000); }
std::string gpus(std::int64_t milli) { return format_decimal(milli, 1000); }

}  // namespace

std::string format_outcomes(const workload& jobs, const run_result& run) {
  std::string text =
      "job,submit,start,end,running,lost,gpu_seconds,lost_gpu_seconds,starts,evictions,failures,distance,"
      "partial_gang_gpu_seconds,stale_gang_gpu_seconds\n";
  for (std::size_t i = 0; i < run.jobs.size(); ++i) {
    const job_outcome& o = run.jobs[i];
    text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_report_field(jobs.jobs[i].name),
                        seconds_text(jobs.jobs[i].submit), seconds_text(o.first_start), seconds_text(o.end),
                        seconds_text(o.running), seconds_text(o.lost), gpu_seconds_text(o.gpu_time),
                        gpu_seconds_text(o.lost_gpu_time), o.starts, o.evictions, o.failures, o.distance,
                        gpu_seconds_text(o.partial_gpu_time), gpu_seconds_text(o.stale_gpu_time));
  }
  return text;
}

std::string format_timeline(const run_result& run) {
  std::string text = "time,gpus_held,gpus_wanted,gpus_there,jobs_running,jobs_waiting,gpus_fragmented,gpus_misplaced\n";
  for (const sample& s : run.timeline) {
    text += fmt::format("{},{},{},{},{},{},{},{}\n", seconds_text(s.time), gpus(s.gpus_held), gpus(s.gpus_wanted),
                        gpus(s.gpus_there), s.jobs_running, s.jobs_waiting, gpus(s.gpus_fragmented),
                        gpus(s.gpus_misplaced));
  }
  return text;
}

}  // namespace kaisched::simulation
