#pragma once
/// @file
/// A Unix socket as a file: made for one user, and taken away again.

#include <string>
#include <sys/types.h>
#include <utility>

#include <boost/asio/local/stream_protocol.hpp>

namespace kaisched::http {

class local_socket {
 public:
  local_socket() = default;
  ~local_socket() { remove(); }
  local_socket(const local_socket&) = delete;
  local_socket& operator=(const local_socket&) = delete;

  /// Takes the place of a socket that no process listens on. Errors: setup_error.
  void listen(const std::string& path, boost::asio::local::stream_protocol::acceptor& with);
  /// Empty: there is none.
  [[nodiscard]] const std::string& path() const { return path_; }
  /// Unless another process has put another one there since.
  void remove();

 private:
  std::string path_;
  std::pair<dev_t, ino_t> file_;
};

}  // namespace kaisched::http
