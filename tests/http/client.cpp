#include "client.hpp"

#include <arpa/inet.h>
#include <chrono>
#include <netinet/in.h>
#include <poll.h>
#include <stdexcept>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

namespace http_test {

namespace {
using steady = std::chrono::steady_clock;
}

client::client(std::uint16_t port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
  sockaddr_in at{};
  at.sin_family = AF_INET;
  at.sin_port = htons(port);
  at.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  if (::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
    throw std::runtime_error("no connection");
}

client::~client() {
  if (socket_ >= 0) ::close(socket_);
}

bool client::send(std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t sent = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (sent <= 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(sent));
  }
  return true;
}

void client::end_sending() { ::shutdown(socket_, SHUT_WR); }

std::string client::read_until(std::string_view text, double seconds) {
  const auto end = steady::now() + std::chrono::duration_cast<steady::duration>(std::chrono::duration<double>(seconds));
  std::string all;
  char part[4096];
  while (text.empty() || all.find(text) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - steady::now()).count();
    pollfd one{socket_, POLLIN, 0};
    if (left <= 0 || ::poll(&one, 1, static_cast<int>(left)) <= 0) return all + "<timeout>";
    const ssize_t came = ::recv(socket_, part, sizeof part, 0);
    if (came <= 0) return all;
    all.append(part, static_cast<std::size_t>(came));
  }
  return all;
}

std::string client::read_all(double seconds) { return read_until({}, seconds); }

void client::vanish() { ::close(std::exchange(socket_, -1)); }

std::string answer_to(std::uint16_t port, std::string_view bytes, bool ends) {
  client one(port);
  (void)one.send(bytes);
  if (ends) one.end_sending();
  return one.read_all();
}

running_server::running_server(kaisched::http::limits limits, kaisched::http::application by,
                               kaisched::http::tls_files tls)
    : server_(limits, std::move(tls), std::move(by)) {
  server_.listen({{}, "127.0.0.1", 0});
  thread_ = std::thread([this] { server_.run(); });
}

running_server::~running_server() { (void)stop(); }

double running_server::stop() {
  const steady::time_point begun = steady::now();
  server_.stop();
  if (thread_.joinable()) thread_.join();
  return std::chrono::duration<double>(steady::now() - begun).count();
}

}  // namespace http_test
