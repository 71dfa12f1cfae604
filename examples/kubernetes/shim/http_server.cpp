#include "http_server.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <iterator>
#include <list>
#include <mutex>
#include <openssl/crypto.h>
#include <optional>
#include <system_error>
#include <thread>

#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/thread_pool.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/format.h>

#include "credentials.hpp"

namespace shim {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using steady = std::chrono::steady_clock;
using tcp = asio::ip::tcp;
using plain_stream = beast::tcp_stream;
using tls_stream = beast::ssl_stream<beast::tcp_stream>;

/// Slowest that a client may take an answer, beside the time-out: else a few of them would keep large ones in memory.
constexpr std::size_t least_rate = 64U << 10U;  // bytes in a second

std::optional<std::string> contents(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in) return std::nullopt;
  return std::string(std::istreambuf_iterator<char>(in), {});
}

int hex(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// @return false for a target that is none.
bool split_target(std::string_view target, incoming& to) {
  const std::size_t mark = target.find('?');
  if (!decode(target.substr(0, mark), false, to.path)) return false;
  std::string_view rest = mark == std::string_view::npos ? std::string_view() : target.substr(mark + 1);
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view one = rest.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    std::string name;
    std::string value;
    if (!decode(one.substr(0, equals), true, name)) return false;
    if (equals < one.size() && !decode(one.substr(equals + 1), true, value)) return false;
    to.query[name] = value;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

/// Takes the same time wherever the texts differ.
bool same_secret(std::string_view a, std::string_view b) {
  return a.size() == b.size() && CRYPTO_memcmp(a.data(), b.data(), a.size()) == 0;
}

}  // namespace

bool decode(std::string_view text, bool plus_is_space, std::string& to) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex(text[i + 1]) < 0 || hex(text[i + 2]) < 0) return false;
    to += static_cast<char>(hex(text[i + 1]) * 16 + hex(text[i + 2]));
    i += 2;
  }
  return true;
}

class http_server::machine {
 public:
  machine(server_options options, log_function log)
      : options_(std::move(options)), log_(std::move(log)), acceptor_(io_), workers_(std::max(1U, options_.workers)) {
    if (!options_.certificate.empty()) (void)current_tls();
    listen();
  }

  ~machine() { stop(); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void start() {
    accept();
    thread_ = std::thread([this] { io_.run(); });
  }

  void stop() noexcept {
    io_.stop();
    if (thread_.joinable()) thread_.join();
    workers_.join();
  }

  [[nodiscard]] std::uint16_t port() const { return acceptor_.local_endpoint().port(); }

  struct route {
    access who = access::token;
    handler make;
  };
  std::map<std::string, std::map<std::string, route, std::less<>>, std::less<>> routes;  ///< path, method
  observer told;

 private:
  /// What a connection can be told.
  class guest {
   public:
    virtual ~guest() = default;
    [[nodiscard]] virtual bool is_silent() const = 0;  ///< no request is being answered
    virtual void close() = 0;
  };
  template <class Stream>
  class connection;

  void listen() {
    error_code failed;
    const asio::ip::address address = asio::ip::make_address(options_.address, failed);
    const tcp::endpoint place(address, options_.port);
    if (!failed) acceptor_.open(place.protocol(), failed);
    if (!failed) acceptor_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) acceptor_.bind(place, failed);
    if (!failed) acceptor_.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) {
      throw bad_input(fmt::format("server: listen: {}:{}: {}", options_.address, options_.port, failed.message()));
    }
  }

  void accept() {
    acceptor_.async_accept([this](const error_code& failed, tcp::socket socket) {
      if (failed == asio::error::operation_aborted) return;
      if (failed) {  // such as too many open files: others will end
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([this](const error_code& ended) {
          if (!ended) accept();
        });
        return;
      }
      welcome(std::move(socket));
      accept();
    });
  }

  void welcome(tcp::socket socket);
  void make_room();
  std::shared_ptr<asio::ssl::context> current_tls();
  [[nodiscard]] std::shared_ptr<asio::ssl::context> read_tls() const;

  [[nodiscard]] reply answer(const http::request<http::string_body>& message) const;
  [[nodiscard]] reply routed(const http::request<http::string_body>& message, incoming& what) const;
  [[nodiscard]] std::optional<reply> refusal(const http::request<http::string_body>& message, access who) const;

  server_options options_;
  log_function log_;
  asio::io_context io_{1};
  tcp::acceptor acceptor_;
  asio::steady_timer pause_{io_};
  asio::thread_pool workers_;
  std::thread thread_;
  std::list<std::weak_ptr<guest>> guests_;  ///< in the order in which they came
  std::shared_ptr<asio::ssl::context> tls_;
  std::pair<std::filesystem::file_time_type, std::filesystem::file_time_type> read_at_;
};

/// One client. Everything but the making of an answer happens in the thread of the bytes.
template <class Stream>
class http_server::machine::connection final : public guest, public std::enable_shared_from_this<connection<Stream>> {
 public:
  template <class... More>
  connection(machine& of, std::shared_ptr<asio::ssl::context> tls, tcp::socket socket, More&... more)
      : of_(of), tls_(std::move(tls)), stream_(std::move(socket), more...) {}

  void begin() {
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      lowest().expires_after(of_.options_.timeout);
      stream_.async_handshake(asio::ssl::stream_base::server,
                              [self = this->shared_from_this()](const error_code& failed) {
                                if (!failed) self->read();
                              });
    } else {
      read();
    }
  }

  [[nodiscard]] bool is_silent() const override { return !answering_; }
  void close() override {
    error_code ignored;
    lowest().socket().close(ignored);
  }

 private:
  beast::tcp_stream& lowest() { return beast::get_lowest_layer(stream_); }

  void read() {
    parser_.emplace();
    parser_->body_limit(of_.options_.most_body);
    parser_->header_limit(static_cast<std::uint32_t>(of_.options_.most_header));
    lowest().expires_after(of_.options_.timeout);
    http::async_read(
        stream_, buffer_, *parser_,
        [self = this->shared_from_this()](const error_code& failed, std::size_t) { self->was_read(failed); });
  }

  void was_read(const error_code& failed) {
    if (failed == http::error::body_limit) return refuse(413, "the body is too large\n");
    if (failed == http::error::header_limit) return refuse(431, "the header is too large\n");
    if (failed && failed.category() == http::make_error_code(http::error::bad_method).category() &&
        failed != http::error::end_of_stream && failed != http::error::partial_message) {
      return refuse(400, "no HTTP request\n");
    }
    if (failed) return end();
    answering_ = true;
    lowest().expires_never();
    asio::post(of_.workers_, [self = this->shared_from_this()] {
      auto made = std::make_shared<reply>(self->of_.answer(self->parser_->get()));
      asio::post(self->stream_.get_executor(), [self, made] {
        self->write(std::move(*made), self->parser_->get().keep_alive(),
                    self->parser_->get().method() == http::verb::head);
      });
    });
  }

  void refuse(unsigned status, const char* words) {
    reply made;
    made.status = status;
    made.body = words;
    write(std::move(made), false, false);
  }

  void write(reply made, bool keep_alive, bool head) {
    answer_ = {};
    answer_.version(11);
    answer_.result(made.status);
    answer_.set(http::field::server, "kaisched-kubernetes");
    answer_.set(http::field::content_type, made.content_type);
    answer_.set(http::field::cache_control, "no-store");
    answer_.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : made.headers) answer_.set(name, value);
    answer_.keep_alive(keep_alive);
    const std::size_t size = made.body.size();
    if (!head) answer_.body() = std::move(made.body);
    answer_.content_length(size);
    lowest().expires_after(of_.options_.timeout + std::chrono::seconds(size / least_rate));
    auto wrote = [self = this->shared_from_this()](const error_code& failed, std::size_t) {
      self->was_written(failed);
    };
    if (head) {
      serializer_.emplace(answer_);
      http::async_write_header(stream_, *serializer_, std::move(wrote));
    } else {
      http::async_write(stream_, answer_, std::move(wrote));
    }
  }

  void was_written(const error_code& failed) {
    answering_ = false;
    serializer_.reset();
    answer_ = {};
    if (failed) return;
    if (!keep_alive()) return end();
    read();
  }

  [[nodiscard]] bool keep_alive() const { return parser_->is_done() && parser_->get().keep_alive(); }

  void end() {
    lowest().expires_after(of_.options_.timeout);
    if constexpr (std::is_same_v<Stream, tls_stream>) {
      stream_.async_shutdown([self = this->shared_from_this()](const error_code&) { self->close(); });
    } else {
      error_code ignored;
      lowest().socket().shutdown(tcp::socket::shutdown_send, ignored);
      drain(of_.options_.most_body);
    }
  }

  /// Takes what the client still sends: a connection that is closed before would take the answer with it.
  void drain(std::size_t left) {
    lowest().async_read_some(asio::buffer(rest_),
                             [self = this->shared_from_this(), left](const error_code& failed, std::size_t came) {
                               if (!failed && came < left) self->drain(left - came);
                             });
  }

  machine& of_;
  std::shared_ptr<asio::ssl::context> tls_;  // lives as long as the stream
  Stream stream_;
  beast::flat_buffer buffer_;
  std::optional<http::request_parser<http::string_body>> parser_;
  http::response<http::string_body> answer_;
  std::optional<http::response_serializer<http::string_body>> serializer_;
  std::array<char, 4096> rest_{};
  bool answering_ = false;
};

void http_server::machine::welcome(tcp::socket socket) {
  make_room();
  error_code ignored;
  socket.set_option(tcp::no_delay(true), ignored);
  if (options_.certificate.empty()) {
    const auto one = std::make_shared<connection<plain_stream>>(*this, nullptr, std::move(socket));
    guests_.push_back(one);
    one->begin();
    return;
  }
  const std::shared_ptr<asio::ssl::context> tls = current_tls();
  const auto one = std::make_shared<connection<tls_stream>>(*this, tls, std::move(socket), *tls);
  guests_.push_back(one);
  one->begin();
}

void http_server::machine::make_room() {
  std::erase_if(guests_, [](const auto& one) { return one.expired(); });
  if (guests_.size() < options_.connections) return;
  for (auto at = guests_.begin(); at != guests_.end(); ++at) {
    const std::shared_ptr<guest> one = at->lock();
    if (one == nullptr || !one->is_silent()) continue;
    one->close();
    guests_.erase(at);
    return;
  }
}

std::shared_ptr<asio::ssl::context> http_server::machine::read_tls() const {
  auto tls = std::make_shared<asio::ssl::context>(asio::ssl::context::tls_server);
  tls->set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                   asio::ssl::context::no_tlsv1_1);
  const auto apply = [](const char* field, const std::filesystem::path& file, auto use) {
    const std::optional<std::string> text = contents(file);
    if (!text) throw bad_input(fmt::format("server: {}: {}: cannot be read", field, file.string()));
    error_code failed;
    use(asio::buffer(*text), failed);
    if (failed) throw bad_input(fmt::format("server: {}: {}: {}", field, file.string(), failed.message()));
  };
  apply("certificate", options_.certificate,
        [&](const auto& pem, error_code& failed) { (void)tls->use_certificate_chain(pem, failed); });
  apply("key", options_.key,
        [&](const auto& pem, error_code& failed) { (void)tls->use_private_key(pem, asio::ssl::context::pem, failed); });
  if (!options_.client_ca.empty()) {
    apply("client_ca", options_.client_ca,
          [&](const auto& pem, error_code& failed) { (void)tls->add_certificate_authority(pem, failed); });
    tls->set_verify_mode(asio::ssl::verify_peer | asio::ssl::verify_fail_if_no_peer_cert);
  }
  return tls;
}

/// Certificates are renewed while the program runs; one that cannot be read leaves the last one in use.
std::shared_ptr<asio::ssl::context> http_server::machine::current_tls() {
  std::error_code ignored;
  const auto now = std::pair(std::filesystem::last_write_time(options_.certificate, ignored),
                             std::filesystem::last_write_time(options_.key, ignored));
  if (tls_ != nullptr && now == read_at_) return tls_;
  try {
    tls_ = read_tls();
  } catch (const bad_input& fault) {
    if (tls_ == nullptr) throw;
    log_(fault.what());
  }
  read_at_ = now;
  return tls_;
}

std::optional<reply> http_server::machine::refusal(const http::request<http::string_body>& message, access who) const {
  if (who == access::everybody) return std::nullopt;
  const bool tells = who == access::usage_token;
  const std::filesystem::path& file = tells ? options_.usage_token_file : options_.token_file;
  if (file.empty()) {
    return reply{
        403, fmt::format("no server.{} is configured\n", tells ? "usage_token_file" : "token_file"), "text/plain", {}};
  }
  std::optional<std::string> expected = contents(file);
  if (expected) expected->erase(expected->find_last_not_of(" \r\n\t") + 1);
  if (!expected || expected->empty()) return reply{403, "there is no token\n", "text/plain", {}};
  const std::string_view given = message[http::field::authorization];
  constexpr std::string_view scheme = "Bearer ";
  if (given.starts_with(scheme) && same_secret(given.substr(scheme.size()), *expected)) return std::nullopt;
  return reply{401, "a token is needed\n", "text/plain", {{"WWW-Authenticate", "Bearer"}}};
}

reply http_server::machine::routed(const http::request<http::string_body>& message, incoming& what) const {
  const std::string_view target(message.target().data(), message.target().size());
  if (!target.starts_with('/') || !split_target(target, what)) return {400, "no target\n", "text/plain", {}};
  const auto path = routes.find(what.path);
  if (path == routes.end()) {
    what.path.clear();
    return {404, "there is no such page\n", "text/plain", {}};
  }
  const std::string_view method =
      message.method() == http::verb::head ? "GET" : std::string_view(message.method_string());
  const auto found = path->second.find(method);
  if (found == path->second.end()) {
    return {405, "not for this method\n", "text/plain", {{"Allow", path->second.begin()->first}}};
  }
  if (std::optional<reply> refused = refusal(message, found->second.who)) return *std::move(refused);
  what.method = method;
  what.body = message.body();
  try {
    return found->second.make(what);
  } catch (const std::exception& fault) {
    log_(fmt::format("{} {}: {}", what.method, what.path, fault.what()));
    return {500, "this did not work; the log says why\n", "text/plain", {}};
  }
}

reply http_server::machine::answer(const http::request<http::string_body>& message) const {
  const steady::time_point began = steady::now();
  incoming what;
  reply made = routed(message, what);
  if (told && !what.path.empty()) told(what.path, made.status, steady::now() - began);
  return made;
}

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
