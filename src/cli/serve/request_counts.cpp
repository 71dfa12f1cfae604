#include "cli/serve/request_counts.hpp"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

namespace kaisched::cli::serve {

namespace {

/// Adds the two lines before the samples of a metric. @param type `counter`, `gauge` or `histogram`
void begin_metric(std::string& to, std::string_view name, std::string_view type, std::string_view help) {
  to += fmt::format("# HELP {} {}\n# TYPE {} {}\n", name, help, name, type);
}

}  // namespace

void add_metric(std::string& to, std::string_view name, std::string_view type, std::string_view help, double value) {
  begin_metric(to, name, type, help);
  to += fmt::format("{} {}\n", name, value);
}

void request_counts::took(std::string_view path, std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  auto found = times_.find(path);
  if (found == times_.end()) found = times_.emplace(path, times{}).first;
  const auto bucket = std::lower_bound(bounds.begin(), bounds.end(), seconds) - bounds.begin();
  ++found->second.in[static_cast<std::size_t>(bucket)];
  found->second.sum += seconds;
}

std::string request_counts::text() const {
  std::string made;
  begin_metric(made, "kaisched_serve_answers_total", "counter", "Answers by path and status.");
  for (const auto& [key, count] : answers_) {
    made += fmt::format("kaisched_serve_answers_total{{path=\"{}\",status=\"{}\"}} {}\n", key.first, key.second, count);
  }
  begin_metric(made, "kaisched_serve_answer_seconds", "histogram",
               "From the end of a request until its answer was there, by path.");
  for (const auto& [path, one] : times_) {
    std::uint64_t below = 0;
    for (std::size_t i = 0; i < one.in.size(); ++i) {
      below += one.in[i];
      made += fmt::format("kaisched_serve_answer_seconds_bucket{{path=\"{}\",le=\"{}\"}} {}\n", path,
                          i < bounds.size() ? fmt::to_string(bounds[i]) : "+Inf", below);
    }
    made += fmt::format("kaisched_serve_answer_seconds_sum{{path=\"{}\"}} {}\n", path, one.sum);
    made += fmt::format("kaisched_serve_answer_seconds_count{{path=\"{}\"}} {}\n", path, below);
  }
  return made;
}

}  // namespace kaisched::cli::serve
