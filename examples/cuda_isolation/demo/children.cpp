#include "children.hpp"

#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <fstream>
#include <iterator>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <system_error>
#include <unistd.h>
#include <utility>

namespace demo {

child::child(const std::vector<std::string>& command, const std::vector<std::string>& environment,
             std::filesystem::path log)
    : log_(std::move(log)) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) words.push_back(const_cast<char*>(word.c_str()));  // execv writes nothing
  words.push_back(nullptr);
  pid_ = fork();
  if (pid_ < 0) throw std::system_error(errno, std::generic_category(), "fork");
  if (pid_ != 0) return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (!log_.empty()) {
    const int fd = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0644);
    if (fd < 0 || dup2(fd, STDOUT_FILENO) < 0 || dup2(fd, STDERR_FILENO) < 0) _exit(126);
    close(fd);
  }
  for (const std::string& variable : environment) {
    const std::size_t at = variable.find('=');
    // NOLINTNEXTLINE(concurrency-mt-unsafe): a child of fork has one thread
    setenv(variable.substr(0, at).c_str(), variable.substr(at + 1).c_str(), 1);
  }
  execv(words.front(), words.data());
  _exit(127);
}

child::child(child&& other) noexcept : pid_(std::exchange(other.pid_, -1)), log_(std::move(other.log_)) {}

child::~child() {
  if (pid_ < 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void child::send(int number) const {
  if (pid_ > 0) kill(pid_, number);
}

int child::wait() {
  int status = 0;
  if (pid_ < 0 || waitpid(pid_, &status, 0) != pid_) return -1;
  pid_ = -1;
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string child::printed() const {
  std::ifstream in(log_, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

}  // namespace demo
