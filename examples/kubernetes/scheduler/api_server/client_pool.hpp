#pragma once
/// @file
/// Connections to the API server for threads that ask now and then.

#include <chrono>
#include <memory>
#include <mutex>
#include <vector>

#include "api_server/credentials.hpp"
#include "api_server/http_client.hpp"

namespace shim {

class client_pool {
 public:
  /// @param timeout of a request; 0: that of clients.
  client_pool(const credentials& as, std::chrono::milliseconds timeout) : as_(as), timeout_(timeout) {}

  /// As http_client::send. From any thread.
  [[nodiscard]] response send(const request& what);
  /// Ends what is on its way; nothing is sent any more.
  void cancel() noexcept;

 private:
  [[nodiscard]] std::shared_ptr<http_client> take();

  credentials as_;
  std::chrono::milliseconds timeout_;
  std::mutex mutex_;
  std::vector<std::shared_ptr<http_client>> all_;
  struct idle_client {
    std::shared_ptr<http_client> client;
    std::chrono::steady_clock::time_point since;
  };
  std::vector<idle_client> idle_;
  bool cancelled_ = false;
};

}  // namespace shim
