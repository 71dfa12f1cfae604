#pragma once
/// @file
/// A client that sends any bytes, as they are, and a server in a thread of its own.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>

#include "http/server.hpp"

namespace http_test {

/// A connection to a port of this machine.
class client {
 public:
  explicit client(std::uint16_t port);
  ~client();
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  /// False: the other side takes no more.
  bool send(std::string_view bytes);
  void end_sending();
  /// Until the other side closes, at most so many seconds.
  [[nodiscard]] std::string read_all(double seconds = 10);
  /// Until the text is there, or as `read_all`.
  [[nodiscard]] std::string read_until(std::string_view text, double seconds = 10);
  /// Closes the connection as a process that is killed does.
  void vanish();

 private:
  int socket_ = -1;
};

/// What a server answers to these bytes, until it closes. `ends`: the client sends nothing more.
[[nodiscard]] std::string answer_to(std::uint16_t port, std::string_view bytes, bool ends = false);

/// Runs until it is destroyed.
class running_server {
 public:
  running_server(kaisched::http::limits limits, kaisched::http::application by, kaisched::http::tls_files tls = {});
  ~running_server();
  running_server(const running_server&) = delete;
  running_server& operator=(const running_server&) = delete;

  [[nodiscard]] std::uint16_t port() const { return server_.port(); }
  kaisched::http::server& operator*() { return server_; }
  /// Waits until `run` has returned. How many seconds that took.
  double stop();

 private:
  kaisched::http::server server_;
  std::thread thread_;
};

}  // namespace http_test
