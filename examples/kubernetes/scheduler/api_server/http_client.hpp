#pragma once
/// @file
/// One connection to the API server: requests one after the other, or a stream of lines. A client belongs to one
/// thread; only cancel may come from elsewhere.

#include <chrono>
#include <cstddef>
#include <functional>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

#include "api_server/credentials.hpp"

namespace shim {

/// No answer came: the server may have done what was asked or not.
class no_answer : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The client was cancelled.
class cancelled : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "cancelled"; }
};

struct request {
  std::string method = "GET";
  std::string target;  ///< from the slash on, encoded
  std::string body{};
  std::string content_type = "application/json";
};

struct response {
  unsigned status = 0;
  std::string body{};
  std::chrono::seconds retry_after{0};  ///< what the server asks for, else 0

  [[nodiscard]] bool ok() const noexcept { return status >= 200 && status < 300; }
};

/// Sends a request. Errors: no_answer.
using send_function = std::function<response(const request&)>;

/// Takes a line for the log.
using log_function = std::function<void(const std::string&)>;

/// What the server says about itself in an answer that is not what was asked for.
[[nodiscard]] std::string server_words(const response& answer);

class http_client {
 public:
  /// Errors: bad_input for certificates or keys that are none.
  explicit http_client(const credentials& as);
  ~http_client();
  http_client(const http_client&) = delete;
  http_client& operator=(const http_client&) = delete;

  /// How long a request may take, from the connection to the end of the answer; of a stream, to its first line.
  void set_timeout(std::chrono::milliseconds timeout) noexcept;

  /// It asks another server than the API server: the observer is not told, and a longer answer is none.
  void set_foreign(std::size_t most_answer) noexcept;

  /// Told of every request of every client of the process that is no stream and not foreign: what it was, the status
  /// (0: no answer) and how long that took. To be set before there are clients; called from their threads.
  using observer = std::function<void(const request& what, unsigned status, std::chrono::nanoseconds took)>;
  static void observe(observer told);

  /// Sends and waits for the answer, whatever its status. A connection that was kept and turns out to be closed is
  /// opened again for a GET; others may have been carried out, so that is for the caller to find out.
  response send(const request& what);

  /// Hands over each line of the answer as it comes, until `on_line` returns false or the server ends.
  /// @param silence how long no byte may come. @return the status; the body only if it is not 2xx.
  response stream(const std::string& target, std::chrono::milliseconds silence,
                  const std::function<bool(std::string_view line)>& on_line);

  /// Makes this and every later call throw `cancelled`. From any thread.
  void cancel() noexcept;

 private:
  class connection;

  response exchange(const request& what);

  std::unique_ptr<connection> connection_;
  bool is_foreign_ = false;
};

/// A text as part of a target.
[[nodiscard]] std::string encoded(std::string_view text);

}  // namespace shim
