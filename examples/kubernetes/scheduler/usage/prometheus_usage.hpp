#pragma once
/// @file
/// What queues have held in the past, as a Prometheus knows it: of KAI's metrics, the sums over the window, decayed, by
/// those of the capacity.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>

#include "prometheus/prometheus.hpp"
#include "usage/usage_fields.hpp"
#include "usage/usage_ledger.hpp"

namespace shim {

/// The expression for the sum of another one over the window that ends at a moment.
[[nodiscard]] std::string sum_over_window(const std::string& expression, const usage_settings& by, milli_time now);

class prometheus_usage {
 public:
  /// Told how long all queries of one look have taken.
  using observer = std::function<void(std::chrono::nanoseconds)>;

  /// Errors: bad_input for certificates that are none.
  prometheus_usage(usage_settings by, log_function log, observer told);
  ~prometheus_usage();
  prometheus_usage(const prometheus_usage&) = delete;
  prometheus_usage& operator=(const prometheus_usage&) = delete;

  /// Asks now and at every interval, in a thread of its own, and waits some seconds for the first answer.
  void begin();
  /// What was answered last; nothing if that is too long ago.
  [[nodiscard]] queue_parts parts() const;

 private:
  void run();
  void look() noexcept;
  [[nodiscard]] queue_parts ask();

  usage_settings by_;
  prometheus asked_;
  log_function log_;
  observer told_;
  std::string complaint_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  queue_parts parts_;
  std::chrono::steady_clock::time_point answered_;
  bool has_looked_ = false;
  bool is_over_ = false;
  std::thread thread_;
};

}  // namespace shim
