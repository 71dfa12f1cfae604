// Any bytes to the server of the programs, split at random, with TLS and without: it answers the next client.
#include <array>
#include <atomic>
#include <filesystem>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <thread>

#include "client.hpp"
#include "source.hpp"
#include "tls_client.hpp"

namespace {

using namespace kaisched;
using namespace http_test;

constexpr std::string_view control = "GET /control HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
constexpr std::size_t most_body = 4000;

http::application application() {
  http::application by;
  by.log = [](const std::string&) {};
  by.admit = [](const http::head& of) {
    if (of.path == "/admit") throw std::runtime_error("admit");
    http::admission made;
    made.most_body = most_body;
    made.deadline = std::chrono::seconds(5);
    if (of.path == "/refused") made.refusal = http::reply{401, "no", "text/plain", {}};
    return made;
  };
  by.answer = [](http::request what, http::responder to) {
    fuzz::ensure(what.body.size() <= most_body, "a body is within its limit");
    if (what.of.path == "/answer") throw std::runtime_error("answer");
    to({200, what.of.path, "text/plain", {}});
  };
  return by;
}

http::limits small_limits() {
  http::limits of;
  of.header = 2000;
  of.memory = 1U << 20U;
  of.connections = 4;
  of.timeout = std::chrono::milliseconds(300);
  return of;
}

struct servers {
  running_server plain{small_limits(), application()};
#if KAISCHED_TEST_TLS
  test_certificate own;
  running_server secret{small_limits(), application(), own.files()};
#endif
};

/// In pieces of sizes that the input says.
template <class Client>
void send_in_pieces(Client& to, fuzz::source& from) {
  const std::size_t largest = 1 + from.below(256) * from.below(64);
  std::string rest;
  while (!from.empty()) rest.push_back(static_cast<char>(from.byte()));
  for (std::size_t at = 0; at < rest.size();) {
    const std::size_t size = std::min(rest.size() - at, 1 + (largest * (at % 7 + 1)) / 7);
    if (!to.send(std::string_view(rest).substr(at, size))) return;
    at += size;
  }
}

void check_alive(std::uint16_t port) {
  fuzz::ensure(answer_to(port, control).ends_with("/control"), "the next client gets its answer");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static servers of;
  fuzz::source from(data, size);
  const std::size_t way = from.below(4);
#if KAISCHED_TEST_TLS
  if (way == 1) {
    tls_client one(of.secret.port());
    send_in_pieces(one, from);
    one.close();
    tls_client next(of.secret.port());
    (void)next.send(control);
    fuzz::ensure(next.read_all().ends_with("/control"), "the next client gets its answer over TLS");
    return 0;
  }
  const std::uint16_t port = way == 2 ? of.secret.port() : of.plain.port();
#else
  const std::uint16_t port = of.plain.port();
#endif
  client one(port);
  send_in_pieces(one, from);
  one.end_sending();
  if (way == 3) {
    one.vanish();
  } else {
    fuzz::ensure(!one.read_all(10).ends_with("<timeout>"), "the connection ends");
  }
  check_alive(of.plain.port());
  return 0;
}
