#include "api_server/http_client.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <optional>
#include <utility>

#include <boost/asio/connect.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/ssl.hpp>
#include <boost/beast/core.hpp>
#include <boost/beast/http.hpp>
#include <boost/beast/ssl.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace shim {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace http = boost::beast::http;
using boost::system::error_code;
using tcp = asio::ip::tcp;
using plain_stream = beast::tcp_stream;
using tls_stream = beast::ssl_stream<beast::tcp_stream>;

bool is_address(const std::string& host) {
  error_code none;
  (void)asio::ip::make_address(host, none);
  return !none;
}

template <class Apply>
void accept(const char* what, Apply apply) {
  error_code refused;
  apply(refused);
  if (refused) throw bad_input(fmt::format("{}: {}", what, refused.message()));
}

asio::ssl::context tls_context(const credentials& as) {
  asio::ssl::context tls(asio::ssl::context::tls_client);
  tls.set_options(asio::ssl::context::default_workarounds | asio::ssl::context::no_tlsv1 |
                  asio::ssl::context::no_tlsv1_1);
  tls.set_verify_mode(as.verify ? asio::ssl::verify_peer : asio::ssl::verify_none);
  if (as.ca.empty()) {
    tls.set_default_verify_paths();
  } else {
    accept("certificate-authority",
           [&](error_code& ec) { (void)tls.add_certificate_authority(asio::buffer(as.ca), ec); });
  }
  if (!as.certificate.empty()) {
    accept("client-certificate",
           [&](error_code& ec) { (void)tls.use_certificate_chain(asio::buffer(as.certificate), ec); });
    accept("client-key",
           [&](error_code& ec) { (void)tls.use_private_key(asio::buffer(as.key), asio::ssl::context::pem, ec); });
  }
  return tls;
}

std::chrono::seconds retry_after(std::string_view text) {
  long seconds = 0;
  std::from_chars(text.data(), text.data() + text.size(), seconds);
  return std::chrono::seconds(std::clamp(seconds, 0L, 3600L));
}

}  // namespace

class http_client::connection {
 public:
  explicit connection(const credentials& as) : as_(as), tls_(as.tls ? std::optional(tls_context(as)) : std::nullopt) {}

  [[nodiscard]] bool is_open() const noexcept { return plain_.has_value() || secure_.has_value(); }

  /// The time that a request may take runs from now on.
  void begin() noexcept { until_ = std::chrono::steady_clock::now() + timeout; }

  void open() {
    close();
    refresh();
    tcp::resolver resolver(io_);
    error_code failed;
    const auto places = resolver.resolve(as_.host, as_.port, failed);
    if (failed) fail("cannot resolve", failed);
    if (tls_) {
      secure_.emplace(io_, *tls_);
    } else {
      plain_.emplace(io_);
    }
    wait("cannot connect", until_, [&](auto done) { lowest().async_connect(places, std::move(done)); });
    lowest().socket().set_option(tcp::no_delay(true), failed);
    if (!tls_) return;
    const std::string& name = as_.server_name.empty() ? as_.host : as_.server_name;
    if (!is_address(name)) {  // what SSL_set_tlsext_host_name does, without its cast
      SSL_ctrl(secure_->native_handle(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
               const_cast<char*>(name.c_str()));
    }
    if (as_.verify) secure_->set_verify_callback(asio::ssl::host_name_verification(name));
    wait("TLS", until_, [&](auto done) { secure_->async_handshake(asio::ssl::stream_base::client, std::move(done)); });
  }

  void close() noexcept {
    plain_.reset();
    secure_.reset();
    buffer_.clear();
  }

  void write(const request& what) {
    http::request<http::string_body> message;
    message.version(11);
    message.method_string(what.method);
    message.target(as_.path + what.target);
    message.set(http::field::host, as_.host);
    message.set(http::field::user_agent, "kaisched-kubernetes");
    message.set(http::field::accept, "application/json");
    try {
      sent_token_ = current_token(as_);
      if (!sent_token_.empty()) message.set(http::field::authorization, "Bearer " + sent_token_);
    } catch (const bad_input& fault) {  // the file is being replaced, or gone for a while
      throw no_answer(fmt::format("{}:{}: not asked: {}", as_.host, as_.port, fault.what()));
    }
    if (!what.body.empty()) {
      message.set(http::field::content_type, what.content_type);
      message.body() = what.body;
    }
    message.prepare_payload();
    wait("cannot send", until_,
         [&](auto done) { with_stream([&](auto& to) { http::async_write(to, message, std::move(done)); }); });
  }

  response read() {
    http::response_parser<http::string_body> parser;
    parser.body_limit(most_answer);
    wait("no answer", until_, [&](auto done) {
      with_stream([&](auto& from) { http::async_read(from, buffer_, parser, std::move(done)); });
    });
    const auto& message = parser.get();
    response answer{message.result_int(), message.body(), retry_after(message[http::field::retry_after])};
    if (!answer.ok()) hide_token(answer.body);
    if (!message.keep_alive()) close();
    return answer;
  }

  response read_lines(std::chrono::milliseconds silence, const std::function<bool(std::string_view)>& on_line) {
    http::response_parser<http::buffer_body> parser;
    parser.body_limit(boost::none);
    wait("no answer", until_, [&](auto done) {
      with_stream([&](auto& from) { http::async_read_header(from, buffer_, parser, std::move(done)); });
    });
    response answer{parser.get().result_int(), {}, retry_after(parser.get()[http::field::retry_after])};
    std::string pending;
    std::array<char, 65536> piece;  // NOLINT(cppcoreguidelines-pro-type-member-init): filled by the parser
    while (!parser.is_done()) {
      parser.get().body().data = piece.data();
      parser.get().body().size = piece.size();
      wait(
          "the stream broke", std::chrono::steady_clock::now() + silence,
          [&](auto done) {
            with_stream([&](auto& from) { http::async_read_some(from, buffer_, parser, std::move(done)); });
          },
          http::error::need_buffer);
      pending.append(piece.data(), piece.size() - parser.get().body().size);
      if (answer.ok() && !take_lines(pending, on_line)) break;
    }
    if (!answer.ok()) {
      hide_token(pending);
      answer.body = std::move(pending);
    }
    close();
    return answer;
  }

  void cancel() noexcept {
    cancelled_ = true;
    try {
      asio::post(io_, [this] {
        if (is_open()) lowest().cancel();
      });
    } catch (...) {  // out of memory: the next call notices
    }
  }

  std::chrono::milliseconds timeout = std::chrono::seconds(30);
  boost::optional<std::uint64_t> most_answer;  ///< bytes; none: as many as come

 private:
  /// Certificates are renewed while the program runs; what is no certificate leaves the last ones in use.
  void refresh() {
    if (!tls_) return;
    credentials now = refreshed(as_);
    if (now.ca == as_.ca && now.certificate == as_.certificate && now.key == as_.key) return;
    try {
      tls_ = tls_context(now);
      as_ = std::move(now);
    } catch (const bad_input&) {
      return;
    }
  }

  /// A server may repeat what it was sent, and its words get into the log.
  void hide_token(std::string& words) const {
    if (sent_token_.empty()) return;
    for (std::size_t at = words.find(sent_token_); at != std::string::npos; at = words.find(sent_token_)) {
      words.replace(at, sent_token_.size(), "***");
    }
  }

  /// Complete lines leave `pending`. @return false if nobody wants more.
  static bool take_lines(std::string& pending, const std::function<bool(std::string_view)>& on_line) {
    std::size_t start = 0;
    for (std::size_t end = pending.find('\n'); end != std::string::npos; end = pending.find('\n', start)) {
      if (end > start && !on_line(std::string_view(pending).substr(start, end - start))) return false;
      start = end + 1;
    }
    pending.erase(0, start);
    return true;
  }

  plain_stream& lowest() { return plain_ ? *plain_ : secure_->next_layer(); }

  template <class Use>
  void with_stream(Use use) {
    if (plain_) {
      use(*plain_);
    } else {
      use(*secure_);
    }
  }

  /// Starts one operation and lets it end or time out.
  template <class Start>
  void wait(const char* what, std::chrono::steady_clock::time_point until, Start start, error_code allowed = {}) {
    if (cancelled_) throw cancelled();
    error_code ended = asio::error::would_block;
    lowest().expires_at(until);
    start([&ended](const error_code& ec, auto&&...) { ended = ec; });
    io_.restart();
    io_.run();
    if (cancelled_) {
      close();
      throw cancelled();
    }
    if (ended && ended != allowed) {
      close();
      fail(what, ended);
    }
    if (is_open()) lowest().expires_never();
  }

  [[noreturn]] void fail(const char* what, const error_code& why) const {
    throw no_answer(fmt::format("{}:{}: {}: {}", as_.host, as_.port, what, why.message()));
  }

  credentials as_;
  std::chrono::steady_clock::time_point until_;  ///< the request that is on its way has to be answered
  asio::io_context io_{1};
  std::optional<asio::ssl::context> tls_;
  std::optional<plain_stream> plain_;
  std::optional<tls_stream> secure_;
  beast::flat_buffer buffer_;
  std::atomic<bool> cancelled_ = false;
  std::string sent_token_;
};

http_client::http_client(const credentials& as) : connection_(std::make_unique<connection>(as)) {}
http_client::~http_client() = default;

void http_client::set_timeout(std::chrono::milliseconds timeout) noexcept { connection_->timeout = timeout; }

void http_client::set_foreign(std::size_t most_answer) noexcept {
  connection_->most_answer = most_answer;
  is_foreign_ = true;
}

namespace {

http_client::observer& told() {
  static http_client::observer one = [](const request&, unsigned, std::chrono::nanoseconds) {};
  return one;
}

}  // namespace

void http_client::observe(observer to) { told() = std::move(to); }

response http_client::send(const request& what) {
  if (is_foreign_) return exchange(what);
  const auto began = std::chrono::steady_clock::now();
  try {
    response answer = exchange(what);
    told()(what, answer.status, std::chrono::steady_clock::now() - began);
    return answer;
  } catch (const no_answer&) {
    told()(what, 0, std::chrono::steady_clock::now() - began);
    throw;
  }
}

response http_client::exchange(const request& what) {
  const bool kept = connection_->is_open();
  connection_->begin();
  try {
    if (!kept) connection_->open();
    connection_->write(what);
    return connection_->read();
  } catch (const no_answer&) {
    connection_->close();
    if (!kept || what.method != "GET") throw;
  }
  connection_->open();
  connection_->write(what);
  return connection_->read();
}

response http_client::stream(const std::string& target, std::chrono::milliseconds silence,
                             const std::function<bool(std::string_view)>& on_line) {
  connection_->begin();
  connection_->open();
  request what;
  what.target = target;
  connection_->write(what);
  return connection_->read_lines(silence, on_line);
}

std::string server_words(const response& answer) {
  const nlohmann::json status = nlohmann::json::parse(answer.body, nullptr, false);
  const bool says = status.is_object() && status.contains("message") && status["message"].is_string();
  const std::string message = says ? status["message"].get<std::string>() : answer.body.substr(0, 200);
  return fmt::format("status {}{}{}", answer.status, message.empty() ? "" : ": ", message);
}

void http_client::cancel() noexcept { connection_->cancel(); }

std::string encoded(std::string_view text) {
  std::string out;
  for (const char c : text) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-' ||
                       c == '.' || c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

}  // namespace shim
