#include "http/server.hpp"

#include <array>
#include <atomic>
#include <csignal>
#include <exception>
#include <list>
#include <mutex>
#include <system_error>
#include <type_traits>

#include <boost/asio/buffer.hpp>
#include <boost/asio/generic/stream_protocol.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/local/stream_protocol.hpp>
#include <boost/asio/post.hpp>
#include <boost/asio/signal_set.hpp>
#include <boost/asio/steady_timer.hpp>
#include <boost/asio/write.hpp>
#include <boost/beast/core/string.hpp>
#include <boost/beast/http.hpp>
#include <fmt/format.h>
#if KAISCHED_HTTP_TLS
#include <boost/asio/ssl/stream.hpp>
#endif

#include "http/framing.hpp"
#include "http/local_socket.hpp"
#include "http/tls_context.hpp"

namespace kaisched::http {

namespace {

namespace asio = boost::asio;
namespace beast = boost::beast;
namespace wire = boost::beast::http;
using boost::system::error_code;
using std::chrono::milliseconds;
using std::chrono::steady_clock;
using tcp = asio::ip::tcp;
using local = asio::local::stream_protocol;
using any_stream = asio::generic::stream_protocol;
using plain_socket = any_stream::socket;
#if KAISCHED_HTTP_TLS
using tls_socket = asio::ssl::stream<tcp::socket>;
#endif

/// Whether the bytes of a stream are encrypted.
template <class Stream>
constexpr bool is_tls = !std::is_same_v<Stream, plain_socket>;

constexpr std::size_t most_header_limit = 32U << 10U;  // Beast keeps lengths of fields in 16 bits
constexpr std::size_t most_read = 16U << 10U;          // bytes, at a time
constexpr std::size_t most_drained = 16U << 20U;
constexpr milliseconds time_to_close = std::chrono::seconds(1);
constexpr milliseconds time_after_end =
    std::chrono::seconds(1);  // of what a client sends, until its request is cancelled
constexpr milliseconds time_after_deadline = milliseconds(500);  // for the application to say so itself

std::string_view view_of(beast::string_view text) { return {text.data(), text.size()}; }

std::string words_of(const std::exception_ptr& fault) {
  try {
    std::rethrow_exception(fault);
  } catch (const std::exception& known) {
    return known.what();
  } catch (...) {
    return "something that is no exception was thrown";
  }
}

}  // namespace

class server::machine {
 public:
  machine(limits of, const tls_files& tls, application by)
      : limits_(of), by_(std::move(by)), tls_(tls, [this](const std::string& words) { log(words); }) {
    if (of.header == 0 || of.header > most_header_limit || of.connections == 0 || of.least_rate == 0 ||
        of.timeout.count() <= 0) {
      throw std::invalid_argument("a limit of the server is 0, or that of headers above 32 KiB");
    }
    box_->io = &io_;
  }
  ~machine() {
    is_over_ = true;
    const std::lock_guard lock(box_->mutex);
    box_->io = nullptr;
  }
  machine(const machine&) = delete;
  machine& operator=(const machine&) = delete;

  void listen(const endpoint& at) {
    if (at.socket.empty()) return listen_tcp(at);
    if (tls_.is_used()) throw setup_error("a Unix socket takes no certificate");
    local_socket_.listen(at.socket, local_);
  }

  [[nodiscard]] std::string address() const {
    if (!local_socket_.path().empty()) return "unix:" + local_socket_.path();
    const tcp::endpoint place = tcp_.local_endpoint();
    const std::string host = place.address().to_string();
    return fmt::format("{}://{}:{}", tls_.is_used() ? "https" : "http",
                       place.address().is_v6() ? "[" + host + "]" : host, place.port());
  }
  [[nodiscard]] std::uint16_t port() const { return tcp_.is_open() ? tcp_.local_endpoint().port() : std::uint16_t{0}; }

  void stop_on_signals() {
    signals_.add(SIGINT);
    signals_.add(SIGTERM);
    signals_.async_wait([this](const error_code& failed, int) {
      if (!failed) end(std::chrono::seconds(1));
    });
  }

  void run() {
    safely([this] { accept(); });
    for (;;) {
      try {
        io_.run();
        break;
      } catch (...) {  // of no connection: those keep theirs
        log(fmt::format("server: {}", words_of(std::current_exception())));
      }
    }
    local_socket_.remove();
  }

  void stop(milliseconds grace) noexcept {
    try {
      box_->post([this, grace] { end(grace); });
    } catch (...) {
      io_.stop();
    }
  }

  [[nodiscard]] load present_load() const {
    return {counts_.connections, counts_.memory, counts_.turned_away, counts_.made_room};
  }

 private:
  /// The server as other threads see it: they can outlive it.
  struct mailbox {
    std::mutex mutex;
    asio::io_context* io = nullptr;  ///< null: the server has gone

    template <class Do>
    void post(Do what) {
      const std::lock_guard lock(mutex);
      if (io != nullptr) asio::post(*io, std::move(what));
    }
  };

  /// What a connection can be told.
  class guest {
   public:
    enum class phase : std::uint8_t {
      header,     ///< it has sent no whole header
      body,       ///< nor a whole body
      answering,  ///< it waits for an answer, or takes one
      closing,    ///< all has been said
    };
    virtual ~guest() = default;
    virtual void close() = 0;
    /// The server ends: what is being done is of no use.
    virtual void cancel() = 0;
    [[nodiscard]] virtual bool is_open() const = 0;
    phase at = phase::header;
    steady_clock::time_point since;  ///< of the phase
  };
  template <class Stream>
  class connection;

  void listen_tcp(const endpoint& at) {
    error_code failed;
    const tcp::endpoint place(asio::ip::make_address(at.address, failed), at.port);
    if (!failed) tcp_.open(place.protocol(), failed);
    if (!failed) tcp_.set_option(asio::socket_base::reuse_address(true), failed);
    if (!failed) tcp_.bind(place, failed);
    if (!failed) tcp_.listen(asio::socket_base::max_listen_connections, failed);
    if (failed) throw setup_error(fmt::format("cannot listen on {}:{}: {}", at.address, at.port, failed.message()));
  }

  template <class Do>
  void safely(Do what) {
    try {
      what();
    } catch (...) {
      log(fmt::format("server: {}", words_of(std::current_exception())));
    }
  }

  void log(const std::string& words) const {
    if (!by_.log) return;
    try {
      by_.log(words);
    } catch (...) {  // there is no one left to tell
    }
  }

  void accept() {
    if (local_socket_.path().empty()) {
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
        pause_.expires_after(milliseconds(100));
        pause_.async_wait([this](const error_code& ended) {
          if (!ended) safely([this] { accept(); });
        });
        return;
      }
      safely([&] { welcome(std::move(socket)); });
      safely([this] { accept(); });
    });
  }

  template <class Socket>
  void welcome(Socket socket);
  void make_room();

  void end(milliseconds grace) {
    if (std::exchange(stopping_, true)) return;
    error_code ignored;
    signals_.clear(ignored);
    signals_.cancel(ignored);
    tcp_.close(ignored);
    local_.close(ignored);
    pause_.cancel();
    grace_.expires_after(grace);
    grace_.async_wait([this](const error_code& ended) {
      if (!ended) io_.stop();
    });
    for (guest* one : std::vector<guest*>(guests_.begin(), guests_.end())) {
      if (one->at == guest::phase::answering) {
        one->cancel();
      } else {
        one->close();
      }
    }
    left();
  }

  /// A connection has ended.
  void left() {
    if (stopping_ && !is_over_ && guests_.empty()) grace_.cancel();
  }

  /// Memory for requests; false: there is none.
  [[nodiscard]] bool take_memory(std::size_t bytes) {
    if (bytes > limits_.memory || counts_.memory > limits_.memory - bytes) return false;
    counts_.memory += bytes;
    return true;
  }

  const limits limits_;
  const application by_;
  struct {
    std::atomic<std::size_t> connections{0};
    std::atomic<std::size_t> memory{0};
    std::atomic<std::uint64_t> turned_away{0};
    std::atomic<std::uint64_t> made_room{0};
  } counts_;
  bool stopping_ = false;
  bool is_over_ = false;      ///< nothing runs any more
  std::list<guest*> guests_;  ///< in the order in which they came; outlives them
  std::shared_ptr<mailbox> box_ = std::make_shared<mailbox>();
  tls_context tls_;
  local_socket local_socket_;
  asio::io_context io_{1};
  tcp::acceptor tcp_{io_};
  local::acceptor local_{io_};
  asio::signal_set signals_{io_};
  asio::steady_timer pause_{io_};
  asio::steady_timer grace_{io_};
};

/// One client, in the thread of the bytes.
template <class Stream>
class server::machine::connection final : public guest, public std::enable_shared_from_this<connection<Stream>> {
 public:
  connection(machine& of, Stream stream, certificates tls)
      : of_(of), tls_(std::move(tls)), stream_(std::move(stream)), clock_(of.io_) {
    place_ = of_.guests_.insert(of_.guests_.end(), this);
    ++of_.counts_.connections;
  }
  ~connection() override {
    count_end();
    of_.guests_.erase(place_);
    of_.left();
  }
  connection(const connection&) = delete;
  connection& operator=(const connection&) = delete;

  void begin() {
    enter(phase::header, of_.limits_.timeout);
    if constexpr (is_tls<Stream>) {
      stream_.async_handshake(Stream::server, guarded([this](const error_code& failed) {
                                if (failed) return close();
                                await_request();
                              }));
    } else {
      await_request();
    }
  }

  void turn_away(unsigned status, std::string_view words) { refuse(status, words); }

  void close() override {
    count_end();
    at = phase::closing;
    clock_.cancel();
    error_code ignored;
    stream_.lowest_layer().close(ignored);
  }

  void cancel() override { cancelled_.cancel(); }
  [[nodiscard]] bool is_open() const override { return is_open_; }

 private:
  using phase = guest::phase;
  using parser_type = wire::request_parser<wire::string_body>;

  /// A handler that keeps the connection, and ends it if something is thrown.
  template <class Do>
  auto guarded(Do what) {
    return [self = this->shared_from_this(), what = std::move(what)](auto&&... told) mutable {
      try {
        what(std::forward<decltype(told)>(told)...);
      } catch (...) {
        self->of_.log(fmt::format("connection: {}", words_of(std::current_exception())));
        self->close();
      }
    };
  }

  void enter(phase next, milliseconds most) {
    at = next;
    since = steady_clock::now();
    expire_at(since + most);
  }

  void expire_at(steady_clock::time_point when) {
    clock_.expires_at(when);
    clock_.async_wait(guarded([this, when](const error_code& ended) {
      if (!ended && clock_.expiry() == when) time_is_over();
    }));
  }

  void time_is_over() {
    if (at == phase::body) return refuse(408, "the body took too long");
    if (at != phase::answering || is_writing_) return close();
    if (is_late_)
      return reply_with(make_refusal(504, "there was no answer before the deadline of the server"), answer_number_);
    if (!cancelled_.cancel()) return;  // it is about to be done
    is_late_ = true;
    expire_at(steady_clock::now() + time_after_deadline);
  }

  // ---- bytes ------------------------------------------------------------------------------------------------------

  /// Reads if there is room for what comes. At most one read is under way.
  void pump() {
    const std::size_t most = of_.limits_.header + most_read;
    if (is_reading_ || has_ended_ || in_.size() >= most) return;
    is_reading_ = true;
    stream_.async_read_some(asio::buffer(chunk_), guarded([this](const error_code& failed, std::size_t came) {
                              is_reading_ = false;
                              was_read(failed, came);
                            }));
  }

  void was_read(const error_code& failed, std::size_t came) {
    if (at == phase::closing) return drain(failed, came);
    if (failed) {
      has_ended_ = true;
      if (at != phase::answering || failed != asio::error::eof) {
        cancelled_.cancel();
        return close();
      }
      // It may still take an answer that comes soon: a client that has said all need not have gone.
      if (!is_writing_) expire_at(std::min(clock_.expiry(), steady_clock::now() + time_after_end));
      return;
    }
    if (!take_memory(came)) {
      if (at == phase::answering) return close();
      return refuse(503, "the server has no memory for more requests");
    }
    in_.append(chunk_.data(), came);
    if (at == phase::header) {
      read_header();
    } else if (at == phase::body) {
      received_ += came;
      read_body();
    } else {
      pump();
    }
  }

  [[nodiscard]] bool take_memory(std::size_t bytes) {
    if (!of_.take_memory(bytes)) return false;
    held_ += bytes;
    return true;
  }
  /// It holds nothing any more, though handlers may still have to be told.
  void count_end() {
    give_memory_back();
    if (std::exchange(is_open_, false)) --of_.counts_.connections;
  }
  void give_memory_back() { of_.counts_.memory -= std::exchange(held_, 0); }

  // ---- requests ---------------------------------------------------------------------------------------------------

  void await_request() {
    give_memory_back();
    parser_.emplace();
    parser_->header_limit(static_cast<std::uint32_t>(of_.limits_.header));
    parser_->body_limit(boost::none);  // the application says how much it may be
    request_ = {};
    admitted_ = {};
    scanned_ = 0;
    cancelled_ = cancellation();
    is_late_ = false;
    received_ = 0;
    if (of_.stopping_) return close();
    if (!take_memory(in_.size())) return refuse(503, "the server has no memory for more requests");
    enter(phase::header, of_.limits_.timeout);
    read_header();
  }

  void read_header() {
    // Empty lines before a request are passed over (RFC 9112 2.2).
    while (in_.starts_with("\r\n")) in_.erase(0, 2);
    const header_extent found = find_header(in_, scanned_);
    if (found.fault != nullptr) return refuse(400, found.fault);
    if (found.size > of_.limits_.header || (found.size == 0 && in_.size() > of_.limits_.header)) {
      return refuse(431, fmt::format("the header has more than {} bytes", of_.limits_.header));
    }
    if (found.size == 0) return pump();
    error_code failed;
    in_.erase(0, parser_->put(asio::buffer(in_.data(), found.size), failed));
    if (failed && failed != wire::error::need_more) return refuse(400, "no HTTP request: " + failed.message());
    header_is_there();
  }

  void header_is_there() {
    const auto& message = parser_->get();
    if (const char* fault = framing_fault(message)) return refuse(400, fault);
    head& of = request_.of;
    of.method = message.method() == wire::verb::head ? "GET" : std::string(view_of(message.method_string()));
    is_head_ = message.method() == wire::verb::head;
    of.authorization = view_of(message[wire::field::authorization]);
    if (!split_target(view_of(message.target()), of.path, of.query)) return refuse(400, "the target is no path");
    admitted_ = of_.by_.admit(of);
    if (admitted_.refusal) return reply_and_close(*std::move(admitted_.refusal));
    const auto length = parser_->content_length();
    if (length && *length > admitted_.most_body) return refuse_body();
    parser_->body_limit(admitted_.most_body);
    if (parser_->is_done()) return begin_answer();
    enter(phase::body, of_.limits_.timeout);
    if (beast::iequals(message[wire::field::expect], "100-continue") && in_.empty()) return invite_body();
    read_body();
  }

  void refuse_body() { refuse(413, fmt::format("the body has more than {} bytes", admitted_.most_body)); }

  /// Clients with a large body ask first whether it is wanted.
  void invite_body() {
    static constexpr std::string_view words = "HTTP/1.1 100 Continue\r\n\r\n";
    asio::async_write(stream_, asio::buffer(words), guarded([this](const error_code& failed, std::size_t) {
                        if (at != phase::body) return;
                        if (failed) return close();
                        read_body();
                      }));
  }

  void read_body() {
    while (!parser_->is_done()) {
      error_code failed;
      const std::size_t before = parser_->get().body().size();
      const std::size_t taken = parser_->put(asio::buffer(in_), failed);
      in_.erase(0, taken);
      const std::size_t between = taken - (parser_->get().body().size() - before);  // a line of a chunk, a trailer
      if (failed == wire::error::body_limit) return refuse_body();
      if (failed && failed != wire::error::need_more) return refuse(400, "no HTTP body: " + failed.message());
      // What the parser leaves is the beginning of one of these.
      if (between > of_.limits_.header || (!parser_->is_done() && in_.size() > of_.limits_.header))
        return refuse(431, fmt::format("a line of a chunk or the trailer has more than {} bytes", of_.limits_.header));
      if (taken > 0 && !in_.empty()) continue;
      if (parser_->is_done()) break;
      expire_at(since + time_for(received_));
      return pump();
    }
    begin_answer();
  }

  /// For so many bytes.
  [[nodiscard]] milliseconds time_for(std::uint64_t bytes) const {
    return of_.limits_.timeout + milliseconds(bytes / std::max<std::size_t>(of_.limits_.least_rate / 1000, 1));
  }

  // ---- answers ----------------------------------------------------------------------------------------------------

  void begin_answer() {
    enter(phase::answering, admitted_.deadline.count() > 0 ? admitted_.deadline : of_.limits_.timeout);
    keeps_ = parser_->get().keep_alive();
    request_.body = std::move(parser_->get().body());
    request_.cancelled = cancelled_;
    cancelled_.end_at(clock_.expiry());
    const std::uint64_t number = ++answer_number_;
    pump();  // notices if the client goes
    responder answer = [box = of_.box_, self = this->weak_from_this(), number](reply made) {
      box->post([self, number, made = std::move(made)]() mutable {
        const std::shared_ptr<connection> there = self.lock();
        if (there != nullptr) there->guarded([&] { there->reply_with(std::move(made), number); })();
      });
    };
    try {
      of_.by_.answer(std::move(request_), std::move(answer));
    } catch (...) {
      of_.log(fmt::format("{}: {}", admitted_.name, words_of(std::current_exception())));
      reply_with(make_refusal(500, "this did not work; the log of the server says why"), number);
    }
  }

  [[nodiscard]] reply make_refusal(unsigned status, std::string_view words) const {
    if (of_.by_.refuse) return of_.by_.refuse(status, words);
    return {status, std::string(words) + "\n", "text/plain; charset=utf-8", {}};
  }

  void refuse(unsigned status, std::string_view words) { reply_and_close(make_refusal(status, words)); }

  void reply_and_close(reply made) {
    keeps_ = false;
    parser_.reset();  // others may need the memory before the answer is out
    in_.clear();
    give_memory_back();
    at = phase::answering;
    since = steady_clock::now();
    was_begun_ = false;
    write(std::move(made));
  }

  /// The first answer to the request of this number counts.
  void reply_with(reply made, std::uint64_t number) {
    if (number != answer_number_ || at != phase::answering || is_writing_) return;
    ++answer_number_;
    was_begun_ = true;
    write(std::move(made));
  }

  void write(reply made) {
    if (of_.by_.observe)
      of_.by_.observe(admitted_.name, made.status,
                      was_begun_ ? steady_clock::now() - since : std::chrono::nanoseconds(0));
    keeps_ = keeps_ && !of_.stopping_ && !has_ended_;
    answer_ = {};
    answer_.version(11);
    answer_.result(made.status);
    answer_.set(wire::field::server, of_.by_.server_name);
    answer_.set(wire::field::content_type, made.type);
    answer_.set(wire::field::cache_control, "no-store");
    answer_.set("X-Content-Type-Options", "nosniff");
    for (const auto& [name, value] : made.headers) answer_.set(name, value);
    answer_.keep_alive(keeps_);
    const std::size_t size = made.body.size();
    if (!is_head_) answer_.body() = std::move(made.body);
    answer_.content_length(size);
    is_writing_ = true;
    serializer_.emplace(answer_);
    if (is_head_) serializer_->split(true);
    expire_at(steady_clock::now() + time_for(size));
    auto wrote = guarded([this](const error_code& failed, std::size_t) { was_written(failed); });
    if (is_head_) {
      wire::async_write_header(stream_, *serializer_, std::move(wrote));
    } else {
      wire::async_write(stream_, *serializer_, std::move(wrote));
    }
  }

  void was_written(const error_code& failed) {
    is_writing_ = false;
    serializer_.reset();
    answer_ = {};
    if (failed) return close();
    if (keeps_ && !of_.stopping_ && !has_ended_) return await_request();
    say_goodbye();
  }

  /// A connection that is closed before all has been read that the client sends would take the answer with it.
  void say_goodbye() {
    give_memory_back();
    in_.clear();
    if (has_ended_) return close();
    enter(phase::closing, std::min<milliseconds>(of_.limits_.timeout, time_to_close));
    left_to_drain_ = most_drained;
    if constexpr (is_tls<Stream>) {
      stream_.async_shutdown(guarded([this](const error_code&) { close(); }));
    } else {
      error_code ignored;
      stream_.shutdown(plain_socket::shutdown_send, ignored);
      pump();
    }
  }

  void drain(const error_code& failed, std::size_t came) {
    if constexpr (!is_tls<Stream>) {
      if (failed || came >= left_to_drain_ || of_.stopping_) return close();
      left_to_drain_ -= came;
      pump();
    }
  }

  machine& of_;
  const certificates tls_;  // live as long as the stream
  Stream stream_;
  asio::steady_timer clock_;
  std::list<guest*>::iterator place_;
  std::array<char, most_read> chunk_{};
  std::string in_;              ///< has come and has not been parsed
  std::size_t scanned_ = 0;     ///< of it, for the end of a header
  std::size_t held_ = 0;        ///< of the memory of all
  std::uint64_t received_ = 0;  ///< bytes of the body, as sent
  std::optional<parser_type> parser_;
  request request_;
  admission admitted_;
  cancellation cancelled_;
  std::uint64_t answer_number_ = 0;  ///< of the request that waits for its answer
  wire::response<wire::string_body> answer_;
  std::optional<wire::response_serializer<wire::string_body>> serializer_;
  std::size_t left_to_drain_ = 0;
  bool is_open_ = true;
  bool is_reading_ = false;
  bool has_ended_ = false;  ///< the client sends no more
  bool is_writing_ = false;
  bool is_late_ = false;
  bool is_head_ = false;
  bool was_begun_ = false;  ///< the request reached the application
  bool keeps_ = false;
};

template <class Socket>
void server::machine::welcome(Socket socket) {
  make_room();
  const bool is_full = counts_.connections >= limits_.connections;
  if (is_full) {
    ++counts_.turned_away;
    if (guests_.size() >= 2 * limits_.connections || tls_.is_used()) return;  // told often enough: it is closed
  }
  error_code ignored;
  if constexpr (std::is_same_v<Socket, tcp::socket>) {
    socket.set_option(tcp::no_delay(true), ignored);
#if KAISCHED_HTTP_TLS
    if (tls_.is_used()) {
      const certificates tls = tls_.current();
      std::make_shared<connection<tls_socket>>(*this, tls_socket(std::move(socket), *tls), tls)->begin();
      return;
    }
#endif
  }
  const auto one = std::make_shared<connection<plain_socket>>(*this, plain_socket(std::move(socket)), nullptr);
  if (!is_full) return one->begin();
  one->turn_away(503, fmt::format("there are {} connections already", limits_.connections));
}

/// The connection that has been silent longest goes, or if none is silent the one that has sent a body longest.
void server::machine::make_room() {
  if (counts_.connections < limits_.connections) return;
  for (const guest::phase in : {guest::phase::closing, guest::phase::header, guest::phase::body}) {
    guest* oldest = nullptr;
    for (guest* one : guests_) {
      if (one->is_open() && one->at == in && (oldest == nullptr || one->since < oldest->since)) oldest = one;
    }
    if (oldest == nullptr) continue;
    ++counts_.made_room;
    oldest->close();
    return;
  }
}

server::server(limits of, tls_files tls, application by)
    : machine_(std::make_unique<machine>(of, std::move(tls), std::move(by))) {}
server::~server() = default;

void server::listen(const endpoint& at) { machine_->listen(at); }
std::string server::address() const { return machine_->address(); }
std::uint16_t server::port() const { return machine_->port(); }
void server::run() { machine_->run(); }
void server::stop_on_signals() { machine_->stop_on_signals(); }
void server::stop(milliseconds grace) noexcept { machine_->stop(grace); }
load server::present_load() const { return machine_->present_load(); }

// ---- cancellation -------------------------------------------------------------------------------------------------

struct cancellation::state {
  std::mutex mutex;
  bool cancelled = false;
  bool committed = false;
  steady_clock::time_point deadline = steady_clock::time_point::max();
  std::function<void()> then;

  [[nodiscard]] bool is_over() const { return cancelled || (!committed && steady_clock::now() >= deadline); }
};

cancellation::cancellation() : state_(std::make_shared<state>()) {}

bool cancellation::is_cancelled() const {
  const std::lock_guard lock(state_->mutex);
  return state_->is_over();
}

void cancellation::end_at(steady_clock::time_point deadline) {
  const std::lock_guard lock(state_->mutex);
  state_->deadline = deadline;
}

bool cancellation::commit() {
  const std::lock_guard lock(state_->mutex);
  if (state_->is_over()) return false;
  state_->committed = true;
  return true;
}

void cancellation::notify(std::function<void()> then) {
  const std::lock_guard lock(state_->mutex);
  state_->then = std::move(then);
  if (state_->is_over() && state_->then) state_->then();
}

bool cancellation::cancel() {
  const std::lock_guard lock(state_->mutex);
  if (state_->committed) return false;
  if (!std::exchange(state_->cancelled, true) && state_->then) state_->then();
  return true;
}

}  // namespace kaisched::http
