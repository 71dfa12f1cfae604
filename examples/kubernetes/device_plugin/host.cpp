#include "host.hpp"

#include <algorithm>
#include <memory>
#include <optional>
#include <sys/stat.h>
#include <thread>
#include <utility>

#include <fmt/format.h>

namespace device_plugin {

namespace {

using clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr const char* api_version = "v1beta1";
constexpr std::chrono::seconds answer_time{5};
constexpr milliseconds first_retry{500};
constexpr milliseconds longest_retry{30'000};

/// Which file it is, so that another one of the same name is noticed.
struct file_identity {
  dev_t device = 0;
  ino_t inode = 0;
  std::int64_t made = 0;  ///< an inode may come again
  friend bool operator==(const file_identity&, const file_identity&) = default;
};

std::optional<file_identity> identity_of(const std::filesystem::path& file) {
  struct stat found{};
  if (stat(file.c_str(), &found) != 0) return std::nullopt;
  return file_identity{found.st_dev, found.st_ino,
                       std::int64_t{found.st_ctim.tv_sec} * 1'000'000'000 + found.st_ctim.tv_nsec};
}

/// gRPC's own retries end the process where an answer has no status (https://github.com/grpc/grpc/issues/34683); the
/// plugin tries again itself.
grpc::ChannelArguments without_retries() {
  grpc::ChannelArguments made;
  made.SetInt(GRPC_ARG_ENABLE_RETRIES, 0);
  return made;
}

class session {
 public:
  session(const host_options& by, inventory& from, plugin& to, const log_line& log, const std::atomic<bool>& stop)
      : by_(by), from_(from), to_(to), log_(log), stop_(stop) {}

  void run() {
    to_.set_cards(from_.look());
    while (!stop_) {
      start();
      while (!stop_ && is_ours()) {
        if (!registered_ && clock::now() >= next_try_) enrol();
        rest();
        look();
      }
      if (!stop_) log_("the kubelet has started anew: so does the plugin");
      server_->Shutdown(clock_time(answer_time));
      server_.reset();
    }
  }

 private:
  template <class Duration>
  static std::chrono::system_clock::time_point clock_time(Duration from_now) {
    return std::chrono::system_clock::now() + from_now;
  }

  [[nodiscard]] std::filesystem::path own_socket() const { return by_.folder / by_.endpoint; }
  [[nodiscard]] std::filesystem::path kubelet_socket() const { return by_.folder / "kubelet.sock"; }

  void start() {
    std::error_code ignored;
    std::filesystem::remove(own_socket(), ignored);  // of one that was killed
    grpc::ServerBuilder builder;
    builder.AddListeningPort("unix:" + own_socket().string(), grpc::InsecureServerCredentials());
    builder.RegisterService(&to_);
    server_ = builder.BuildAndStart();
    own_ = identity_of(own_socket());
    if (server_ == nullptr || !own_)
      throw std::runtime_error(fmt::format("{}: cannot listen there", own_socket().string()));
    kubelet_ = identity_of(kubelet_socket());
    registered_ = false;
    retry_ = first_retry;
    next_try_ = clock::now();
  }

  /// Both sockets are those that were there when the server began.
  bool is_ours() {
    if (identity_of(own_socket()) != own_) return false;
    const std::optional<file_identity> now = identity_of(kubelet_socket());
    if (registered_) return !now || now == kubelet_;
    kubelet_ = now;
    return true;
  }

  void enrol() {
    v1beta1::RegisterRequest request;
    request.set_version(api_version);
    request.set_endpoint(by_.endpoint);
    request.set_resource_name(by_.resource);
    *request.mutable_options() = to_.options();
    // Which kubelet it was that answered; one that comes while it is asked is asked again.
    kubelet_ = identity_of(kubelet_socket());
    grpc::Status done(grpc::StatusCode::UNAVAILABLE, "its socket is not there");
    if (kubelet_) {
      const auto kubelet = v1beta1::Registration::NewStub(grpc::CreateCustomChannel(
          "unix:" + kubelet_socket().string(), grpc::InsecureChannelCredentials(), without_retries()));
      grpc::ClientContext context;
      context.set_deadline(clock_time(answer_time));
      v1beta1::Empty answer;
      done = kubelet->Register(&context, request, &answer);
    }
    registered_ = done.ok();
    if (registered_) {
      log_(fmt::format("registered {} with the kubelet", by_.resource));
      return;
    }
    log_(fmt::format("the kubelet does not take {}: {}; next try in {}ms", by_.resource, done.error_message(),
                     retry_.count()));
    next_try_ = clock::now() + retry_;
    retry_ = std::min(retry_ * 2, longest_retry);
  }

  void rest() const {
    constexpr milliseconds nap{50};  // to be told to stop in
    const clock::time_point end = clock::now() + by_.interval;
    while (!stop_ && clock::now() < end && !from_.has_news()) {
      std::this_thread::sleep_for(std::min(nap, std::chrono::duration_cast<milliseconds>(end - clock::now())));
    }
  }

  void look() {
    try {
      to_.set_cards(from_.look());
      fault_.clear();
    } catch (const bad_inventory& why) {
      if (fault_ != why.what()) log_(fmt::format("{}; the cards stay what they were", why.what()));
      fault_ = why.what();
    }
  }

  const host_options& by_;
  inventory& from_;
  plugin& to_;
  const log_line& log_;
  const std::atomic<bool>& stop_;
  std::unique_ptr<grpc::Server> server_;
  std::optional<file_identity> own_;
  std::optional<file_identity> kubelet_;
  bool registered_ = false;
  milliseconds retry_{};
  clock::time_point next_try_;
  std::string fault_;  ///< of the last look
};

}  // namespace

void serve(const host_options& by, inventory& from, plugin& to, const log_line& log, const std::atomic<bool>& stop) {
  session(by, from, to, log, stop).run();
}

}  // namespace device_plugin
