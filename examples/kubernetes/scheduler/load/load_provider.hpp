#pragma once
/// @file
/// Looks how GPUs are used, at exporters of DCGM or at a Prometheus that has scraped them, and notes it on the nodes
/// that the engine sees.

#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "api_server/http_client.hpp"
#include "load/load_board.hpp"
#include "load/load_fields.hpp"
#include "prometheus/prometheus.hpp"
#include "watch/object_store.hpp"

namespace shim {

class load_provider {
 public:
  /// Told after each look what is known of all GPUs.
  using observer = std::function<void(const std::vector<measured_card>&)>;

  /// Begins, in a thread of its own. @param to lives longer. Errors: bad_input for certificates that are none.
  load_provider(load_settings by, object_store& to, log_function log, observer told);
  ~load_provider();
  load_provider(const load_provider&) = delete;
  load_provider& operator=(const load_provider&) = delete;

 private:
  /// Whom it asks, and what was wrong the last time.
  struct exporter {
    std::string address;
    std::unique_ptr<http_client> client;
    std::string complaint{};
  };

  void run();
  void look();
  void scrape(exporter& from);
  void ask(std::string_view metric);
  [[nodiscard]] bool is_over() const;

  load_settings by_;
  object_store& to_;
  log_function log_;
  observer told_;
  load_board board_;
  std::vector<exporter> exporters_;
  std::unique_ptr<prometheus> prometheus_;
  std::string complaint_;
  mutable std::mutex mutex_;
  std::condition_variable end_;
  bool over_ = false;
  std::thread thread_;
};

}  // namespace shim
