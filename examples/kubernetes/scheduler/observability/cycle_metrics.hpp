#pragma once
/// @file
/// The metrics of the program: those of KAI under KAI's names, and its own with the prefix `kaisched_`.

#include <chrono>
#include <string>

#include "api_server/http_client.hpp"
#include "cycle/cycle_report.hpp"
#include "observability/metrics.hpp"
#include "watch/object_store.hpp"

namespace shim {

class cycle_metrics {
 public:
  /// @param prefix of KAI's names, such as `kai_`. @param node_pool the value of that label.
  cycle_metrics(metrics& to, std::string prefix, std::string node_pool);

  /// @param store where the groups of evicted pods are looked up.
  void record(const cycle_report& cycle, const object_store& store);
  void record(const request& what, unsigned status, std::chrono::nanoseconds took);
  void record_usage_query(std::chrono::nanoseconds took);

 private:
  void record_times(const cycle_report& cycle);
  void record_statistics(const evidence& seen);
  void record_decisions(const evidence& seen, const object_store& store);
  void record_queues(const evidence& seen);
  void record_usage(const evidence& seen);
  void record_waiting(const cycle_report& cycle);
  [[nodiscard]] std::string kai(const char* name) const { return prefix_ + name; }

  metrics& to_;
  std::string prefix_;
  std::string node_pool_;
};

}  // namespace shim
