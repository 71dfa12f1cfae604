#pragma once
/// @file
/// Figures of plays, for people and as JSON.

#include <string>

#include <nlohmann/json.hpp>

#include "simulation/metrics.hpp"

namespace kaisched::cli {

/// Seconds in the unit that suits: `90.0 s`, `4.2 h`.
[[nodiscard]] std::string span_words(double seconds);
/// A part of 1 in percent.
[[nodiscard]] std::string share_words(double part);

/// Seconds of CPU time: `1.20 ms`.
[[nodiscard]] std::string cpu_words(double seconds);

[[nodiscard]] nlohmann::ordered_json figures_of(const simulation::metrics& m);
/// What figures have lists for: queues that waited within their quotas, and what kept jobs waiting beside free GPUs.
[[nodiscard]] nlohmann::ordered_json lists_of(const simulation::run_result& run);
/// CPU time of sessions, seconds: `p99` and `most`. It differs from run to run, unlike all else that is reported.
[[nodiscard]] nlohmann::ordered_json session_cpu_of(const simulation::run_result& run);
/// GPU hours by what kept the jobs waiting: `12.5 overcommit, 3.0 not_tried`.
[[nodiscard]] std::string idle_words(const simulation::run_result& run);

}  // namespace kaisched::cli
