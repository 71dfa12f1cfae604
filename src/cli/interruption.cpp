#include "cli/interruption.hpp"

#include <atomic>
#include <cerrno>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

namespace kaisched::cli {

namespace {

constexpr std::array ending_signals{SIGINT, SIGTERM};
/// Where the handler writes; a handler reaches nothing but variables such as this one.
std::atomic<int> interruption_pipe{-1};

extern "C" void on_ending_signal(int) {
  const int error_before = errno;
  const char byte = 1;
  const int to = interruption_pipe.load();
  if (to >= 0) static_cast<void>(!write(to, &byte, 1));
  errno = error_before;
}

}  // namespace

interruption::interruption(std::function<void()> told) : told_(std::move(told)) {
  if (pipe2(pipe_.data(), O_CLOEXEC) != 0) return;  // signals end the program as before
  interruption_pipe = pipe_[1];
  listener_ = std::thread([this] { listen(); });
  struct sigaction action{};
  action.sa_handler = on_ending_signal;
  action.sa_flags = static_cast<int>(SA_RESTART | SA_RESETHAND);
  for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &action, &before_[i]);
}

interruption::~interruption() {
  if (!listener_.joinable()) return;
  for (std::size_t i = 0; i < ending_signals.size(); ++i) sigaction(ending_signals[i], &before_[i], nullptr);
  interruption_pipe = -1;
  const char byte = 0;
  static_cast<void>(!write(pipe_[1], &byte, 1));
  listener_.join();
  for (const int end : pipe_) close(end);
}

void interruption::listen() const {
  for (;;) {
    char byte = 0;
    const ssize_t read_bytes = read(pipe_[0], &byte, 1);
    if (read_bytes < 0 && errno == EINTR) continue;
    if (read_bytes != 1 || byte == 0) return;
    told_();
  }
}

}  // namespace kaisched::cli
