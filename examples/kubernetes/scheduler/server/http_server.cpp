#include "server/http_server.hpp"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <optional>
#include <thread>

#include <boost/asio/post.hpp>
#include <boost/asio/thread_pool.hpp>
#include <fmt/format.h>

#include "api_server/credentials.hpp"
#include "http/server.hpp"

namespace shim {

namespace {

namespace http = kaisched::http;

/// Slowest that a client may send a body or take an answer, beside the time-out: else a few of them would keep large
/// ones in memory.
constexpr std::size_t least_rate = 64U << 10U;  // bytes in a second

std::optional<std::string> contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

http::reply to_wire(reply made) {
  return {made.status, std::move(made.body), std::move(made.content_type), std::move(made.headers)};
}

http::limits limits_of(const server_options& options) {
  http::limits of;
  of.header = options.most_header;
  of.memory = options.connections * (options.most_body + options.most_header);
  of.connections = options.connections;
  of.timeout = options.timeout;
  of.least_rate = least_rate;
  return of;
}

}  // namespace

class http_server::machine {
 public:
  machine(server_options options, log_function log)
      : options_(std::move(options)), log_(std::move(log)), workers_(std::max(1U, options_.workers)) {
    try {
      server_.emplace(limits_of(options_), http::tls_files{options_.certificate, options_.key, options_.client_ca},
                      application());
      server_->listen({{}, options_.address, options_.port});
    } catch (const http::setup_error& fault) {
      throw bad_input(fmt::format("server: {}", fault.what()));
    }
  }

  ~machine() { stop(); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void start() {
    thread_ = std::thread([this] { server_->run(); });
  }

  void stop() noexcept {
    server_->stop();
    if (thread_.joinable()) thread_.join();
    workers_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return server_->port(); }

  struct route {
    access who = access::token;
    handler make;
  };
  std::map<std::string, std::map<std::string, route, std::less<>>, std::less<>> routes;  ///< path, method
  observer told;

 private:
  [[nodiscard]] http::application application() {
    http::application made;
    made.server_name = "kaisched-kubernetes";
    made.log = log_;
    made.admit = [this](const http::head& of) { return admit(of); };
    made.answer = [this](http::request asked, http::responder to) { answer(std::move(asked), std::move(to)); };
    made.observe = [this](std::string_view path, unsigned status, std::chrono::nanoseconds took) {
      if (told && !path.empty()) told(std::string(path), status, took);
    };
    return made;
  }

  [[nodiscard]] http::admission admit(const http::head& of) const {
    http::admission made;
    made.most_body = options_.most_body;
    made.deadline = options_.timeout;
    const auto path = routes.find(of.path);
    if (path == routes.end()) {
      made.refusal = to_wire({404, "there is no such page\n", "text/plain", {}});
      return made;
    }
    made.name = of.path;
    const auto found = path->second.find(of.method);
    if (found == path->second.end()) {
      made.refusal = to_wire({405, "not for this method\n", "text/plain", {{"Allow", path->second.begin()->first}}});
    } else if (std::optional<reply> refused = refusal(of.authorization, found->second.who)) {
      made.refusal = to_wire(*std::move(refused));
    }
    return made;
  }

  void answer(http::request asked, http::responder to) {
    const route& by = routes.find(asked.of.path)->second.find(asked.of.method)->second;
    incoming what;
    what.method = std::move(asked.of.method);
    what.path = std::move(asked.of.path);
    for (auto& [name, value] : asked.of.query) what.query[name] = std::move(value);
    what.body = std::move(asked.body);
    boost::asio::post(workers_, [this, &by, what = std::move(what), to = std::move(to), of = asked.cancelled] {
      if (!of.is_cancelled()) to(to_wire(made_by(by, what)));
    });
  }

  [[nodiscard]] reply made_by(const route& by, const incoming& what) const {
    try {
      return by.make(what);
    } catch (const std::exception& fault) {
      log_(fmt::format("{} {}: {}", what.method, what.path, fault.what()));
      return {500, "this did not work; the log says why\n", "text/plain", {}};
    }
  }

  [[nodiscard]] std::optional<reply> refusal(std::string_view authorization, access who) const {
    if (who == access::everybody) return std::nullopt;
    const bool tells = who == access::usage_token;
    const std::filesystem::path& file = tells ? options_.usage_token_file : options_.token_file;
    if (file.empty()) {
      return reply{403,
                   fmt::format("no server.{} is configured\n", tells ? "usage_token_file" : "token_file"),
                   "text/plain",
                   {}};
    }
    std::optional<std::string> expected = contents(file);
    if (expected) expected->erase(expected->find_last_not_of(" \r\n\t") + 1);
    if (!expected || expected->empty()) return reply{403, "there is no token\n", "text/plain", {}};
    if (http::is_same_secret(http::bearer_token(authorization), *expected)) return std::nullopt;
    return reply{401, "a token is needed\n", "text/plain", {{"WWW-Authenticate", "Bearer"}}};
  }

  server_options options_;
  log_function log_;
  boost::asio::thread_pool workers_;
  std::optional<http::server> server_;
  std::thread thread_;
};

http_server::http_server(server_options options, log_function log)
    : machine_(std::make_unique<machine>(std::move(options), std::move(log))) {}
http_server::~http_server() = default;

void http_server::route(const std::string& method, const std::string& path, access who, handler make) {
  machine_->routes[path][method] = {who, std::move(make)};
}
void http_server::observe(observer told) { machine_->told = std::move(told); }
void http_server::start() { machine_->start(); }
void http_server::stop() noexcept { machine_->stop(); }
std::uint16_t http_server::port() const { return machine_->port(); }

}  // namespace shim
