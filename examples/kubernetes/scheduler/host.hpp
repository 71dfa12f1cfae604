#pragma once
/// @file
/// What stands around the loop: its log, its numbers, its last report and, where the configuration asks for one, the
/// server that shows them.

#include <memory>

#include "configuration/configuration.hpp"
#include "cycle/cycle_report.hpp"
#include "cycle/program.hpp"
#include "observability/cycle_metrics.hpp"
#include "observability/journal.hpp"
#include "observability/metrics.hpp"
#include "server/console.hpp"
#include "services.hpp"

namespace shim {

class host {
 public:
  explicit host(const configuration& by);

  /// Where the program's lines and reports go. Lives as long as this.
  [[nodiscard]] output output_of_program();

  /// Begins to answer, where there is something to listen on, until what it returns is gone: before the program is.
  /// Errors: bad_input.
  [[nodiscard]] std::unique_ptr<console> serve(const program& of);

  /// The same for those who serve schedulers and the API server. Errors: bad_input.
  [[nodiscard]] std::unique_ptr<services> serve_others(const credentials& as, program& of);

 private:
  void take(std::shared_ptr<const cycle_report> report);

  const configuration& by_;
  journal journal_;
  metrics numbers_;
  cycle_metrics told_;
  board last_;
  usage_board used_;
  const program* program_ = nullptr;
};

}  // namespace shim
