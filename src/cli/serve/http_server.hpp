#pragma once
/// @file
/// HTTP/1.1 on a loopback address or a Unix socket. One thread moves bytes, the workers of a pool make answers. What a
/// client can do is bounded: sizes, times, connections, requests that wait.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <kaisched/result.hpp>

#include "cli/serve/worker_pool.hpp"

namespace kaisched::cli::serve {

/// Where it listens: one of the two.
struct listen_address {
  std::string socket;      ///< path of a Unix socket
  std::string address;     ///< a loopback address, IPv4 or IPv6
  std::uint16_t port = 0;  ///< 0: any that is free
};
/// `127.0.0.1:8080`, `[::1]:0`. Errors: what is no address and port, an address that others can reach.
[[nodiscard]] result<listen_address> parse_listen(std::string_view text);

struct http_limits {
  std::size_t header = 16U << 10U;  ///< bytes
  std::size_t body = 1U << 20U;     ///< of a question
  std::size_t cluster = 0;          ///< of a cluster or of deltas
  std::size_t connections = 0;
  std::chrono::milliseconds timeout{};   ///< for a header, a body, an answer to be taken; and between requests
  std::chrono::milliseconds deadline{};  ///< from the end of a request until its answer is there
};

struct http_request {
  std::string path;                                        ///< decoded
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
  bool takes_cluster = false;  ///< the body may be as large as a cluster, and no deadline ends it
  /// By the thread of the bytes: what is there already.
  std::function<http_reply(const http_request&)> at_once;
  /// By a worker, where `at_once` is empty.
  std::function<http_reply(seat&, const http_request&)> at_length;
};

class http_server {
 public:
  /// Beside its routes it answers `GET /metrics` with what it counts, for Prometheus.
  /// @param token that a client must show; empty: none
  /// @param more metrics in the same format; called by the thread that runs the server
  http_server(http_limits limits, std::string token, std::vector<http_route> routes, worker_pool& workers,
              std::function<std::string()> more);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// Errors: the address is in use, or the socket cannot be made.
  [[nodiscard]] result<void> listen(const listen_address& at);
  /// `http://127.0.0.1:8080`, `unix:/run/kaisched.sock`.
  [[nodiscard]] std::string address() const;
  /// Answers until SIGINT or SIGTERM. Then nobody new is let in, answers that are being made are sent, and the socket
  /// is removed.
  void run();

 private:
  class machine;
  std::unique_ptr<machine> machine_;
};

}  // namespace kaisched::cli::serve
