#pragma once
/// @file
/// How the requests of `serve` are answered: the paths, the token that they need, and what is counted.

#include <chrono>
#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "cli/serve/request_counts.hpp"
#include "cli/serve/worker_pool.hpp"
#include "http/server.hpp"

namespace kaisched::cli::serve {

/// `127.0.0.1:8080`, `[::1]:0`. Errors: what is no address and port, an address that others can reach.
[[nodiscard]] result<http::endpoint> parse_listen(std::string_view text);

struct request_limits {
  std::size_t body = 1U << 20U;                  ///< bytes of a question
  std::size_t cluster = 0;                       ///< of a cluster or of deltas
  std::chrono::milliseconds deadline{};          ///< from the end of a request until its answer is there
  std::chrono::milliseconds cluster_deadline{};  ///< the same of a cluster or of deltas
};

struct http_request {
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in their order
  std::string body;
};

struct http_reply {
  unsigned status = 200;
  std::string body;
  std::vector<std::pair<std::string, std::string>> headers = {};
  std::string type = "application/json";
};
/// The document `kaisched-error/1`.
[[nodiscard]] http_reply error_reply(unsigned status, std::string_view code, std::string_view message);

/// How a method and a path are answered.
struct http_route {
  std::string method;
  std::string path;
  bool is_open = false;        ///< needs no token
  bool takes_cluster = false;  ///< the limits of clusters hold
  /// By the thread of the bytes: what is there already.
  std::function<http_reply(const http_request&)> at_once;
  /// By a worker, where `at_once` is empty.
  std::function<http_reply(seat&, const http_request&)> at_length;
};

/// Must outlive the server. All members but the constructor are called by the thread that runs the server.
class request_router {
 public:
  /// Beside its routes it answers `GET /metrics` with what it counts, for Prometheus.
  /// @param token that a client must show; empty: none
  /// @param more metrics in the same format
  request_router(request_limits limits, std::string token, std::vector<http_route> routes, worker_pool& workers,
                 std::function<std::string()> more);

  /// What a server is made with.
  [[nodiscard]] http::application application();
  /// The server whose connections are counted.
  void count(const http::server& of) { server_ = &of; }

 private:
  [[nodiscard]] http::admission admit(const http::head& of) const;
  void answer(http::request asked, http::responder to);
  [[nodiscard]] const http_route* find(const http::head& of, std::string& allowed) const;
  [[nodiscard]] http_reply tell_metrics() const;

  const request_limits limits_;
  const std::string token_;
  std::vector<http_route> routes_;
  worker_pool& workers_;
  const std::function<std::string()> more_;
  request_counts counts_;
  const http::server* server_ = nullptr;
};

}  // namespace kaisched::cli::serve
