#include "cli/play_figures.hpp"

#include <fmt/format.h>

namespace kaisched::cli {

std::string span_words(double seconds) {
  if (seconds < 120) return fmt::format("{:.1f} s", seconds);
  if (seconds < 7200) return fmt::format("{:.1f} min", seconds / 60);
  if (seconds < 172800) return fmt::format("{:.1f} h", seconds / 3600);
  return fmt::format("{:.1f} d", seconds / 86400);
}

std::string share_words(double part) { return fmt::format("{:.1f} %", part * 100); }

namespace {

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
          {"utilisation_of_arrivals", m.utilisation_of_arrivals},
          {"fragmentation", m.fragmentation},
          {"idle_though_asked", m.idle_though_asked},
          {"gpu_hours", m.gpu_hours},
          {"gpu_hours_there", m.gpu_hours_there},
          {"lost_gpu_hours", m.lost_gpu_hours},
          {"energy", m.energy},
          {"peak_power", m.peak_power},
          {"fullest_feed", m.fullest_feed},
          {"evictions", m.evictions},
          {"failures", m.failures},
          {"topology_cost", m.topology_cost},
          {"worst_fairness", m.worst_fairness},
          {"unfair", m.unfair},
          {"jain", m.jain},
          {"share_error", m.share_error}};
}

}  // namespace kaisched::cli
