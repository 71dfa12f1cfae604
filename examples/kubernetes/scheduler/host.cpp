#include "host.hpp"

#include <cstdio>
#include <utility>

#include <fmt/format.h>

namespace shim {

host::host(const configuration& by)
    : by_(by), journal_(stderr, by.log), told_(numbers_, by.server.metrics_prefix, by.node_pool) {
  http_client::observe([this](const request& what, unsigned status, std::chrono::nanoseconds took) {
    told_.record(what, status, took);
  });
}

output host::output_of_program() {
  return {[this](const std::string& words) { journal_.say(words); },
          [](const std::string& line) {
            fmt::print(stdout, "{}\n", line);
            std::fflush(stdout);
          },
          [this](std::shared_ptr<const cycle_report> report) { take(std::move(report)); },
          [this](std::chrono::nanoseconds took) { told_.record_usage_query(took); }};
}

std::unique_ptr<console> host::serve(const program& of) {
  program_ = &of;
  if (by_.server.address.empty()) return nullptr;
  auto shown = std::make_unique<console>(by_.server, by_.scheduler_name, of, last_, numbers_, used_,
                                         [this](const std::string& words) { journal_.say(words); });
  shown->server().start();
  journal_.say(fmt::format("listening on {}:{}", by_.server.address, shown->server().port()));
  return shown;
}

std::unique_ptr<services> host::serve_others(const credentials& as, program& of) {
  return std::make_unique<services>(
      by_, as, of, observer_of(numbers_), [this](const std::vector<measured_card>& all) { used_.take(all); },
      [this](const std::string& words) { journal_.say(words); });
}

void host::take(std::shared_ptr<const cycle_report> report) {
  told_.record(*report, program_->store());
  if (by_.log == log_form::json) {
    nlohmann::json details{{"seconds",
                            {{"whole", seconds(report->whole)},
                             {"gather", seconds(report->gathering)},
                             {"decide", seconds(report->deciding)},
                             {"act", seconds(report->acting)}}},
                           {"bound", report->done.bound},
                           {"evicted", report->done.evicted},
                           {"nominated", report->done.nominated},
                           {"explained", report->done.explained},
                           {"refused", report->done.refused},
                           {"unknown", report->done.unknown},
                           {"left_out", report->faults.size()},
                           {"decided", report->seen != nullptr}};
    journal_.say("cycle", details);
  }
  last_.publish(std::move(report));
}

}  // namespace shim
