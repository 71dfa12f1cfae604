// What clients can do to the server of the programs, by the text of RFC 9112 and by counting.
#include <atomic>
#include <chrono>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "client.hpp"
#include "tls_client.hpp"

using namespace http_test;
using namespace kaisched::http;
using std::chrono::milliseconds;

namespace {

/// Answers each path in its way, and remembers what it was told.
struct answers {
  std::mutex mutex;
  std::vector<std::string> logged;
  std::vector<std::string> asked;  ///< paths of requests that were whole
  std::vector<std::thread> threads;
  std::atomic<int> cancelled{0};
  std::vector<responder> open;  ///< of /never
  std::size_t most_body = 1000;
  milliseconds deadline = std::chrono::seconds(5);

  ~answers() {
    for (std::thread& one : threads) one.join();
  }

  application make() {
    application by;
    by.log = [this](const std::string& words) {
      const std::lock_guard lock(mutex);
      logged.push_back(words);
    };
    by.admit = [this](const head& of) {
      if (of.path == "/admit-throws") throw std::runtime_error("admit");
      admission made;
      made.most_body = most_body;
      made.deadline = deadline;
      if (of.path == "/refused") made.refusal = reply{401, "no\n", "text/plain", {}};
      return made;
    };
    by.answer = [this](request what, responder to) {
      {
        const std::lock_guard lock(mutex);
        asked.push_back(what.of.path);
      }
      if (what.of.path == "/throws") throw std::runtime_error("answer");
      if (what.of.path == "/throws-anything") throw 1;
      if (what.of.path == "/never") {
        what.cancelled.notify([this] { ++cancelled; });
        const std::lock_guard lock(mutex);
        open.push_back(std::move(to));
        return;
      }
      if (what.of.path == "/committed") {
        CHECK(what.cancelled.commit());
        threads.emplace_back([to, of = what.cancelled]() mutable {
          std::this_thread::sleep_for(milliseconds(300));
          to({200, of.is_cancelled() ? "cancelled" : "done", "text/plain", {}});
        });
        return;
      }
      if (what.of.path == "/twice") to({200, "first", "text/plain", {}});
      to({200, "body " + std::to_string(what.body.size()) + "\n", "text/plain", {}});
    };
    return by;
  }

  bool has_logged(std::string_view words) {
    const std::lock_guard lock(mutex);
    for (const std::string& one : logged) {
      if (one.find(words) != std::string::npos) return true;
    }
    return false;
  }
};

int status_of(const std::string& answer) { return answer.size() < 12 ? 0 : std::stoi(answer.substr(9, 3)); }

std::size_t count(const std::string& text, std::string_view what) {
  std::size_t found = 0;
  for (std::size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++found;
  return found;
}

constexpr std::string_view plain = "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";

std::string get(std::string_view path) {
  return "GET " + std::string(path) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
}

}  // namespace

TEST_CASE("what is framed wrongly gets one answer, and the connection is closed") {
  answers by;
  running_server server({}, by.make());
  const std::string next(plain);
  for (const auto& [sent, status] : std::vector<std::pair<std::string, int>>{
           {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: xchunked\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, identity\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity, chunked\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n0\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
           {"GET / HTTP/1.0\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\na", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\na", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nA: b\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n c\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nA: b\r\n\tc\r\n\r\n", 400},
           {"GET / HTTP/1.1\nHost: x\n\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\nA: b\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400},
           {"GET / HTTP/1.1\r\nHost: x\r\nA: " + std::string(1, '\0') + "\r\n\r\n", 400},
           {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET / HTTP/2.0\r\nHost: x\r\n\r\n", 400},
           {"GET nowhere HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"GET /%zz HTTP/1.1\r\nHost: x\r\n\r\n", 400},
           {"hello\r\n\r\n", 400},
           {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n", 400},
           {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffffff\r\n", 400},
           {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n0\r\n\r\n", 400},
           {"GET /refused HTTP/1.1\r\nHost: x\r\n\r\n", 401},
       }) {
    CAPTURE(sent);
    const std::string answer = answer_to(server.port(), sent + next);
    CHECK(status_of(answer) == status);
    CHECK(count(answer, "HTTP/1.1 ") == 1);
  }
  CHECK(by.asked.empty());
  CHECK(status_of(answer_to(server.port(), plain)) == 200);
}

TEST_CASE("headers, lines of chunks and trailers have a limit") {
  answers by;
  limits of;
  of.header = 2000;
  running_server server(of, by.make());
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  const std::string much(70'000, 'a');
  CHECK(status_of(answer_to(server.port(), "GET / HTTP/1.1\r\nHost: x\r\nA: " + much + "\r\n\r\n")) == 431);
  CHECK(status_of(answer_to(server.port(), much)) == 431);
  CHECK(status_of(answer_to(server.port(), chunked + "0\r\nT: " + much + "\r\n\r\n")) == 431);
  CHECK(status_of(answer_to(server.port(), chunked + "1;a=" + much + "\r\na\r\n0\r\n\r\n")) == 431);
  std::string fields;
  for (int i = 0; i < 1000; ++i) fields += "T" + std::to_string(i) + ": a\r\n";
  CHECK(status_of(answer_to(server.port(), chunked + "0\r\n" + fields + "\r\n")) == 431);
  CHECK(status_of(answer_to(server.port(), chunked + "0\r\nT: a\r\n\r\n")) == 200);
  CHECK(status_of(answer_to(server.port(), chunked + "3;a=b\r\nabc\r\n0\r\n\r\n")) == 200);
  client endless(server.port());  // the trailer never ends
  (void)endless.send(chunked + "0\r\n");
  bool takes = true;
  for (int i = 0; i < 1000 && takes; ++i)
    takes = endless.send("T" + std::to_string(i) + ": " + std::string(1000, 'a') + "\r\n");
  CHECK(status_of(endless.read_all()) == 431);
}

TEST_CASE("bodies have a limit, in one piece or in chunks, and are taken byte by byte") {
  answers by;
  running_server server({}, by.make());
  const auto post = [](std::size_t bytes) {
    return "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + std::to_string(bytes) + "\r\n\r\n" +
           std::string(bytes, 'b');
  };
  CHECK(answer_to(server.port(), post(1000)).ends_with("body 1000\n"));
  CHECK(status_of(answer_to(server.port(), post(1001))) == 413);
  const std::string chunked = "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
  std::string many;
  for (int i = 0; i < 1001; ++i) many += "1\r\nb\r\n";
  CHECK(status_of(answer_to(server.port(), chunked + many + "0\r\n\r\n")) == 413);
  const std::string whole = chunked + "3;x=y\r\nabc\r\n10\r\n0123456789abcdef\r\n0\r\nT: u\r\n\r\n";
  client slow(server.port());
  for (const char byte : whole) {
    CHECK(slow.send(std::string_view(&byte, 1)));
    std::this_thread::sleep_for(milliseconds(1));
  }
  CHECK(slow.read_all().ends_with("body 19\n"));
}

TEST_CASE("requests that are sent ahead are answered in their order") {
  answers by;
  running_server server({}, by.make());
  std::string many;
  for (int i = 0; i < 200; ++i)
    many += "POST /" + std::to_string(i) + " HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\na";
  const std::string all = answer_to(server.port(), many + std::string(plain));
  CHECK(count(all, "HTTP/1.1 200") == 201);
  REQUIRE(by.asked.size() == 201);
  for (int i = 0; i < 200; ++i) CHECK(by.asked[static_cast<std::size_t>(i)] == "/" + std::to_string(i));
  CHECK(count(answer_to(server.port(), get("/twice")), "first") == 1);
}

TEST_CASE("what is thrown ends one connection at most, and is logged") {
  answers by;
  running_server server({}, by.make());
  CHECK(answer_to(server.port(), get("/admit-throws")).empty());
  CHECK(by.has_logged("admit"));
  CHECK(status_of(answer_to(server.port(), get("/throws"))) == 500);
  CHECK(by.has_logged("answer"));
  CHECK(status_of(answer_to(server.port(), get("/throws-anything"))) == 500);
  CHECK(status_of(answer_to(server.port(), plain)) == 200);
}

TEST_CASE("a request has a deadline, and is cancelled with its client and with the server") {
  answers by;
  by.deadline = milliseconds(200);
  running_server server({}, by.make());
  CHECK(status_of(answer_to(server.port(), get("/never"))) == 504);
  CHECK(by.cancelled == 1);
  CHECK(answer_to(server.port(), get("/committed")).ends_with("done"));

  answers patient;
  running_server other({}, patient.make());
  {
    client gone(other.port());
    CHECK(gone.send(get("/never")));
    std::this_thread::sleep_for(milliseconds(100));
    CHECK(patient.cancelled == 0);
    gone.vanish();
  }
  for (int i = 0; i < 300 && patient.cancelled == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(patient.cancelled == 1);
  CHECK(status_of(answer_to(other.port(), get("/"), true)) == 200);  // it says all and waits
  client waits(other.port());
  CHECK(waits.send(get("/never")));
  std::this_thread::sleep_for(milliseconds(100));
  CHECK(other.stop() < 1.9);
  CHECK(patient.cancelled == 2);
  patient.open.front()({200, "too late", "text/plain", {}});  // the server has gone
}

TEST_CASE("silent connections make room, and those that wait for an answer do not") {
  answers by;
  limits of;
  of.connections = 4;
  running_server server(of, by.make());
  std::vector<std::unique_ptr<client>> silent;
  for (int i = 0; i < 40; ++i) silent.push_back(std::make_unique<client>(server.port()));
  CHECK(status_of(answer_to(server.port(), plain)) == 200);
  CHECK((*server).present_load().turned_away == 0);
  CHECK(silent.front()->read_all(2).empty());
  silent.clear();
  std::vector<std::unique_ptr<client>> busy;
  for (int i = 0; i < 4; ++i) {
    busy.push_back(std::make_unique<client>(server.port()));
    CHECK(busy.back()->send(get("/never")));
  }
  for (int i = 0; i < 200; ++i) {
    const std::lock_guard lock(by.mutex);
    if (by.open.size() == 4) break;
    std::this_thread::sleep_for(milliseconds(10));
  }
  CHECK(status_of(answer_to(server.port(), plain)) == 503);
  CHECK((*server).present_load().turned_away == 1);
}

TEST_CASE("all connections together hold so much memory") {
  answers by;
  by.most_body = 1U << 20U;
  limits of;
  of.memory = 3U << 20U;
  of.timeout = std::chrono::seconds(2);
  running_server server(of, by.make());
  std::vector<std::unique_ptr<client>> many;
  const std::string body(900'000, 'b');
  int refused = 0;
  for (int i = 0; i < 10; ++i) {
    many.push_back(std::make_unique<client>(server.port()));
    (void)many.back()->send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000\r\n\r\n" + body);
  }
  std::this_thread::sleep_for(milliseconds(200));
  CHECK((*server).present_load().memory <= of.memory);
  for (const auto& one : many) refused += status_of(one->read_all(0.2)) == 503 ? 1 : 0;
  CHECK(refused == 7);
  many.clear();
  for (int i = 0; i < 200 && (*server).present_load().memory > 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK((*server).present_load().memory == 0);
}

#if KAISCHED_TEST_TLS
TEST_CASE("the same with TLS, and without it on the port of TLS") {
  answers by;
  limits of;
  of.timeout = milliseconds(500);
  const test_certificate own;
  running_server server(of, by.make(), own.files());
  const auto ask = [&](std::string_view bytes) {
    tls_client one(server.port());
    (void)one.send(bytes);
    return one.read_all();
  };
  CHECK(ask(plain).ends_with("body 0\n"));
  CHECK(count(ask("GET / HTTP/1.1\r\nHost: x\r\n\r\n" + std::string(plain)), "HTTP/1.1 200") == 2);
  CHECK(status_of(ask("GET / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\nT: " +
                      std::string(70'000, 'a') + "\r\n\r\n")) == 431);
  CHECK(answer_to(server.port(), plain).find("HTTP/1.1") == std::string::npos);
  CHECK(answer_to(server.port(), "").empty());  // no handshake in time
  tls_client gone(server.port());
  CHECK(gone.send(get("/never")));
  std::this_thread::sleep_for(milliseconds(100));
  gone.close();
  for (int i = 0; i < 300 && by.cancelled == 0; ++i) std::this_thread::sleep_for(milliseconds(10));
  CHECK(by.cancelled == 1);
  CHECK(ask(plain).ends_with("body 0\n"));
}
#endif

TEST_CASE("slow clients are cut") {
  answers by;
  limits of;
  of.timeout = milliseconds(200);
  running_server server(of, by.make());
  CHECK(answer_to(server.port(), "").empty());
  CHECK(answer_to(server.port(), "GET / HT").empty());
  CHECK(status_of(answer_to(server.port(), "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\na")) == 408);
  client drips(server.port());
  const auto begun = std::chrono::steady_clock::now();
  while (drips.send("a") && std::chrono::steady_clock::now() - begun < std::chrono::seconds(10))
    std::this_thread::sleep_for(milliseconds(20));
  CHECK(std::chrono::steady_clock::now() - begun < std::chrono::seconds(5));
}

TEST_CASE("a server that cannot be set up says why") {
  answers by;
  CHECK_THROWS_AS(running_server(limits{.header = 1U << 20U}, by.make()), std::invalid_argument);
  CHECK_THROWS_AS(running_server({}, by.make(), {"nowhere.pem", "nowhere.key", {}}), setup_error);
  running_server one({}, by.make());
  server two({}, {}, by.make());
  CHECK_THROWS_WITH_AS(two.listen({{}, "127.0.0.1", one.port()}), doctest::Contains("in use"), setup_error);
  CHECK_THROWS_AS(two.listen({{}, "nowhere", 0}), setup_error);
}
