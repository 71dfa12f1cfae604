#pragma once
/// @file
/// What the program says about itself over HTTP: health, metrics, the objects of the last cycle. Nothing here changes
/// what is decided, and the thread that decides waits for none of it.

#include <functional>
#include <map>
#include <mutex>
#include <string>

#include "cycle/cycle_report.hpp"
#include "cycle/program.hpp"
#include "observability/metrics.hpp"
#include "server/http_server.hpp"
#include "server/page_state.hpp"
#include "server/server_fields.hpp"

namespace shim {

class console {
 public:
  /// Everything that is given lives longer than the console.
  /// @param scheduler_name of the pods that are decided.
  console(const server_settings& by, std::string scheduler_name, const program& of, const board& last, metrics& numbers,
          usage_board& used, http_server::log_function log);

  [[nodiscard]] http_server& server() noexcept { return server_; }

 private:
  [[nodiscard]] reply health() const;
  [[nodiscard]] reply readiness() const;
  [[nodiscard]] reply numbers() const;
  [[nodiscard]] reply snapshot() const;
  [[nodiscard]] reply state() const;
  /// Where there is no report: why.
  [[nodiscard]] reply nothing_yet() const;
  [[nodiscard]] reply fixes(const incoming& what);
  [[nodiscard]] reply take_usage(const incoming& what);

  std::string scheduler_name_;
  std::chrono::milliseconds stuck_after_;
  const program& program_;
  const board& last_;
  metrics& numbers_;
  usage_board& used_;
  std::mutex fixes_mutex_;  ///< one search at a time, so that a thread stays for health
  std::string fixes_trace_;
  std::map<std::string, std::string> fixes_;  ///< of that cycle, by group
  http_server server_;                        // last: its threads use the others
};

/// Counts and times the answers of a server.
[[nodiscard]] http_server::observer observer_of(metrics& numbers);

}  // namespace shim
