#include "http/local_socket.hpp"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include "http/server.hpp"

namespace kaisched::http {

namespace {

namespace asio = boost::asio;
using boost::system::error_code;
using local = asio::local::stream_protocol;

setup_error cannot_listen(const std::string& path, const std::string& why) {
  return setup_error(fmt::format("cannot listen on {}: {}", path, why));
}

/// A socket that no process listens on is what a server that was killed has left.
void remove_stale(const std::string& path, const local::endpoint& place) {
  struct stat there{};
  if (::lstat(path.c_str(), &there) != 0) return;
  if (!S_ISSOCK(there.st_mode)) throw cannot_listen(path, "a file of this name is there, and is no socket");
  asio::io_context io;
  local::socket probe(io);
  error_code failed;
  probe.connect(place, failed);
  if (failed != asio::error::connection_refused)
    throw cannot_listen(path, failed ? failed.message() : "another process listens there");
  ::unlink(path.c_str());
}

}  // namespace

void local_socket::listen(const std::string& path, local::acceptor& with) {
  sockaddr_un longest{};
  if (path.size() >= sizeof longest.sun_path)
    throw cannot_listen(path, fmt::format("the path is longer than {} bytes", sizeof longest.sun_path - 1));
  const local::endpoint place(path);
  remove_stale(path, place);
  error_code failed;
  with.open(place.protocol(), failed);
  if (!failed) {
    const mode_t before = ::umask(0177);  // no other user may connect, not even for a moment
    with.bind(place, failed);
    ::umask(before);
  }
  if (!failed) with.listen(asio::socket_base::max_listen_connections, failed);
  if (failed) throw cannot_listen(path, failed.message());
  path_ = path;
  struct stat made{};
  if (::stat(path.c_str(), &made) == 0) file_ = {made.st_dev, made.st_ino};
}

void local_socket::remove() {
  if (path_.empty()) return;
  struct stat there{};
  if (::lstat(path_.c_str(), &there) == 0 && file_ == std::pair(there.st_dev, there.st_ino)) ::unlink(path_.c_str());
  path_.clear();
}

}  // namespace kaisched::http
