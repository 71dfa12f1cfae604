#pragma once
/// @file
/// Questions to a Prometheus about one moment.

#include <chrono>
#include <map>
#include <string>
#include <vector>

#include "api_server/http_client.hpp"
#include "prometheus/prometheus_fields.hpp"

namespace shim {

struct sample {
  std::map<std::string, std::string, std::less<>> labels;
  double value = 0;
};

/// Belongs to one thread; only cancel may come from elsewhere.
class prometheus {
 public:
  /// Errors: bad_input for certificates that are none.
  explicit prometheus(const prometheus_settings& at);

  /// The vector that an expression is at a moment; values that are no numbers are left out. Errors: std::runtime_error
  /// that names the expression, no_answer, cancelled.
  [[nodiscard]] std::vector<sample> ask(const std::string& expression, std::chrono::system_clock::time_point when);

  void cancel() noexcept { client_.cancel(); }

 private:
  http_client client_;
};

}  // namespace shim
