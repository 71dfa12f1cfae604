#pragma once
/// @file
/// Tells the engine what queues have held in the past: from what this program has counted, or from a Prometheus.

#include <chrono>
#include <functional>
#include <memory>
#include <string>

#include "configuration/configuration.hpp"
#include "cycle/decision.hpp"
#include "usage/prometheus_usage.hpp"
#include "usage/usage_keeper.hpp"
#include "watch/object_store.hpp"

namespace shim {

class usage_provider {
 public:
  /// @param by with a section `usage` and everything of the lease. @param may_write asked from any thread. Errors:
  /// bad_input for certificates that are none.
  usage_provider(const configuration& by, const credentials& as, std::function<bool()> may_write, log_function log,
                 prometheus_usage::observer told);

  /// Once, when the first decision is near.
  void begin();
  /// Before a decision: notes on the objects what the engine is to know, at most once in an interval.
  void tell(object_store& to);
  /// After a decision: what queues hold from now on.
  void note(const evidence& seen, std::chrono::system_clock::time_point when);
  /// After the last decision, while it still may write.
  void finish() noexcept;

 private:
  std::chrono::milliseconds interval_;
  std::chrono::steady_clock::time_point next_;
  std::unique_ptr<usage_keeper> own_;  ///< or
  std::unique_ptr<prometheus_usage> asked_;
};

}  // namespace shim
