#pragma once
/// @file
/// The HTTP/1.1 server of the programs: `kaisched serve`, the extender, the webhook and the metrics of the Kubernetes
/// adapter. It knows nothing of clusters.
///
/// One thread, that of `run`, moves all bytes. It calls the application when the header of a request is there, and
/// again when its body is there; the answer may come from any thread. All that a client can do is bounded: sizes of
/// headers, trailers and bodies, times, connections, the memory of all connections together. A request that is not
/// framed as RFC 9112 says is answered with 400 and the connection is closed. What an application throws is logged, the
/// client gets a 500, and the server goes on.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace kaisched::http {

/// What is wrong with an address, a socket, a certificate or a key.
class setup_error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Where a server listens: one of the two.
struct endpoint {
  std::string socket;      ///< path of a Unix socket, for this user alone
  std::string address;     ///< IPv4 or IPv6
  std::uint16_t port = 0;  ///< 0: any that is free
};

/// Files in PEM. They are read again when they have changed; one that cannot be read leaves the last ones in use.
struct tls_files {
  std::filesystem::path certificate;  ///< with its chain; empty: no TLS
  std::filesystem::path key;
  std::filesystem::path client_ca;  ///< of the clients that may connect; empty: every client
};

struct limits {
  std::size_t header = 16U << 10U;  ///< bytes of the header and of the trailer, each; at most 32 KiB
  std::size_t memory = 64U << 20U;  ///< bytes that all connections together may hold for their requests
  std::size_t connections = 128;    ///< beyond, the one is closed that has been silent longest
  /// For a header, between requests, and for the handshake of TLS. A body and the taking of an answer may take longer
  /// by a second for each `least_rate` bytes.
  std::chrono::milliseconds timeout = std::chrono::seconds(10);
  std::size_t least_rate = 1U << 20U;
};

/// Tells the maker of an answer that no client waits for it any more. Copies share their state. Threads: any.
class cancellation {
 public:
  cancellation();

  /// The deadline has passed, the client has gone, or the server ends.
  [[nodiscard]] bool is_cancelled() const;
  /// From now on the request cannot be cancelled: what it asked for is about to happen. False: it has been before.
  [[nodiscard]] bool commit();
  /// Calls `then` once when the request is cancelled, at once if it has been. It replaces the one before; null: nothing
  /// is called any more, and none is running when this returns. `then` must not call members of this.
  void notify(std::function<void()> then);

  /// By the server: counts as cancelled from then on, though `notify` may be told later.
  void end_at(std::chrono::steady_clock::time_point deadline);
  /// By the server. False: it has been committed.
  bool cancel();

 private:
  struct state;
  std::shared_ptr<state> state_;
};

/// The header of a request.
struct head {
  std::string method;                                      ///< `HEAD` counts as `GET`
  std::string path;                                        ///< decoded
  std::vector<std::pair<std::string, std::string>> query;  ///< decoded, in their order
  std::string authorization;                               ///< as sent; empty: none
};

struct request {
  head of;
  std::string body;
  cancellation cancelled;
};

struct reply {
  unsigned status = 200;
  std::string body;
  std::string type = "text/plain; charset=utf-8";
  std::vector<std::pair<std::string, std::string>> headers;
};

/// What an application says of a header.
struct admission {
  std::optional<reply> refusal;          ///< answered at once, without the body; the connection is closed
  std::size_t most_body = 1U << 20U;     ///< bytes; beyond, the answer is 413
  std::chrono::milliseconds deadline{};  ///< from the end of the request until its answer is there
  std::string name;                      ///< of the route, for `observe`; empty: none
};

/// Sends the answer to one request; of several answers the first counts. Threads: any, also after the server.
using responder = std::function<void(reply)>;

/// What the server asks for. All but `log` are called by the thread of `run` and must return soon.
struct application {
  /// When a header is there.
  std::function<admission(const head&)> admit;
  /// When the body is there.
  std::function<void(request, responder)> answer;
  /// What the server itself says: a message to a status of 400 and more. Empty: the words alone, as text.
  std::function<reply(unsigned status, std::string_view words)> refuse;
  /// After each answer. `name`: of the admission, empty before there is one. `took`: from the end of the request; 0 if
  /// it was refused before. May be empty.
  std::function<void(std::string_view name, unsigned status, std::chrono::nanoseconds took)> observe;
  /// For operators. Threads: any.
  std::function<void(const std::string&)> log;
  std::string server_name = "kaisched";  ///< of the field `Server`
};

/// What there is now.
struct load {
  std::size_t connections = 0;
  std::size_t memory = 0;         ///< bytes, as `limits::memory` counts them
  std::uint64_t turned_away = 0;  ///< connections that found no room
  std::uint64_t made_room = 0;    ///< silent connections that were closed for others
};

class server {
 public:
  /// Errors: setup_error for certificates and keys that cannot be used, std::invalid_argument for limits that are none.
  server(limits limits, tls_files tls, application by);
  ~server();
  server(const server&) = delete;
  server& operator=(const server&) = delete;

  /// Errors: setup_error, where the address is in use or the socket cannot be made.
  void listen(const endpoint& at);
  /// `http://127.0.0.1:8080`, `https://[::1]:8443`, `unix:/run/kaisched.sock`.
  [[nodiscard]] std::string address() const;
  [[nodiscard]] std::uint16_t port() const;

  /// Answers until `stop`.
  void run();
  /// Ends `run` with SIGINT and SIGTERM; a second one ends the program at once, as it does by default. Before `run`.
  void stop_on_signals();
  /// No connection is let in any more, silent ones are closed, and requests are cancelled. `run` returns when all
  /// answers are out, at the latest after `grace`. Threads: any.
  void stop(std::chrono::milliseconds grace = std::chrono::seconds(1)) noexcept;

  /// Threads: any.
  [[nodiscard]] load present_load() const;

 private:
  class machine;
  std::unique_ptr<machine> machine_;
};

/// Compares in a time that does not depend on where the texts differ.
[[nodiscard]] bool is_same_secret(std::string_view given, std::string_view expected);

/// The word behind `Bearer `; empty: there is none.
[[nodiscard]] std::string_view bearer_token(std::string_view authorization);

}  // namespace kaisched::http
