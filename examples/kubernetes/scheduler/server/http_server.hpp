#pragma once
/// @file
/// The paths of the program over HTTP or HTTPS: the token that each needs, and the handler that answers it. The server
/// itself is that of all programs (http/server.hpp). One thread moves bytes and others make answers; the thread that
/// decides does neither.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shim {

struct server_options {
  std::string address;                ///< empty: there is no server
  std::uint16_t port = 0;             ///< 0: any that is free
  std::filesystem::path certificate;  ///< PEM, with its chain; empty: no TLS. Read again when the file has changed
  std::filesystem::path key;
  std::filesystem::path client_ca;         ///< who may connect at all; empty: everybody
  std::filesystem::path token_file;        ///< for what is protected; read again for every request
  std::filesystem::path usage_token_file;  ///< of agents of nodes, which tell and do not ask
  std::size_t most_body = 1U << 20U;
  std::size_t most_header = 16U << 10U;
  std::chrono::milliseconds timeout =
      std::chrono::seconds(10);  ///< for a whole request, its answer, and between requests
  unsigned connections = 128;    ///< beyond that, the one that has been silent longest is closed
  unsigned workers = 2;          ///< threads that make answers
};

struct incoming {
  std::string method;
  std::string path;                          ///< decoded
  std::map<std::string, std::string> query;  ///< decoded
  std::string body;
};

struct reply {
  unsigned status = 200;
  std::string body;
  std::string content_type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
};

enum class access { everybody, token, usage_token };

class http_server {
 public:
  using handler = std::function<reply(const incoming&)>;
  using log_function = std::function<void(const std::string&)>;
  using observer = std::function<void(const std::string& path, unsigned status, std::chrono::nanoseconds took)>;

  /// Listens, but answers nobody yet. Errors: bad_input for addresses, certificates and keys that are none.
  http_server(server_options options, log_function log);
  ~http_server();
  http_server(const http_server&) = delete;
  http_server& operator=(const http_server&) = delete;

  /// What to answer a method and a path; HEAD is a GET without its body. Before start. The handler is called from
  /// several threads; what it throws is a 500 without details.
  void route(const std::string& method, const std::string& path, access who, handler make);
  /// Told of each answer to a known path. Before start.
  void observe(observer told);

  void start();
  void stop() noexcept;
  [[nodiscard]] std::uint16_t port() const;

 private:
  class machine;
  std::unique_ptr<machine> machine_;
};

}  // namespace shim
