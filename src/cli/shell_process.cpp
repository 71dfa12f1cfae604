// Commands of the user as processes.
#include "cli/shell_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <memory>
#include <spawn.h>
#include <string>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>

#include <fmt/format.h>

namespace kaisched::cli {

namespace {

/// What a command starts with: no input, output in a file, signals as they are by default.
class command_surroundings {
 public:
  explicit command_surroundings(const std::string& output) {
    posix_spawn_file_actions_init(&files_);
    posix_spawnattr_init(&attributes_);
    posix_spawn_file_actions_addopen(&files_, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    constexpr mode_t mine = 0600;
    posix_spawn_file_actions_addopen(&files_, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, mine);
    posix_spawn_file_actions_adddup2(&files_, STDOUT_FILENO, STDERR_FILENO);
    sigset_t signals;
    sigemptyset(&signals);
    posix_spawnattr_setsigmask(&attributes_, &signals);
    for (const int one : {SIGINT, SIGTERM, SIGPIPE}) sigaddset(&signals, one);
    posix_spawnattr_setsigdefault(&attributes_, &signals);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF);
  }
  ~command_surroundings() {
    posix_spawn_file_actions_destroy(&files_);
    posix_spawnattr_destroy(&attributes_);
  }
  command_surroundings(const command_surroundings&) = delete;
  command_surroundings& operator=(const command_surroundings&) = delete;

  [[nodiscard]] int spawn(pid_t& process, std::string command) const {
    std::string shell = "/bin/sh";
    std::string option = "-c";
    const std::array<char*, 4> words{shell.data(), option.data(), command.data(), nullptr};
    return posix_spawn(&process, shell.c_str(), &files_, &attributes_, words.data(), environ);
  }

 private:
  posix_spawn_file_actions_t files_{};
  posix_spawnattr_t attributes_{};
};

}  // namespace

std::string shell_word(std::string_view text) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./,:+@%";
  if (!text.empty() && text.find_first_not_of(plain) == std::string_view::npos) return std::string(text);
  std::string word = "'";
  for (const char c : text) word += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return word + "'";
}

result<void> shell_process::start(const std::string& command, const std::string& output) {
  const command_surroundings around(output);
  const std::lock_guard lock(mutex_);
  if (ended_) return error{status::argument, "the command is not needed any more", {}};
  pid_t process = 0;
  if (const int fault = around.spawn(process, command); fault != 0) {
    return error{
        status::internal, fmt::format("/bin/sh cannot be run: {}", std::generic_category().message(fault)), {}};
  }
  running_ = process;
  return {};
}

command_end shell_process::wait() {
  pid_t process = 0;
  {
    const std::lock_guard lock(mutex_);
    process = running_;
  }
  // The process id is not reused until this code waits for the process.
  siginfo_t info{};
  while (waitid(P_PID, static_cast<id_t>(process), &info, WEXITED | WNOWAIT) < 0 && errno == EINTR) {
  }
  const std::lock_guard lock(mutex_);
  static_cast<void>(kill(-process, SIGKILL));
  int how = 0;
  while (waitpid(process, &how, 0) < 0 && errno == EINTR) {
  }
  running_ = 0;
  constexpr int signalled = 128;
  return {WIFEXITED(how) ? WEXITSTATUS(how) : signalled + WTERMSIG(how)};
}

void shell_process::end() {
  const std::lock_guard lock(mutex_);
  ended_ = true;
  if (running_ > 0) static_cast<void>(kill(-running_, SIGKILL));
}

void shell_process::renew() {
  const std::lock_guard lock(mutex_);
  ended_ = false;
}

}  // namespace kaisched::cli
