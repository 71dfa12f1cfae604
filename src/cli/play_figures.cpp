#include "cli/play_figures.hpp"

#include <fmt/format.h>

#include "cli/terminal.hpp"

namespace kaisched::cli {

std::string span_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

std::string cpu_words(double seconds) {
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1000) : fmt::format("{:.2f} s", seconds);
}

std::string share_words(double part) { return fmt::format("{:.1f} %", part * 100); }

namespace {

constexpr double milli_ms_of_hour = 1000.0 * 1000 * 3600;

double as_seconds(std::int64_t nanoseconds) { return static_cast<double>(nanoseconds) / 1e9; }

nlohmann::ordered_json times_of(const simulation::distribution& of) {
  return {{"count", of.count}, {"mean", of.mean}, {"p50", of.p50}, {"p90", of.p90}, {"p99", of.p99}, {"most", of.most}};
}

}  // namespace

nlohmann::ordered_json figures_of(const simulation::metrics& m) {
  return {{"jobs", m.jobs},
          {"ended", m.ended},
          {"never_started", m.never_started},
          {"makespan", m.makespan},
          {"completion", times_of(m.completion)},
          {"waiting", times_of(m.waiting)},
          {"utilisation", m.utilisation},
          {"utilisation_of_span", m.utilisation_of_span},
          {"utilisation_of_arrivals", m.utilisation_of_arrivals},
          {"contended_from", m.contended_from},
          {"contended_until", m.contended_until},
          {"fragmentation", m.fragmentation},
          {"idle_though_asked", m.idle_though_asked},
          {"gpu_hours", m.gpu_hours},
          {"gpu_hours_there", m.gpu_hours_there},
          {"lost_gpu_hours", m.lost_gpu_hours},
          {"partial_gang_gpu_hours", m.partial_gang_gpu_hours},
          {"stale_gang_gpu_hours", m.stale_gang_gpu_hours},
          {"idle_fitting_gpu_hours", m.idle_fitting_gpu_hours},
          {"energy", m.energy},
          {"peak_power", m.peak_power},
          {"fullest_feed", m.fullest_feed},
          {"evictions", m.evictions},
          {"failures", m.failures},
          {"restarts", m.restarts},
          {"moves", m.moves},
          {"withdrawn_starts", m.withdrawn_starts},
          {"quota_claims", m.quota_claims},
          {"longest_quota_claim", m.longest_quota_claim},
          {"topology_cost", m.topology_cost},
          {"worst_fairness", m.worst_fairness},
          {"unfair", m.unfair},
          {"jain", m.jain},
          {"share_error", m.share_error}};
}

nlohmann::ordered_json lists_of(const simulation::run_result& run) {
  nlohmann::ordered_json queues = nlohmann::ordered_json::array();
  for (const simulation::quota_claim& one : run.quota_claims) {
    queues.push_back({{"queue", one.queue},
                      {"quota", static_cast<double>(one.quota) / whole_device},
                      {"claims", one.claims},
                      {"first", as_seconds(one.first)},
                      {"longest", as_seconds(one.longest)},
                      {"total", as_seconds(one.total)},
                      {"open", one.is_open}});
  }
  nlohmann::ordered_json idle = nlohmann::ordered_json::array();
  for (const simulation::idle_refusal& one : run.idle_refusals) {
    idle.push_back({{"reason", constraint_name(one.what)},
                    {"plugin", one.plugin},
                    {"gpu_hours", static_cast<double>(one.gpu_time) / milli_ms_of_hour}});
  }
  return {{"queues_within_quota", std::move(queues)}, {"idle_while_fitting", std::move(idle)}, {"unread", run.unread}};
}

nlohmann::ordered_json session_cpu_of(const simulation::run_result& run) {
  const simulation::distribution times = simulation::distribution_of(run.session_cpu);
  return {{"p99", times.p99}, {"most", times.most}};
}

std::string idle_words(const simulation::run_result& run) {
  std::string words;
  for (const simulation::idle_refusal& one : run.idle_refusals) {
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ",
                         hours_words(static_cast<double>(one.gpu_time) / milli_ms_of_hour),
                         one.plugin.empty() ? constraint_name(one.what) : std::string_view(one.plugin));
  }
  return words;
}

}  // namespace kaisched::cli
