// Any bytes as what a device plugin hears: messages of the kubelet, frames of HTTP/2 whose lengths are right and whose
// contents are not, bytes that are no frames, answers of the kubelet to the registration, and pods of an API server,
// whose annotations say what containers get. The plugin answers the next call, and gives no pod what is not there.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <filesystem>
#include <memory>
#include <poll.h>
#include <set>
#include <string>
#include <sys/socket.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include "client.hpp"
#include "granted.hpp"
#include "host.hpp"
#include "observability/log_text.hpp"
#include "plugin.hpp"
#include "source.hpp"

namespace {

using namespace device_plugin;
using kaisched::fuzz::ensure;
using kaisched::fuzz::source;

constexpr std::chrono::seconds answer_time{60};  // of a busy machine
constexpr std::uint32_t slices = 3;

std::vector<card> cards_of_node() {
  return {{"GPU-a", 0, std::uint64_t{8} << 30U, 0, true, "H100"},
          {"GPU-b", 1, std::uint64_t{8} << 30U, 1, true, ""},
          {"GPU-c", 2, 0, -1, false, ""}};
}

class fixed_cards final : public inventory {
 public:
  std::vector<card> look() override { return cards_of_node(); }
};

plugin_options options_of_node() {
  plugin_options made;
  made.slices = slices;
  made.extras.nodes = false;
  return made;
}

/// A folder for sockets, and a socket of it.
class folder {
 public:
  folder() {
    std::string name = "/tmp/kaisched-fuzz-plugin-XXXXXX";
    ensure(mkdtemp(name.data()) != nullptr, "a folder");
    path_ = name;
  }
  folder(const folder&) = delete;
  folder& operator=(const folder&) = delete;
  ~folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

sockaddr_un address_of(const std::filesystem::path& file) {
  sockaddr_un made{};
  made.sun_family = AF_UNIX;
  ensure(file.native().size() < sizeof made.sun_path, "a short name");
  std::memcpy(made.sun_path, file.c_str(), file.native().size());
  return made;
}

/// One end of a connection, with the bytes that came from the other.
class stream {
 public:
  explicit stream(int descriptor) : descriptor_(descriptor) { ensure(descriptor_ >= 0, "a socket"); }
  explicit stream(const std::filesystem::path& to) : stream(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)) {
    const sockaddr_un at = address_of(to);
    ensure(::connect(descriptor_, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0, "a connection");
  }
  stream(const stream&) = delete;
  stream& operator=(const stream&) = delete;
  ~stream() { ::close(descriptor_); }

  void send(std::string_view bytes) const {
    while (!bytes.empty()) {
      const ssize_t sent = ::send(descriptor_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
      if (sent <= 0) return;
      bytes.remove_prefix(static_cast<std::size_t>(sent));
    }
  }
  void end_sending() const { ::shutdown(descriptor_, SHUT_WR); }
  /// Until the text has come, or the other side closes.
  void read_until(std::string_view text) {
    std::array<char, 4096> buffer{};
    while (text.empty() || came_.find(text) == std::string::npos) {
      pollfd wait{descriptor_, POLLIN, 0};
      ensure(::poll(&wait, 1, static_cast<int>(std::chrono::milliseconds(answer_time).count())) != 0,
             "the connection goes on or ends");
      const ssize_t got = ::recv(descriptor_, buffer.data(), buffer.size(), 0);
      if (got <= 0) return;
      came_.append(buffer.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  int descriptor_;
  std::string came_;
};

// ---- frames

std::string big_endian(std::uint64_t value, std::size_t size) {
  std::string made;
  for (std::size_t i = size; i-- > 0;) made += static_cast<char>((value >> (8 * i)) & 0xFFU);
  return made;
}

constexpr std::uint8_t message = 0xF0;  ///< stands for a frame of data with a message of gRPC, whose length is right

/// Frames of the input: type, flags, stream and size of the contents, a byte each. What holds lengths is written last.
std::string frames_of(source& from) {
  std::string made;
  while (!from.empty()) {
    const std::uint8_t kind = from.byte();
    const std::uint8_t flags = from.byte();
    const std::uint8_t number = from.byte();
    std::string contents;
    for (std::size_t left = from.byte(); left > 0 && !from.empty(); --left) contents += static_cast<char>(from.byte());
    if (kind == message) contents = big_endian(0, 1) + big_endian(contents.size(), 4) + contents;
    made += big_endian(contents.size(), 3);
    made += static_cast<char>(kind == message ? 0 : kind);
    made += static_cast<char>(flags);
    made += big_endian(number, 4);
    made += contents;
  }
  return made;
}

std::string rest_of(source& from) {
  std::string made;
  while (!from.empty()) made += static_cast<char>(from.byte());
  return made;
}

constexpr std::string_view preface("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\4\0\0\0\0\0", 33);
constexpr std::string_view settings("\0\0\0\4\0\0\0\0\0\0\0\0\4\1\0\0\0\0",
                                    18);  // none, and those of the other are taken

// ---- the plugin at its socket

class server {
 public:
  server() : plugin_(options_of_node()) {
    plugin_.set_cards(cards_of_node());
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + socket().string(), grpc::InsecureServerCredentials());
    builder.RegisterService(&plugin_);
    server_ = builder.BuildAndStart();
    ensure(server_ != nullptr, "a server");
    stub_ = v1beta1::DevicePlugin::NewStub(
        grpc::CreateChannel("unix:" + socket().string(), grpc::InsecureChannelCredentials()));
  }
  server(const server&) = delete;
  server& operator=(const server&) = delete;
  ~server() {
    plugin_.stop();
    server_->Shutdown(std::chrono::system_clock::now() + answer_time);
  }
  [[nodiscard]] std::filesystem::path socket() const { return in_.path() / "plugin.sock"; }
  plugin& operator*() { return plugin_; }

  void check_alive() {
    grpc::ClientContext context;
    context.set_deadline(std::chrono::system_clock::now() + answer_time);
    v1beta1::DevicePluginOptions told;
    ensure(stub_->GetDevicePluginOptions(&context, v1beta1::Empty(), &told).ok(), "the next call is answered");
  }

 private:
  folder in_;
  plugin plugin_;
  std::unique_ptr<grpc::Server> server_;
  std::unique_ptr<v1beta1::DevicePlugin::Stub> stub_;
};

server& served() {
  static server made;
  return made;
}

void send_to_plugin(const std::string& bytes) {
  stream to(served().socket());
  to.send(bytes);
  to.end_sending();
  to.read_until({});
  served().check_alive();
}

// ---- messages

void check_allocation(std::string_view bytes) {
  v1beta1::AllocateRequest asked;
  if (!asked.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  v1beta1::AllocateResponse given;
  if (!(*served()).Allocate(nullptr, &asked, &given).ok()) return;
  ensure(given.containers_size() == asked.containers_size(), "every container has its answer");
  for (const v1beta1::ContainerAllocateRequest& one : asked.containers()) {
    for (const std::string& id : one.ids())
      ensure(card_of(id) == "GPU-a" || card_of(id) == "GPU-b", "what is given is there and healthy");
  }
}

void check_preference(std::string_view bytes) {
  v1beta1::PreferredAllocationRequest asked;
  if (!asked.ParseFromArray(bytes.data(), static_cast<int>(bytes.size()))) return;
  v1beta1::PreferredAllocationResponse told;
  if (!(*served()).GetPreferredAllocation(nullptr, &asked, &told).ok()) return;
  ensure(told.containers_size() == asked.containers_size(), "every container has its answer");
  for (int i = 0; i < asked.containers_size(); ++i) {
    const auto& from = asked.containers(i).available_ids();
    const std::set<std::string> available(from.begin(), from.end());
    const std::set<std::string> chosen(told.containers(i).ids().begin(), told.containers(i).ids().end());
    ensure(static_cast<int>(chosen.size()) == told.containers(i).ids_size(), "what is chosen is chosen once");
    ensure(static_cast<int>(chosen.size()) <= asked.containers(i).allocation_size(), "no more than is asked for");
    ensure(std::includes(available.begin(), available.end(), chosen.begin(), chosen.end()), "what is chosen is free");
  }
}

// ---- a kubelet that answers anything

void register_with_kubelet(source& from) {
  const folder in;
  const int listener = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_un at = address_of(in.path() / "kubelet.sock");
  ensure(listener >= 0 && ::bind(listener, reinterpret_cast<const sockaddr*>(&at), sizeof at) == 0 &&
             ::listen(listener, 8) == 0,
         "a socket of the kubelet");
  const bool whole = from.one_in(2);
  const std::string answer = whole ? rest_of(from) : std::string(settings) + frames_of(from);
  std::atomic<bool> stop = false;
  std::thread kubelet([&] {
    for (;;) {
      const int one = ::accept(listener, nullptr, nullptr);
      if (one < 0) return;
      stream with(one);
      if (!whole) {
        with.send(std::string_view(settings).substr(0, 9));
        with.read_until("Registration/Register");
      }
      with.send(answer);
      with.end_sending();
      with.read_until({});
    }
  });
  host_options by;
  by.folder = in.path();
  by.interval = std::chrono::milliseconds(1);
  fixed_cards cards;
  plugin one(options_of_node());
  serve(
      by, cards, one,
      [&](const std::string& line) {
        ensure(!line.empty(), "what has become of it is said");
        stop = true;
      },
      stop);
  ::shutdown(listener, SHUT_RDWR);
  kubelet.join();
  ::close(listener);
}

// ---- pods of an API server

/// Answers every question with the same pods, and takes what is written.
class api_server {
 public:
  api_server() : server_(small_limits(), answers()) {}
  void set_pods(std::string text) {
    const std::lock_guard lock(mutex_);
    pods_ = std::move(text);
  }
  [[nodiscard]] shim::credentials credentials() const {
    shim::credentials made;
    made.host = "127.0.0.1";
    made.port = std::to_string(server_.port());
    made.tls = false;
    return made;
  }

 private:
  static kaisched::http::limits small_limits() {
    kaisched::http::limits of;
    of.connections = 8;
    return of;
  }
  kaisched::http::application answers() {
    kaisched::http::application by;
    by.log = [](const std::string&) {};
    by.admit = [](const kaisched::http::head&) {
      kaisched::http::admission made;
      made.most_body = std::size_t{1} << 20U;
      made.deadline = answer_time;
      return made;
    };
    by.answer = [this](const kaisched::http::request& what, const kaisched::http::responder& to) {
      const std::lock_guard lock(mutex_);
      to({200, what.of.method == "GET" ? pods_ : "{}", "application/json", {}});
    };
    return by;
  }
  std::mutex mutex_;
  std::string pods_;
  http_test::running_server server_;
};

void allocate_by_grant(source& from) {
  static api_server api;
  static node_api node(api.credentials(), "n", std::chrono::milliseconds(1));
  static const folder in;
  setup_options by;
  by.guard = "/guard";
  by.caches = from.one_in(2) ? in.path() / "caches" : std::filesystem::path();
  if (from.one_in(2)) {
    by.grants = in.path();  // no agent makes a ledger
    by.ledgers = in.path() / "ledgers";
  }
  by.patience = std::chrono::milliseconds(1);
  granted source_of_grants(node, by, [](const std::string&) {});
  plugin one(options_of_node(), &source_of_grants);
  one.set_cards(cards_of_node());
  v1beta1::AllocateRequest asked;
  v1beta1::ContainerAllocateRequest& container = *asked.add_containers();
  const std::size_t count = 1 + from.below(3);
  for (std::size_t i = 0; i < count; ++i) container.add_ids("GPU-a::" + std::to_string(i));
  api.set_pods(rest_of(from));
  v1beta1::AllocateResponse given;
  const grpc::Status done = one.Allocate(nullptr, &asked, &given);
  ensure(done.ok() || !done.error_message().empty(), "a refusal says why");
  const std::string line = shim::printable(done.error_message());
  ensure(std::none_of(line.begin(), line.end(), [](unsigned char c) { return c < 0x20; }), "a message is one line");
  for (const std::string& card : source_of_grants.next_cards(count)) ensure(!card.empty(), "a card has a name");
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  source from(data, size);
  switch (from.below(6)) {
    case 0:
      check_allocation(rest_of(from));
      break;
    case 1:
      check_preference(rest_of(from));
      break;
    case 2:
      send_to_plugin(std::string(preface) + frames_of(from));
      break;
    case 3:
      send_to_plugin(rest_of(from));
      break;
    case 4:
      register_with_kubelet(from);
      break;
    default:
      allocate_by_grant(from);
  }
  return 0;
}
