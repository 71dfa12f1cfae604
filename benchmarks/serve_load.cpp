// How many questions a `kaisched serve` answers: connections that are kept open, each with one question under way.
// usage: kaisched_serve_load SOCKET PATH BODY-FILE [CONNECTIONS] [SECONDS] [QUESTIONS-PER-BODY]
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <fstream>
#include <iterator>
#include <memory>
#include <poll.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

namespace {

using steady = std::chrono::steady_clock;

class client {
 public:
  explicit client(const std::string& path) : socket_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un at{};
    at.sun_family = AF_UNIX;
    if (path.size() >= sizeof at.sun_path) throw std::runtime_error("the path is too long");
    std::memcpy(at.sun_path, path.c_str(), path.size());
    if (socket_ < 0 || ::connect(socket_, reinterpret_cast<const sockaddr*>(&at), sizeof at) != 0)
      throw std::runtime_error("cannot connect to " + path);
  }
  ~client() { ::close(socket_); }
  client(const client&) = delete;
  client& operator=(const client&) = delete;

  void ask(const std::string& request) {
    for (std::size_t sent = 0; sent < request.size();) {
      const ssize_t more = ::send(socket_, request.data() + sent, request.size() - sent, MSG_NOSIGNAL);
      if (more <= 0) throw std::runtime_error("the server has closed a connection");
      sent += static_cast<std::size_t>(more);
    }
    begun_ = steady::now();
  }

  /// True once the whole answer is there.
  bool take() {
    char part[65536];
    const ssize_t came = ::recv(socket_, part, sizeof part, 0);
    if (came <= 0) throw std::runtime_error("the server has closed a connection");
    text_.append(part, static_cast<std::size_t>(came));
    const std::size_t end = text_.find("\r\n\r\n");
    if (end == std::string::npos) return false;
    const std::size_t length = text_.find("Content-Length: ");
    if (length == std::string::npos || length > end) throw std::runtime_error("an answer without a length");
    if (text_.size() < end + 4 + std::strtoull(text_.c_str() + length + 16, nullptr, 10)) return false;
    if (!text_.starts_with("HTTP/1.1 200 ")) throw std::runtime_error(text_);
    text_.clear();
    return true;
  }

  [[nodiscard]] int socket() const { return socket_; }
  [[nodiscard]] double waited() const { return std::chrono::duration<double>(steady::now() - begun_).count(); }

 private:
  int socket_;
  std::string text_;
  steady::time_point begun_;
};

std::string read_all(const char* path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error(std::string("cannot read ") + path);
  return {std::istreambuf_iterator<char>(in), {}};
}

void run(int count, char** words) {
  if (count < 4)
    throw std::runtime_error(
        "usage: kaisched_serve_load SOCKET PATH BODY-FILE [CONNECTIONS] [SECONDS] [QUESTIONS-PER-BODY]");
  const std::string body = read_all(words[3]);
  const std::string request =
      fmt::format("POST {} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n{}", words[2], body.size(), body);
  const std::size_t connections = count > 4 ? std::strtoull(words[4], nullptr, 10) : 8;
  const double seconds = count > 5 ? std::strtod(words[5], nullptr) : 5;
  const double questions = count > 6 ? std::strtod(words[6], nullptr) : 1;
  std::vector<std::unique_ptr<client>> clients;
  std::vector<pollfd> polled;
  for (std::size_t i = 0; i < connections; ++i) {
    clients.push_back(std::make_unique<client>(words[1]));
    polled.push_back({clients.back()->socket(), POLLIN, 0});
    clients.back()->ask(request);
  }
  std::vector<double> times;
  const auto warm = steady::now() + std::chrono::milliseconds(500);
  auto begun = steady::now();
  bool counts = false;
  for (;;) {
    const auto now = steady::now();
    if (!counts && now >= warm) {
      counts = true;
      begun = now;
    }
    if (counts && std::chrono::duration<double>(now - begun).count() >= seconds) break;
    if (::poll(polled.data(), polled.size(), 1000) < 0) throw std::runtime_error("poll failed");
    for (std::size_t i = 0; i < polled.size(); ++i) {
      if (polled[i].revents == 0 || !clients[i]->take()) continue;
      if (counts) times.push_back(clients[i]->waited());
      clients[i]->ask(request);
    }
  }
  if (times.empty()) throw std::runtime_error("no answer came in time");
  std::sort(times.begin(), times.end());
  const auto at = [&](double part) {
    return times[std::min(times.size() - 1, static_cast<std::size_t>(part * static_cast<double>(times.size())))] * 1e3;
  };
  fmt::print("{} connections: {:.0f} questions/s, request p50 {:.3f} ms, p99 {:.3f} ms, most {:.3f} ms\n", connections,
             static_cast<double>(times.size()) * questions / seconds, at(0.5), at(0.99), times.back() * 1e3);
}

}  // namespace

int main(int count, char** words) {
  try {
    run(count, words);
    return 0;
  } catch (const std::exception& fault) {
    fmt::print(stderr, "{}\n", fault.what());
    return 1;
  }
}
