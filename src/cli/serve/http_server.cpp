#include "cli/serve/http_server.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <list>
#include <optional>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <system_error>
#include <unistd.h>
#include <utility>

#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/console.hpp"
#include "cli/serve/request_counts.hpp"

namespace kaisched::cli::serve {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using local = asio::local::stream_protocol;
using any_stream = asio::generic::stream_protocol;
using stream_type = beast::basic_stream<any_stream>;

/// Slowest that a client may send a body or take an answer, beside the time-out: large ones take their time.
constexpr std::size_t least_rate = 1U << 20U;  // bytes in a second

std::chrono::milliseconds time_for(std::chrono::milliseconds timeout, std::uint64_t bytes) {
  return timeout + std::chrono::seconds(bytes / least_rate);
}

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

/// False for escapes that are none.
bool decode(std::string_view text, bool plus_is_space, std::string& to) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      to += plus_is_space && text[i] == '+' ? ' ' : text[i];
      continue;
    }
    if (i + 2 >= text.size() || hex_digit(text[i + 1]) < 0 || hex_digit(text[i + 2]) < 0) return false;
    to += static_cast<char>(hex_digit(text[i + 1]) * 16 + hex_digit(text[i + 2]));
    i += 2;
  }
  return true;
}

/// False for a target that is none.
bool split_target(std::string_view target, http_request& to) {
  if (!target.starts_with('/')) return false;
  const std::size_t mark = std::min(target.find('?'), target.size());
  if (!decode(target.substr(0, mark), false, to.path)) return false;
  std::string_view rest = target.substr(std::min(mark + 1, target.size()));
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('&'), rest.size());
    const std::string_view one = rest.substr(0, end);
    const std::size_t equals = std::min(one.find('='), one.size());
    auto& [name, value] = to.query.emplace_back();
    if (!decode(one.substr(0, equals), true, name)) return false;
    if (equals < one.size() && !decode(one.substr(equals + 1), true, value)) return false;
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return true;
}

/// Takes the same time wherever the texts differ.
bool is_same_secret(std::string_view given, std::string_view expected) {
  unsigned difference = given.size() == expected.size() ? 0 : 1;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const char other = given.empty() ? '\0' : given[i % given.size()];
    difference |= static_cast<unsigned>(static_cast<unsigned char>(other)) ^ static_cast<unsigned char>(expected[i]);
  }
  return difference == 0;
}

error cannot_listen(std::string_view where, std::string_view why) {
  return {status::argument, fmt::format("cannot listen on {}: {}", where, why), {}};
}

}  // namespace

result<listen_address> parse_listen(std::string_view text) {
  const auto wrong = [&](std::string_view why) {
    return error{status::argument, fmt::format("--listen {}: {}", text, why), {}};
  };
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return wrong("expected ADDRESS:PORT, such as 127.0.0.1:8080");
  std::string_view host = text.substr(0, colon);
  const std::string_view digits = text.substr(colon + 1);
  listen_address made;
  const auto [end, fault] = std::from_chars(digits.data(), digits.data() + digits.size(), made.port);
  if (digits.empty() || fault != std::errc() || end != digits.data() + digits.size())
    return wrong("expected a port from 0 to 65535 behind the last colon");
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  made.address = host;
  error_code failed;
  const asio::ip::address address = asio::ip::make_address(made.address, failed);
  if (failed) return wrong("expected an address such as 127.0.0.1 or [::1], not a name");
  if (!address.is_loopback())
    return wrong("only loopback addresses (127.0.0.1, [::1]) are listened on; a proxy with TLS belongs before others");
  return made;
}

http_reply error_reply(unsigned status, std::string_view code, std::string_view message) {
  return {status, json_text({{"schema", "kaisched-error/1"}, {"code", code}, {"message", message}})};
}

class http_server::machine {
 public:
  machine(http_limits limits, std::string token, std::vector<http_route> routes, worker_pool& workers,
          std::function<std::string()> more)
      : limits_(limits),
        token_(std::move(token)),
        routes_(std::move(routes)),
        workers_(workers),
        more_(std::move(more)) {
    routes_.push_back({"GET", "/metrics", false, false, [this](const http_request&) { return tell_metrics(); }, {}});
  }
  ~machine() { remove_socket(); }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  result<void> listen(const listen_address& at) {
    return at.socket.empty() ? listen_tcp(at) : listen_socket(at.socket);
  }

  [[nodiscard]] std::string address() const {
    if (!socket_.empty()) return "unix:" + socket_;
    const tcp::endpoint place = tcp_.local_endpoint();
    const std::string host = place.address().to_string();
    return fmt::format("http://{}:{}", place.address().is_v6() ? "[" + host + "]" : host, place.port());
  }

  void run() {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](const error_code& failed, int) {
      if (!failed) stop();
    });
    accept();
    io_.run();
    remove_socket();
  }

 private:
  class connection;

  result<void> listen_tcp(const listen_address& at) {
    error_code failed;
    const tcp::endpoint place(asio::ip::make_address(at.address, failed), at.port);
    if (!failed) tcp_.open(place.protocol(), failed);
    if (!failed) tcp_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) tcp_.bind(place, failed);
    if (!failed) tcp_.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) return cannot_listen(fmt::format("{}:{}", at.address, at.port), failed.message());
    return {};
  }

  result<void> listen_socket(const std::string& path) {
    sockaddr_un longest{};
    if (path.size() >= sizeof longest.sun_path)
      return cannot_listen(path, fmt::format("the path is longer than {} bytes", sizeof longest.sun_path - 1));
    const local::endpoint place(path);
    if (auto free = remove_stale(path, place); !free) return free;
    error_code failed;
    local_.open(place.protocol(), failed);
    if (!failed) {
      const mode_t before = ::umask(0177);  // nobody else may connect, not even for a moment
      local_.bind(place, failed);
      ::umask(before);
    }
    if (!failed) local_.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) return cannot_listen(path, failed.message());
    socket_ = path;
    struct stat made{};
    if (::stat(path.c_str(), &made) == 0) socket_file_ = {made.st_dev, made.st_ino};
    return {};
  }

  /// A socket that nobody listens on is what a server that was killed has left.
  result<void> remove_stale(const std::string& path, const local::endpoint& place) {
    struct stat there{};
    if (::lstat(path.c_str(), &there) != 0) return {};
    if (!S_ISSOCK(there.st_mode)) return cannot_listen(path, "a file of this name is there, and is no socket");
    local::socket probe(io_);
    error_code failed;
    probe.connect(place, failed);
    if (failed != asio::error::connection_refused)
      return cannot_listen(path, failed ? failed.message() : "another process listens there");
    ::unlink(path.c_str());
    return {};
  }

  /// Unless somebody else has put another one there since.
  void remove_socket() {
    if (socket_.empty()) return;
    struct stat there{};
    if (::lstat(socket_.c_str(), &there) == 0 && socket_file_ == std::pair(there.st_dev, there.st_ino))
      ::unlink(socket_.c_str());
    socket_.clear();
  }

  void accept() {
    if (socket_.empty()) {
      accept_from(tcp_);
    } else {
      accept_from(local_);
    }
  }

  template <class Acceptor>
  void accept_from(Acceptor& from) {
    using protocol = typename Acceptor::protocol_type;
    from.async_accept([this](const error_code& failed, typename protocol::socket socket) {
      if (stopping_) return;
      if (failed) {  // such as too many open files: others will end
        pause_.expires_after(std::chrono::milliseconds(100));
        pause_.async_wait([this](const error_code& ended) {
          if (!ended) accept();
        });
        return;
      }
      error_code ignored;
      if constexpr (std::is_same_v<protocol, tcp>) socket.set_option(tcp::no_delay(true), ignored);
      welcome(any_stream::socket(std::move(socket)));
      accept();
    });
  }

  void welcome(any_stream::socket socket);
  void stop();
  [[nodiscard]] http_reply tell_metrics() const;

  [[nodiscard]] bool is_allowed(std::string_view authorization) const {
    constexpr std::string_view scheme = "Bearer ";
    return token_.empty() ||
           (authorization.starts_with(scheme) && is_same_secret(authorization.substr(scheme.size()), token_));
  }

  const http_limits limits_;
  const std::string token_;
  std::vector<http_route> routes_;  ///< does not change once there are connections
  worker_pool& workers_;
  const std::function<std::string()> more_;
  request_counts counts_;
  std::list<connection*> guests_;  ///< outlives them
  asio::io_context io_{1};
  tcp::acceptor tcp_{io_};
  local::acceptor local_{io_};
  asio::signal_set signals_{io_};
  asio::steady_timer pause_{io_};
  std::string socket_;
  std::pair<dev_t, ino_t> socket_file_;
  bool stopping_ = false;
};

/// One client. All of it happens in the thread of the bytes; a worker only makes the answer.
class http_server::machine::connection final : public std::enable_shared_from_this<connection> {
 public:
  connection(machine& of, any_stream::socket socket) : of_(of), stream_(std::move(socket)) {
    at_ = of_.guests_.insert(of_.guests_.end(), this);
  }
  ~connection() { of_.guests_.erase(at_); }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void read() {
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(of_.limits_.header));
    parser_->body_limit(boost::none);  // the path says how much it may be
    route_ = nullptr;
    request_ = {};
    stream_.expires_after(of_.limits_.timeout);
    http::async_read_header(
        stream_, buffer_, *parser_,
        [self = shared_from_this()](const error_code& failed, std::size_t) { self->header_was_read(failed); });
  }

  void refuse(http_reply made) { write(std::move(made), false); }

  void close_if_silent() {
    if (busy_) return;
    error_code ignored;
    stream_.socket().close(ignored);
  }

 private:
  using parser_type = http::request_parser<http::string_body>;

  /// True: it was answered, or there is nobody to answer.
  bool ends_with(const error_code& failed) {
    if (!failed) return false;
    if (failed == http::error::header_limit) {
      refuse(error_reply(431, "limit", fmt::format("the header has more than {} bytes", of_.limits_.header)));
    } else if (failed == http::error::body_limit) {
      refuse(too_large());
    } else if (failed.category() == http::make_error_code(http::error::bad_method).category() &&
               failed != http::error::end_of_stream && failed != http::error::partial_message) {
      refuse(error_reply(400, "argument", "no HTTP request: " + failed.message()));
    } else {
      end();
    }
    return true;
  }

  [[nodiscard]] std::size_t most_body() const { return route_->takes_cluster ? of_.limits_.cluster : of_.limits_.body; }
  [[nodiscard]] http_reply too_large() const {
    return error_reply(413, "limit", fmt::format("the body has more than {} bytes", most_body()));
  }

  void header_was_read(const error_code& failed) {
    if (ends_with(failed)) return;
    busy_ = true;
    const auto& header = parser_->get();
    if (!split_target(view_of(header.target()), request_))
      return refuse(error_reply(400, "argument", "the target is no path"));
    if (std::optional<http_reply> refused = find_route(view_of(header.method_string())))
      return refuse(*std::move(refused));
    if (!route_->is_open && !of_.is_allowed(view_of(header[http::field::authorization]))) {
      http_reply refused = error_reply(401, "unauthorized", "a token is needed: Authorization: Bearer TOKEN");
      refused.headers.emplace_back("WWW-Authenticate", "Bearer");
      return refuse(std::move(refused));
    }
    const auto length = parser_->content_length();
    if (length && *length > most_body()) return refuse(too_large());
    parser_->body_limit(most_body());
    if (parser_->is_done()) return begin_answer();
    stream_.expires_after(time_for(of_.limits_.timeout, length ? *length : most_body()));
    if (beast::iequals(header[http::field::expect], "100-continue")) return invite_body();
    read_body();
  }

  /// Clients with a large body ask first whether it is wanted.
  void invite_body() {
    invitation_ = {};
    invitation_.version(11);
    invitation_.result(http::status::continue_);
    http::async_write(stream_, invitation_, [self = shared_from_this()](const error_code& failed, std::size_t) {
      if (!failed) self->read_body();
    });
  }

  void read_body() {
    http::async_read(stream_, buffer_, *parser_, [self = shared_from_this()](const error_code& failed, std::size_t) {
      if (!self->ends_with(failed)) self->begin_answer();
    });
  }

  std::optional<http_reply> find_route(std::string_view method) {
    std::string allowed;
    for (const http_route& one : of_.routes_) {
      if (one.path != request_.path) continue;
      if (one.method == method) {
        route_ = &one;
        return std::nullopt;
      }
      allowed += (allowed.empty() ? "" : ", ") + one.method;
    }
    if (allowed.empty()) return error_reply(404, "not_found", "there is no such path");
    http_reply refused = error_reply(405, "unsupported", fmt::format("this path takes {}", allowed));
    refused.headers.emplace_back("Allow", allowed);
    return refused;
  }

  void begin_answer() {
    stream_.expires_never();
    begun_ = steady::now();
    const bool keeps = parser_->get().keep_alive();
    if (route_->at_once) return write(made_by([&] { return route_->at_once(request_); }), keeps);
    request_.body = std::move(parser_->get().body());
    const steady::time_point deadline =
        route_->takes_cluster ? worker_pool::no_deadline : steady::now() + of_.limits_.deadline;
    // The guard keeps the loop running while a worker has the request.
    auto guard = asio::make_work_guard(of_.io_);
    const bool taken = of_.workers_.post(deadline, [self = shared_from_this(), keeps, guard](seat& at) mutable {
      auto made =
          std::make_shared<http_reply>(self->made_by([&] { return self->route_->at_length(at, self->request_); }));
      asio::io_context& io = self->of_.io_;
      asio::post(io, [self = std::move(self), keeps, made] { self->write(std::move(*made), keeps); });
    });
    if (taken) return;
    http_reply busy = error_reply(503, "busy", "too many requests wait");
    busy.headers.emplace_back("Retry-After", "1");
    write(std::move(busy), keeps);
  }

  template <class Make>
  http_reply made_by(const Make& make) {
    try {
      return make();
    } catch (const std::exception& fault) {
      print_error(fmt::format("{}: {}", request_.path, fault.what()));
      return error_reply(500, "internal", "this did not work; the standard error of the server says why");
    }
  }

  void write(http_reply made, bool keeps) {
    keeps_ = keeps && !of_.stopping_;
    const std::string_view path = route_ == nullptr ? "other" : std::string_view(route_->path);
    of_.counts_.answered(path, made.status);
    if (begun_) of_.counts_.took(path, steady::now() - *begun_);
    begun_.reset();
    answer_ = {};
    answer_.version(11);
    answer_.result(made.status);
    answer_.set(http::field::server, "kaisched");
    answer_.set(http::field::content_type, made.type);
    answer_.set(http::field::cache_control, "no-store");
    answer_.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : made.headers) answer_.set(name, value);
    answer_.keep_alive(keeps_);
    answer_.body() = std::move(made.body);
    answer_.content_length(answer_.body().size());
    stream_.expires_after(time_for(of_.limits_.timeout, answer_.body().size()));
    http::async_write(stream_, answer_, [self = shared_from_this()](const error_code& failed, std::size_t) {
      self->busy_ = false;
      if (failed) return;
      if (self->keeps_ && !self->of_.stopping_) return self->read();
      self->end();
    });
  }

  void end() {
    error_code ignored;
    stream_.expires_after(std::min<std::chrono::milliseconds>(of_.limits_.timeout, std::chrono::seconds(1)));
    stream_.socket().shutdown(any_stream::socket::shutdown_send, ignored);
    drain(most_drained);
  }

  /// Takes what the client still sends: a connection that is closed before would take the answer with it.
  void drain(std::size_t left) {
    stream_.async_read_some(asio::buffer(rest_),
                            [self = shared_from_this(), left](const error_code& failed, std::size_t came) {
                              if (!failed && came < left && !self->of_.stopping_) self->drain(left - came);
                            });
  }

  static constexpr std::size_t most_drained = 16U << 20U;

  machine& of_;
  stream_type stream_;
  std::list<connection*>::iterator at_;
  beast::flat_buffer buffer_;
  std::optional<parser_type> parser_;
  const http_route* route_ = nullptr;
  http_request request_;
  std::optional<steady::time_point> begun_;  ///< where the request is there and its answer is not
  http::response<http::string_body> answer_;
  http::response<http::empty_body> invitation_;
  std::array<char, 4096> rest_{};
  bool busy_ = false;  ///< a request has begun and its answer is not out
  bool keeps_ = false;
};

void http_server::machine::welcome(any_stream::socket socket) {
  const auto one = std::make_shared<connection>(*this, std::move(socket));
  if (guests_.size() <= limits_.connections) return one->read();
  counts_.turned_away();
  if (guests_.size() > 2 * limits_.connections) return;  // told often enough: it is closed
  http_reply full = error_reply(503, "busy", fmt::format("there are {} connections already", limits_.connections));
  full.headers.emplace_back("Retry-After", "1");
  one->refuse(std::move(full));
}

http_reply http_server::machine::tell_metrics() const {
  std::string text = counts_.text();
  add_metric(text, "kaisched_serve_connections", "gauge", "Connections that are open.",
             static_cast<double>(guests_.size()));
  const worker_pool::load of = workers_.present_load();
  add_metric(text, "kaisched_serve_threads", "gauge", "Threads that make answers.", static_cast<double>(of.threads));
  add_metric(text, "kaisched_serve_threads_busy", "gauge", "Threads that make an answer now.",
             static_cast<double>(of.busy));
  add_metric(text, "kaisched_serve_requests_waiting", "gauge", "Requests for which no thread is free.",
             static_cast<double>(of.waiting));
  return {200, text + more_(), {}, exposition_type};
}

/// A second signal ends the program at once, as it does by default.
void http_server::machine::stop() {
  stopping_ = true;
  error_code ignored;
  signals_.clear(ignored);
  tcp_.close(ignored);
  local_.close(ignored);
  pause_.cancel();
  for (connection* one : guests_) one->close_if_silent();
}

http_server::http_server(http_limits limits, std::string token, std::vector<http_route> routes, worker_pool& workers,
                         std::function<std::string()> more)
    : machine_(std::make_unique<machine>(limits, std::move(token), std::move(routes), workers, std::move(more))) {}
http_server::~http_server() = default;

result<void> http_server::listen(const listen_address& at) { return machine_->listen(at); }
std::string http_server::address() const { return machine_->address(); }
void http_server::run() { machine_->run(); }

}  // namespace kaisched::cli::serve
